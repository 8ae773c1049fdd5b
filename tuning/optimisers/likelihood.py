"""Maximum likelihood of oracles (Och & Ney 2002): the oracles of every sentence shall be probable under a softmax.

    maximise  F(v) = 1/S' sum_s 1/|O_s| sum over o in O_s of log p(o) - l2 / 2 |v|^2,   p(e) = exp(v.h(e)) / sum

O_s are the oracles of sentence s; equally good ones share its mass, as several references do in Och & Ney (2002, eq.
11), which keeps F concave. Sentences without oracles, or of oracles alone, are left out of the S'. v is in standard
units (`lasw.tuning.pool.standardised`).

With ``mixed`` oracles the model has a say in which they are: they are chosen by the start weights, then again by the
new ones, `rounds` times in all; the round whose weights give the best corpus score wins (*decision*).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Metric
from lasw.tuning.optimisers.base import Found, StandardisedOptimiser, Task, at_least
from lasw.tuning.optimisers.oracle import Candidates, OracleChoice, is_mixed
from lasw.tuning.optimisers.softmax import minimised, softmax
from lasw.tuning.pool import Floats, Standardised

TOLERANCE = 1e-8  # of the solver, relative to the objective


@dataclass(frozen=True)
class MaximumLikelihood(StandardisedOptimiser):
    """Makes the oracles probable. Nothing is drawn.

    Args:
        metric: the sentence metric that chooses oracles, a `Metric` or its specification. Its corpus score tells the
            best round.
        oracle: ``local``, ``reference``, ``hybrid`` or ``mixed`` (see `lasw.tuning.optimisers.oracle`).
        mu: share of the model score in ``mixed``.
        rounds: how often ``mixed`` oracles are chosen.
        l2: strength of the penalty towards weights 0; times S' it is that of a sum over the sentences.
        iterations: of the solver, at most, in each round.
        norm: of the result, ``l1`` or ``none`` (see `Columns.weights`).

    `Fit.objective` is F of the round that won, `Fit.iterations` the solver's up to then.

    Raises:
        ValueError: a hyper-parameter out of its range.
        UserError: an unknown metric, oracle or norm; in `fit`, oracles that need text in a pool without.
    """

    name = "MLE"
    counts_if = {"mu": ("oracle", is_mixed), "rounds": ("oracle", is_mixed)}  # noqa: RUF012 - of the base class

    metric: Metric | str = "BLEU+1"
    oracle: str = "mixed"
    mu: float = 0.7
    rounds: int = 3
    l2: float = 1e-3
    iterations: int = 500
    norm: str = "l1"

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("rounds", self.rounds, 1)
        at_least("l2", self.l2, 0.0)
        at_least("iterations", self.iterations, 1)
        self._choice()

    def _choice(self) -> OracleChoice:
        return OracleChoice(self.oracle, self.mu)

    def search(self, task: Task) -> Found | None:
        """See `StandardisedOptimiser`."""
        features, choice = task.features, self._choice()
        candidates = Candidates.of(task, choice)
        v, iterations, highest, best = features.start(task.start), 0, -np.inf, None
        if not candidates.differ:
            return None
        for _ in range(self.rounds if choice.needs_model else 1):
            target = targets(features.starts, choice(candidates, features.scores(v)))
            if not target.any():
                break
            loss = Likelihood(features, target).loss
            v, least, more, warnings = minimised(loss, v, (self.l2,), self.iterations, TOLERANCE)
            iterations += more
            score = task.corpus_score(v)
            if v.any() and score > highest:
                highest, best = score, Found(v, -least, iterations, warnings)
        return best


def targets(starts: NDArray[np.int64], oracles: NDArray[np.bool_]) -> Floats:
    """(n,) what each candidate's share of the mass should be; 0 in sentences without oracles or of oracles alone."""
    sizes = np.diff(starts)
    count = np.add.reduceat(oracles.astype(np.float64), starts[:-1])
    share = np.where((count > 0) & (count < sizes), 1.0 / np.maximum(count, 1.0), 0.0)
    return np.asarray(np.where(oracles, np.repeat(share, sizes), 0.0))


class Likelihood:
    """F, negative, and its gradient.

    Args:
        features: of n candidates, q columns.
        target: (n,) as `targets` gives it, not all 0.
    """

    def __init__(self, features: Standardised, target: Floats) -> None:
        self._features = features
        used = np.add.reduceat(target, features.starts[:-1]) > 0
        self._sentences = float(used.sum())
        self._used = np.repeat(used, features.sizes)
        self._target = target
        self._wanted = np.flatnonzero(target)
        self._owner = np.searchsorted(features.starts, self._wanted, side="right") - 1
        self._probability = np.empty(len(target))
        self._entropy = np.empty(len(features.sizes))
        self._normaliser = np.empty(len(features.sizes))

    def loss(self, v: Floats, l2: float) -> tuple[float, Floats]:
        """-F(v) and its gradient (q,); v (q,) in standard units."""
        p, wanted, scores = self._probability, self._wanted, self._features.scores(v)
        softmax(self._features.starts, scores, p, self._normaliser, self._entropy)
        logs = scores[wanted] - self._normaliser[self._owner]  # not of p, which may underflow
        value = float(self._target[wanted] @ logs) / self._sentences - 0.5 * l2 * float(v @ v)
        slope = self._features.combined(np.where(self._used, self._target - p, 0.0)) / self._sentences
        return -value, l2 * v - slope
