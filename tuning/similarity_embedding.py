"""Cosine of the mean word vectors of two sentences, 0 where it is negative.

Vectors come from gensim: its own format, word2vec binary (``.bin``), word2vec or GloVe text. A word without a vector
is left out; a sentence without any known word is similar to nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lasw.metrics.errors import UserError
from lasw.metrics.files import first_bytes
from lasw.tuning.similarity import Floats, Similarity, words_of

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
            UserError: gensim is missing, or it cannot read the file.
        """
        vectors = _read(os.fspath(path))

        def lookup(word: str) -> Floats | None:
            return np.asarray(vectors[word], dtype=np.float64) if word in vectors else None

        return cls(source, lookup, int(vectors.vector_size))

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


def _read(path: str) -> Any:
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        raise UserError("word vectors need gensim", remedy="pip install 'lasw[vectors]'") from None
    first = first_bytes(path, 200).split(b"\n")[0]
    try:
        if first.startswith(b"\x80"):
            return KeyedVectors.load(path, mmap="r")
        header = len(first.split()) == 2
        return KeyedVectors.load_word2vec_format(path, binary=_is_binary(path), no_header=not header)
    except Exception as error:
        raise UserError(
            f"gensim cannot read it ({error})", path=path, expected="gensim's own format, word2vec or GloVe"
        ) from None


def _is_binary(path: str) -> bool:
    """Whether what follows the header is no text."""
    data = first_bytes(path, 1 << 12)
    try:
        data[: data.rfind(b" ") + 1].decode("utf-8")
    except UnicodeDecodeError:
        return True
    return b"\0" in data
