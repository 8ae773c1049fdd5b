"""Cosine of TF-IDF vectors, over words or over character n-grams.

    tfidf(w, s) = tf(w, s) (log((1 + S) / (1 + df(w))) + 1),   similarity = cosine

tf counts w in the sentence, df the development sentences that have w. Words that none has are left out of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import scipy

from lasw.tuning.local.similarity import Floats, Similarity, words_of

CHARACTER_ORDERS = (2, 3, 4)


class TfidfSimilarity(Similarity):
    """Cosine over the terms that `terms` cuts a line into.

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

    def _vector(self, counted: Counter[str]) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], Floats]:
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
        return words_of(line)


class CharacterSimilarity(TfidfSimilarity):
    """TF-IDF over the n-grams of 2 to 4 characters of each word, a space on either side of it."""

    @staticmethod
    def terms(line: str) -> Iterable[str]:
        """The n-grams of all words."""
        for word in words_of(line):
            padded = f" {word} "
            for order in CHARACTER_ORDERS:
                for k in range(len(padded) - order + 1):
                    yield padded[k : k + order]
