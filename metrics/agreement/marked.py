"""Systems whose segments people gave marks, and what metrics said of them elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Evaluation
from lasw.metrics.text import References


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

    def __repr__(self) -> str:
        marks = np.count_nonzero(~np.isnan(self.marks))
        return (
            f"MarkedSystems({self.name!r}, {len(self.systems)} systems, {self.marks.shape[1]} segments, {marks} marks)"
        )

    @classmethod
    def from_lines(
        cls,
        references: Sequence[str] | References,
        systems: Mapping[str, Sequence[str]],
        marks: Mapping[str, Sequence[float]],
        name: str = "",
    ) -> MarkedSystems:
        """Of strings and lists.

        Args:
            references: n lines; more than one reference by `References.from_lines`.
            systems: n translations each, by the system's name.
            marks: n each, NaN where there is none.
            name: of the set.

        Raises:
            UserError: a system has another number of lines than the references.
            ValueError: marks of other systems, or another number of them.
        """
        names = tuple(sorted(systems))
        evaluation = Evaluation.from_lines(references, *(systems[one] for one in names))
        if sorted(marks) != list(names) or any(len(row) != len(evaluation.references) for row in marks.values()):
            raise ValueError("expected a mark a segment, or NaN, for each of the systems")
        return cls(name, names, evaluation, np.array([marks[one] for one in names], dtype=np.float64))
