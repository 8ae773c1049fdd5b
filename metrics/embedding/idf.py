"""Inverse document frequencies of a vocabulary's words: log(N/df) + 1 (Echizen'ya et al. 2019, eq. 9).

N counts sentences, df those that have the word. A word that no sentence has counts as one that a single sentence has.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.text import Corpus, Vocabulary, read_corpus


@dataclass(frozen=True)
class DocumentFrequencies:
    """In how many of `sentences` each word stands; counts by word, so that any vocabulary can ask."""

    sentences: int
    counts: dict[str, int]

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> DocumentFrequencies:
        """Of a tokenised text, a sentence a line.

        Raises:
            UserError: it cannot be read, or is empty.
        """
        corpus = read_corpus(path)
        counts = sentence_counts([corpus])
        return cls(len(corpus), {corpus.vocabulary[k]: count for k, count in enumerate(counts.tolist())})

    def idf(self, vocabulary: Vocabulary) -> NDArray[np.float64]:
        """(V,) of the words that the vocabulary has by now."""
        counts = [self.counts.get(vocabulary[k], 0) for k in range(len(vocabulary))]
        return inverse(np.array(counts, dtype=np.int64), self.sentences)


def sentence_counts(corpora: Sequence[Corpus]) -> NDArray[np.int64]:
    """(V,) in how many sentences of corpora over one vocabulary each word stands."""
    words = len(corpora[0].vocabulary)
    total: NDArray[np.int64] = np.zeros(words, dtype=np.int64)
    for corpus in corpora:
        sentences = np.repeat(np.arange(len(corpus), dtype=np.int64), corpus.lengths)
        once = np.unique(sentences * words + corpus.ids)
        total += np.bincount(once % words, minlength=words) if words else 0
    return total


def inverse(counts: NDArray[np.int64], sentences: int) -> NDArray[np.float64]:
    """log(N/df) + 1 of counts df, 0 taken as 1."""
    return np.asarray(np.log(max(sentences, 1) / np.maximum(counts, 1)) + 1.0)
