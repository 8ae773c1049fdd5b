"""What the perceptron and the ramp loss share: one pass over the sentences with an update after each, averaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import borrowing
from lasw.tuning.pool import Floats, Standardised

SMALLEST_FACTOR = 1e-9  # the factor that a penalty shrinks is multiplied into z before it vanishes
FACTOR, FACTOR_SUM, STEPS, UPDATES = range(4)


@dataclass
class OnlineWeights:
    """Weights w = base + factor * z that are pulled back to `base`, and their sum over all steps so far.

    The factor and the sums of factors make a step cost as much as the features of two candidates, however many
    features there are: sum of all w so far = steps * base + factor_sum * z + correction.

    Attributes:
        features: in standard units.
        base: (q,) where they start.
    """

    features: Standardised
    base: Floats
    _z: Floats = field(init=False)
    _correction: Floats = field(init=False)
    _state: Floats = field(init=False)
    _base_scores: Floats = field(init=False)

    def __post_init__(self) -> None:
        self._z, self._correction = np.zeros_like(self.base), np.zeros_like(self.base)
        self._state = np.array([1.0, 0.0, 0.0, 0.0])
        self._base_scores = self.features.scores(self.base)

    @property
    def current(self) -> Floats:
        """(q,) the weights."""
        return np.asarray(self.base + self._state[FACTOR] * self._z)

    @property
    def average(self) -> Floats:
        """(q,) their mean over all steps, `base` before the first."""
        total = self._state[FACTOR_SUM] * self._z + self._correction
        return np.asarray(self.base + total / max(self._state[STEPS], 1.0))

    @property
    def updates(self) -> int:
        """Steps at which target and rival were two candidates that the metric tells apart."""
        return int(self._state[UPDATES])

    def learn(
        self,
        sentences: NDArray[np.int64],
        target: NDArray[np.int64],
        metric: Floats,
        *,
        fear: float,
        rate: float,
        pull: float = 0.0,
    ) -> None:
        """One pass: w += rate (h(target) - h(rival)) - pull (w - base) after each sentence.

        Args:
            sentences: which ones, in this order.
            target: (S',) place of the candidate that shall win; -1: the sentence is left out.
            metric: (n,) sentence scores.
            fear: the rival is the highest by model - fear * metric.
            rate: of the steps.
            pull: in [0, 1].
        """
        features = self.features
        weights = (self._base_scores, self._z, self._correction, self._state)
        columns = (features.dense, *features.entries)
        _learn(sentences, features.starts, columns, target, metric, fear, rate, pull, weights)


def best_round(
    weights: OnlineWeights, rounds: int, learn: Callable[[OnlineWeights], None], score: Callable[[Floats], float]
) -> tuple[Floats, float, int]:
    """Learn for some rounds; the average of all weights behind the round after which it scored best.

    Args:
        weights: the start.
        rounds: at least 1.
        learn: one round.
        score: of weights (q,), higher is better.

    Returns:
        The weights (q,), their score, the number of the round from 1; the first of equally good ones.
    """
    best, highest, winner = weights.base, -np.inf, 0
    for number in range(1, rounds + 1):
        learn(weights)
        average = weights.average
        value = score(average)
        if value > highest:
            best, highest, winner = average, value, number
    return best, highest, winner


@borrowing
def _score(columns, z, i):  # type: ignore[no-untyped-def]
    dense, indptr, indices, data = columns
    q1 = dense.shape[1]
    score = 0.0
    for j in range(q1):
        score += dense[i, j] * z[j]
    for k in range(indptr[i], indptr[i + 1]):
        score += data[k] * z[q1 + indices[k]]
    return score


@borrowing
def _add(columns, i, step, factor_sum, z, correction):  # type: ignore[no-untyped-def]
    dense, indptr, indices, data = columns
    q1 = dense.shape[1]
    for j in range(q1):
        z[j] += step * dense[i, j]
        correction[j] -= factor_sum * step * dense[i, j]
    for k in range(indptr[i], indptr[i + 1]):
        z[q1 + indices[k]] += step * data[k]
        correction[q1 + indices[k]] -= factor_sum * step * data[k]


@borrowing
def _learn(sentences, starts, columns, target, metric, fear, rate, pull, weights):  # type: ignore[no-untyped-def]
    base_scores, z, correction, state = weights
    for turn in range(sentences.shape[0]):
        s = sentences[turn]
        if target[s] < 0:
            continue
        rival, highest = -1, 0.0
        for i in range(starts[s], starts[s + 1]):
            value = base_scores[i] + state[FACTOR] * _score(columns, z, i) - fear * metric[i]
            if rival < 0 or value > highest:
                rival, highest = i, value
        if pull > 0.0:
            state[FACTOR] *= 1.0 - pull
            if state[FACTOR] < SMALLEST_FACTOR:
                for j in range(z.shape[0]):
                    correction[j] += state[FACTOR_SUM] * z[j]
                    z[j] *= state[FACTOR]
                state[FACTOR], state[FACTOR_SUM] = 1.0, 0.0
        if metric[rival] != metric[target[s]]:
            step = rate / state[FACTOR]
            _add(columns, target[s], step, state[FACTOR_SUM], z, correction)
            _add(columns, rival, -step, state[FACTOR_SUM], z, correction)
            state[UPDATES] += 1.0
        state[FACTOR_SUM] += state[FACTOR]
        state[STEPS] += 1.0
