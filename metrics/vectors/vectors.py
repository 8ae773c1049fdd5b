"""Word vectors of the words at hand: loaded from a file as a vocabulary grows, at length 1 for cosines."""

from __future__ import annotations

import hashlib
import os
import re
import threading
import weakref
import zlib
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.kernels import reordering
from lasw.metrics.text import Vocabulary
from lasw.metrics.vectors.base import VectorFile

UnknownWords = Literal["zero", "random", "average"]
_AVERAGED = 5  # vectors that `average` takes (Chow 2019, 3.4.2)
_BLOCK = 1 << 15
_NUMBER = re.compile(r"[+-]?\d+(?:[.,:]\d+)*%?")


class EmbeddingArrays(NamedTuple):
    """What kernels see of an embedding; pass it whole.

    `place` (V,) int32: the row of each vocabulary word in `vectors`; row 0 is the zero vector of words without one.
    `vectors` (n, d) float64. `known` (V,) bool: the file has the word.
    """

    place: NDArray[np.int32]
    vectors: NDArray[np.float64]
    known: NDArray[np.bool_]


class Embedding:
    """The vectors of a vocabulary's words; every word is looked up once.

    Args:
        file: where they are from.
        vocabulary: may grow between calls of `arrays`.
        unit: scale them to length 1, so that inner products are cosines.
        unknown: what a word that the file does not have gets: ``zero``; ``random``, uniform between the least and the
            largest value of each dimension; ``average``, the mean of five vectors drawn at random (Chow 2019, 3.4.2).
            What is drawn depends on word and seed alone.
        numbers: unknown numbers get the mean vector of all numbers in the file (Chow 2019, 3.8.2).
        seed: of what is drawn.

    Attributes:
        rows: (V,) int64, the row of each word in the file, -1 for unknown ones, as of the last call of `arrays`.
    """

    def __init__(
        self,
        file: VectorFile,
        vocabulary: Vocabulary,
        *,
        unit: bool = True,
        unknown: str = "zero",
        numbers: bool = False,
        seed: int = 1,
    ) -> None:
        self._file, self._vocabulary = file, vocabulary
        self._unit, self._unknown, self._numbers, self._seed = unit, unknown, numbers, seed
        self.rows = np.empty(0, dtype=np.int64)
        self._arrays = EmbeddingArrays(
            np.empty(0, dtype=np.int32), np.zeros((1, file.size)), np.empty(0, dtype=np.bool_)
        )

    def arrays(self) -> EmbeddingArrays:
        """The arrays for all words that the vocabulary has by now.

        Raises:
            UserError: a vector holds what is no number.
        """
        with _growing:
            self._grow(len(self._arrays.place), len(self._vocabulary))
            return self._arrays

    def _grow(self, done: int, now: int) -> None:
        if done < now:
            words = [self._vocabulary[k] for k in range(done, now)]
            rows = self._file.find(words)
            listed = rows >= 0
            vectors = [self._file.rows(rows[listed]).astype(np.float64)]
            place = np.zeros(len(words), dtype=np.int32)
            first = len(self._arrays.vectors)
            place[listed] = np.arange(first, first + listed.sum())
            first += int(listed.sum())
            for k in np.flatnonzero(~listed).tolist():
                made = self._made_up(words[k])
                if made is not None:
                    vectors.append(made[None])
                    place[k] = first
                    first += 1
            new = np.concatenate(vectors)
            if self._unit:
                lengths = np.sqrt((new**2).sum(axis=1, keepdims=True))
                new = np.divide(new, lengths, out=np.zeros_like(new), where=lengths > 0)
            self.rows = np.concatenate([self.rows, rows])
            self._arrays = EmbeddingArrays(
                np.concatenate([self._arrays.place, place]),
                np.concatenate([self._arrays.vectors, new]),
                np.concatenate([self._arrays.known, listed]),
            )

    def _made_up(self, word: str) -> NDArray[np.float64] | None:
        if self._numbers and _NUMBER.fullmatch(word):
            return number_vector(self._file)
        if self._unknown == "zero":
            return None
        generator = np.random.default_rng([self._seed, zlib.crc32(word.encode())])
        if self._unknown == "average":
            drawn = self._file.rows(generator.integers(len(self._file), size=_AVERAGED))
            return np.asarray(drawn.mean(axis=0, dtype=np.float64))
        low, high = extremes(self._file)
        return np.asarray(generator.uniform(low, high))


_shared: weakref.WeakValueDictionary[tuple[object, ...], Embedding] = weakref.WeakValueDictionary()
_growing = threading.RLock()


def embedding_of(file: VectorFile, vocabulary: Vocabulary, **settings: Any) -> Embedding:
    """The embedding of these, the same as long as anybody holds it: what was looked up once is not again."""
    key = (id(file), id(vocabulary), *sorted(settings.items()))  # it holds both, so that no others have these numbers
    with _growing:
        found = _shared.get(key)
        if found is None:
            found = _shared[key] = Embedding(file, vocabulary, **settings)
        return found


@lru_cache(maxsize=2)
def number_vector(file: VectorFile) -> NDArray[np.float64] | None:
    """(d,) the mean vector of the words of a file that are numbers; None if there are none."""
    rows = np.array([k for k in range(len(file)) if _NUMBER.fullmatch(file.word(k))], dtype=np.int64)
    return np.asarray(file.rows(rows).mean(axis=0, dtype=np.float64)) if len(rows) else None


@lru_cache(maxsize=2)
def extremes(file: VectorFile) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """(d,) the least and the largest value of each dimension over the whole file."""
    parts = [block for _, block in blocks(file)]
    return np.min([x.min(axis=0) for x in parts], axis=0), np.max([x.max(axis=0) for x in parts], axis=0)


def blocks(file: VectorFile):  # type: ignore[no-untyped-def]
    """All vectors of a file in order: first row and (m, d) float32 of each block."""
    for start in range(0, len(file), _BLOCK):
        yield start, file.rows(np.arange(start, min(start + _BLOCK, len(file)), dtype=np.int64))


def described(path: str) -> str:
    """The file's name and what tells it from another of that name: for signatures."""
    status = os.stat(path)
    return f"{os.path.basename(path)}#{_fingerprint(path, status.st_mtime_ns, status.st_size)}"


@lru_cache
def _fingerprint(path: str, _changed: int, size: int) -> str:
    """Of the length, the first and the last million bytes: whole files take seconds to read."""
    part = 1 << 20
    digest = hashlib.sha256(str(size).encode())
    with open(path, "rb") as stream:
        digest.update(stream.read(part))
        stream.seek(max(0, size - part))
        digest.update(stream.read(part))
    return digest.hexdigest()[:12]


@reordering
def inner(vectors, a, b):  # type: ignore[no-untyped-def]
    """Kernel: the inner product of rows `a` and `b`; the same bits whatever else is computed beside it."""
    total = 0.0
    for k in range(vectors.shape[1]):
        total += vectors[a, k] * vectors[b, k]
    return total


@reordering
def squared(vectors, a, b):  # type: ignore[no-untyped-def]
    """Kernel: the squared Euclidean distance of rows `a` and `b`."""
    total = 0.0
    for k in range(vectors.shape[1]):
        difference = vectors[a, k] - vectors[b, k]
        total += difference * difference
    return total
