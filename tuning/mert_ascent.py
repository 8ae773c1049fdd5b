"""Hill climbing by exact line searches from one starting point, as Powell's method goes (Och 2003; Powell 1964)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.tuning.line_search import LineSearch

Floats = NDArray[np.float64]

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

    def climb(self, vector: Floats, directions: Floats) -> Summit:
        """From `vector` up, until a round over all directions gains nothing.

        A round takes every coordinate in turn, then `directions`, then the way that the round has led so far.

        Args:
            vector: (c,).
            directions: (r, c) besides the coordinates.
        """
        slopes = [self._project(direction) for direction in directions]
        score, searches = -np.inf, 0
        while True:
            before, began = score, vector
            scores = base = self.fixed + self._project(vector)  # anew each round, so that rounding does not add up
            for direction, slope in self._round(directions, slopes):
                scores, vector, score = self._step(scores, slope, vector, direction, score)
                searches += 1
            if not np.array_equal(vector, began):
                scores, vector, score = self._step(scores, scores - base, vector, vector - began, score)
                searches += 1
            if not score > before + GAIN:
                return Summit(vector, score, searches)

    def _round(self, directions: Floats, slopes: list[Floats]) -> Iterator[tuple[Floats, Floats]]:
        yield from zip(np.eye(len(self.features)), self.features, strict=True)
        yield from zip(directions, slopes, strict=True)

    def _step(
        self, scores: Floats, slope: Floats, vector: Floats, direction: Floats, score: float
    ) -> tuple[Floats, Floats, float]:
        found = self.lines.search(scores, slope)
        if not found.score > score + GAIN:
            return scores, vector, score
        return scores + found.position * slope, vector + found.position * direction, found.score

    def _project(self, vector: Floats) -> Floats:
        """(n,); column by column, so that equal candidates get equal numbers."""
        projected = np.zeros(self.features.shape[1])
        for value, column in zip(vector, self.features, strict=True):
            projected += value * column
        return projected
