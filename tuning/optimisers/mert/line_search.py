"""Exact line search (Och 2003): the best point on a line through weight space, for any metric with additive statistics.

Along a line every candidate's score is linear, so each sentence's best candidate changes at few points only (see
`envelope`). Between two neighbouring points of all sentences the corpus score is constant; all of these intervals are
looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Metric
from lasw.tuning.optimisers.mert.envelope import envelopes, intervals
from lasw.tuning.pool import Floats

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
        longest = int(np.diff(starts).max(initial=0))
        self._starts = starts
        self._statistics = np.ascontiguousarray(statistics, dtype=np.float64)
        self._metric = metric
        # Stable, so that float statistics are summed in one order everywhere; with counts the order does not matter.
        self._sorting: Literal["quicksort", "stable"] = (
            "quicksort" if np.issubdtype(statistics.dtype, np.integer) else "stable"
        )
        self._rising = np.empty(longest, dtype=np.int64), np.empty(longest), np.empty(longest)
        self._total = np.empty(statistics.shape[1])
        self._spreads = np.empty(2)
        self._make_room(8 * len(starts))

    def search(self, intercepts: Floats, slopes: Floats, limit: float = math.inf) -> Found:
        """The point with the highest corpus score.

        Where several intervals have it, the one nearest to 0 is taken. The two outer intervals have no middle: there
        the point is a tenth of its position, or the mean length of the others if that is more, behind their one end.

        Args:
            intercepts: (n,) the candidates' scores at position 0.
            slopes: (n,) what a step of 1 adds to them.
            limit: the point is at most so far from 0.
        """
        count = self._points(intercepts, slopes)
        order = np.argsort(self._positions[:count], kind=self._sorting)
        points = (self._positions, self._changes, self._total)
        spread, steepness = self._spreads
        unit = spread / steepness if spread > 0 and steepness > 0 else 1.0
        size = intervals(order, *points, SHORTEST, FARTHEST, unit, limit, self._totals, self._middles)
        scores = self._scores(self._totals[:size])
        best = np.flatnonzero(scores == scores.max())
        chosen = best[np.abs(self._middles[best]).argmin()]
        return Found(float(self._middles[chosen]), float(scores[chosen]), int(size))

    def _points(self, intercepts: Floats, slopes: Floats) -> int:
        while True:
            points = (self._positions, self._changes, self._total, self._spreads)
            count = int(envelopes(self._starts, intercepts, slopes, self._statistics, self._rising, *points))
            if count <= len(self._positions):
                return count
            self._make_room(2 * count)

    def _make_room(self, points: int) -> None:
        k = len(self._total)
        self._positions, self._changes = np.empty(points), np.empty((points, k))
        self._totals, self._middles = np.empty((points + 1, k)), np.empty(points + 1)

    def _scores(self, totals: Floats) -> Floats:
        blocks = [self._metric.corpus_scores(totals[k : k + _BLOCK]) for k in range(0, len(totals), _BLOCK)]
        scores = np.concatenate(blocks)
        return np.where(np.isnan(scores), -np.inf, scores)
