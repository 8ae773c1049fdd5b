"""Whether learnt weights prefer short translations.

Ranking by a sentence metric can: of the candidates that differ most in it, short ones lose to long ones less often than
they should, and the weights come to pay for brevity (Nakov, Guzmán and Vogel 2012).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import metric
from lasw.tuning.weights import Weights

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool

SHORT = 0.97  # of the references' length; below it the brevity penalty costs more than 3 % of BLEU
ENOUGH = 100  # sentences; fewer may be short by chance


def shortness(pool: Pool, weights: Weights) -> tuple[str, ...]:
    """One warning if the best-scoring candidates of the pool are shorter than the closest references, else nothing."""
    best = pool.best(weights)
    if len(best) < ENOUGH:
        return ()
    ratio = length_ratio(pool, best)
    if ratio >= SHORT:
        return ()
    return (
        f"the translations that these weights prefer have {ratio:.3f} times the length of the references; more "
        "rounds, fit_length or a loss with bp=reference may keep them longer",
    )


def length_ratio(pool: Pool, rows: NDArray[np.int64]) -> float:
    """Tokens of these candidates over tokens of the closest references; 1 if these are empty."""
    total = pool.statistics(metric("BLEU"))[rows].sum(axis=0)
    return int(total[1]) / int(total[-1]) if total[-1] else 1.0
