"""Optimisers that go from sentence to sentence, made of three parts: oracle, rival and step.

    w += rate (h(oracle) - h(rival)) - rate C (w - w0)

The oracle is the candidate that shall win (`lasw.tuning.optimisers.oracle`), chosen before each round; the rival is the
one that competes with it under the weights of the moment. Unless the metric finds the two equally good the step goes
from the one to the other, and in any case back towards the start weights w0. The metric is in units of its spread.

    perceptron   any oracle          the model's best                  a rate
    ramp         hope, model's best  fear, model's best                a rate, a pull back
    plain hinge  a fixed oracle      fear (the cost-augmented best)    a rate, a pull back
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import borrowing, nested
from lasw.tuning.optimisers.base import Found, StandardisedOptimiser, Task
from lasw.tuning.optimisers.oracle import Candidates, Oracle, single
from lasw.tuning.pool import Floats, Standardised, row_score

SMALLEST_FACTOR = 1e-9  # the factor that a penalty shrinks is multiplied into z before it vanishes
FACTOR, FACTOR_SUM, STEPS, UPDATES = range(4)


@dataclass(frozen=True)
class Rival:
    """The highest by model - cost * metric: with cost 0 the model's best, above it the fear.

    Args:
        cost: as said.
    """

    cost: float = 0.0


@dataclass(frozen=True)
class Step:
    """How far the weights move.

    Args:
        rate: of the steps, times the number of sentences.
        c: C, strength of the pull back to the start weights, relative to the mean loss of a sentence.
    """

    rate: float
    c: float = 0.0


@dataclass(frozen=True)
class Parts:
    """What an optimiser is made of.

    Args:
        oracle, rival, step: as said.
        rounds: how often oracles are chosen.
        passes: over all sentences in each round.
        by_mean: oracles are chosen by the mean of the weights so far, not by those of the moment.
    """

    oracle: Oracle
    rival: Rival
    step: Step
    rounds: int
    passes: int = 1
    by_mean: bool = False


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
        self, sentences: NDArray[np.int64], target: NDArray[np.int64], metric: Floats, rival: Rival, step: Step
    ) -> None:
        """One pass with a step after each sentence.

        Args:
            sentences: which ones, in this order.
            target: (S',) place of the candidate that shall win; -1: the sentence is left out.
            metric: (n,) sentence scores.
            rival, step: the other two parts.
        """
        features = self.features
        weights = (self._base_scores, self._z, self._correction, self._state)
        rate = step.rate / len(target)
        pull = min(step.c * rate, 1.0)  # all the way back at most
        _learn(sentences, features.starts, features.features, target, metric, rival.cost, rate, pull, weights)


class OnlineOptimiser(StandardisedOptimiser):
    """An optimiser made of `Parts`; the mean of the weights behind the round after which it scored best wins."""

    seed: int

    @abstractmethod
    def parts(self) -> Parts:
        """What it is made of."""

    def search(self, task: Task) -> Found | None:
        """See `StandardisedOptimiser`."""
        parts, features = self.parts(), task.features
        candidates = Candidates.of(task, parts.oracle)
        if not candidates.differ or not parts.oracle(candidates, np.zeros(len(candidates.metric))).any():
            return None
        generator = np.random.default_rng(self.seed)
        weights = OnlineWeights(features, features.start(task.start))
        best = Found(weights.base, -np.inf, 0)
        for number in range(1, parts.rounds + 1):
            model = features.scores(weights.average if parts.by_mean else weights.current)
            target = single(features.starts, parts.oracle(candidates, model), model)
            for _ in range(parts.passes):
                weights.learn(generator.permutation(len(target)), target, candidates.units, parts.rival, parts.step)
            average = weights.average
            score = task.corpus_score(average)
            if score > best.objective:
                best = Found(average, score, number)
        return best


@nested
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
    q1 = columns[0].shape[1]
    for turn in range(sentences.shape[0]):
        s = sentences[turn]
        if target[s] < 0:
            continue
        rival, highest = -1, 0.0
        for i in range(starts[s], starts[s + 1]):
            value = base_scores[i] + state[FACTOR] * row_score(columns, z[:q1], z[q1:], i) - fear * metric[i]
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
