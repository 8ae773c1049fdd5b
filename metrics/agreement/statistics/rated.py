"""What people say of c things (translations, or whole systems), and the groups and pairs that statistics look at.

People give each thing a mark, or say of pairs which is better. The one policy for what is missing: a thing counts if
people marked it, and then every metric has to have a score for it; nothing is put in its place.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_PAIRS = 20_000_000  # that are listed one by one; more are only counted


@dataclass(frozen=True, eq=False)
class Pairs:
    """p pairs of things in g groups, each group's side by side.

    Attributes:
        first, second: (p,) places of the two.
        sign: (p,) int8, 1 where people hold the first to be better, -1 the second, 0 neither.
        starts: (g + 1,) where each group begins, and p.
        units: (p,) the segment that a pair is of; None where its two things may be of different ones.
    """

    first: Ints
    second: Ints
    sign: NDArray[np.int8]
    starts: Ints
    units: Ints | None


@dataclass(frozen=True, eq=False)
class Rated:
    """People's side.

    Attributes:
        things: c.
        marks: (c,) finite, higher is better; None where people only compared.
        item: (c,) the segment of each thing, 0 to units - 1; of whole systems all 0.
        units: segments, which resampling draws from.
        systems: S arrays, the places of what each system gave; empty where it is not known.
        compared: the pairs that people compared, in one group; None where they gave marks.
        of_systems: whether the things are whole systems.
        segments: (c, n) where they are, their marks segment by segment, NaN where there is none; None if unknown.
    """

    things: int
    marks: Floats | None
    item: Ints
    units: int
    systems: tuple[Ints, ...] = ()
    compared: Pairs | None = None
    of_systems: bool = False
    segments: Floats | None = None
    _pairs: dict[tuple[str, float], Pairs | None] = field(default_factory=dict, init=False, repr=False)

    def groups(self, average: str) -> tuple[Ints, Ints]:
        """(k,) places, each group's side by side, and (g + 1,) where each begins, and k; `average` as in `AVERAGES`."""
        if average == "none":
            return np.arange(self.things), np.array([0, self.things])
        if average == "item":
            places = np.argsort(self.item, kind="stable")
            parts = np.split(places, np.flatnonzero(np.diff(self.item[places])) + 1)
        else:
            parts = list(self.systems)
        sizes = [len(part) for part in parts]
        return np.concatenate([*parts, np.empty(0, np.int64)]).astype(np.int64), np.cumsum([0, *sizes])

    def pairs(self, average: str, points: float = 0.0) -> Pairs | None:
        """All pairs inside the groups; None if they are more than `MOST_PAIRS`.

        Args:
            average: how things are grouped.
            points: pairs whose marks differ by less are left out.
        """
        key = (average, points)
        if key not in self._pairs:
            self._pairs[key] = self._compared(average) if self.marks is None else self._listed(average, points)
        return self._pairs[key]

    def _compared(self, average: str) -> Pairs:
        assert self.compared is not None
        if average == "none":
            return self.compared
        pairs = self.compared
        units = self.item[pairs.first]
        order = np.argsort(units, kind="stable")
        starts = np.flatnonzero(np.diff(units[order], prepend=-1, append=-1))
        return Pairs(pairs.first[order], pairs.second[order], pairs.sign[order], starts, units[order])

    def _listed(self, average: str, points: float) -> Pairs | None:
        assert self.marks is not None
        places, starts = self.groups(average)
        sizes = np.diff(starts)
        if int((sizes * (sizes - 1) // 2).sum()) > MOST_PAIRS:
            return None
        first, second, counts = [], [], []
        for begin, end in itertools.pairwise(starts):
            one, other = np.triu_indices(end - begin, 1)
            difference = np.abs(self.marks[places[begin + one]] - self.marks[places[begin + other]])
            kept = difference >= points
            first.append(places[begin + one[kept]])
            second.append(places[begin + other[kept]])
            counts.append(int(kept.sum()))
        one, other = (np.concatenate([*parts, np.empty(0, np.int64)]).astype(np.int64) for parts in (first, second))
        sign = np.sign(self.marks[one] - self.marks[other]).astype(np.int8)
        units = self.item[one] if average == "item" else None
        return Pairs(one, other, sign, np.cumsum([0, *counts]), units)


def rated_marks(marks: Floats, item: Ints, systems: Sequence[Ints] = (), units: int | None = None) -> Rated:
    """Of marks (c,); `units` segments if not as many as the last of them says."""
    return Rated(
        len(marks), marks, item, int(item.max(initial=-1)) + 1 if units is None else units, tuple(systems), None
    )


def rated_pairs(first: Ints, second: Ints, sign: NDArray[np.int8], item: Ints, units: int) -> Rated:
    """Of pairs (p,) of things, each pair of one segment; `item` (c,) that of each thing."""
    pairs = Pairs(first, second, sign, np.array([0, len(first)]), item[first])
    return Rated(len(item), None, item, units, (), pairs)
