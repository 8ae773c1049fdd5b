"""WE and WE_WPI: sentences as weighted words, moved onto each other (Echizen'ya, Araki & Hovy 2019).

Every word of a sentence weighs tf * (log(N/df) + 1), tf its count in the sentence; a word that stands there twice is
there twice, each with tf 2 (eq. 9-11 taken literally); a word that no sentence has counts as one that a single
sentence has; the weights of a sentence add up to 1. Score = 1 - work, the
least work that moves the hypothesis onto the reference. Moving costs

- WE: 1 - cos;
- WE_WPI: 1 - cos * exp(-pos_inf) for a word and the one it is aligned to, 1 for all other pairs, where pos_inf is the
  difference of relative positions |i/m - j/n| (eq. 8, 12). A hypothesis word is aligned to the reference word with the
  highest cos * (1 - pos_inf); of several that choose the same only the best keeps it, the others stay unaligned. As
  aligned pairs are disjoint the least work is known at once: 1 - sum of cos * exp(-pos_inf) * the lesser weight.

Cosines are between 0 and 1 in the paper, so negative ones are 0 here. A word without a vector has cosine 1 with itself
and 0 with all others. Ties go to the first word. An empty hypothesis scores 0, against an empty reference 1.

df (N) counts sentences of all hypotheses for a hypothesis' words, of all references for a reference's. What all
hypotheses are is known when a test set is scored, ``df=hypotheses``; in tuning they come list by list, and a score must
not depend on what came with it. So by default both counts are of the references.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Lookup, MeanMetric, with_ones
from lasw.metrics.embedding.wewpi_kernel import score_pairs
from lasw.metrics.embedding.wmd import check_vectors
from lasw.metrics.errors import UserError
from lasw.metrics.ngram import Pairs, ReferenceNgrams
from lasw.metrics.registry import Seed, check_options
from lasw.metrics.text import Corpus, References, Vocabulary, read_corpus
from lasw.metrics.vectors import Embedding, UnknownWords, described, embedding_of, open_vectors

REFERENCES, HYPOTHESES = "references", "hypotheses"
_SENTENCES_AT_ONCE = 100_000  # are counted: some 100 MB


@dataclass(frozen=True)
class We(MeanMetric):
    """WE; scores in [0, 1].

    Args:
        vectors: a file of word vectors, see `lasw.metrics.vectors.files`.
        df: where frequencies are counted: ``references``; ``hypotheses`` for hypotheses' words, all that are scored at
            once, which is for whole test sets and not for tuning; or a file of sentences for both sides.
        unknown: the vector of a word that has none, see `lasw.metrics.vectors.vectors.Embedding`.
        seed: of random and average vectors.

    Statistics, (n, 2) float64: score, 1; of several references that of the best. The corpus score is the mean.

    Raises:
        UserError: no vectors are given, there is no such file, or a value does not exist.
    """

    vectors: str = ""
    df: str = REFERENCES
    unknown: UnknownWords = "zero"
    seed: Seed = 1

    name = "WE"

    def __post_init__(self) -> None:
        check_vectors(self.name, self.vectors)
        check_options(self)
        if self.df not in (REFERENCES, HYPOTHESES) and not os.path.isfile(self.df):
            raise UserError(f"{self.name}:df={self.df}", expected=f"{REFERENCES}, {HYPOTHESES}, or a file of sentences")

    @property
    def _aligned(self) -> bool:
        return False

    def shown(self, setting: str) -> str:
        """Files by name and fingerprint."""
        is_file = setting == "vectors" or (setting == "df" and self.df not in (REFERENCES, HYPOTHESES))
        return described(getattr(self, setting)) if is_file else super().shown(setting)

    def lookups(self) -> tuple[Lookup, ...]:
        """Its vectors."""
        return (Lookup(self.vectors),)

    def prepare(self, references: References) -> WeightedReferences:
        """The references, the vectors of their words, and how frequent these are.

        Raises:
            UserError: the vectors or the file of sentences cannot be read.
        """
        embedding = embedding_of(
            open_vectors(self.vectors), references.vocabulary, unknown=self.unknown, seed=self.seed
        )
        outside = None if self.df in (REFERENCES, HYPOTHESES) else DocumentFrequencies.of_file(self.df)
        counts = sentence_counts(references.corpora)
        sentences = len(references.corpora) * len(references)
        return WeightedReferences(ReferenceNgrams.of(references), embedding, counts, sentences, outside)

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        """(n, 2) score and 1; the same text of a segment is looked at once."""
        pairs = Pairs.of(hypotheses, prepared.references, owner)
        embedding = prepared.embedding.arrays()
        idf = prepared.idf(hypotheses if self.df == HYPOTHESES else None)
        scores = score_pairs(pairs, embedding, idf, aligned=self._aligned)
        best = scores.max(axis=0, initial=0.0)[pairs.inverse]
        return with_ones(best)


class WeWpi(We):
    """WE_WPI; the settings are those of `We`."""

    name = "WEWPI"

    @property
    def _aligned(self) -> bool:
        return True


@dataclass(frozen=True)
class WeightedReferences:
    """References, vectors of the vocabulary's words, and frequencies.

    Attributes:
        counts: (words of the references,) in how many of `sentences` reference sentences each word stands.
        outside: frequencies of another text, which then count alone.
    """

    references: ReferenceNgrams
    embedding: Embedding
    counts: NDArray[np.int64]
    sentences: int
    outside: DocumentFrequencies | None

    def idf(self, hypotheses: Corpus | None) -> NDArray[np.float64]:
        """(2, V) of words in hypotheses and in references; `hypotheses` are counted for the former if given."""
        vocabulary = self.references.vocabulary
        if self.outside is not None:
            return np.stack([self.outside.idf(vocabulary)] * 2)
        counts = np.zeros(len(vocabulary), dtype=np.int64)
        counts[: len(self.counts)] = self.counts
        ours = inverse(counts, self.sentences)
        if hypotheses is None:
            return np.stack([ours, ours])
        return np.stack([inverse(sentence_counts([hypotheses]), len(hypotheses)), ours])


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
        for first in range(0, len(corpus), _SENTENCES_AT_ONCE):
            offsets = corpus.offsets[first : first + _SENTENCES_AT_ONCE + 1]
            sentences = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
            once = np.unique(sentences * words + corpus.ids[offsets[0] : offsets[-1]])
            np.add.at(total, once % max(words, 1), 1)
    return total


def inverse(counts: NDArray[np.int64], sentences: int) -> NDArray[np.float64]:
    """log(N/df) + 1 of counts df, 0 taken as 1."""
    return np.asarray(np.log(max(sentences, 1) / np.maximum(counts, 1)) + 1.0)
