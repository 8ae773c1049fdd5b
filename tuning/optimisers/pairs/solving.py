"""Newton's method for regressions on pairs, with few columns and with a million."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from lasw.tuning.optimisers.pairs.losses import Matrix, Problem
from lasw.tuning.pool import Floats

MAX_STEPS = 100
TOLERANCE = 1e-8
# Of Newton's step, what is tried until it leads down; behind the last there is no progress in double precision.
STEP_LENGTHS = tuple(0.5**k for k in range(34))
MAX_CONJUGATE = 300
ROUGHLY = 0.1  # of the gradient: what a step by conjugate gradients may leave, and less near the end


def newton(problem: Problem, b: Floats, *, few: bool) -> tuple[Floats, int, bool]:
    """Newton's method with step halving.

    Args:
        problem: what to minimise.
        b: (q,) where to begin.
        few: solve for each step with X'WX (q, q), of dense columns; else with products with it alone.

    Returns:
        b, the number of steps, whether they came to the end.
    """
    step_of = _solved(problem) if few else _conjugated(problem)
    z = problem.x @ b
    value = problem.value_at(z, b)
    enough = TOLERANCE * max(float(problem.c.sum()), problem.l2)
    for step in range(MAX_STEPS):
        gradient = problem.gradient_at(z, b)
        if np.abs(gradient).max() <= enough:
            return b, step, True
        direction = step_of(gradient, problem.c * problem.loss.curvature(z, problem.y))
        along = problem.x @ direction
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


def _solved(problem: Problem) -> Callable[[Floats, Floats], Floats]:
    """From a gradient (q,) and the curvatures (m,) of the losses to Newton's step."""
    x = np.asarray(problem.x)

    def step(gradient: Floats, weights: Floats) -> Floats:
        return np.asarray(np.linalg.solve(summed_squares(x, weights, problem.l2), gradient), dtype=np.float64)

    return step


def _conjugated(problem: Problem) -> Callable[[Floats, Floats], Floats]:
    """The same by conjugate gradients (Nocedal & Wright 2006, 7.1), preconditioned by the diagonal of X'WX."""
    x, l2, squared = problem.x, problem.l2, _squared(problem.x)
    first = 0.0

    def step(gradient: Floats, weights: Floats) -> Floats:
        nonlocal first
        size = float(np.sqrt(gradient @ gradient))
        first = first or size
        enough = min(ROUGHLY, (size / first) ** 0.5) * size
        diagonal = squared.T @ weights + l2
        direction, left = np.zeros(len(gradient)), gradient.copy()
        conditioned = left / diagonal
        way, product = conditioned, float(left @ conditioned)
        for _ in range(MAX_CONJUGATE):
            curved = x.T @ (weights * (x @ way)) + l2 * way
            length = product / float(way @ curved)
            direction += length * way
            left -= length * curved
            if left @ left <= enough * enough:
                break
            conditioned = left / diagonal
            product, before = float(left @ conditioned), product
            way = conditioned + product / before * way
        return direction

    return step


def _squared(x: Matrix) -> Matrix:
    """(m, q) the square of each entry."""
    if isinstance(x, np.ndarray):
        return x**2
    return scipy.sparse.csr_array((x.data**2, x.indices, x.indptr), shape=x.shape)
