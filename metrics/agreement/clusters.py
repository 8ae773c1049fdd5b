"""Clusters of metrics that no test tells apart, and ranks over several sets and statistics.

From best to worst, a new cluster begins with the first metric that one of the current cluster leads significantly, as
in the WMT metrics tasks. A metric's rank is the number of its cluster.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.correlation import Correlation

LEVEL = 0.05


def cluster_ranks(
    correlations: Sequence[Correlation], p_values: NDArray[np.float64], level: float = LEVEL
) -> list[int | None]:
    """Rank of each of M metrics, from 1; None without a correlation.

    Args:
        correlations: M.
        p_values: (M, M) one-sided, of the row's metric leading the column's, NaN where they do not differ.
        level: what counts as significant, itself included.
    """
    values = [x.value for x in correlations]
    order = sorted((k for k, value in enumerate(values) if value is not None), key=lambda k: -float(values[k] or 0))
    ranks: list[int | None] = [None] * len(values)
    rank, current = 1, list[int]()
    for k in order:
        if any(p_values[j, k] <= level for j in current):
            rank, current = rank + 1, []
        current.append(k)
        ranks[k] = rank
    return ranks


def mean_ranks(ranks: Sequence[Sequence[int | None]]) -> list[float | None]:
    """The mean over T tasks of the ranks of M metrics, (T, M); None for one that lacks one."""
    columns = list(zip(*ranks, strict=True))
    return [None if None in column else float(np.mean([x for x in column if x is not None])) for column in columns]
