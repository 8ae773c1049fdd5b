"""The expected metric (Smith & Eisner 2006; Rosti et al. 2010): the corpus score that a softmax of the model expects.

With p(e) = exp(v.h(e)) / sum over the sentence's candidates and t(e) the metric's statistics,

    maximise  F(v) = M(sum of p(e) t(e) over all candidates) + entropy * mean entropy of a sentence - l2 / (2 S') |v|^2

M is the corpus score of the expected statistics, not the expected corpus score (Rosti et al. 2010, as Smith & Eisner's
approximation). Any metric whose statistics add up will do. v is in standard units (`lasw.tuning.pool.standardised`) and
free in its norm, so that the softmax's scale is learnt with it: the larger the norm, the closer to the best-scoring
candidate alone. The penalty keeps the norm finite, and the softmax from what only the best-scoring candidates of this
pool gain by. It is divided by the number S' of sentences: what few of them say is doubted more.

F has local maxima. `stages` > 1 is deterministic annealing (Smith & Eisner 2006): the solver starts at a high entropy
weight, which is lowered from stage to stage down to `entropy`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lasw.metrics import Metric, UserError, borrowing
from lasw.tuning.optimisers.base import Found, StandardisedOptimiser, Task, at_least
from lasw.tuning.optimisers.softmax import minimised, softmax
from lasw.tuning.pool import Columns, Floats, Standardised

# Measured on sentences kept out: 0.1 is among the best for 150, 400 and 1014 sentences of Moses; 0.03 and less learn
# 150 by heart.
L2 = 0.1
TOLERANCE = 1e-7  # of the solver, relative to the objective
COOLING = 0.25  # each stage's entropy weight, of that of the stage before
WARM = 0.02  # the first stage's, for metrics in [0, 1]


@dataclass(frozen=True)
class Expected(StandardisedOptimiser):
    """Maximises the metric of expected statistics. Nothing is drawn.

    Args:
        metric: the loss, a `Metric` or its specification; it is scored on the corpus.
        scale: size of the start weights: the root mean square difference of scores from the sentence's mean.
        l2: strength of the penalty towards weights 0, for a metric in [0, 1] and one sentence.
        entropy: what a nat of mean entropy is worth, at the end; below 0 sharpens.
        stages: 1, or that many of annealing.
        iterations: of the solver, at most, in each stage.
        norm: of the result, ``l1`` or ``none`` (see `Columns.weights`).

    `Fit.objective` is F, `Fit.iterations` the solver's, of all stages.

    Raises:
        ValueError: a hyper-parameter out of its range.
        UserError: an unknown metric or norm; in `fit`, `scale` so large that the softmax has no slope left.
    """

    name = "EXPECTED"

    metric: Metric | str = "BLEU"
    scale: float = 1.0
    l2: float = L2
    entropy: float = 0.0
    stages: int = 1
    iterations: int = 200
    norm: str = "l1"

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("scale", self.scale, 0.0)
        at_least("l2", self.l2, 0.0)
        at_least("stages", self.stages, 1)
        at_least("iterations", self.iterations, 1)
        if not math.isfinite(self.entropy):
            raise ValueError(f"entropy is {self.entropy}, expected a number")

    def search(self, task: Task) -> Found | None:
        """See `StandardisedOptimiser`."""
        columns = task.features.columns
        statistics = task.pool.statistics(task.metric)[columns.order].astype(np.float64)
        if not _vary(statistics, columns):
            return None
        objective = ExpectedScore(task.metric, task.features, statistics)
        v, best = self.scale * task.features.start(task.start), None
        if not objective.loss(v, 0.0, 0.0)[1].any():
            if objective.loss(np.zeros_like(v), 0.0, 0.0)[1].any():
                raise UserError(
                    f"optimiser expected: scale {self.scale:g} leaves no candidate but the best-scoring one a chance",
                    expected="a smaller one",
                )
            return None  # BLEU, where the whole pool has no 4-gram right
        for temperature in self._temperatures():
            before = 0 if best is None else best.iterations
            settings = temperature, self.l2 / len(task.features.sizes)
            v, loss, more, warnings = minimised(objective.loss, v, settings, self.iterations, TOLERANCE)
            best = Found(v, -loss, before + more, warnings)
        return best

    def _temperatures(self) -> list[float]:
        falling = [WARM * COOLING**stage for stage in range(self.stages - 1)]
        return [*(self.entropy + warm for warm in falling), self.entropy]


class ExpectedScore:
    """F, negative, and its gradient.

    Args:
        metric: M.
        features: of n candidates, q columns.
        statistics: (n, k) float64 of M.
    """

    def __init__(self, metric: Metric, features: Standardised, statistics: Floats) -> None:
        self._metric, self._features, self._statistics = metric, features, statistics
        self._probability = np.empty(len(statistics))
        self._derivative = np.empty(len(statistics))
        self._entropy = np.empty(len(features.sizes))
        self._normaliser = np.empty(len(features.sizes))
        self._total = np.empty(statistics.shape[1])

    def loss(self, v: Floats, entropy: float, l2: float) -> tuple[float, Floats]:
        """-F(v) and its gradient (q,).

        Args:
            v: (q,) weights in standard units.
            entropy: what a nat of mean entropy is worth.
            l2: strength of the penalty.
        """
        features, p = self._features, self._probability
        softmax(features.starts, features.scores(v), p, self._normaliser, self._entropy)
        expected_statistics(p, self._statistics, self._total)
        value = self._metric.corpus_score(self._total) + entropy * float(self._entropy.mean()) - 0.5 * l2 * float(v @ v)
        slope = self._metric.score_gradient(self._total)
        temperature = entropy / len(self._entropy)
        score_derivatives(features.starts, p, self._statistics, slope, self._entropy, temperature, self._derivative)
        return -value, l2 * v - features.combined(self._derivative)


def _vary(statistics: Floats, columns: Columns) -> bool:
    """Whether two candidates of a sentence have different statistics."""
    first = columns.starts[:-1]
    low, high = np.minimum.reduceat(statistics, first, axis=0), np.maximum.reduceat(statistics, first, axis=0)
    return bool((low != high).any())


@borrowing
def expected_statistics(probability, statistics, total):  # type: ignore[no-untyped-def]
    """Fill total (k,) with the sum of all candidates' statistics (n, k), each times its probability."""
    total[:] = 0.0
    for i in range(probability.shape[0]):
        for k in range(total.shape[0]):
            total[k] += probability[i] * statistics[i, k]


@borrowing
def score_derivatives(starts, probability, statistics, slope, entropy, temperature, derivative):  # type: ignore[no-untyped-def]
    """Fill derivative (n,): of slope . expected statistics + temperature * sum of entropies, in each model score.

    p_i (u_i - mean of u), with u_i = slope . statistics_i - temperature * log p_i.
    """
    for s in range(starts.shape[0] - 1):
        first, last = starts[s], starts[s + 1]
        mean = 0.0
        for i in range(first, last):
            value = 0.0
            for k in range(slope.shape[0]):
                value += slope[k] * statistics[i, k]
            derivative[i] = value
            mean += probability[i] * value
        for i in range(first, last):
            p = probability[i]
            value = derivative[i] - mean
            if temperature != 0.0 and p > 0.0:
                value -= temperature * (math.log(p) + entropy[s])
            derivative[i] = p * value
