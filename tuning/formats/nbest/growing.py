"""Arrays that grow at their end without a second copy of what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_SPARE = 16  # large arrays get a sixteenth more than asked for: growing in place zeroes and so occupies all of it
_LARGE = 1 << 26  # bytes; smaller ones are copied to twice the room, which occupies nothing before it is used


class Growing:
    """Rows of one type, appended in place; `width` None makes it one-dimensional.

    `rows` is a view. As long as nobody holds one, growing a large array moves pages (realloc) and the peak is the new
    size; held views stay valid and cost a copy.
    """

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        self._tail = () if width is None else (width,)
        self._buffer: NDArray[Any] = np.zeros((0, *self._tail), dtype=dtype)
        self.size = 0

    def __len__(self) -> int:
        return self.size

    @classmethod
    def of(cls, rows: NDArray[Any]) -> Growing:
        """Rows that are there already; they are copied when more come."""
        grown = cls(rows.dtype, rows.shape[1] if rows.ndim > 1 else None)
        grown._buffer, grown.size = rows, len(rows)
        return grown

    @property
    def rows(self) -> NDArray[Any]:
        """All rows so far, (size,) or (size, width)."""
        return self._buffer[: self.size]

    def room(self, extra: int) -> NDArray[Any]:
        """The whole buffer, with at least `extra` free rows behind the `size` that are used."""
        needed = self.size + extra
        if needed > len(self._buffer):
            self._grow(needed)
        return self._buffer

    def append(self, rows: NDArray[Any]) -> None:
        """Put `rows` at the end."""
        self.room(len(rows))[self.size : self.size + len(rows)] = rows
        self.size += len(rows)

    def _grow(self, needed: int) -> None:
        row_bytes = self._buffer.itemsize * (self._tail[0] if self._tail else 1)
        large = needed * row_bytes >= _LARGE
        capacity = needed + needed // _SPARE if large else 2 * needed
        if large:
            try:
                self._buffer.resize((capacity, *self._tail))
                return
            except ValueError:  # someone holds a view
                pass
        longer = np.empty((capacity, *self._tail), dtype=self._buffer.dtype)
        longer[: self.size] = self._buffer[: self.size]
        self._buffer = longer
