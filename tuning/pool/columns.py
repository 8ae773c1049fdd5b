"""The features of a pool as optimisers see them: candidates by sentence, which columns vary, at which scale.

A column that does not vary within any sentence cannot tell candidates apart: it keeps its start weight and stays out
of the norm. The scale puts columns of any unit on one footing for what treats them alike (a penalty, a step size, a
random direction).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from lasw.metrics import UserError, borrowing, unknown
from lasw.tuning.pool.kernels import best_rows
from lasw.tuning.weights import Weights

if TYPE_CHECKING:
    from lasw.tuning.pool.pool import Pool

Floats = NDArray[np.float64]
# Dense (n, d), and starts (n + 1,), columns and values of the sparse ones.
Features: TypeAlias = tuple[Floats, NDArray[np.int64], NDArray[np.int32], Floats]

# Features are printed with 6 significant digits: smaller differences, relative to the values, are rounding.
NOISE = 1e-6
NORMS = ("l1", "none")


@dataclass(frozen=True)
class Columns:
    """n candidates of S' sentences (those that have any), sentence by sentence, within one in the order they came.

    A vector over columns has the d dense features first, then the p sparse ones.

    Attributes:
        order: (n,) row of each candidate in the pool, so that ``pool.statistics(metric)[order]`` goes with it.
        starts: (S' + 1,) where each sentence's candidates begin.
        dense: (n, d).
        sparse: (n, p) CSR, None if there are no sparse features.
        sparse_names: of the p sparse features.
        varies: (d + p,) bool: the column differs by more than rounding between two candidates of a sentence.
        scale: (d + p,) dense: root mean square of the differences from the sentence's mean, for each candidate that
            does not have the value that more than half of its sentence have (what few candidates have is as large as it
            is there, and not small); sparse: root mean square of the values that are not zero; 1 where the column does
            not vary.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    dense: Floats
    sparse: scipy.sparse.csr_array | None
    sparse_names: tuple[str, ...]
    varies: NDArray[np.bool_]
    scale: Floats

    @classmethod
    def of(cls, pool: Pool) -> Columns:
        """The columns of a pool that has candidates.

        Raises:
            ValueError: the pool is empty.
        """
        if not len(pool):
            raise ValueError("an empty pool has no columns")
        order, starts = pool.order, pool.starts
        starts = np.concatenate([starts[:-1][np.diff(starts) > 0], starts[-1:]])
        dense = pool.dense[order]
        varies, scale = _dense_columns(dense, starts)
        sparse = pool.sparse
        if sparse is not None:
            sparse = scipy.sparse.csr_array(sparse[order])
            sparse_varies, sparse_scale = _sparse_columns(sparse, starts)
            varies, scale = np.concatenate([varies, sparse_varies]), np.concatenate([scale, sparse_scale])
        return cls(order, starts, dense, sparse, tuple(pool.sparse_names), varies, np.where(varies, scale, 1.0))

    def __len__(self) -> int:
        return len(self.order)

    def vector(self, weights: Weights) -> Floats:
        """(d + p,) the weights of the columns."""
        return np.concatenate([weights.dense, weights.sparse_vector(self.sparse_names)])

    def scores(self, vector: Floats) -> Floats:
        """(n,) model scores; candidates with equal features score exactly alike."""
        # Column by column: BLAS would sum a row differently by its position, and equal rows would not tie.
        scores = np.zeros(len(self))
        for j in range(self.dense.shape[1]):
            scores += self.dense[:, j] * vector[j]
        if self.sparse is not None:
            scores += self.sparse @ vector[self.dense.shape[1] :]
        return scores

    @cached_property
    def features(self) -> Features:
        """Dense and sparse ones as kernels take them."""
        return (np.ascontiguousarray(self.dense), *csr_parts(self.sparse, len(self)))

    def best(self, scores: Floats) -> NDArray[np.int64]:
        """(S',) place of the candidate of each sentence with the highest of the scores (n,), the earliest of equals."""
        places = np.empty(len(self.starts) - 1, dtype=np.int64)
        best_rows(self._owner, scores, places)
        return places

    @cached_property
    def _owner(self) -> NDArray[np.int32]:
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    def spread(self, values: Floats) -> float:
        """Root mean square of the differences of values (n,) from their sentence's mean."""
        return float(np.sqrt(np.mean(centred(self.starts, values) ** 2)))

    def weights(self, vector: Floats, start: Weights, norm: str = "l1") -> Weights:
        """Weights from a vector over the columns.

        Args:
            vector: (d + p,); where a column does not vary its value is not looked at.
            start: weights of the columns that do not vary, and of sparse features that the pool does not have.
            norm: ``l1``: the dense weights of columns that vary have absolute sum 1, as Moses' tuning leaves them, and
                sparse ones are divided by the same number (theirs is the norm if no dense column varies); ``none``.

        Raises:
            UserError: a weight that is not finite, of a column whose unit is too small or too large.
        """
        d = self.dense.shape[1]
        lost = np.flatnonzero(self.varies & ~np.isfinite(vector))
        if len(lost):
            k = int(lost[np.argmax(np.abs(np.log10(self.scale[lost])))])
            raise UserError(
                f"the weight of {(*start.names.components, *self.sparse_names)[k]} is not finite, its values differ by "
                f"{self.scale[k]:.2g}",
                expected="differences between 1e-150 and 1e150",
                remedy="multiply its values by a power of ten",
            )
        dense = self.varies & (np.arange(len(vector)) < d)
        new = at_norm(vector, dense if dense.any() else self.varies, norm)
        new = np.where(self.varies, new, self.vector(start))
        return Weights(start.names, new[:d], with_values(start.sparse, self.sparse_names, new[d:]))


def unit_weights(pool: Pool) -> Weights:
    """The weights to start from where none are given: every dense feature has as much to say, whatever its unit.

    A feature that varies has one over its `Columns.scale`, all of them together the absolute sum 1; one that does not
    has 1, sparse ones 0.

    Args:
        pool: at least one candidate.
    """
    columns = Columns.of(pool)
    assert pool.names is not None
    shares = np.zeros(len(columns.scale))
    shares[: len(pool.names)] = 1 / columns.scale[: len(pool.names)]
    return columns.weights(shares, Weights.constant(pool.names, 1.0))


def csr_parts(rows: scipy.sparse.csr_array | None, n: int) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
    """Starts, columns and values of n rows, as kernels take them."""
    if rows is None:
        return np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0)
    return rows.indptr.astype(np.int64, copy=False), rows.indices.astype(np.int32, copy=False), rows.data


def centred(starts: NDArray[np.int64], values: Floats) -> Floats:
    """Differences of values (n, ...) from the mean of their sentence, which begins at one of `starts` (S' + 1,)."""
    sizes = np.diff(starts)
    means = np.add.reduceat(values, starts[:-1], axis=0) / sizes.reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray(values - np.repeat(means, sizes, axis=0))


def check_norm(norm: str) -> None:
    """Refuse what is not in `NORMS`.

    Raises:
        UserError: with the nearest valid name.
    """
    if norm not in NORMS:
        raise unknown("norm", norm, list(NORMS))


def at_norm(vector: Floats, part: NDArray[np.bool_], norm: str) -> Floats:
    """`vector` divided by the absolute sum of its `part`, if `norm` is ``l1`` and there is one."""
    total = float(np.abs(vector[part]).sum())
    return vector / total if norm == "l1" and total > 0 else vector


def with_values(old: Mapping[str, float], names: tuple[str, ...], values: Floats) -> dict[str, float]:
    """Sparse weights with new values for `names`; those of features that the pool does not have stay."""
    if len(names) != len(values):
        raise ValueError(f"{len(values)} weights for {len(names)} sparse features")
    sparse = dict(old)
    there = values != 0.0
    if sparse:
        for name in compress(names, ~there):
            sparse.pop(name, None)
    sparse.update(zip(compress(names, there), values[there].tolist(), strict=True))
    return sparse


def _dense_columns(dense: Floats, starts: NDArray[np.int64]) -> tuple[NDArray[np.bool_], Floats]:
    first = starts[:-1]
    spread = np.maximum.reduceat(dense, first, axis=0) - np.minimum.reduceat(dense, first, axis=0)
    magnitude = np.abs(dense).max(axis=0, initial=0.0)
    deviation = centred(starts, dense)
    # The largest deviation is taken out first, so that no square overflows.
    largest = np.abs(deviation).max(axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    squares, others = np.sum((deviation / unit) ** 2, axis=0), np.zeros(dense.shape[1], dtype=np.int64)
    _count_others(starts, dense, others)
    return spread.max(axis=0) > NOISE * magnitude, unit * np.sqrt(squares / np.maximum(others, 1))


def _sparse_columns(sparse: scipy.sparse.csr_array, starts: NDArray[np.int64]) -> tuple[NDArray[np.bool_], Floats]:
    p = sparse.shape[1]
    magnitude, squares, entries = np.zeros(p), np.zeros(p), np.zeros(p, dtype=np.int64)
    low, high, spread = np.zeros(p), np.zeros(p), np.zeros(p)
    count, seen = np.zeros(p, dtype=np.int64), np.full(p, -1, dtype=np.int64)
    parts = (sparse.indptr, sparse.indices, sparse.data)
    _sparse_spread(starts, *parts, magnitude, squares, entries, low, high, count, seen, spread)
    unit = np.where(magnitude > 0, magnitude, 1.0)
    return spread > NOISE * magnitude, unit * np.sqrt(squares / np.maximum(entries, 1))


@borrowing
def _count_others(starts, dense, others):  # type: ignore[no-untyped-def]
    """Per column: candidates without the value that more than half of their sentence have; all, where none is so."""
    for s in range(starts.shape[0] - 1):
        first, last = starts[s], starts[s + 1]
        for j in range(dense.shape[1]):
            value, lead = dense[first, j], 0
            for i in range(first, last):  # Boyer and Moore's vote: if a value has the majority, it is left at the end
                if lead == 0:
                    value = dense[i, j]
                lead += 1 if dense[i, j] == value else -1
            same = 0
            for i in range(first, last):
                same += dense[i, j] == value
            others[j] += last - first - (same if 2 * same > last - first else 0)


@borrowing
def _sparse_spread(starts, indptr, indices, data, magnitude, squares, entries, low, high, count, seen, spread):  # type: ignore[no-untyped-def]
    """Per column: largest absolute value, sum of squares in units of it, entries, largest spread in a sentence."""
    for k in range(indices.shape[0]):
        magnitude[indices[k]] = max(magnitude[indices[k]], abs(data[k]))
    for s in range(starts.shape[0] - 1):
        size = starts[s + 1] - starts[s]
        first, last = indptr[starts[s]], indptr[starts[s + 1]]
        for k in range(first, last):
            j, value = indices[k], data[k]
            if seen[j] != s:
                seen[j], low[j], high[j], count[j] = s, value, value, 0
            low[j], high[j], count[j] = min(low[j], value), max(high[j], value), count[j] + 1
            entries[j] += 1
            squares[j] += (value / magnitude[j]) ** 2 if magnitude[j] > 0 else 0.0
        for k in range(first, last):
            j = indices[k]
            if count[j] < size:  # absent somewhere: 0 is among its values
                low[j], high[j] = min(low[j], 0.0), max(high[j], 0.0)
            spread[j] = max(spread[j], high[j] - low[j])
