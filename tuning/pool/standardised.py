"""The columns of a pool in standard units, for optimisers that treat all columns alike (a penalty, a step size).

A column that varies is divided by its scale, a weight in standard units is the weight times the scale. Dense columns
are centred on their sentence's mean besides, which changes no difference between candidates and keeps digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from lasw.tuning.pool.columns import Columns, Features, Floats, centred, csr_parts
from lasw.tuning.weights import Weights


@dataclass(frozen=True)
class Standardised:
    """The q columns that vary, dense ones first.

    Attributes:
        columns: what they are made from.
        dense: (n, q1), C order.
        sparse: (n, q2) CSR, None if no sparse column varies; q = q1 + q2.
    """

    columns: Columns
    dense: Floats
    sparse: scipy.sparse.csr_array | None

    @classmethod
    def of(cls, columns: Columns) -> Standardised:
        """Standard units of `columns`."""
        d = columns.dense.shape[1]
        varies, scale = columns.varies[:d], columns.scale[:d]
        dense = np.ascontiguousarray(columns.dense[:, varies]) / scale[varies]
        dense = centred(columns.starts, dense)
        sparse_varies = columns.varies[d:]
        if columns.sparse is None or not sparse_varies.any():
            return cls(columns, dense, None)
        rows = scipy.sparse.csr_array(columns.sparse[:, np.flatnonzero(sparse_varies)])
        # In place: a product with a diagonal matrix would sort and copy.
        rows.data = rows.data / columns.scale[d:][sparse_varies][rows.indices]
        return cls(columns, dense, rows)

    @property
    def starts(self) -> NDArray[np.int64]:
        """(S' + 1,) where each sentence's candidates begin."""
        return self.columns.starts

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(S',) candidates of each sentence."""
        return np.diff(self.starts)

    @property
    def width(self) -> int:
        """q, the number of columns."""
        return int(self.dense.shape[1] + (0 if self.sparse is None else self.sparse.shape[1]))

    @cached_property
    def features(self) -> Features:
        """Dense and sparse columns as kernels take them."""
        return (self.dense, *csr_parts(self.sparse, len(self.dense)))

    def scores(self, v: Floats) -> Floats:
        """(n,) model scores under weights in standard units (q,), up to a constant a sentence."""
        q1 = self.dense.shape[1]
        scores: Floats = self.dense @ v[:q1]
        if self.sparse is not None:
            scores += self.sparse @ v[q1:]
        return scores

    def combined(self, coefficients: Floats) -> Floats:
        """(q,) the sum of all candidates' features, each times its coefficient (n,)."""
        dense = coefficients @ self.dense
        return dense if self.sparse is None else np.concatenate([dense, self.sparse.T @ coefficients])

    def spread(self, values: Floats) -> float:
        """Root mean square of the differences of values (n,) from their sentence's mean."""
        return self.columns.spread(values)

    def start(self, weights: Weights) -> Floats:
        """(q,) `weights` in standard units, at the size at which the scores' `spread` is 1; 0 if all scores tie."""
        v = (self.columns.vector(weights) * self.columns.scale)[self.columns.varies]
        largest = np.abs(v).max(initial=0.0)
        if not 0 < largest < np.inf:
            return np.zeros_like(v)
        v /= largest
        spread = self.spread(self.scores(v))
        return v / spread if spread > 0 else np.zeros_like(v)

    def weights(self, v: Floats, start: Weights, norm: str) -> Weights:
        """Weights from those in standard units, as `Columns.weights` makes them."""
        vector = np.zeros(len(self.columns.varies))
        vector[self.columns.varies] = v
        vector /= self.columns.scale
        return self.columns.weights(vector, start, norm)


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS with one thread: how it splits a sum over threads changes the last bits."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield
