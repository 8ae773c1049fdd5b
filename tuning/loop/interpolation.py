"""Weights between those before a round and those that its optimiser found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lasw.tuning.pool import Columns, at_norm
from lasw.tuning.weights import Weights

FIRST_ROUND = 4  # of mert-moses.pl's --historic-interpolation


@dataclass(frozen=True)
class Interpolation:
    """How far the weights of a round go.

    Args:
        share: of the new weights in the result, the rest is those before the round; 1: the new ones alone.
        first: number of the first round that interpolates.

    Raises:
        ValueError: a setting out of its range.
    """

    share: float = 1.0
    first: int = FIRST_ROUND

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"interpolation is {self.share}, expected above 0 and at most 1")
        if self.first < 1:
            raise ValueError(f"interpolation_from is {self.first}, expected at least 1")

    def applies(self, iteration: int) -> bool:
        """Whether round `iteration` (1, 2, ...) interpolates."""
        return self.share < 1 and iteration >= self.first


def between(before: Weights, after: Weights, share: float, columns: Columns) -> Weights:
    """Weights of which `share` is `after`; both are brought to the norm of `after` first.

    The norm is the absolute sum of the dense weights of columns that vary; what is not in the pool has the weights
    that `after` has.

    Args:
        before: the previous weights, at any norm.
        after: the new ones.
        share: from 0 to 1.
        columns: of the pool.
    """
    d = len(after.dense)
    varies = columns.varies & (np.arange(len(columns.varies)) < d)
    part = varies if varies.any() else columns.varies
    old, new = columns.vector(before), columns.vector(after)
    size = float(np.abs(new[part]).sum())
    mixed = share * new + (1 - share) * at_norm(old, part, "l1") * size
    mixed = at_norm(mixed, part, "l1") * size
    return columns.weights(np.where(columns.varies, mixed, new), after, norm="none")
