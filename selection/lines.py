"""Lines of text as places in a block of bytes, so that kernels read them where they stand and nothing is copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Block, Blocks, borrowing, scan

MAX_LINE_BYTES = 1_000_000  # a longer line is no sentence: binary data, or line ends that got lost
LF, TAB, SPACE = 10, 9, 32

# Why a line cannot be used, as far as reading can tell; 0 is a good line.
GOOD, NOT_TEXT, TOO_LONG, BAD_COLUMNS, BAD_SCORE = range(5)


class LineArrays(NamedTuple):
    """What kernels see of lines: line k is `data[starts[k]:ends[k]]`; `data[ends[k]]` is a LF or a tab."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


@dataclass(frozen=True)
class Lines:
    """n lines, or n fields of lines, in one block of bytes.

    Attributes:
        arrays: see `LineArrays`: data (m,) uint8, starts and ends (n,) int64.
    """

    arrays: LineArrays

    def __len__(self) -> int:
        return len(self.arrays.starts)

    def __getitem__(self, part: slice) -> Lines:
        data, starts, ends = self.arrays
        return Lines(LineArrays(data, starts[part], ends[part]))

    def text(self, k: int) -> str:
        """Line k."""
        return self.bytes(k).decode("utf-8", errors="replace")

    def bytes(self, k: int) -> bytes:
        """Line k as it stands in the file."""
        data, starts, ends = self.arrays
        return data[starts[k] : ends[k]].tobytes()

    def texts(self) -> list[str]:
        """All lines."""
        return self.packed().arrays.data.tobytes().decode("utf-8", errors="replace").split("\n")[: len(self)]

    def take(self, rows: NDArray[np.integer]) -> Lines:
        """The lines `rows` (m,), in that order, in a block of their own, each ended by LF."""
        data, starts, ends = self.arrays
        starts, ends = starts[rows], ends[rows]
        to = np.zeros(len(starts) + 1, dtype=np.int64)
        np.cumsum(ends - starts + 1, out=to[1:])
        out = np.empty(to[-1], dtype=np.uint8)
        _copy(data, starts, ends, to, out)
        return Lines(LineArrays(out, to[:-1], to[1:] - 1))

    def packed(self) -> Lines:
        """The same lines in a block that holds nothing else."""
        return self.take(np.arange(len(self)))

    def __reduce__(self) -> tuple[type[Lines], tuple[LineArrays]]:
        # The rest of the bytes they were read with need not go to another process.
        return Lines, (self.packed().arrays,)

    @classmethod
    def of(cls, texts: list[str]) -> Lines:
        """From strings without line ends."""
        return lines_of(np.frombuffer("".join(text + "\n" for text in texts).encode(), dtype=np.uint8).copy())

    @classmethod
    def joined(cls, parts: list[Lines]) -> Lines:
        """The lines of all parts, in a block of their own."""
        return lines_of(np.concatenate([np.empty(0, dtype=np.uint8), *(part.packed().arrays.data for part in parts)]))


def lines_of(data: NDArray[np.uint8]) -> Lines:
    """The lines of a block that ends with LF."""
    ends = np.flatnonzero(data == LF)
    starts = np.empty_like(ends)
    if len(ends):
        starts[0] = 0
        starts[1:] = ends[:-1] + 1
    return Lines(LineArrays(data, starts, ends))


def read_blocks(path: str, encoding: str, tolerant: bool) -> Iterator[tuple[Lines, NDArray[np.uint8]]]:
    """The lines of a file in blocks, with (n,) why a line cannot be used (`GOOD`, `NOT_TEXT`, `TOO_LONG`).

    Args:
        path: any compression, ``-`` for standard input.
        encoding: of the file.
        tolerant: lines with NUL bytes or bytes that are no UTF-8 are blanked and marked; otherwise they are refused.

    Raises:
        UserError: as `Blocks`.
    """
    blocks = _TolerantBlocks(path, encoding) if tolerant else Blocks(path, encoding)
    for block in blocks:
        lines = lines_of(block.data)
        bad = np.zeros(len(lines), dtype=np.uint8)
        bad[lines.arrays.ends - lines.arrays.starts > MAX_LINE_BYTES] = TOO_LONG
        if isinstance(block, _MarkedBlock):
            bad[block.not_text] = NOT_TEXT
        yield lines, bad


@dataclass
class _MarkedBlock(Block):
    """A block some of whose lines were blanked: `not_text`, counted from 0."""

    not_text: list[int]


class _TolerantBlocks(Blocks):
    """Blocks in which lines that are no text are blanked and marked instead of refused."""

    def _block(self, data: NDArray[np.uint8]) -> Block:
        bad: list[int] = []
        seen = scan(data)
        if seen.invalid >= 0 or seen.nul >= 0:
            starts, ends = lines_of(data).arrays[1:]
            for k, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
                seen = scan(data[start:end])
                if seen.invalid >= 0 or seen.nul >= 0:
                    data[start:end] = SPACE
                    bad.append(k)
        block = super()._block(data)
        return _MarkedBlock(block.data, block.first_line, bad) if bad else block


@borrowing
def _copy(data, starts, ends, to, out):  # type: ignore[no-untyped-def]
    for k in range(starts.shape[0]):
        place = to[k]
        for i in range(starts[k], ends[k]):
            out[place] = data[i]
            place += 1
        out[place] = LF
