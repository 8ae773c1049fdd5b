"""A pool in parts that are scored on their own, here or by workers: the files of many shards, or blocks of a stream."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import accumulate

from lasw.metrics import UserError, read_lines
from lasw.selection.pool.bitext import Bitext, PairBlock
from lasw.selection.pool.scored import Scored, Scorer, refuse_faults

PAIRS = 20_000  # of a stream, that are sent together: some megabytes


@dataclass(frozen=True)
class Part:
    """Consecutive pairs of a pool; can be sent to another process.

    Args:
        bitext: the files.
        shift: pairs of the pool before these files.
        block: pairs that were read already; without, all of the files are read where they are scored.
    """

    bitext: Bitext
    shift: int = 0
    block: PairBlock | None = None

    def scored(self, scorer: Scorer) -> Iterator[tuple[PairBlock, Scored]]:
        """Blocks of pairs with the pool's line numbers, and what the scorer says of them.

        Raises:
            UserError: a faulty pair, by the line of its own file, unless faulty ones are to be skipped.
        """
        for block in self.bitext.blocks() if self.block is None else (self.block,):
            numbered = replace(block, first_line=block.first_line + self.shift)
            scored = scorer.score(numbered)
            if not self.bitext.skip_bad:
                refuse_faults(block, scored.verdicts, self.bitext.paths)
            yield numbered, scored


@dataclass(frozen=True)
class ShardedBitext(Bitext):
    """A pool in many files, in the order given, with line numbers counted through. Made by `of`.

    Args:
        shards: at least one; the other fields are those of the first.
        counts: pairs of each; counted here on first use if not given (see `lasw.selection.counted`).
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

    @property
    def bitexts(self) -> tuple[Bitext, ...]:
        """The shards."""
        return self.shards

    @cached_property
    def shifts(self) -> tuple[int, ...]:
        """How many pairs stand before each shard."""
        return tuple(accumulate(self.counts[:-1] or map(pair_count, self.shards[:-1]), initial=0))

    def blocks(self) -> Iterator[PairBlock]:
        """All pairs; faults that reading finds are named by the lines of their own file."""
        for shard, shift in zip(self.shards, self.shifts, strict=True):
            for block in shard.blocks():
                yield replace(block, first_line=block.first_line + shift)


def pair_count(bitext: Bitext) -> int:
    """How many pairs there are."""
    return sum(map(len, bitext.blocks()))


def parts_of(bitext: Bitext, pairs: int = PAIRS) -> Iterator[Part]:
    """The parts of a pool in order: its files, or blocks of a single stream, at most `pairs` pairs each."""
    if isinstance(bitext, ShardedBitext):
        yield from map(Part, bitext.shards, bitext.shifts)
        return
    for block in bitext.blocks():
        for start in range(0, len(block), pairs):
            yield Part(bitext, 0, block[start : start + pairs])


def scored_blocks(bitext: Bitext, scorer: Scorer) -> Iterator[tuple[PairBlock, Scored]]:
    """All pairs of a pool in order, with its line numbers, and what a scorer says of them.

    Raises:
        UserError: as `Part.scored`.
    """
    for part in parts_of(bitext):
        yield from part.scored(scorer)


def read_shards(path: str, *, encoding: str = "utf-8", skip_bad: bool = False) -> ShardedBitext:
    """A pool whose files are listed in a table: source, target and perhaps alignment of a shard a line, with tabs.

    Args:
        path: of the table; files in it are meant from its folder.
        encoding: see `Bitext`.
        skip_bad: see `Bitext`.

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
