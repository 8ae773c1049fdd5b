"""Learning weights from pairs: weighted logistic or linear regression on differences of feature vectors.

Pair k with x_k = h(better) - h(worse), instance weight c_k and label y_k > 0 has two mirror images, (x_k, y_k) and
(-x_k, -y_k); both are instances of a model without intercept. They have the same loss, so one is counted twice:

    minimise  F(b) = 2 sum_k c_k loss(x_k b, y_k) + l2 / 2 |b|^2

    logistic (Hopkins & May 2011):  loss(z, y) = log(1 + exp(-z))
    linear (Bazrafshan et al. 2012): loss(z, y) = (z - y)^2 / 2,  y = the metric difference

The columns of x are divided by the root mean square of their entries that are not zero, and b is mapped back at the
end: a feature may have any unit, and one that seldom differs is still penalised as it would be alone. A feature that
does not differ keeps its start weight. l2 = 1 is the default of the program that the papers use (MegaM, precision of
the Gaussian prior 1).

Newton's method: of few dense columns with one X'WX a step, of sparse or many ones with steps by conjugate gradients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from lasw.metrics import UserError
from lasw.tuning.optimisers.base import vanishing
from lasw.tuning.optimisers.pairs.losses import LOSSES, Matrix, Problem
from lasw.tuning.optimisers.pairs.solving import newton
from lasw.tuning.pool import NOISE, Floats

L2 = 1.0
MIRROR_IMAGES = 2.0
NEWTON_COLUMNS = 512


@dataclass(frozen=True)
class Ranking:
    """What a regression found.

    Attributes:
        weights: (q,) one a column, in the columns' own units.
        moved: (q,) bool, columns whose weight was learnt; the others have their start weight.
        objective: F at the end.
        steps: of the solver.
        scale: (q,) what each column was divided by; 0 where it does not differ.
        warnings: one line each, for the user.
    """

    weights: Floats
    moved: NDArray[np.bool_]
    objective: float
    steps: int
    scale: Floats
    warnings: tuple[str, ...]


def fit_ranking(
    x: Matrix,
    labels: Floats,
    instance_weights: Floats,
    start: Floats,
    *,
    loss: str = "logistic",
    l2: float = L2,
    magnitude: Floats | None = None,
    names: tuple[str, ...] | None = None,
) -> Ranking:
    """The weights under which better candidates score higher.

    Args:
        x: (m, q) feature differences better - worse, dense or CSR.
        labels: (m,) metric differences; only the linear loss looks at them.
        instance_weights: (m,) c_k >= 0. k is the same as k copies of the pair, 0 the same as no pair.
        start: (q,) weights for columns without differences, and where the solver starts.
        loss: ``logistic`` or ``linear``.
        l2: strength of the penalty, > 0.
        magnitude: (q,) largest absolute value of each feature in the pool: differences below `NOISE` of it are
            rounding. None: only exact zeros are no difference.
        names: of the columns, for warnings.

    Raises:
        ValueError: shapes that do not match, a weight that is negative or not finite, l2 not above 0.
        UserError: a feature so large that squares of its differences overflow.
    """
    labels, c = np.asarray(labels, dtype=np.float64), np.asarray(instance_weights, dtype=np.float64)
    _check(x, labels, c, start, l2)
    # One thread: how BLAS splits a sum over threads changes its last bits, and for so few columns it costs time.
    with threadpool_limits(limits=1, user_api="blas"):
        return _fit(*_present(x, labels, c), start, loss, l2, magnitude, names)


def _fit(
    x: Matrix,
    labels: Floats,
    c: Floats,
    start: Floats,
    loss: str,
    l2: float,
    magnitude: Floats | None,
    names: tuple[str, ...] | None,
) -> Ranking:
    scale = _scale(x, c)
    if not np.isfinite(scale).all():
        k = int(np.argmin(np.isfinite(scale)))
        name = str(k) if names is None else names[k]
        raise UserError(
            f"feature {name} differs so much between candidates that its square overflows",
            expected="differences below 1e150",
            remedy="divide its values by a power of ten",
        )
    moved = scale > (NOISE * magnitude if magnitude is not None else 0.0)
    if not moved.any():
        nothing = ("no feature differs within the pairs: the weights stay",)
        return Ranking(start.copy(), moved, 0.0, 0, scale, nothing)
    scaled = _scaled(x, moved, scale)
    problem = Problem(scaled, labels, MIRROR_IMAGES * c, LOSSES[loss](), l2)
    few = isinstance(scaled, np.ndarray) and scaled.shape[1] <= NEWTON_COLUMNS
    b, steps, converged = newton(problem, np.zeros(scaled.shape[1]), few=few)
    weights = start.astype(np.float64)
    weights[moved] = b / scale[moved]
    places = np.flatnonzero(moved)
    warnings = vanishing(b, lambda k: names[places[k]] if names is not None else f"column {places[k]}")
    if not converged:
        warnings = (f"the regression did not converge in {steps} steps", *warnings)
    return Ranking(weights, moved, problem.value(b), steps, scale, warnings)


def _check(x: Matrix, labels: Floats, c: Floats, start: Floats, l2: float) -> None:
    m, q = x.shape
    if labels.shape != (m,) or c.shape != (m,) or start.shape != (q,):
        raise ValueError(
            f"{labels.shape} labels, {c.shape} instance weights, {start.shape} weights for {x.shape} pairs"
        )
    if not (np.isfinite(c).all() and (c >= 0).all()):
        raise ValueError("instance weights must be finite and not negative")
    if not (np.isfinite(l2) and l2 > 0):
        raise ValueError(f"l2 is {l2}, expected a number above 0")


def _present(x: Matrix, labels: Floats, c: Floats) -> tuple[Matrix, Floats, Floats]:
    """The pairs whose weight is not zero."""
    there = c > 0
    return (x, labels, c) if there.all() else (x[there], labels[there], c[there])


def _scale(x: Matrix, c: Floats) -> Floats:
    """(q,) root mean square, weighted by c, of the entries that are not zero; 0 where there are none; may overflow."""
    with np.errstate(over="ignore"):
        if isinstance(x, np.ndarray):
            squares, weight = c @ x**2, c @ (x != 0).astype(np.float64)
        else:
            each, q = np.repeat(c, np.diff(x.indptr)), x.shape[1]
            squares = np.asarray(np.bincount(x.indices, weights=each * x.data**2, minlength=q), dtype=np.float64)
            weight = np.asarray(np.bincount(x.indices, weights=each * (x.data != 0), minlength=q), dtype=np.float64)
    scale: Floats = np.sqrt(np.divide(squares, weight, out=np.zeros(x.shape[1]), where=weight > 0))
    return scale


def _scaled(x: Matrix, moved: NDArray[np.bool_], scale: Floats) -> Matrix:
    if isinstance(x, np.ndarray):
        return x[:, moved] / scale[moved]
    # Column by column of the matrix's own arrays: products with it would sort and copy.
    there = moved[x.indices]
    columns = x.indices[there]
    numbers = np.cumsum(moved, dtype=np.int32) - np.int32(1)
    ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(there)])[x.indptr]
    starts = ends.astype(np.int32) if ends[-1] <= np.iinfo(np.int32).max else ends  # half as much to go through
    parts = x.data[there] / scale[columns], numbers[columns], starts
    return scipy.sparse.csr_array(parts, shape=(x.shape[0], int(moved.sum())))
