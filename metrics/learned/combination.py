"""COMBINATION: a weighted sum or product of metrics whose weights were learnt from people's preferences.

``COMBINATION:model=FILE[:files=yes]``, as ``lasw train-metric combine`` wrote it; a model is data: it runs no program,
and names metrics that open files (vectors, other models) only with ``files=yes``. linear: sum of weight * score, a MIX
(`lasw.metrics.composed.mixture`). log-linear: sum of weight * log(score + floor), scores below 0 taken as 0, the
logarithm of a product of powers and orders like it; the floor keeps a score of 0 from outweighing all others.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Metric, Signature
from lasw.metrics.composed import Mixture
from lasw.metrics.learned.json_model import TrainedMetric, digest, finite_numbers, model_file, open_model, strings
from lasw.metrics.registry import metric, named_in

LINEAR, LOGLINEAR = "linear", "log-linear"
COMBINATION_KINDS = (LINEAR, LOGLINEAR)
FLOOR = 0.01


@dataclass(frozen=True)
class CombinationModel(TrainedMetric):
    """Metrics and weights.

    Attributes:
        kind: ``linear`` or ``log-linear``.
        specs: of the metrics.
        weights: as many.
        floor: see above; of no meaning to a linear one.
    """

    format = "lasw combination"

    kind: str
    specs: tuple[str, ...]
    weights: tuple[float, ...]
    floor: float = FLOOR
    text: dict[str, str] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)

    def mixture_spec(self) -> str:
        """The same as a MIX, of a linear one."""
        return "MIX:" + ":".join(f"{spec}={weight!r}" for spec, weight in zip(self.specs, self.weights, strict=True))

    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that differ for models that score differently."""
        return digest([self.kind, self.specs, self.weights, self.floor])

    def values(self, path: str | Path) -> dict[str, Any]:
        """See `TrainedMetric`."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class Combination(Mixture):
    """See above; the corpus score combines the metrics' corpus scores, and statistics are theirs side by side.

    Args:
        model: as `read_combination` gives it; `metrics` and `weights` are its own.
    """

    model: CombinationModel

    name = "COMBINATION"

    def signature(self) -> Signature:
        """Kind and fingerprint of the model, how its training text was prepared, the metrics with their weights."""
        model = self.model
        settings = [("kind", model.kind), ("model", model.fingerprint())]
        if model.kind == LOGLINEAR:
            settings.append(("floor", f"{model.floor:g}"))
        return Signature(self.name, (*settings, *model.settings_of_text(), *super().signature().settings))

    def score_gradient(self, total: NDArray[Any]) -> NDArray[np.float64]:
        """(k,) exact for linear models, by differences for others."""
        return Metric.score_gradient(self, total) if self.model.kind == LOGLINEAR else super().score_gradient(total)

    def _sum(self, scores: list[NDArray[np.float64]], n: int) -> NDArray[np.float64]:
        if self.model.kind == LOGLINEAR:
            scores = [logarithm(x, self.model.floor) for x in scores]
        return super()._sum(scores, n)


def logarithm(scores: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """log(score + floor), scores below 0 as 0."""
    return np.asarray(np.log(np.maximum(scores, 0.0) + floor))


def combination(model: CombinationModel) -> Combination:
    """The metric of a model.

    Raises:
        UserError: one of its metrics does not exist.
    """
    return Combination(tuple(metric(spec) for spec in model.specs), model.weights, model)


def read_combination(path: str | Path) -> CombinationModel:
    """Read what `write_trained_metric` wrote.

    Raises:
        UserError: no such file, not a model, of another version, or a value of it is wrong.
    """
    get = open_model(path, CombinationModel)
    specs = get("specs", list, lambda x: x and strings(x), "specifications of metrics")
    weights = get("weights", list, lambda x: len(x) == len(specs) and finite_numbers(x), f"{len(specs)} finite numbers")
    return CombinationModel(
        get("kind", str, COMBINATION_KINDS.__contains__, " or ".join(COMBINATION_KINDS)),
        tuple(specs),
        tuple(map(float, weights)),
        get("floor", float, lambda x: math.isfinite(x) and x > 0, "a number above 0"),
        **get.history(),
    )


def from_file(model: str = "", files: bool = False) -> Combination:
    """The metric of ``COMBINATION:model=FILE:files=yes``.

    Raises:
        UserError: no model, one that cannot be read, or one that names a metric that is not for it to name.
    """
    path = model_file(Combination.name, model)
    with named_in(path, files=files):
        return combination(read_combination(path))


def scaled(weights: Sequence[float] | NDArray[np.float64]) -> tuple[float, ...]:
    """Weights whose absolute values sum to 1, all 0 as they are: only their proportions order anything."""
    total = float(np.abs(weights).sum()) or 1.0
    return tuple((np.asarray(weights, dtype=np.float64) / total).tolist())
