"""Structured ramp loss (Gimpel & Smith 2012): what is hoped for shall score higher than what is feared.

With cost(e) = -alpha metric(e), s(e) = w.h(e), every sum over the sentences:

    variant 1:  sum of  max(s + cost) - max(s)          fear below the model's best
    variant 2:  sum of  max(s) - max(s - cost)          the model's best below hope
    variant 3:  sum of  max(s + cost) - max(s - cost)   fear below hope

each with C / 2 |w - w0|^2, w0 the start weights. The concave part is linearised (CCCP, RAMPION, their algorithm 1):
in each round the candidates that it picks are fixed, and the rest is minimised by some passes of subgradient descent,
sentence by sentence.

Weights are in standard units (`lasw.tuning.pool.standardised`) and the metric in units of its spread
(`lasw.tuning.optimisers.oracle`), so that alpha, C and the rate mean the same for all features and metrics. As for
batch MIRA, the mean of the weights counts, and of the rounds the one whose mean gives the best corpus score wins
(*decision*; theirs takes the last weights, on another development set).
"""

from __future__ import annotations

from dataclasses import dataclass

from lasw.metrics import Metric
from lasw.tuning.optimisers.base import DEFAULT_SEED, above_zero, at_least
from lasw.tuning.optimisers.online import OnlineOptimiser, Parts, Rival, Step
from lasw.tuning.optimisers.oracle import Hope

VARIANTS = (1, 2, 3)


@dataclass(frozen=True)
class Ramp(OnlineOptimiser):
    """Minimises a ramp loss.

    Args:
        metric: the sentence metric that is the cost, a `Metric` or its specification. Its corpus score tells the best
            round.
        variant: 1, 2 or 3, as above.
        alpha: weight of the metric beside the model score.
        c: C, the penalty for going away from the start weights, relative to the mean loss of a sentence.
        rate: of the steps, times the number of sentences, beside start weights at which scores have spread 1.
        rounds: how often the fixed candidates are chosen.
        passes: over all sentences, in each round.
        norm: of the result, ``l1`` or ``none`` (see `Columns.weights`).
        seed: of the order of sentences, a new one in each pass.

    `Fit.objective` is the corpus score of the candidates that then score best, `Fit.iterations` the round that won.

    Raises:
        ValueError: a hyper-parameter out of its range.
        UserError: an unknown metric or norm.
    """

    name = "RAMP"

    metric: Metric | str = "BLEU+1"
    variant: int = 3
    alpha: float = 0.3
    c: float = 1e-3
    rate: float = 5.0
    rounds: int = 20
    passes: int = 3
    norm: str = "l1"
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant not in VARIANTS:
            raise ValueError(f"variant is {self.variant}, expected 1, 2 or 3")
        above_zero("alpha", self.alpha)
        at_least("c", self.c, 0.0)
        above_zero("rate", self.rate)
        at_least("rounds", self.rounds, 1)
        at_least("passes", self.passes, 1)

    def parts(self) -> Parts:
        """See `OnlineOptimiser`."""
        hope, fear = 0.0 if self.variant == 1 else self.alpha, 0.0 if self.variant == 2 else self.alpha
        return Parts(Hope(hope), Rival(fear), Step(self.rate, self.c), self.rounds, self.passes)
