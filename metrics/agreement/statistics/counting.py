"""How a metric orders the pairs that people ordered: five kinds, counted by group and by segment.

The kinds, in this order: the metric orders the pair as people do; the other way round; only the metric has a tie; only
people have one; both have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.statistics.rated import Pairs, Rated
from lasw.metrics.kernels import borrowing, nested

Floats = NDArray[np.float64]
KINDS = 5
CONCORDANT, DISCORDANT, METRIC_TIES, PEOPLE_TIES, BOTH_TIES = range(KINDS)
_MOST_STEPS = 20_000_000_000  # of a resampling over pairs of different segments


@dataclass(frozen=True, eq=False)
class Orders:
    """The pairs of one metric.

    Attributes:
        pairs: that people ordered.
        kind: (p,) of each.
    """

    pairs: Pairs
    kind: NDArray[np.int8]

    def by_group(self) -> Floats:
        """(g, 5) how many of each kind."""
        groups = np.repeat(np.arange(len(self.pairs.starts) - 1), np.diff(self.pairs.starts))
        cells = groups * KINDS + self.kind
        return _counted(cells, len(self.pairs.starts) - 1)

    def by_unit(self, units: int) -> Floats:
        """(units, 5) of pairs that are each of one segment."""
        assert self.pairs.units is not None
        return _counted(self.pairs.units * KINDS + self.kind, units)


def orders(metric: Floats, pairs: Pairs, epsilon: float = 0.0) -> Orders:
    """Kinds of the pairs; scores (c,) that differ by no more than `epsilon` are a tie."""
    difference = metric[pairs.first] - metric[pairs.second]
    tied = np.abs(difference) <= epsilon
    kind = np.where(np.sign(difference) == pairs.sign, CONCORDANT, DISCORDANT)
    kind = np.where(pairs.sign == 0, np.where(tied, BOTH_TIES, PEOPLE_TIES), np.where(tied, METRIC_TIES, kind))
    return Orders(pairs, kind.astype(np.int8))


def counted(metric: Floats, rated: Rated, average: str, points: float) -> Floats:
    """(g, 5) of pairs too many to list."""
    places, starts = rated.groups(average)
    assert rated.marks is not None
    out = np.zeros((len(starts) - 1, KINDS), dtype=np.int64)
    _count(metric[places], rated.marks[places], starts, points, out)
    return out.astype(np.float64)


def resampled(order: Orders, rated: Rated, counts: Floats) -> Floats | None:
    """(b, g, 5) where each segment is there `counts[b, u]` times, pairs of one and the same one left out.

    None where it would take too long.
    """
    if len(counts) * len(order.kind) > _MOST_STEPS:
        return None
    out = np.zeros((len(counts), len(order.pairs.starts) - 1, KINDS))
    first, second = rated.item[order.pairs.first], rated.item[order.pairs.second]
    _weighted(order.kind, order.pairs.starts, first, second, counts, out)
    return out


def _counted(cells: NDArray[np.int64], rows: int) -> Floats:
    return np.bincount(cells, minlength=rows * KINDS).reshape(rows, KINDS).astype(np.float64)


@nested
def _kind(difference, of_marks):  # type: ignore[no-untyped-def]
    if of_marks == 0.0:
        return BOTH_TIES if difference == 0.0 else PEOPLE_TIES
    if difference == 0.0:
        return METRIC_TIES
    return CONCORDANT if (difference > 0.0) == (of_marks > 0.0) else DISCORDANT


@borrowing
def _count(metric, marks, starts, points, out):  # type: ignore[no-untyped-def]
    """Kernel of `counted`."""
    for g in range(starts.shape[0] - 1):
        for i in range(starts[g], starts[g + 1]):
            for j in range(i + 1, starts[g + 1]):
                of_marks = marks[i] - marks[j]
                if abs(of_marks) >= points:
                    out[g, _kind(metric[i] - metric[j], of_marks)] += 1


@borrowing
def _weighted(kind, starts, first, second, counts, out):  # type: ignore[no-untyped-def]
    """Kernel of `resampled`."""
    for b in range(counts.shape[0]):
        for g in range(starts.shape[0] - 1):
            for p in range(starts[g], starts[g + 1]):
                out[b, g, kind[p]] += counts[b, first[p]] * counts[b, second[p]]


def hybrid_counts(first: Floats, second: Floats, marks: Floats, kept: NDArray[np.uint8]) -> NDArray[np.int64]:
    """(b, 2, 5) kinds of all pairs of c things under both hybrids of two metrics.

    Args:
        first, second: (c,) scores of the two, on one scale.
        marks: (c,) people's.
        kept: (b, c) whether each metric keeps its score of the thing.
    """
    out = np.zeros((len(kept), 2, KINDS), dtype=np.int64)
    _hybrids(first, second, marks, kept, out)
    return out


@borrowing
def _hybrids(first, second, marks, kept, out):  # type: ignore[no-untyped-def]
    """Kernel of `hybrid_counts`."""
    for b in range(kept.shape[0]):
        for i in range(marks.shape[0]):
            one, other = (first[i], second[i]) if kept[b, i] else (second[i], first[i])
            for j in range(i + 1, marks.shape[0]):
                a, c = (first[j], second[j]) if kept[b, j] else (second[j], first[j])
                of_marks = marks[i] - marks[j]
                out[b, 0, _kind(one - a, of_marks)] += 1
                out[b, 1, _kind(other - c, of_marks)] += 1
