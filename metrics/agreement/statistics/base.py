"""What a statistic is, and what it says of one metric."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.correlation import Correlation
from lasw.metrics.agreement.statistics.rated import Rated

SEGMENTS, SYSTEMS = "segments", "systems"
AVERAGES = ("none", "item", "system")

Floats = NDArray[np.float64]
Swaps = Callable[[int, int], Floats]  # samples and seed to (samples, M, M) differences under exchange


@dataclass(frozen=True)
class Asked:
    """A statistic and how it is to be taken.

    Attributes:
        name: in the registry.
        average: ``none``: over everything at once; ``item``, ``system``: in every segment, in every system, then the
            mean of those that have it; empty: as is customary for the statistic.
        points: how far apart marks have to be for a pair to count; of ``darr``.
    """

    name: str
    average: str = ""
    points: float = 25.0


@dataclass(frozen=True, eq=False)
class Values:
    """What one metric says of rated things.

    Attributes:
        metric: (c,) scores, higher is better.
        segments: (S, n) scores of the segments of S systems, where things are systems and these are known.
    """

    metric: Floats
    segments: Floats | None = None


@dataclass(frozen=True, eq=False)
class Finding:
    """A statistic of one metric.

    Attributes:
        correlation: its value and how many things (or pairs of them) it is of.
        groups: how many groups had it, which it is the mean of.
        details: further numbers, by name.
    """

    correlation: Correlation
    groups: int = 1
    details: dict[str, float] = field(default_factory=dict)


class Statistic(ABC):
    """One kind of agreement; has no state."""

    levels: ClassVar[tuple[str, ...]] = (SEGMENTS, SYSTEMS)
    average: ClassVar[str] = "none"  # what is customary for segments
    of_pairs: ClassVar[bool] = False  # whether it can be had of preferences
    resamples: ClassVar[bool] = True  # whether it can be had of resampled segments

    @abstractmethod
    def find(self, values: Values, rated: Rated, asked: Asked) -> Finding:
        """Its value; `asked.average` is one of `AVERAGES`."""

    @abstractmethod
    def resampled(self, values: Values, rated: Rated, asked: Asked, counts: Floats) -> Floats:
        """(b,) values where each segment is there `counts[b, u]` times; NaN where there is none."""

    @abstractmethod
    def swaps(self, several: Sequence[Values], rated: Rated, asked: Asked) -> Swaps | None:
        """Differences between M metrics after exchanging their scores at random; None where there is no such test.

        `swaps(samples, seed)[b, i, j]` is the statistic of metric i less that of metric j where every thing (or pair of
        things) changed hands between the two with probability one half, the same ones for all pairs of metrics.
        """
