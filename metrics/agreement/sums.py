"""Sums that are the same bits for any number of threads."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


def weighted_sums(counts: NDArray[np.float64], statistics: NDArray[Any]) -> NDArray[np.float64]:
    """(b, k) sums of statistics (m, k), row i taken `counts[b, i]` times."""
    with one_thread():
        return np.asarray(counts @ statistics.astype(np.float64))


def one_thread() -> AbstractContextManager[Any]:
    """While it lasts, BLAS has one thread: its order of summation, and so the last bit, depends on their number."""
    limit: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limit


@functools.cache
def _blas() -> ThreadpoolController:
    """Found once: looking for the libraries takes as long as a product."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def sums_by(group: NDArray[np.int64], groups: int, rows: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(groups, k) sums of the rows (m, k) of each group."""
    width = rows.shape[1]
    cells = (group[:, None] * width + np.arange(width)).ravel()
    sums = np.bincount(cells, weights=rows.astype(np.float64).ravel(), minlength=groups * width)
    return np.asarray(sums, dtype=np.float64).reshape(groups, width)
