"""Whether learnt weights prefer short translations.

Ranking by a sentence metric can: of the candidates that differ most in it, short ones lose to long ones less often than
they should, and the weights come to pay for brevity (Nakov, Guzmán and Vogel 2012).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasw.metrics.registry import metric
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
    total = pool.statistics(metric("BLEU"))[best].sum(axis=0)
    ratio = int(total[1]) / int(total[-1]) if total[-1] else 1.0
    if ratio >= SHORT:
        return ()
    return (
        f"the translations that these weights prefer have {ratio:.3f} times the length of the references; fit_length, "
        "or a loss with bp=reference, may keep them longer",
    )
