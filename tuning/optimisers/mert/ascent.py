"""Hill climbing by exact line searches from one starting point, as Powell's method goes (Och 2003; Powell 1964)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lasw.tuning.optimisers.mert.envelope import project
from lasw.tuning.optimisers.mert.line_search import LineSearch
from lasw.tuning.pool import Floats

# Scores are of the order of 1, and no change of one candidate changes them by less than this.
GAIN = 1e-9


@dataclass(frozen=True)
class Summit:
    """Where a climb ended.

    Attributes:
        point: (c,) the weights of the tuned columns.
        score: the corpus score there.
        searches: line searches made.
    """

    point: Floats
    score: float
    searches: int


@dataclass(frozen=True)
class Ascent:
    """Climbs to points from which no direction it tries leads higher.

    Attributes:
        lines: searches on the pool's lines.
        features: (c, n) the tuned columns.
        fixed: (n,) what the other columns add to the scores.
    """

    lines: LineSearch
    features: Floats
    fixed: Floats

    def climb(self, start: Floats, directions: Floats) -> Summit:
        """From `start` up, until every direction in turn has gained nothing.

        A round takes each coordinate, then `directions`, then the way that the round itself has led.

        Args:
            start: (c,).
            directions: (r, c) besides the coordinates.
        """
        ways = [*np.eye(len(self.features)), *directions]
        slopes = [*self.features, *map(self._project, directions)]
        point, score, searches, in_vain = start, -np.inf, 0, 0
        while True:
            began, scores = point, self._scores(point)  # anew each round, so that rounding does not add up
            base = scores
            for k in range(len(ways) + 1):
                if k == len(ways):
                    if np.array_equal(point, began):
                        continue
                    way, slope = point - began, scores - base
                else:
                    way, slope = ways[k], slopes[k]
                found = self.lines.search(scores, slope)
                searches += 1
                if found.score > score + GAIN:
                    point, scores = point + found.position * way, scores + found.position * slope
                    score, in_vain = found.score, int(k < len(ways))  # along this way there is nothing left
                elif k < len(ways):
                    in_vain += 1
                if in_vain >= len(ways):
                    return Summit(point, score, searches)

    def _scores(self, point: Floats) -> Floats:
        return self.fixed + self._project(point)

    def _project(self, vector: Floats) -> Floats:
        projected = np.empty(self.features.shape[1])
        project(self.features, np.ascontiguousarray(vector), projected)
        return projected
