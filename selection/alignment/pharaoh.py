"""Word alignments in columns, and as Pharaoh writes them: ``0-0 1-2`` a line, source-target, counted from 0.

A possible point, ``0?0``, is read as a point, and a probability, ``0-0:0.5``, is read past.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError, atomic_write, read_lines

# Numbers below 10^9: a position fits 32 bits.
_LINE = re.compile(r"[ \t]*([0-9]{1,9}[-?][0-9]{1,9}(:[0-9.eE+-]+)?([ \t]+|$))*")
_EXTRA = re.compile(r":[0-9.eE+-]+")


@dataclass(frozen=True)
class Alignment:
    """The aligned words of n sentence pairs: those of pair k are `points[offsets[k]:offsets[k + 1]]`.

    Attributes:
        points: (P, 2) int32, source and target position counted from 0, ascending within each pair.
        offsets: (n + 1,) int64.
    """

    points: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        for start, end in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            yield self.points[start:end]

    @classmethod
    def from_pairs(cls, pairs: Sequence[NDArray[np.integer]]) -> Alignment:
        """From one (p, 2) array a sentence pair."""
        offsets = np.zeros(len(pairs) + 1, dtype=np.int64)
        np.cumsum([len(pair) for pair in pairs], out=offsets[1:])
        points = np.concatenate([np.empty((0, 2), dtype=np.int32), *(pair.reshape(-1, 2) for pair in pairs)])
        return cls(points.astype(np.int32), offsets)

    def lines(self) -> Iterator[str]:
        """Pharaoh's lines; an empty one where nothing is aligned."""
        for pair in self:
            yield " ".join(f"{i}-{j}" for i, j in pair.tolist())


def write_pharaoh(path: str | os.PathLike[str], alignments: Iterable[Alignment]) -> None:
    """Write alignments one after the other, one line a sentence pair, whole or not at all."""
    with atomic_write(path) as stream:
        for alignment in alignments:
            for line in alignment.lines():
                stream.write(line.encode("ascii") + b"\n")


def read_pharaoh(path: str | os.PathLike[str]) -> Alignment:
    """Read a file of Pharaoh's lines.

    Raises:
        UserError: something is no ``i-j``; with file and line.
    """
    lines = read_lines(path)
    counts = np.zeros(len(lines), dtype=np.int64)
    for number, line in enumerate(lines):
        if not _LINE.fullmatch(line):
            raise UserError(
                f"{line[:60]!r} is no word alignment",
                path=os.fspath(path),
                line=number + 1,
                expected="points like 0-0 1-2",
            )
        if ":" in line or "?" in line:
            lines[number] = line = _EXTRA.sub("", line).replace("?", "-")
        counts[number] = line.count("-")
    points = np.fromiter(map(int, " ".join(lines).replace("-", " ").split()), dtype=np.int32).reshape(-1, 2)
    rows = np.column_stack([np.repeat(np.arange(len(lines)), counts), points])
    rows = np.unique(rows, axis=0)
    counts = np.bincount(rows[:, 0], minlength=len(lines))
    return Alignment(rows[:, 1:].astype(np.int32), np.concatenate([[0], np.cumsum(counts)]))
