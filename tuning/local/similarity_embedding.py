"""Cosine of the mean word vectors of two sentences, 0 where it is negative.

Vectors come from any file that the embedding metrics read. A word without a vector is left out; a sentence without any
known word is similar to nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from lasw.metrics import open_vectors
from lasw.tuning.local.similarity import Floats, Similarity, words_of

# A word's vector, None if it has none.
Lookup = Callable[[str], "Floats | None"]


class EmbeddingSimilarity(Similarity):
    """Cosine of mean word vectors.

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
        found = [vector for vector in map(self._vector, words_of(line)) if vector is not None]
        total = np.sum(found, axis=0) if found else np.zeros(self._size)
        length = np.sqrt((total**2).sum())
        return np.asarray(total / length if length > 0 else total)
