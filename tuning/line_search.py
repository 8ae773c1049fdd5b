"""Exact line search (Och 2003): the best point on a line through weight space, for any metric with additive statistics.

Along a line every candidate's score is linear, so each sentence's best candidate changes at few points only (see
`envelope`). Between two neighbouring points of all sentences the corpus score is constant; all of these intervals are
looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Metric
from lasw.tuning.envelope import accumulate, envelopes

Floats = NDArray[np.float64]

# In units of the line (range of intercepts by range of slopes): an interval that is shorter, absolutely or in relation
# to its position, is rounding, and whatever weights were put in it might not be in it any more. Farther out than
# `FARTHEST` the starting point has no say in the scores.
SHORTEST = 1e-11
FARTHEST = 1e9
_BLOCK = 1 << 14  # totals that are scored at once: bounds the memory


@dataclass(frozen=True)
class Found:
    """The best point of a line.

    Attributes:
        position: in the best interval's middle.
        score: the corpus score there.
        intervals: how many intervals were compared.
    """

    position: float
    score: float
    intervals: int


class LineSearch:
    """Searches along lines through one pool.

    Args:
        starts: (S + 1,) where each sentence's candidates begin; every sentence has at least one.
        statistics: (n, k) the metric's, of every candidate.
        metric: what is maximised, as corpus score.

    Sums are kept in float64: exact for counts, and for other statistics as exact as the statistics are.
    """

    def __init__(self, starts: NDArray[np.int64], statistics: NDArray[Any], metric: Metric) -> None:
        n, k = statistics.shape
        self._starts = starts
        self._statistics = np.ascontiguousarray(statistics, dtype=np.float64)
        self._metric = metric
        self._kept = np.empty(int(np.diff(starts).max(initial=0)), dtype=np.int64)
        self._positions = np.empty(n)
        self._before = np.empty(n, dtype=np.int64)
        self._after = np.empty(n, dtype=np.int64)
        self._first = np.empty(k)
        self._spreads = np.empty(2)

    def search(self, intercepts: Floats, slopes: Floats) -> Found:
        """The point with the highest corpus score.

        Where several intervals have it, the one nearest to 0 is taken. The two outer intervals have no middle: there
        the point is a tenth of its position, or the mean length of the others if that is more, behind their one end.

        Args:
            intercepts: (n,) the candidates' scores at position 0.
            slopes: (n,) what a step of 1 adds to them.
        """
        points = (self._kept, self._positions, self._before, self._after, self._first, self._spreads)
        count = int(envelopes(self._starts, intercepts, slopes, self._statistics, *points))
        # Stable, so that float statistics are summed in one order everywhere.
        order = np.argsort(self._positions[:count], kind="stable")
        totals = np.empty((count + 1, len(self._first)))
        totals[0] = self._first
        accumulate(self._statistics, order, self._before, self._after, totals)
        positions = self._positions[order]
        unit = self._unit()
        first, last = np.searchsorted(positions, [-FARTHEST * unit, FARTHEST * unit])
        positions, totals = positions[first:last], totals[first : last + 1]
        wide = _wide(positions, unit)
        middles = _middles(positions, unit)[wide]
        scores = self._scores(totals[wide])
        best = np.flatnonzero(scores == scores.max())
        chosen = best[np.abs(middles[best]).argmin()]
        return Found(float(middles[chosen]), float(scores[chosen]), len(scores))

    def score(self, places: NDArray[np.int64]) -> float:
        """The corpus score of the candidates `places`, one a sentence."""
        return float(self._scores(self._statistics[places].sum(axis=0)[None])[0])

    def _unit(self) -> float:
        """Which step changes the scores by as much as they differ."""
        intercepts, slopes = self._spreads
        return float(intercepts / slopes) if intercepts > 0 and slopes > 0 else 1.0

    def _scores(self, totals: Floats) -> Floats:
        blocks = [self._metric.corpus_scores(totals[k : k + _BLOCK]) for k in range(0, len(totals), _BLOCK)]
        scores = np.concatenate(blocks)
        return np.where(np.isnan(scores), -np.inf, scores)


def _wide(positions: Floats, unit: float) -> NDArray[np.bool_]:
    """(m + 1,) which of the intervals between m points are more than rounding; the outer ones always are."""
    wide = np.ones(len(positions) + 1, dtype=bool)
    wide[1:-1] = np.diff(positions) > SHORTEST * np.maximum(np.abs(positions[1:]), unit)
    return wide


def _middles(positions: Floats, unit: float) -> Floats:
    """(m + 1,) a point in each interval."""
    if not len(positions):
        return np.zeros(1)
    left, right = positions[0], positions[-1]
    mean = (right - left) / (len(positions) - 1) if right > left else unit
    outer = left - max(mean, 0.1 * abs(left)), right + max(mean, 0.1 * abs(right))
    return np.concatenate([outer[:1], 0.5 * (positions[:-1] + positions[1:]), outer[1:]])
