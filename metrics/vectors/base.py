"""What every file of word vectors can do, whatever its format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError

FORMATS = "word2vec text or binary, GloVe, fastText, .npz, or a file of `lasw vectors convert`"


class VectorFile(ABC):
    """An opened file of n words with vectors of d numbers.

    Attributes:
        path: of the file.
        size: d.
        remarks: what a person should know, one line each.
    """

    path: str
    size: int
    remarks: tuple[str, ...] = ()

    @abstractmethod
    def __len__(self) -> int:
        """Number of words, n."""

    @abstractmethod
    def row(self, word: str) -> int:
        """The row of a word, -1 if there is none."""

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The row of each word, -1 where there is none."""
        return np.array([self.row(word) for word in words], dtype=np.int64)

    @abstractmethod
    def word(self, row: int) -> str:
        """The word of a row."""

    @abstractmethod
    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """(m, d) the vectors of `rows` (m,).

        Raises:
            UserError: one is not all numbers.
        """


def finite(vectors: NDArray[np.float32], rows: NDArray[np.int64], file: VectorFile) -> NDArray[np.float32]:
    """`vectors` (m, d) of `rows` (m,); a UserError if one is not all numbers."""
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise UserError(f"NaN or inf in the vector of {file.word(int(rows[bad[0]]))!r}", path=file.path)
    return vectors
