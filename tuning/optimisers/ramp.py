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
from typing import TYPE_CHECKING

import numpy as np

from lasw.metrics import Metric, Signature
from lasw.tuning.optimisers.base import DEFAULT_SEED, Fit, Optimiser
from lasw.tuning.optimisers.hyperparameters import above_zero, as_metric, at_least, nothing_to_learn, settings_of
from lasw.tuning.optimisers.online import OnlineWeights, best_round
from lasw.tuning.optimisers.oracle import highest, in_units, single
from lasw.tuning.pool import Columns, Floats, Standardised, check_norm, one_thread

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool
    from lasw.tuning.weights import Weights

VARIANTS = (1, 2, 3)


@dataclass(frozen=True)
class Ramp(Optimiser):
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
        if self.variant not in VARIANTS:
            raise ValueError(f"variant is {self.variant}, expected 1, 2 or 3")
        above_zero("alpha", self.alpha)
        at_least("c", self.c, 0.0)
        above_zero("rate", self.rate)
        at_least("rounds", self.rounds, 1)
        at_least("passes", self.passes, 1)
        check_norm(self.norm)
        as_metric(self.metric)

    def signature(self) -> Signature:
        """All settings."""
        return settings_of(self)

    def fit(self, pool: Pool, start: Weights) -> Fit:
        """New weights; the previous ones and one warning if the metric or the features tell no candidates apart.

        Args:
            pool: all candidates; not empty.
            start: w0.
        """
        metric, columns = as_metric(self.metric), Columns.of(pool)
        starts, scores = columns.starts, in_units(columns.starts, pool.sentence_scores(metric)[columns.order])
        if not columns.varies.any() or highest(starts, scores).all():
            return nothing_to_learn(start, metric)
        hope, fear = 0.0 if self.variant == 1 else self.alpha, 0.0 if self.variant == 2 else self.alpha
        with one_thread():
            features = Standardised.of(columns)
            generator = np.random.default_rng(self.seed)

            def learn(weights: OnlineWeights) -> None:
                model = features.scores(weights.current)
                target = single(starts, highest(starts, model + hope * scores), model)
                rate = self.rate / len(target)
                pull = min(self.c * rate, 1.0)  # all the way back at most
                for _ in range(self.passes):
                    order = generator.permutation(len(target))
                    weights.learn(order, target, scores, fear=fear, rate=rate, pull=pull)

            def score(v: Floats) -> float:
                return pool.corpus_score(metric, features.weights(v, start, self.norm))

            begin = OnlineWeights(features, features.start(start))
            best, value, winner = best_round(begin, self.rounds, learn, score)
            if not best.any():
                return nothing_to_learn(start, metric)
            return Fit(features.weights(best, start, self.norm), value, winner)
