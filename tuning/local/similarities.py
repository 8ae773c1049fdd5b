"""How similar a sentence is to each sentence of the development set, on its source side. New: a class and a line.

A similarity is made once from the development sentences and then asked about any sentence. Lines are taken as
tokenised, split on space and tab.

    bleu         smoothed sentence BLEU of development sentences against the sentence (Song 2015, equation 5.4)
    words        cosine of TF-IDF vectors over words
    characters   the same over n-grams of characters
    embedding    cosine of the mean word vectors, 0 where it is negative
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from lasw.metrics import Corpus, ReferenceNgrams, Registry, SimpBleu, UserError, Vocabulary, open_vectors, tokens
from lasw.tuning.pool import Floats

CHARACTER_ORDERS = (2, 3, 4)
_UNKNOWN = " "  # no token holds a space, so no development sentence has it
# A word's vector, None if it has none.
Lookup = Callable[[str], "Floats | None"]


class Similarity(ABC):
    """Compares sentences with S development sentences; values in [0, 1]."""

    @abstractmethod
    def to(self, line: str) -> Floats:
        """(S,) similarity of each development sentence to `line`."""

    def matrix(self, lines: Sequence[str]) -> Floats:
        """(T, S) the same for many lines."""
        rows = [self.to(line) for line in lines]
        return np.stack(rows) if rows else np.empty((0, 0))

    def fingerprint(self) -> str:
        """Of what the similarity depends on besides the development sentences; empty if that is nothing."""
        return ""


class BleuSimilarity(Similarity):
    """BLEU+1 with the sentence in the reference's place and every development sentence as a hypothesis.

    Args:
        source: the development sentences.
    """

    def __init__(self, source: Sequence[str]) -> None:
        self._metric = SimpBleu("BLEU+1")
        self._source = Corpus.from_lines(list(source), Vocabulary())
        vocabulary = self._source.vocabulary
        self._ids = {vocabulary[k]: k for k in range(len(vocabulary))}
        # Words that the development set does not have match nothing: all are one, so that nothing grows with use.
        self._unknown = vocabulary.add(_UNKNOWN)

    def to(self, line: str) -> Floats:
        """See `Similarity`."""
        ids = np.array([self._ids.get(word, self._unknown) for word in tokens(line)], dtype=np.int32)
        offsets = np.array([[0, len(ids)]], dtype=np.int64)
        reference = ReferenceNgrams(ids, offsets, np.array([[len(ids)]]), self._source.vocabulary)
        statistics = self._metric.statistics(self._source, (reference,), np.zeros(len(self._source), dtype=np.int32))
        return self._metric.sentence_scores(statistics)


class TfidfSimilarity(Similarity):
    """Cosine over the terms that `terms` cuts a line into.

        tfidf(w, s) = tf(w, s) (log((1 + S) / (1 + df(w))) + 1),   similarity = cosine

    tf counts w in the sentence, df the development sentences that have w. Words that none has are left out of both.

    Args:
        source: the development sentences.
    """

    def __init__(self, source: Sequence[str]) -> None:
        counts = [Counter(self.terms(line)) for line in source]
        self._ids: dict[str, int] = {}
        for counted in counts:
            for term in counted:
                self._ids.setdefault(term, len(self._ids))
        df = np.zeros(len(self._ids))
        for counted in counts:
            df[[self._ids[term] for term in counted]] += 1
        self._idf = np.log((1 + len(counts)) / (1 + df)) + 1
        rows = [self._vector(counted) for counted in counts]
        # Terms x sentences: a sentence then touches only the rows of its own terms.
        starts = np.concatenate([[0], np.cumsum([len(columns) for columns, _ in rows])])
        columns = np.concatenate([c for c, _ in rows]) if rows else np.empty(0, dtype=np.int64)
        values = np.concatenate([v for _, v in rows]) if rows else np.empty(0)
        shape = (len(rows), len(self._ids))
        self._terms = scipy.sparse.csr_array(scipy.sparse.csr_array((values, columns, starts), shape=shape).T.tocsr())

    @staticmethod
    def terms(line: str) -> Iterable[str]:
        """What is counted."""
        raise NotImplementedError

    def to(self, line: str) -> Floats:
        """See `Similarity`."""
        columns, values = self._vector(Counter(self.terms(line)))
        matrix = self._terms
        starts, lengths = matrix.indptr[columns], np.diff(matrix.indptr)[columns]
        places = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        # Term by term, in a fixed order: the same bits alone and among others.
        products = np.repeat(values, lengths) * matrix.data[places]
        return np.minimum(np.bincount(matrix.indices[places], products, matrix.shape[1]), 1.0)

    def _vector(self, counted: Counter[str]) -> tuple[NDArray[np.int64], Floats]:
        """Ids and values of a vector of length 1, ascending; empty if no term is known."""
        known = sorted((self._ids[term], count) for term, count in counted.items() if term in self._ids)
        columns = np.array([k for k, _ in known], dtype=np.int64)
        values = np.array([count for _, count in known], dtype=np.float64) * self._idf[columns]
        length = np.sqrt((values**2).sum())
        return columns, values / length if length > 0 else values


class WordSimilarity(TfidfSimilarity):
    """TF-IDF over words."""

    @staticmethod
    def terms(line: str) -> Iterable[str]:
        """Its tokens."""
        return tokens(line)


class CharacterSimilarity(TfidfSimilarity):
    """TF-IDF over the n-grams of 2 to 4 characters of each word, a space on either side of it."""

    @staticmethod
    def terms(line: str) -> Iterable[str]:
        """The n-grams of all words."""
        for word in tokens(line):
            padded = f" {word} "
            for order in CHARACTER_ORDERS:
                for k in range(len(padded) - order + 1):
                    yield padded[k : k + order]


class EmbeddingSimilarity(Similarity):
    """Cosine of mean word vectors, from any file that the embedding metrics read.

    A word without a vector is left out; a sentence without any known word is similar to nothing.

    Args:
        source: the development sentences.
        vector: of a word.
        size: of the vectors.
    """

    def __init__(self, source: Sequence[str], vector: Lookup, size: int) -> None:
        self._vector, self._size = vector, size
        self._means = np.stack([self._mean(line) for line in source]) if source else np.empty((0, size))

    @classmethod
    def from_file(cls, source: Sequence[str], path: str | os.PathLike[str]) -> EmbeddingSimilarity:
        """With the vectors in a file.

        Raises:
            UserError: it is no file of word vectors.
        """
        vectors = open_vectors(path)

        @cache
        def lookup(word: str) -> Floats | None:
            rows = vectors.find([word])
            return vectors.rows(rows)[0].astype(np.float64) if rows[0] >= 0 else None

        return cls(source, lookup, vectors.size)

    def to(self, line: str) -> Floats:
        """See `Similarity`."""
        # Not BLAS: the same bits on any number of threads.
        return np.asarray(np.clip(np.einsum("sd,d->s", self._means, self._mean(line)), 0.0, 1.0))

    def fingerprint(self) -> str:
        """Of the vectors, as far as the development sentences have them."""
        return hashlib.sha256(self._means.tobytes()).hexdigest()[:16]

    def _mean(self, line: str) -> Floats:
        """The mean vector at length 1, zero if there is none."""
        found = [vector for vector in map(self._vector, tokens(line)) if vector is not None]
        total = np.sum(found, axis=0) if found else np.zeros(self._size)
        length = np.sqrt((total**2).sum())
        return np.asarray(total / length if length > 0 else total)


SIMILARITIES: Registry[Any] = Registry(
    "similarity",
    {
        "bleu": "lasw.tuning.local.similarities:BleuSimilarity",
        "words": "lasw.tuning.local.similarities:WordSimilarity",
        "characters": "lasw.tuning.local.similarities:CharacterSimilarity",
        "embedding": "lasw.tuning.local.similarities:EmbeddingSimilarity",
    },
)


def make_similarity(name: str, source: Sequence[str], *, vectors: str | os.PathLike[str] | None = None) -> Similarity:
    """The similarity `name` to the sentences `source`.

    Args:
        name: one of `SIMILARITIES`.
        source: the S development sentences.
        vectors: a file of word vectors; only `embedding` needs it.

    Raises:
        UserError: an unknown name (with the nearest valid one), no file of vectors where one is needed, or one that
            cannot be read.
    """
    made = SIMILARITIES.find(name)
    if name != "embedding":
        return cast(Similarity, made(source))
    if vectors is None:
        raise UserError("similarity embedding without word vectors", remedy="name their file with --vectors")
    return cast(Similarity, made.from_file(source, vectors))
