"""Systems whose segments people gave marks, and what metrics said of them elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Evaluation


@dataclass(frozen=True, eq=False)
class StoredMetric:
    """Scores that a metric gave elsewhere.

    Attributes:
        name: of the metric.
        segments: (S, n); None if it gave none.
        systems: (S,); None if it gave none, which their segments' mean stands for.
    """

    name: str
    segments: NDArray[np.float64] | None
    systems: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class MarkedSystems:
    """S systems over n segments, some of which have marks.

    Attributes:
        name: of the set.
        systems: S names, in alphabetical order.
        evaluation: their translations of the n segments.
        marks: (S, n) people's, NaN where there is none.
        given: (S,) people's scores of the systems, NaN for one without; None if they are the mean marks.
        stored: metrics that scored these systems elsewhere.
        notes: what was left out, a line each.
    """

    name: str
    systems: tuple[str, ...]
    evaluation: Evaluation
    marks: NDArray[np.float64]
    given: NDArray[np.float64] | None = None
    stored: tuple[StoredMetric, ...] = ()
    notes: tuple[str, ...] = ()
