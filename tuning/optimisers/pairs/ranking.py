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

Few dense columns: Newton's method, one X'WX a step. Sparse or many columns: L-BFGS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from lasw.metrics import UserError
from lasw.tuning.optimisers.base import vanishing
from lasw.tuning.pool import NOISE, Floats

Matrix: TypeAlias = "Floats | scipy.sparse.csr_array"

L2 = 1.0
MAX_STEPS = 100
TOLERANCE = 1e-8
MIRROR_IMAGES = 2.0
NEWTON_COLUMNS = 512
# Of Newton's step, what is tried until it leads down; behind the last there is no progress in double precision.
STEP_LENGTHS = tuple(0.5**k for k in range(34))


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


class Loss(Protocol):
    """A convex loss of z = x b against labels y, with its derivatives in z; all (m,)."""

    def value(self, z: Floats, y: Floats) -> Floats:
        """The loss of each pair."""

    def slope(self, z: Floats, y: Floats) -> Floats:
        """First derivatives."""

    def curvature(self, z: Floats, y: Floats) -> Floats:
        """Second derivatives."""


class Logistic:
    """log(1 + exp(-z)): how improbable it is that the better candidate wins."""

    def value(self, z: Floats, y: Floats) -> Floats:
        """See `Loss`."""
        return np.logaddexp(0.0, -z)

    def slope(self, z: Floats, y: Floats) -> Floats:
        """See `Loss`."""
        return -_loses(z)

    def curvature(self, z: Floats, y: Floats) -> Floats:
        """See `Loss`."""
        loses = _loses(z)
        return loses * (1.0 - loses)


class Linear:
    """(z - y)^2 / 2: how far the score difference is from the metric difference."""

    def value(self, z: Floats, y: Floats) -> Floats:
        """See `Loss`."""
        return 0.5 * (z - y) ** 2

    def slope(self, z: Floats, y: Floats) -> Floats:
        """See `Loss`."""
        return z - y

    def curvature(self, z: Floats, y: Floats) -> Floats:
        """See `Loss`."""
        return np.ones_like(z)


LOSSES: dict[str, Callable[[], Loss]] = {"logistic": Logistic, "linear": Linear}


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
    problem = _Problem(scaled, labels, MIRROR_IMAGES * c, LOSSES[loss](), l2)
    solve = _newton if isinstance(scaled, np.ndarray) and scaled.shape[1] <= NEWTON_COLUMNS else _lbfgs
    b, steps, converged = solve(problem, np.zeros(scaled.shape[1]))
    weights = start.astype(np.float64)
    weights[moved] = b / scale[moved]
    places = np.flatnonzero(moved)
    warnings = vanishing(b, lambda k: names[places[k]] if names is not None else f"column {places[k]}")
    if not converged:
        warnings = (f"the regression did not converge in {steps} steps", *warnings)
    return Ranking(weights, moved, problem.value(b), steps, scale, warnings)


@dataclass(frozen=True)
class _Problem:
    """F(b) for scaled columns; c holds the mirror images already."""

    x: Matrix
    y: Floats
    c: Floats
    loss: Loss
    l2: float

    def value(self, b: Floats) -> float:
        return self.value_at(self.x @ b, b)

    def value_at(self, z: Floats, b: Floats) -> float:
        return float(self.c @ self.loss.value(z, self.y) + 0.5 * self.l2 * (b @ b))

    def gradient_at(self, z: Floats, b: Floats) -> Floats:
        return np.asarray(self.x.T @ (self.c * self.loss.slope(z, self.y)) + self.l2 * b)


def _newton(problem: _Problem, b: Floats) -> tuple[Floats, int, bool]:
    """Newton's method with step halving: b, steps, whether it converged."""
    x = np.asarray(problem.x)
    z = x @ b
    value = problem.value_at(z, b)
    enough = TOLERANCE * max(float(problem.c.sum()), problem.l2)
    for step in range(MAX_STEPS):
        gradient = problem.gradient_at(z, b)
        if np.abs(gradient).max() <= enough:
            return b, step, True
        hessian = summed_squares(x, problem.c * problem.loss.curvature(z, problem.y), problem.l2)
        direction = np.linalg.solve(hessian, gradient)
        along = x @ direction
        for length in STEP_LENGTHS:
            tried, tried_z = b - length * direction, z - length * along
            tried_value = problem.value_at(tried_z, tried)
            if tried_value <= value:
                break
        else:
            return b, step, True
        b, z, value = tried, tried_z, tried_value
    return b, MAX_STEPS, False


def summed_squares(x: Floats, weights: Floats, ridge: Floats | float = 0.0) -> Floats:
    """(q, q) the sum of the products x_k x_k' of rows (m, q), each times its weight (m,), `ridge` on the diagonal."""
    squares = (x * weights[:, None]).T @ x
    squares[np.diag_indices_from(squares)] += ridge
    return squares


def _lbfgs(problem: _Problem, b: Floats) -> tuple[Floats, int, bool]:
    """L-BFGS: b, steps, whether it converged."""
    from scipy.optimize import minimize

    # Divided by the weight of all instances, so that the tolerance means the same for any number of them.
    unit = max(float(problem.c.sum()), problem.l2)

    def value_and_gradient(b: Floats) -> tuple[float, Floats]:
        z = problem.x @ b
        return problem.value_at(z, b) / unit, problem.gradient_at(z, b) / unit

    options: Any = {"maxiter": 20 * MAX_STEPS, "maxfun": 40 * MAX_STEPS, "gtol": TOLERANCE, "ftol": 1e-14, "maxcor": 20}
    found: Any = minimize(value_and_gradient, b, jac=True, method="L-BFGS-B", options=options)
    return found.x, int(found.nit), int(found.status) != 1


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
    return scipy.sparse.csr_array(x[:, np.flatnonzero(moved)] @ scipy.sparse.diags_array(1.0 / scale[moved]))


def _loses(z: Floats) -> Floats:
    """1 / (1 + exp(z)), the model's probability that the better candidate loses, without overflow."""
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, small, 1.0) / (1.0 + small)
