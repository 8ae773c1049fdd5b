"""What `lasw agree` says of all sets together: a metric's mean, or share of all pairs, and its lead over the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Agreement, Interval, Key, Significance, confidence

_ENOUGH = 0.9  # of the samples must be defined in all sets


@dataclass(frozen=True)
class OverSets:
    """One metric and statistic over all sets.

    Attributes:
        value: the mean, or of `pooled` statistics the share of all pairs.
        n: pairs; None of a mean.
        interval: of 95 %, by the bootstrap within every set; None without significance.
        lead: of the metric over the first, with its interval; None of the first itself.
    """

    value: float
    n: int | None
    interval: Interval | None = None
    lead: float | None = None
    lead_interval: Interval | None = None

    def __str__(self) -> str:
        text = f"{self.value:.3f}"
        if self.interval is not None:
            text += f" ± {self.interval.radius:.3f}"
        if self.lead is not None and self.lead_interval is not None:
            text += f" ({self.lead:+.3f} ± {self.lead_interval.radius:.3f})"
            text += "*" if self.lead_interval.low * self.lead_interval.high > 0 else " "
        return text

    def as_json(self) -> dict[str, Any]:
        """All numbers, with both ends of intervals."""
        return {
            "value": self.value,
            **({"n": self.n} if self.n is not None else {}),
            **_ends("", self.interval),
            **({"lead": self.lead} if self.lead_interval is not None else {}),
            **_ends("lead_", self.lead_interval),
        }


def _ends(prefix: str, interval: Interval | None) -> dict[str, float]:
    return {} if interval is None else {f"{prefix}low": interval.low, f"{prefix}high": interval.high}


def over_sets(
    agreements: Sequence[Sequence[Agreement]], significance: Sequence[Mapping[Key, Significance]], k: int, key: Key
) -> OverSets | None:
    """Metric k over all sets that have the statistic; None if one of these has no value, or there is but one set.

    Args:
        agreements: of each set, of each metric.
        significance: of each set, or of none.
        k: of the metric.
        key: of the statistic.
    """
    parts = [column[k][key] for column in agreements if key in column[k].measures]
    values = [x.value for x in parts if x.value is not None]
    if len(agreements) < 2 or not parts or len(values) < len(parts):
        return None
    pooled = key[1] == "pairwise-accuracy"
    n = np.array([x.n if pooled else 1 for x in parts], dtype=np.float64)
    weights = n / n.sum()
    value, total = float(weights @ values), int(n.sum()) if pooled else None
    if not significance:
        return OverSets(value, total)
    ours, firsts = (weights @ np.stack([x[key].samples[m] for x in significance if key in x]) for m in (k, 0))
    first = over_sets(agreements, (), 0, key) if k else None
    if first is None:
        return OverSets(value, total, _interval(ours))
    return OverSets(value, total, _interval(ours), value - first.value, _interval(ours - firsts))


def _interval(samples: NDArray[np.float64]) -> Interval | None:
    defined = samples[~np.isnan(samples)]
    return confidence(defined) if len(defined) and len(defined) >= _ENOUGH * len(samples) else None
