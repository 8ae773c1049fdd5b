"""Word vectors as NumPy saves them: an ``.npz`` with an array of words and a matrix with a row for each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError
from lasw.metrics.text import parse_array, read_arrays
from lasw.metrics.vectors.base import VectorFile, finite

_SHAPES = (
    "an array of words (n,) and one of numbers (n, d), as numpy.savez(FILE, words=words, vectors=vectors) has them"
)


class ArraysFile(VectorFile):
    """Words and vectors of an ``.npz``, read whole; the arrays may have any names. Of equal words the first counts."""

    def __init__(self, path: str) -> None:
        self.path = path
        words, self._vectors = _read(path)
        self._words: list[str] = words
        self._rows: dict[str, int] = {}
        for row, word in enumerate(words):
            self._rows.setdefault(word, row)
        self.size = int(self._vectors.shape[1])

    def __len__(self) -> int:
        return len(self._words)

    def row(self, word: str) -> int:
        """See `VectorFile`."""
        return self._rows.get(word, -1)

    def word(self, row: int) -> str:
        """See `VectorFile`."""
        return self._words[row]

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `VectorFile`."""
        return finite(self._vectors[rows], rows, self)


def _read(path: str) -> tuple[list[str], NDArray[np.float32]]:
    arrays = []
    for name, data in read_arrays(path, "damaged").items():
        try:
            arrays.append(parse_array(data))
        except ValueError as error:
            objects = "Object arrays" in str(error)
            raise UserError(
                "Python objects in it, which can run code when they are opened" if objects else f"{name} is damaged",
                path=path,
                expected=_SHAPES,
                remedy="save the words as strings: numpy.array(words, dtype=str)" if objects else None,
            ) from None
    words = [x for x in arrays if x.dtype.kind in "US" and x.ndim == 1]
    matrices = [x for x in arrays if x.dtype.kind in "fiu" and x.ndim == 2 and x.shape[1]]
    if len(words) != 1 or len(matrices) != 1 or len(words[0]) != len(matrices[0]) or not len(words[0]):
        found = ", ".join(f"{x.dtype} {x.shape}" for x in arrays) or "no arrays"
        raise UserError(found, path=path, expected=_SHAPES)
    with np.errstate(over="ignore"):  # what is too large for 32 bits becomes inf, which is told when it is asked for
        vectors = np.ascontiguousarray(matrices[0], dtype=np.float32)
    return [_text(word) for word in words[0].tolist()], vectors


def _text(word: str | bytes) -> str:
    return word.decode("utf-8", errors="replace") if isinstance(word, bytes) else word
