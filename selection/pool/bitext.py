"""The pool: pairs of sentences with their word alignment, read as a stream of blocks.

Source, target and alignment are files with a line a pair, or columns of one file with tabs. Line numbers count from 1
and are those of the input. A block holds places in the bytes that were read; nothing is turned into strings here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError
from lasw.selection.alignment import alignment_blocks
from lasw.selection.lines import BAD_COLUMNS, GOOD, TAB, LineArrays, Lines, read_blocks

Chunk = tuple[list[Any], NDArray[np.uint8]]
"""n lines of one stream: one `Lines` a column, or (n, 1) numbers, and why a line cannot be used."""


@dataclass(frozen=True)
class PairBlock:
    """n consecutive pairs of the pool.

    Attributes:
        first_line: 1-based number of the first pair.
        source, target: n lines each.
        alignment: n lines as Pharaoh writes them, or None.
        bad: (n,) uint8, why a pair cannot be used as far as reading can tell (see `lines`).
        extra: (n, m) float64, score columns of other tools.
    """

    first_line: int
    source: Lines
    target: Lines
    alignment: Lines | None
    bad: NDArray[np.uint8]
    extra: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.source)

    @property
    def line_numbers(self) -> NDArray[np.int64]:
        """(n,) 1-based numbers of the pairs."""
        return np.arange(self.first_line, self.first_line + len(self))

    def __getitem__(self, part: slice) -> PairBlock:
        start, end, step = part.indices(len(self))
        if step != 1:
            raise ValueError("a block is cut into consecutive pairs")
        return PairBlock(
            self.first_line + start,
            self.source[start:end],
            self.target[start:end],
            None if self.alignment is None else self.alignment[start:end],
            self.bad[start:end],
            self.extra[start:end],
        )


@dataclass(frozen=True)
class ScoreFile:
    """A further score of the pairs from another tool (see `score_columns`).

    Attributes:
        path, name: of the file and of the score.
        read: the chunks; its arguments are whether faulty lines are marked instead of refused, and whether a first line
            that names the columns is the pool's too, and so only a faulty line.
    """

    path: str
    name: str
    read: Callable[[bool, bool], Iterator[Chunk]]


@dataclass(frozen=True)
class Bitext:
    """Where the pairs of a pool stand.

    Args:
        source: file of source sentences, a line a pair; with `columns` the file that holds all.
        target: file of their translations; None with `columns`.
        alignment: file of word alignments, Pharaoh's or GIZA++'s layout (told apart by content); None without.
        columns: of a file with tabs: source, target and perhaps alignment column, counted from 1.
        encoding: of the text.
        skip_bad: lines that are no text, or too long or short, are marked instead of refused.
        scores: score columns of other tools.
    """

    source: str
    target: str | None = None
    alignment: str | None = None
    columns: tuple[int, ...] = ()
    encoding: str = "utf-8"
    skip_bad: bool = False
    scores: tuple[ScoreFile, ...] = field(default=())

    @property
    def aligned(self) -> bool:
        """Whether the pairs come with word alignments."""
        return self.alignment is not None or len(self.columns) > 2

    @property
    def paths(self) -> tuple[str, str, str]:
        """The files of source, target and alignment, for messages."""
        target = self.source if self.target is None else self.target
        return self.source, target, target if self.alignment is None else self.alignment

    @property
    def bitexts(self) -> tuple[Bitext, ...]:
        """What the pool consists of."""
        return (self,)

    @property
    def score_names(self) -> tuple[str, ...]:
        """Names of the score columns."""
        return tuple(file.name for file in self.scores)

    def blocks(self) -> Iterator[PairBlock]:
        """The pairs in input order; may be called again unless a file is standard input.

        Raises:
            UserError: as `Blocks`; the files differ in their number of lines.
        """
        paths, streams = [self.source], [_columns(self.source, self.encoding, self.columns, self.skip_bad)]
        if not self.columns:
            assert self.target is not None
            paths.append(self.target)
            streams.append(_columns(self.target, self.encoding, (), self.skip_bad))
        if self.alignment is not None:
            paths.append(self.alignment)
            streams.append(alignment_blocks(self.alignment, self.skip_bad))
        paths += [file.path for file in self.scores]
        streams += [file.read(self.skip_bad, file.path == self.source) for file in self.scores]
        first_line, texts = 1, 2 + self.aligned
        for columns, bad in _zipped(streams, paths):
            extra = np.concatenate([np.empty((len(bad), 0)), *columns[texts:]], axis=1)
            alignment = columns[2] if self.aligned else None
            yield PairBlock(first_line, columns[0], columns[1], alignment, bad, extra)
            first_line += len(bad)

    def first(self, pairs: int) -> list[PairBlock]:
        """Blocks of the first `pairs` pairs, of all if there are fewer; line numbers are those of the files."""
        kept: list[PairBlock] = []
        for block in (block for bitext in self.bitexts for block in bitext.blocks()):
            kept.append(block[:pairs])
            pairs -= len(kept[-1])
            if not pairs:
                break
        return kept


def _columns(path: str, encoding: str, columns: tuple[int, ...], tolerant: bool) -> Iterator[Chunk]:
    line = 1
    for lines, bad in read_blocks(path, encoding, tolerant):
        if columns:
            yield _fields(lines, bad, columns, path, line, tolerant), bad
        else:
            yield [lines], bad
        line += len(bad)


def _fields(
    lines: Lines, bad: NDArray[np.uint8], columns: tuple[int, ...], path: str, line: int, tolerant: bool
) -> list[Lines]:
    data, starts, ends = lines.arrays
    tabs = np.flatnonzero(data == TAB)
    first, last = np.searchsorted(tabs, starts), np.searchsorted(tabs, ends)
    short = (last - first + 1 < max(columns)) & (bad == GOOD)
    if short.any():
        k = int(np.argmax(short))
        if not tolerant:
            raise UserError(
                f"{int(last[k] - first[k]) + 1} columns",
                path=path,
                line=line + k,
                expected=f"at least {max(columns)}, separated by tabs",
            )
        bad[short] = BAD_COLUMNS
    places = np.concatenate([tabs, [len(data) - 1]])  # so that a place behind the last tab can be looked up
    fields = []
    for column in columns:
        start = np.where(column == 1, starts, places[np.minimum(first + column - 2, len(tabs))] + 1)
        end = np.where(first + column - 1 < last, places[np.minimum(first + column - 1, len(tabs))], ends)
        unusable = bad != GOOD
        start[unusable] = end[unusable] = ends[unusable]
        fields.append(Lines(LineArrays(data, start, end)))
    return fields


def _zipped(chunks: list[Iterator[Chunk]], paths: list[str]) -> Iterator[Chunk]:
    """Blocks of lines with the same numbers from all streams.

    Raises:
        UserError: one ends before another. Which of its lines is the lost one nobody knows, so no pair can be trusted.
    """
    streams = [_Stream(one) for one in chunks]
    done = 0
    while n := min(sizes := [stream.available() for stream in streams]):
        parts = [stream.cut(n) for stream in streams]
        yield [column for part in parts for column in part[0]], np.maximum.reduce([part[1] for part in parts])
        done += n
    if any(sizes):
        raise _uneven([done + stream.rest() for stream in streams], paths)


class _Stream:
    """A stream of chunks that is cut where others end."""

    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self._chunks = chunks
        self._columns: list[Any] = []
        self._bad = np.empty(0, dtype=np.uint8)

    def available(self) -> int:
        while not len(self._bad):
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._columns, self._bad = chunk
        return len(self._bad)

    def cut(self, n: int) -> Chunk:
        part = [column[:n] for column in self._columns], self._bad[:n]
        self._columns, self._bad = [column[n:] for column in self._columns], self._bad[n:]
        return part

    def rest(self) -> int:
        """How many lines are left; they are read past."""
        left = len(self._bad)
        for _, bad in self._chunks:
            left += len(bad)
        return left


def _uneven(lengths: list[int], paths: list[str]) -> UserError:
    """The odd one out against the others: the source file where all the others agree."""
    odd, other = next(k for k, n in enumerate(lengths) if n != lengths[0]), 0
    if len(lengths) > 2 and len(set(lengths[1:])) == 1:
        odd, other = 0, 1
    return UserError(
        f"{lengths[odd]} lines",
        path=paths[odd],
        expected=f"{lengths[other]}, as many as {paths[other]} has",
        remedy="find the line that is lost or too much: every pair behind it would be a wrong one",
    )
