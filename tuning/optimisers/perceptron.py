"""The averaged perceptron (Liang et al. 2006): towards the oracle wherever another candidate scores best.

    w += rate (h(oracle) - h(best-scoring))

sentence by sentence, unless the metric finds the two equally good. What counts is the mean of the weights behind all
sentences so far (Collins 2002); of the passes the one whose mean gives the best corpus score wins, as in batch MIRA.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lasw.metrics import Metric, Signature
from lasw.tuning.optimisers.base import DEFAULT_SEED, Fit, Optimiser
from lasw.tuning.optimisers.hyperparameters import above_zero, as_metric, at_least, nothing_to_learn, settings_of
from lasw.tuning.optimisers.online import OnlineWeights, best_round
from lasw.tuning.optimisers.oracle import MU, OracleChoice, are_references, highest, single
from lasw.tuning.pool import Columns, Floats, Standardised, check_norm, one_thread

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool
    from lasw.tuning.weights import Weights


@dataclass(frozen=True)
class Perceptron(Optimiser):
    """Averaged perceptron on weights in standard units (`lasw.tuning.pool.standardised`).

    Args:
        metric: the sentence metric that chooses oracles, a `Metric` or its specification. Its corpus score tells the
            best pass.
        oracle: ``local``, ``reference`` (bold updating), ``hybrid`` or ``mixed`` (see `lasw.tuning.optimisers.oracle`).
            ``mixed`` oracles are chosen before each pass, by the mean of the weights so far.
        mu: share of the model score in ``mixed``.
        rate: of the updates, times the number of sentences, beside start weights at which scores have spread 1.
        passes: over all sentences.
        norm: of the result, ``l1`` or ``none`` (see `Columns.weights`).
        seed: of the order of sentences, a new one in each pass.

    `Fit.objective` is the corpus score of the candidates that then score best, `Fit.iterations` the pass that won.

    Raises:
        ValueError: a hyper-parameter out of its range.
        UserError: an unknown metric, oracle or norm; in `fit`, oracles that need text in a pool without.
    """

    name = "PERCEPTRON"

    metric: Metric | str = "BLEU+1"
    oracle: str = "local"
    mu: float = MU
    rate: float = 3.0
    passes: int = 30
    norm: str = "l1"
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        above_zero("rate", self.rate)
        at_least("passes", self.passes, 1)
        check_norm(self.norm)
        as_metric(self.metric)
        self._choice()

    def _choice(self) -> OracleChoice:
        return OracleChoice(self.oracle, self.mu)

    def signature(self) -> Signature:
        """All settings."""
        return settings_of(self)

    def fit(self, pool: Pool, start: Weights) -> Fit:
        """New weights; the previous ones and one warning if no sentence has an oracle and others.

        Args:
            pool: all candidates; not empty.
            start: where learning starts.
        """
        metric, choice, columns = as_metric(self.metric), self._choice(), Columns.of(pool)
        starts, scores = columns.starts, pool.sentence_scores(metric)[columns.order]
        reference = are_references(pool)[columns.order] if choice.needs_text else None
        known = (starts, scores, np.zeros_like(scores), reference)
        if not columns.varies.any() or highest(starts, scores).all() or not choice.oracles(*known).any():
            return nothing_to_learn(start, metric)
        with one_thread():
            features = Standardised.of(columns)
            generator = np.random.default_rng(self.seed)

            def learn(weights: OnlineWeights) -> None:
                model = features.scores(weights.average)
                target = single(starts, choice.oracles(starts, scores, model, reference), model)
                order = generator.permutation(len(target))
                weights.learn(order, target, scores, fear=0.0, rate=self.rate / len(target))

            def score(v: Floats) -> float:
                return pool.corpus_score(metric, features.weights(v, start, self.norm))

            begin = OnlineWeights(features, features.start(start))
            best, value, winner = best_round(begin, self.passes, learn, score)
            if not best.any():
                return nothing_to_learn(start, metric)
            return Fit(features.weights(best, start, self.norm), value, winner)
