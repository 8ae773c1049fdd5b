"""Weights of a combination of metrics from people's preferences: logistic regression on differences of scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement import Judgements
from lasw.metrics.base import Metric
from lasw.metrics.errors import UserError, unknown
from lasw.metrics.learned.combination import (
    COMBINATION_KINDS,
    FLOOR,
    LINEAR,
    LOGLINEAR,
    CombinationModel,
    logarithm,
    scaled,
)
from lasw.metrics.learned.learning import Columns, preference_columns
from lasw.metrics.registry import metric
from lasw.metrics.text import Corpus, References

DEFAULT_PENALTY = 1e-3
_STEPS = 50
_TOLERANCE = 1e-12


def train_combination(
    data: Sequence[Judgements],
    specs: Sequence[str],
    *,
    kind: str = LINEAR,
    penalty: float = DEFAULT_PENALTY,
    floor: float = FLOOR,
    signed: bool = False,
) -> CombinationModel:
    """Learn weights.

    The objective is the mean of log(1 + exp(-w (x - y))) over preferences, x the scores of the better and y of the
    worse, each scaled to unit variance, plus penalty / 2 times the squared weights; it has one minimum.

    Args:
        data: people's preferences; a pair that two judges ranked is two pairs.
        specs: of the metrics.
        kind: ``linear`` or ``log-linear``.
        penalty: above 0.
        floor: what is added before logarithms are taken.
        signed: let weights be negative. By default they are not: a metric that speaks for the worse translation only
            beside others does so by chance, and as a loss it would be tuned against. Metrics without weight are left
            out of the model.

    Raises:
        UserError: a metric does not exist or stands there twice, an unknown kind, or no preference between two
            translations that the metrics tell apart.
    """
    if kind not in COMBINATION_KINDS:
        raise unknown("kind", kind, list(COMBINATION_KINDS))
    twice = next((spec for k, spec in enumerate(specs) if spec in specs[:k]), None)
    if twice is not None or not specs:
        raise UserError(f"metric {twice!r} twice" if specs else "no metrics", expected="each once, at least one")
    better, worse = preference_columns(data, partial(_columns, [metric(spec) for spec in specs]))
    return fit_weights(better, worse, specs, kind=kind, penalty=penalty, floor=floor, signed=signed)


def fit_weights(
    better: NDArray[np.float64],
    worse: NDArray[np.float64],
    specs: Sequence[str],
    *,
    kind: str = LINEAR,
    penalty: float = DEFAULT_PENALTY,
    floor: float = FLOOR,
    signed: bool = False,
) -> CombinationModel:
    """As `train_combination`, from sentence scores (m, d) of the better and of the worse translation of m preferences.

    Raises:
        UserError: no preference between two translations that the metrics tell apart.
    """
    if kind == LOGLINEAR:
        better, worse = logarithm(better, floor), logarithm(worse, floor)
    deviation = np.concatenate([better, worse]).std(axis=0)
    scale = np.where(deviation > 0, deviation, 1.0)
    differences = (better - worse) / scale
    differences = differences[differences.any(axis=1)]
    if not len(differences):
        raise UserError("no preference between translations that these metrics tell apart", expected="many")
    weights = _logistic(differences, penalty, signed)
    right = int(np.count_nonzero(differences @ weights > 0))
    training = {
        "preferences": len(better),
        "penalty": penalty,
        "signed": signed,
        "ordered-right": right / len(differences),
        "weights-of-deviations": dict(zip(specs, weights.tolist(), strict=True)),
    }
    # What weighs nothing need not be computed.
    kept = [k for k in range(len(specs)) if weights[k] != 0] or list(range(len(specs)))
    names = tuple(specs[k] for k in kept)
    return CombinationModel(kind, names, scaled((weights / scale)[kept]), floor, training=training)


def _columns(metrics: Sequence[Metric], references: References) -> Columns:
    prepared = [m.prepare(references) for m in metrics]

    def columns(hypotheses: Corpus, owner: NDArray[np.int32]) -> NDArray[np.float64]:
        pairs = zip(metrics, prepared, strict=True)
        scores = [m.sentence_scores(m.statistics(hypotheses, digest, owner)) for m, digest in pairs]
        return np.stack(scores, axis=1)

    return columns


def _logistic(differences: NDArray[np.float64], penalty: float, signed: bool) -> NDArray[np.float64]:
    """(d,) the minimum, by Newton steps on the weights that are not held at 0."""
    free = np.ones(differences.shape[1], dtype=np.bool_)
    while True:
        weights = np.zeros(len(free))
        if free.any():
            weights[free] = _newton(differences[:, free], penalty)
        if signed or not (weights < 0).any():
            return weights
        free[np.argmin(weights)] = False


def _newton(x: NDArray[np.float64], penalty: float) -> NDArray[np.float64]:
    weights = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        wrong = 0.5 - 0.5 * np.tanh(0.5 * np.einsum("nd,d->n", x, weights))
        gradient = penalty * weights - np.einsum("nd,n->d", x, wrong) / len(x)
        curvature = np.einsum("ni,n,nj->ij", x, wrong * (1 - wrong), x) / len(x) + penalty * np.eye(x.shape[1])
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step
        if float(gradient @ step) < _TOLERANCE:
            break
    return weights
