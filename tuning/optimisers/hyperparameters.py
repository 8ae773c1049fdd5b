"""What optimisers do with their hyper-parameters, and what they say if there is nothing to learn."""

from __future__ import annotations

import math
from dataclasses import fields

from lasw.metrics import Metric, Signature
from lasw.metrics import metric as metric_of
from lasw.tuning.optimisers.base import Fit, Optimiser
from lasw.tuning.weights import Weights


def as_metric(metric: Metric | str) -> Metric:
    """The metric of a hyper-parameter.

    Raises:
        UserError: there is none of that specification.
    """
    return metric_of(metric) if isinstance(metric, str) else metric


def at_least(name: str, value: float, least: float) -> None:
    """Refuse a hyper-parameter below `least`, or not finite.

    Raises:
        ValueError: with its name.
    """
    if not (math.isfinite(value) and value >= least):
        raise ValueError(f"{name} is {value}, expected a number of at least {least:g}")


def above_zero(name: str, value: float) -> None:
    """Refuse a hyper-parameter that is not above 0, or not finite.

    Raises:
        ValueError: with its name.
    """
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name} is {value}, expected a number above 0")


def settings_of(optimiser: Optimiser) -> Signature:
    """The signature of an optimiser with a field `metric`: all its fields and the metric's settings."""
    settings: list[tuple[str, str]] = []
    for field in fields(optimiser):  # type: ignore[arg-type]
        value = getattr(optimiser, field.name)
        if field.name == "metric":
            metric = as_metric(value).signature()
            settings += [("metric", metric.name), *((f"metric.{key}", text) for key, text in metric.settings)]
        else:
            settings.append((field.name, value if isinstance(value, str) else repr(value)))
    return Signature(optimiser.name, tuple(settings))


def nothing_to_learn(start: Weights, metric: Metric) -> Fit:
    """The start weights, and why."""
    why = f"no choice among the candidates changes {metric.name}, or no feature tells them apart"
    return Fit(start, 0.0, 0, (f"{why}: the weights stay as they are",))
