"""The softmax over each sentence's candidates, and the solver for what is made of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import scipy

from lasw.metrics import borrowing
from lasw.tuning.pool import Floats


def minimised(
    loss: Callable[..., tuple[float, Floats]], v: Floats, settings: tuple[float, ...], iterations: int, tolerance: float
) -> tuple[Floats, float, int, tuple[str, ...]]:
    """L-BFGS on a loss that gives its gradient too.

    Args:
        loss: of weights (q,) and `settings`.
        v: (q,) where it starts.
        settings: as said.
        iterations: at most.
        tolerance: relative to the loss.

    Returns:
        Weights (q,), their loss, the number of iterations, and a warning if these were not enough.
    """
    options: Any = {"maxiter": iterations, "ftol": tolerance, "gtol": 1e-9}
    found: Any = scipy.optimize.minimize(loss, v, args=settings, jac=True, method="L-BFGS-B", options=options)
    warnings = () if found.nit < iterations else (f"the solver did not converge in {iterations} iterations",)
    return found.x, float(found.fun), int(found.nit), warnings


@borrowing
def softmax(starts, scores, probability, normaliser, entropy):  # type: ignore[no-untyped-def]
    """Fill probability (n,), normaliser and entropy (S',) from scores (n,).

    p_i = exp(score_i - normaliser of its sentence); entropies are in nats; sentence s has the candidates from
    starts[s] to starts[s + 1].
    """
    for s in range(starts.shape[0] - 1):
        first, last = starts[s], starts[s + 1]
        largest = scores[first]
        for i in range(first + 1, last):
            largest = max(largest, scores[i])
        total, weighted = 0.0, 0.0
        for i in range(first, last):
            below = scores[i] - largest
            p = math.exp(below)
            probability[i] = p
            total += p
            weighted += p * below
        for i in range(first, last):
            probability[i] /= total
        normaliser[s] = largest + math.log(total)
        entropy[s] = math.log(total) - weighted / total
