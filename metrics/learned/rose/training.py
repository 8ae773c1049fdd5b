"""Training of ROSE (Song 2015, 3.1.3): a linear SVM on preferences, or linear SVM regression on marks."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement import DirectAssessment, Judgements
from lasw.metrics.errors import UserError
from lasw.metrics.learned.learning import Columns, preference_columns
from lasw.metrics.learned.rose.features import CORE, RoseFeatures
from lasw.metrics.learned.rose.rose import Rose, RoseModel
from lasw.metrics.text import Corpus, References

DEFAULT_COST, MOST_COST = 0.01, 1e6  # the search needs more steps the larger it is
_STEPS = 10_000  # of the solver, which needs a few dozen


def train_rank(
    data: Sequence[Judgements], features: RoseFeatures, *, cost: float = DEFAULT_COST, tagger: str = ""
) -> RoseModel:
    """ROSE-rank: a linear SVM without intercept on the feature differences of preferences, ties out.

    The objective is half the squared weights plus `cost` times the sum of squared hinge losses, over features scaled
    to unit variance (liblinear, Fan et al. 2008, in its primal form, which draws nothing at random). Scores are then
    scaled, see `Rose`.

    Args:
        data: people's preferences; a pair that two judges ranked is two pairs.
        features: which, and how they are counted.
        cost: above 0; the larger, the closer to the data.
        tagger: that tags the text, if the features need tags and the text has none.

    Raises:
        UserError: no preference between two different translations, or a search without end.
    """
    from sklearn.svm import LinearSVC

    untrained = _untrained("rank", features, tagger)
    better, worse = preference_columns(data, partial(_columns, untrained))
    mean, scale = _scaling(np.concatenate([better, worse]))
    differences = (better - worse) / scale
    differences = differences[differences.any(axis=1)]
    if len(differences) < 2:
        raise UserError(f"{len(differences)} preferences between different translations", expected="many more")
    # The solver wants two classes: every second pair is turned round, which without intercept changes nothing.
    sign = np.where(np.arange(len(differences)) % 2, -1.0, 1.0)
    solver = LinearSVC(fit_intercept=False, dual=False, C=cost, tol=1e-6, max_iter=_STEPS)
    weights = _fitted(solver, differences * sign[:, None], sign)
    right = int(np.count_nonzero(differences @ weights > 0))
    training = {"pairs": len(better), "cost": cost, "ordered-right": right / len(differences)}
    return _model(untrained, *_spanned(weights, mean, scale, features), mean, scale, training)


def train_reg(
    data: Sequence[DirectAssessment], features: RoseFeatures, *, cost: float = DEFAULT_COST, tagger: str = ""
) -> RoseModel:
    """ROSE-reg: linear support vector regression of marks (squared epsilon-insensitive loss, epsilon 0.1 deviations).

    Features and marks are scaled to mean 0 and variance 1; scores are on the scale of the marks.

    Args:
        data: people's marks.
        features: which, and how they are counted.
        cost: as `train_rank`.
        tagger: as `train_rank`.

    Raises:
        UserError: all marks are equal, or a search without end.
    """
    from sklearn.svm import LinearSVR

    untrained = _untrained("reg", features, tagger)
    X = np.concatenate([_columns(untrained, x.references)(x.hypotheses, x.owner) for x in data])
    y = np.concatenate([x.marks for x in data])
    if not y.std() > 0:  # the square of tiny differences vanishes
        raise UserError(f"all {len(y)} marks are {y[0]:g}", expected="some better than others")
    mean, scale = _scaling(X)
    solver = LinearSVR(
        loss="squared_epsilon_insensitive",
        epsilon=0.1,
        fit_intercept=False,
        dual=False,
        C=cost,
        tol=1e-6,
        max_iter=_STEPS,
    )
    weights = _fitted(solver, (X - mean) / scale, (y - y.mean()) / y.std()) * y.std()
    return _model(untrained, weights, float(y.mean()), mean, scale, {"marks": len(y), "cost": cost})


def _untrained(kind: str, features: RoseFeatures, tagger: str) -> Rose:
    d = len(features.names)
    return Rose(RoseModel(kind, features, (0.0,) * d, (0.0,) * d, (1.0,) * d, 0.0, tagger=tagger))


def _columns(rose: Rose, references: References) -> Columns:
    prepared = rose.prepare(references)

    def columns(hypotheses: Corpus, owner: NDArray[np.int32]) -> NDArray[np.float64]:
        return rose.features(hypotheses, prepared, owner)

    return columns


def _fitted(solver: Any, X: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """(d,) weights; refuses those of a search that was given up."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # told below, in one line
        weights = np.asarray(solver.fit(X, y).coef_, dtype=np.float64).ravel()
    if solver.n_iter_ >= _STEPS:
        raise UserError(f"no end after {_STEPS} steps of training", expected="fewer", remedy="a smaller --cost helps")
    return weights


def _scaling(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each column, 1 where it is constant."""
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    return mean, np.where(deviation > 1e-12 * np.abs(mean), deviation, 1.0)


def _spanned(
    weights: NDArray[np.float64], mean: NDArray[np.float64], scale: NDArray[np.float64], features: RoseFeatures
) -> tuple[NDArray[np.float64], float]:
    """Weights and intercept: a ranking's mean no more than a direction, so they get a scale to compare losses on."""
    nothing, everything = _landmarks(features)
    slopes = weights / scale
    span = float(slopes @ (everything - nothing))
    if span <= 0:  # of data that prefer the worse; its scores stay as they are
        span = 1.0
    return weights / span, float(slopes @ (mean - nothing)) / span


def _landmarks(features: RoseFeatures) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Features of a hypothesis of the reference's length and mix without a match, and of the reference itself."""
    counts = CORE[-4:]
    balanced = {name: 1.0 if features.ratio or name == "words" else 0.0 for name in counts}
    nothing = np.array([balanced.get(name, 0.0) for name in features.names])
    everything = np.array([balanced.get(name, 1.0) for name in features.names])
    return nothing, everything


def _model(
    untrained: Rose,
    weights: NDArray[np.float64],
    intercept: float,
    mean: NDArray[np.float64],
    scale: NDArray[np.float64],
    training: dict[str, Any],
) -> RoseModel:
    return dataclasses.replace(
        untrained.model,
        weights=tuple(weights.tolist()),
        mean=tuple(mean.tolist()),
        scale=tuple(scale.tolist()),
        intercept=intercept,
        training=training,
    )
