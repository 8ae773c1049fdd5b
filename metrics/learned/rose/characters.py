"""Character n-grams as features of ROSE, which has none in Song (2015): they see words that differ by an ending."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Metric
from lasw.metrics.registry import metric
from lasw.metrics.text import Corpus, References

MOST_CHARACTERS = 20


@dataclass(frozen=True)
class CharacterFeatures:
    """Precision and recall of character n-grams of 1 to `orders` characters, as chrF counts them.

    White space is no character; an n-gram counts at most as often as the reference has it; of several references the
    one with the best chrF counts. A text too short for an order has 0 there.

    Args:
        orders: 0 for no features.
    """

    orders: int

    @property
    def names(self) -> tuple[str, ...]:
        """Precisions by order, then recalls."""
        return tuple(f"char-{kind}{n}" for kind in ("precision", "recall") for n in range(1, self.orders + 1))

    def prepare(self, references: References) -> PreparedCharacters | None:
        """Digest the references once; None if there are no features."""
        if not self.orders:
            return None
        counted = metric(f"CHRF:chars={self.orders}")
        return PreparedCharacters(counted, counted.prepare(references))


@dataclass(frozen=True)
class PreparedCharacters:
    """What counts n-grams, and what it made of the references."""

    counted: Metric
    references: Any

    def fill(self, out: NDArray[np.float64], hypotheses: Corpus, owner: NDArray[np.integer]) -> None:
        """Write the features into `out`, (n, 2 orders)."""
        statistics = self.counted.statistics(hypotheses, self.references, owner)
        orders = out.shape[1] // 2
        ours, theirs, both = np.moveaxis(statistics.reshape(len(out), orders, 3), 2, 0)
        np.divide(both, ours, out=out[:, :orders], where=ours > 0)
        np.divide(both, theirs, out=out[:, orders:], where=theirs > 0)
