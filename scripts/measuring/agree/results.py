"""Metrics' agreement with people on several sets, as it is printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lasw.metrics import LEVEL, SEGMENTS, Agreement, Correlation, Key, Significance, cluster_ranks, mean_ranks

_GROUPED = {"none": "", "item": "within segments, ", "system": "within systems, "}


@dataclass(frozen=True)
class Results:
    """M metrics on F sets of judgements.

    Attributes:
        labels, specs, signatures: M, what tables call the metrics, what was asked for, and all their settings.
        better: M, ``lower`` for an error rate, else ``higher``; correlations are those of what is better if higher.
        names: F, of the sets.
        agreements: F lists of M.
        tau: the year of Kendall's tau; None for direct assessment.
        of_systems: what corpus scores are correlated with.
        of_segments: what sentence scores are.
        wins_by: how systems' scores were made of preferences.
        without_score: F, the systems that people gave no score.
        judges: F, how far judges agree, by kind.
        significance: F, or none where it was not asked for.
        coverage: F lists of what words have vectors, of as many metrics as were not trained here.
    """

    labels: Sequence[str]
    specs: Sequence[str]
    signatures: Sequence[str]
    better: Sequence[str]
    names: Sequence[str]
    agreements: Sequence[Sequence[Agreement]]
    tau: int | None
    of_systems: str
    of_segments: str
    without_score: Sequence[Sequence[str]]
    wins_by: str = "share"
    judges: Sequence[dict[str, Correlation]] = ()
    significance: Sequence[dict[Key, Significance]] = ()
    coverage: Sequence[Sequence[list[dict[str, Any]]]] = ()

    @property
    def level(self) -> float:
        """What p-value is significant."""
        return LEVEL

    def ranks(self, f: int, key: Key) -> list[int | None]:
        """The clusters that the metrics are in on one set, 1 being best."""
        return cluster_ranks([agreement[key] for agreement in self.agreements[f]], self.significance[f][key].p_values)

    def mean_ranks(self) -> list[float | None]:
        """Over all sets and statistics that they have."""
        return mean_ranks([self.ranks(f, key) for f, column in enumerate(self.significance) for key in column])

    def measured(self) -> list[Key]:
        """What there is of at least one set."""
        return list(
            dict.fromkeys(key for column in self.agreements for agreement in column for key in agreement.measures)
        )

    def title(self, key: Key) -> str:
        """Of a table."""
        level, coefficient = key
        if coefficient == "kendall":
            return f"segments: Kendall's tau, WMT{self.tau}"
        name = coefficient.title() if coefficient in ("pearson", "spearman") else coefficient
        if level == SEGMENTS:
            return f"segments: {name}, {_GROUPED[self._average(key)]}sentence score with {self.of_segments}"
        return f"systems: {name}, corpus score with {self.of_systems}"

    def _average(self, key: Key) -> str:
        return next(a.measures[key].average for column in self.agreements for a in column if key in a.measures)


def p_of_difference(significance: Significance, k: int) -> float | None:
    """Of metric k differing from the first as it does; None where it does not differ."""
    both = [float(significance.p_values[k, 0]), float(significance.p_values[0, k])]
    return None if math.isnan(both[0]) else min(both)
