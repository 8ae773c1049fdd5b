"""A pool in parts that workers score on their own.

Either the pool is one stream that the head reads and sends on in parts, or it is many files (`ShardedBitext`), which
workers read themselves; then hardly anything but candidates moves over the network.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import accumulate
from typing import Protocol

from lasw.metrics import UserError, read_lines
from lasw.selection.features import Scorer, refuse_faults
from lasw.selection.pool import Bitext, PairBlock

PAIRS = 20_000  # of a part that is sent: some megabytes


class Part(Protocol):
    """Consecutive pairs of a pool; can be sent to another process."""

    @property
    def shift(self) -> int:
        """What is added to the line numbers of its files to get those of the pool."""

    @property
    def tolerant(self) -> bool:
        """Whether faulty pairs are counted instead of refused."""

    @property
    def paths(self) -> tuple[str, str, str]:
        """Files of source, target and alignment, for messages."""

    def blocks(self) -> Iterator[PairBlock]:
        """The pairs, with the line numbers of the files they stand in."""


@dataclass(frozen=True)
class SentPart:
    """Pairs that were read already.

    Args:
        pairs: packed blocks.
        paths, tolerant: see `Part`.
    """

    pairs: tuple[PairBlock, ...]
    paths: tuple[str, str, str]
    tolerant: bool
    shift: int = 0

    def blocks(self) -> Iterator[PairBlock]:
        """See `Part`."""
        return iter(self.pairs)


@dataclass(frozen=True)
class FilePart:
    """Pairs in files of their own, read where they are scored.

    Args:
        bitext: the files.
        shift: see `Part`.
    """

    bitext: Bitext
    shift: int

    @property
    def paths(self) -> tuple[str, str, str]:
        """See `Part`."""
        return self.bitext.paths

    @property
    def tolerant(self) -> bool:
        """See `Part`."""
        return self.bitext.skip_bad

    def blocks(self) -> Iterator[PairBlock]:
        """See `Part`."""
        return self.bitext.blocks()


@dataclass(frozen=True)
class ShardedBitext(Bitext):
    """A pool in many files, in the order given, with line numbers counted through. Made by `of`.

    Args:
        shards: at least one; the other fields are those of the first.
        counts: pairs of each; counted here on first use if not given (see `distributed.counted`).
    """

    shards: tuple[Bitext, ...] = ()
    counts: tuple[int, ...] = ()

    @classmethod
    def of(cls, shards: Sequence[Bitext]) -> ShardedBitext:
        """A pool of some shards.

        Raises:
            UserError: there is none, or some have an alignment or scores and others not.
        """
        if not shards:
            raise UserError("a pool of no files")
        if len({(shard.aligned, shard.score_names, shard.skip_bad) for shard in shards}) > 1:
            raise UserError("some shards have an alignment or scores, others not", expected="the same for all")
        first = {field.name: getattr(shards[0], field.name) for field in fields(Bitext)}
        return cls(**first, shards=tuple(shards))

    @cached_property
    def shifts(self) -> tuple[int, ...]:
        """How many pairs stand before each shard."""
        return tuple(accumulate(self.counts[:-1] or map(pair_count, self.shards[:-1]), initial=0))

    def blocks(self) -> Iterator[PairBlock]:
        """All pairs; faults that reading finds are named by the lines of their own file."""
        for part in self.parts():
            for block in part.blocks():
                yield replace(block, first_line=block.first_line + part.shift)

    def parts(self) -> Iterator[FilePart]:
        """The shards as parts."""
        return (FilePart(shard, shift) for shard, shift in zip(self.shards, self.shifts, strict=True))


def pair_count(bitext: Bitext) -> int:
    """How many pairs there are."""
    return sum(map(len, bitext.blocks()))


def parts_of(bitext: Bitext, pairs: int = PAIRS) -> Iterator[Part]:
    """The parts of a pool in order: its files, or what is read of a single stream, `pairs` pairs at a time."""
    if isinstance(bitext, ShardedBitext):
        yield from bitext.parts()
        return
    waiting: list[PairBlock] = []
    count = 0
    for block in bitext.blocks():
        while len(block):
            piece = block[: pairs - count]
            block = block[len(piece) :]
            waiting.append(piece.packed())
            count += len(piece)
            if count == pairs:
                yield SentPart(tuple(waiting), bitext.paths, bitext.skip_bad)
                waiting, count = [], 0
    if waiting:
        yield SentPart(tuple(waiting), bitext.paths, bitext.skip_bad)


def checked_blocks(bitext: Bitext, scorer: Scorer, verdicts: Counter[int]) -> Iterator[PairBlock]:
    """All pairs of a pool in order, with its line numbers.

    Args:
        bitext: the pool.
        scorer: tells faults.
        verdicts: is added to as blocks are read.

    Raises:
        UserError: a faulty pair, unless the pool is tolerant, by the line of its own file.
    """
    for part in parts_of(bitext):
        for block in part.blocks():
            found = scorer.score(block).verdicts
            if not part.tolerant:
                refuse_faults(block, found, part.paths)
            verdicts.update(found.tolist())
            yield replace(block, first_line=block.first_line + part.shift)


def read_shards(path: str, *, encoding: str = "utf-8", skip_bad: bool = False) -> ShardedBitext:
    """A pool whose files are listed in a table: source, target and perhaps alignment of a shard a line, with tabs.

    Args:
        path: of the table; files in it are meant from its folder.
        encoding, skip_bad: see `Bitext`.

    Raises:
        UserError: the table is empty, a line has another number of columns, or a file is missing.
    """
    folder = os.path.dirname(os.path.abspath(path))
    shards: list[Bitext] = []
    for number, line in enumerate(read_lines(path), start=1):
        names = line.split("\t")
        if len(names) not in (2, 3) or not all(names):
            raise UserError(
                f"{len(names)} columns",
                path=path,
                line=number,
                expected="source, target and perhaps alignment, separated by tabs",
            )
        files = [os.path.join(folder, name) for name in names]
        missing = next((name for name in files if not os.path.exists(name)), None)
        if missing is not None:
            raise UserError(f"no such file: {missing}", path=path, line=number)
        alignment = files[2] if len(files) > 2 else None
        shards.append(Bitext(files[0], files[1], alignment, encoding=encoding, skip_bad=skip_bad))
    if not shards:
        raise UserError("no shard in the table", path=path, expected="a shard a line")
    return ShardedBitext.of(shards)
