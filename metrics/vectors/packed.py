"""Packed files of word vectors: words sorted by their bytes and a matrix, in an uncompressed ``.npz``.

All of it is memory-mapped, so that a file opens at once whatever its size.
"""

from __future__ import annotations

import bisect
import os
import struct
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError
from lasw.metrics.text import atomic_write
from lasw.metrics.vectors.base import FORMATS, VectorFile, finite

_MEMBERS = ("words", "starts", "vectors")
_ROWS_AT_ONCE = 4096  # are written


class PackedFile(VectorFile):
    """Words sorted by their bytes and a matrix, in an uncompressed ``.npz``, all of it memory-mapped."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            # Memory-mapped all the same; a view costs a tenth when it is asked for single words.
            self._words, self._starts, self._vectors = map(np.asarray, _mapped(path))
            self.size = int(self._vectors.shape[1])
            _check(self._words, self._starts, self._vectors)
        except Exception:  # reading the headers of what is damaged can fail in any way
            raise UserError("not written by `lasw vectors convert`, or damaged", path=path, expected=FORMATS) from None

    def __len__(self) -> int:
        return len(self._starts) - 1

    def _bytes(self, row: int) -> bytes:
        return bytes(self._words[self._starts[row] : self._starts[row + 1]])

    def row(self, word: str) -> int:
        """See `VectorFile`."""
        sought = word.encode()
        row = bisect.bisect_left(range(len(self)), sought, key=self._bytes)
        return row if row < len(self) and self._bytes(row) == sought else -1

    def word(self, row: int) -> str:
        """See `VectorFile`."""
        return self._bytes(row).decode("utf-8", errors="replace")

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `VectorFile`."""
        return finite(np.asarray(self._vectors[rows], dtype=np.float32), rows, self)


def write_packed(path: str | os.PathLike[str], words: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
    """Write a packed file: the same bytes for the same words and vectors.

    Args:
        path: where to.
        words: n different ones, in any order.
        vectors: (n, d).
    """
    order = sorted(range(len(words)), key=words.__getitem__)
    starts = np.cumsum([0] + [len(words[k]) for k in order], dtype=np.int64)
    arena = np.frombuffer(b"".join(words[k] for k in order), dtype=np.uint8)
    with atomic_write(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        small: tuple[NDArray[Any], ...] = arena, starts
        members = [zipfile.ZipInfo(f"{name}.npy") for name in _MEMBERS]
        for info, array in zip(members, small, strict=False):
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        with archive.open(members[-1], "w", force_zip64=True) as member:
            header = {"descr": "<f4", "fortran_order": False, "shape": vectors.shape}
            np.lib.format.write_array_header_1_0(member, header)
            for first in range(0, len(order), _ROWS_AT_ONCE):  # sorted as a whole they would be in memory twice
                rows = vectors[order[first : first + _ROWS_AT_ONCE]]
                member.write(np.ascontiguousarray(rows, dtype="<f4").tobytes())


def _check(words: NDArray[Any], starts: NDArray[Any], vectors: NDArray[Any]) -> None:
    """Raise ValueError if the arrays do not belong together; their bulk is not read."""
    kinds = (words.dtype, starts.dtype, vectors.dtype)
    if kinds != (np.dtype(np.uint8), np.dtype(np.int64), np.dtype("<f4")):
        raise ValueError(f"arrays of {kinds}")
    if (words.ndim, starts.ndim, vectors.ndim) != (1, 1, 2) or vectors.shape[1] < 1:
        raise ValueError("arrays of other shapes")
    if len(starts) != len(vectors) + 1 or starts[0] != 0 or starts[-1] != len(words):
        raise ValueError("words and vectors do not match")


def _mapped(path: str) -> list[NDArray[Any]]:
    arrays = []
    with zipfile.ZipFile(path) as archive, open(path, "rb") as stream:
        for name in _MEMBERS:
            info = archive.getinfo(f"{name}.npy")
            if info.compress_type != zipfile.ZIP_STORED:
                raise ValueError("compressed")
            stream.seek(info.header_offset + 26)  # where a local header has the lengths of name and extra field
            stream.seek(sum(struct.unpack("<HH", stream.read(4))), os.SEEK_CUR)
            np.lib.format.read_magic(stream)
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
            arrays.append(
                np.memmap(path, dtype, "r", stream.tell(), shape) if np.prod(shape) else np.empty(shape, dtype)
            )
    return arrays
