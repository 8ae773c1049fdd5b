"""The best pairs of a pool in bounded memory: all that can still be selected, and a count of everything else.

Pairs are ranked by score, highest first, of equal ones the first in the input. A collection keeps the shortest start of
that ranking whose source words reach a budget; what ranks behind it is counted and dropped. Whatever order, blocks or
shards the pairs come in, the same ones are kept: a pair that is among the best of the pool is among the best of its
shard. Where a selection needs to go deeper than the budget, the pool is read again for the pairs behind the last one
kept (`after`), so nothing is lost.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lasw.selection.lines import Lines
from lasw.selection.pool import LENGTH, OK, PairBlock, Scored

Rank = tuple[float, int]
"""Score and line number of a pair."""

BIN = 0.05  # width of the histogram's bins
_MOST_BINS = 4000  # scores further out share the last bin
_FRACTION = 2.0**40  # features are added up as whole multiples of its inverse: sums that no order of adding changes
REJECTED = 1000  # of so many pairs it is kept why they were rejected


@dataclass(frozen=True)
class Candidates:
    """m pairs with all that a selection needs of them.

    Attributes:
        line: (m,) int64, 1-based numbers.
        score: (m,) float64.
        lengths: (m, 2) int64, tokens of source and target.
        features: (m, d) float64.
        source, target: m lines.
        alignment: m lines, or None.
    """

    line: NDArray[np.int64]
    score: NDArray[np.float64]
    lengths: NDArray[np.int64]
    features: NDArray[np.float64]
    source: Lines
    target: Lines
    alignment: Lines | None

    def __len__(self) -> int:
        return len(self.line)

    def take(self, rows: NDArray[np.integer]) -> Candidates:
        """The candidates `rows` (k,), in that order."""
        return Candidates(
            self.line[rows],
            self.score[rows],
            self.lengths[rows],
            self.features[rows],
            self.source.take(rows),
            self.target.take(rows),
            None if self.alignment is None else self.alignment.take(rows),
        )

    def rank(self) -> Rank:
        """Of the last candidate."""
        return float(self.score[-1]), int(self.line[-1])

    @classmethod
    def empty(cls) -> Candidates:
        """No candidates."""
        none = np.empty(0)
        lines = Lines.of([])
        return cls(none.astype(np.int64), none, np.empty((0, 2), dtype=np.int64), np.empty((0, 0)), lines, lines, lines)

    @classmethod
    def joined(cls, parts: list[Candidates]) -> Candidates:
        """The candidates of all parts (at least one)."""
        alignments = [part.alignment for part in parts if part.alignment is not None]
        return cls(
            np.concatenate([part.line for part in parts]),
            np.concatenate([part.score for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.features for part in parts]),
            Lines.joined([part.source for part in parts]),
            Lines.joined([part.target for part in parts]),
            Lines.joined(alignments) if len(alignments) == len(parts) else None,
        )


@dataclass
class Profile:
    """Counts over a pool, the same in whatever order it is read.

    Attributes:
        pairs, words: all pairs, and the source words of the good ones.
        verdicts: pairs by verdict (see `scored.REASONS`).
        histogram: candidates by score: bin k holds [k, k + 1) * BIN.
        sums: of each feature over the candidates, in units of 2^-40.
        filtered: (line, verdict, source tokens, target tokens) of the first `REJECTED` pairs that are no candidates.
    """

    pairs: int = 0
    words: int = 0
    verdicts: Counter[int] = field(default_factory=Counter)
    histogram: Counter[int] = field(default_factory=Counter)
    sums: list[int] = field(default_factory=list)
    filtered: list[tuple[int, int, int, int]] = field(default_factory=list)

    def add(self, block: PairBlock, scored: Scored) -> None:
        """Count the pairs of a block."""
        self.pairs += len(block)
        good = scored.verdicts == OK
        self.words += int(scored.lengths[scored.verdicts <= LENGTH, 0].sum())
        values, counts = np.unique(scored.verdicts, return_counts=True)
        self.verdicts.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
        values, counts = np.unique(score_bins(scored.score[good]), return_counts=True)
        self.histogram.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
        self.sums = _added(self.sums, _units(scored.features[good]))
        if len(self.filtered) < REJECTED or block.first_line < self.filtered[-1][0]:
            rows = np.flatnonzero(~good)[:REJECTED]
            lines = (rows + block.first_line).tolist()
            facts = zip(lines, scored.verdicts[rows].tolist(), *scored.lengths[rows].T.tolist(), strict=True)
            self.filtered = sorted([*self.filtered, *facts])[:REJECTED]

    def merge(self, other: Profile) -> None:
        """Add the counts of another part of the pool."""
        self.pairs += other.pairs
        self.words += other.words
        self.verdicts.update(other.verdicts)
        self.histogram.update(other.histogram)
        self.sums = _added(self.sums, other.sums)
        self.filtered = sorted(self.filtered + other.filtered)[:REJECTED]

    @property
    def candidates(self) -> int:
        """How many pairs can be selected."""
        return self.verdicts[OK]

    @property
    def faults(self) -> int:
        """How many pairs are faulty."""
        return sum(count for verdict, count in self.verdicts.items() if verdict > LENGTH)

    def means(self) -> list[float]:
        """Mean of each feature over the candidates; none without candidates."""
        return [units / _FRACTION / self.candidates for units in self.sums] if self.candidates else []


class Collection:
    """The best candidates of what was added so far, and the profile of all.

    Args:
        budget: source words that the candidates kept must reach.
        after: only pairs that rank behind this one are candidates for keeping (all are counted).

    Attributes:
        profile: of everything added.
        dropped: candidates that were counted but not kept, those up to `after` not included.
    """

    def __init__(self, budget: int, after: Rank | None = None) -> None:
        self.budget = budget
        self.after = after
        self.profile = Profile()
        self.dropped = 0
        self._parts: list[Candidates] = []
        self._words = 0
        self._last: Rank | None = None  # rank of the worst kept, once the budget has been reached

    def add(self, block: PairBlock, scored: Scored) -> None:
        """Take the pairs of a block."""
        self.profile.add(block, scored)
        good = scored.verdicts == OK
        if self.after is not None:
            good &= ~_up_to(self.after, scored.score, block)
        rows = np.flatnonzero(good & _up_to(self._last, scored.score, block)) if self._last else np.flatnonzero(good)
        self.dropped += int(np.count_nonzero(good)) - len(rows)
        if len(rows):
            facts = block.line_numbers, scored.score, scored.lengths, scored.features
            self._keep(Candidates(*facts, block.source, block.target, block.alignment).take(rows))

    def part(self) -> Collection:
        """An empty collection to be filled elsewhere and merged into this one."""
        part = Collection(self.budget, self.after)
        part._last = self._last  # what ranks behind it cannot be among the best any more
        return part

    def merge(self, other: Collection) -> None:
        """Take what another part of the pool has kept, with the same budget and `after`.

        Raises:
            ValueError: they differ in one of the two.
        """
        if (other.budget, other.after) != (self.budget, self.after):
            raise ValueError("collections with different budgets or starts cannot be merged")
        self.profile.merge(other.profile)
        self.dropped += other.dropped
        for part in other._parts:
            self._keep(part)

    def __getstate__(self) -> dict[str, object]:
        self._prune()  # what is behind the budget does not go to another process
        return self.__dict__

    def ranked(self) -> Candidates | None:
        """What is kept, best first; None if there is nothing."""
        self._prune()
        return self._parts[0] if self._parts else None

    def _keep(self, part: Candidates) -> None:
        self._parts.append(part)
        self._words += int(part.lengths[:, 0].sum())
        if self._words >= 2 * self.budget + 1:
            self._prune()

    def _prune(self) -> None:
        if not self._parts:
            return
        whole = Candidates.joined(self._parts)
        order = np.lexsort((whole.line, -whole.score))  # from the best to the worst
        reached = np.cumsum(whole.lengths[order, 0])
        kept = int(np.searchsorted(reached, self.budget)) + 1
        self.dropped += max(0, len(order) - kept)
        whole = whole.take(order[:kept])
        self._parts = [whole]
        self._words = int(reached[len(whole) - 1])
        if self._words >= self.budget:
            self._last = whole.rank()


def score_bins(score: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) bins of the histogram that n scores fall into."""
    return np.asarray(np.clip(np.floor(score / BIN), -_MOST_BINS, _MOST_BINS).astype(np.int64))


def _units(features: NDArray[np.float64]) -> list[int]:
    """Sum of each column in units of 2^-40."""
    if np.abs(features).max(initial=0.0) * len(features) < 1 << 22:
        return [int(units) for units in np.rint(features * _FRACTION).astype(np.int64).sum(axis=0)]
    return [sum(round(value * _FRACTION) for value in column) for column in features.T.tolist()]


def _up_to(rank: Rank, score: NDArray[np.float64], block: PairBlock) -> NDArray[np.bool_]:
    """(n,) which pairs rank no later than `rank`."""
    better: NDArray[np.bool_] = (score > rank[0]) | ((score == rank[0]) & (block.line_numbers <= rank[1]))
    return better


def _added(sums: list[int], more: list[int]) -> list[int]:
    return [a + b for a, b in zip(sums, more, strict=True)] if sums and more else list(sums or more)
