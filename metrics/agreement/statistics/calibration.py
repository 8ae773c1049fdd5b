"""Accuracy of pairs with the metric's ties calibrated: acc_eq and its epsilon (Deutsch, Foster and Freitag 2023).

A metric with fine-grained scores has no ties where people have many. So scores that differ by no more than epsilon are
taken as a tie, and epsilon is what makes the mean accuracy over groups highest: 0 or one of the metric's differences,
the smallest of equals. All pairs are looked at, from the closest to the farthest.
"""

from __future__ import annotations

import numpy as np

from lasw.metrics.agreement.statistics.base import SEGMENTS, Asked, Finding, Floats, Values
from lasw.metrics.agreement.statistics.counting import BOTH_TIES, CONCORDANT, orders
from lasw.metrics.agreement.statistics.orders import Accuracy
from lasw.metrics.agreement.statistics.rated import MOST_PAIRS, Pairs, Rated
from lasw.metrics.errors import UserError
from lasw.metrics.kernels import borrowing


class CalibratedAccuracy(Accuracy):
    """acc_eq, of segments; epsilon is among its details. Resampling and the permutation test leave epsilon as it is."""

    levels = (SEGMENTS,)

    def find(self, values: Values, rated: Rated, asked: Asked) -> Finding:  # noqa: D102
        if rated.pairs(asked.average) is None:
            found = f"acc-eq of more than {MOST_PAIRS} pairs"
            raise UserError(found, expected="fewer", remedy="--average item compares translations of one segment")
        return super().find(values, rated, asked)

    def epsilon(self, metric: Floats, pairs: Pairs) -> float:  # noqa: D102
        difference = np.abs(metric[pairs.first] - metric[pairs.second])
        kind = orders(metric, pairs).kind
        right = np.isin(kind, (CONCORDANT, BOTH_TIES)).astype(np.int64)
        sizes = np.diff(pairs.starts)
        groups = np.repeat(np.arange(len(sizes)), sizes)
        counts = np.bincount(groups, weights=right, minlength=len(sizes)).astype(np.int64)
        order = np.argsort(difference, kind="stable")
        tied = (pairs.sign == 0).astype(np.int64)
        return float(_calibrated(difference, right, tied, groups, order, counts, sizes))


@borrowing
def _calibrated(difference, right, tied, groups, order, counts, sizes):  # type: ignore[no-untyped-def]
    """Kernel: the epsilon of the highest sum of group accuracies, as counts (g,) of right pairs change one by one."""
    total, filled = 0.0, 0
    for g in range(sizes.shape[0]):
        if sizes[g]:
            total += counts[g] / sizes[g]
            filled += 1
    epsilon = 0.0
    if filled == 0:
        return epsilon
    best = total / filled
    for k in range(order.shape[0]):
        p = order[k]
        g = groups[p]
        total -= counts[g] / sizes[g]
        counts[g] += tied[p] - right[p]
        total += counts[g] / sizes[g]
        threshold = difference[p]
        if k + 1 == order.shape[0] or difference[order[k + 1]] != threshold:
            value = total / filled
            if value > best or threshold == 0.0:  # which takes nothing away, but for rounding
                epsilon, best = threshold, value
    return epsilon
