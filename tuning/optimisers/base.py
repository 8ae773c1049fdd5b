"""What every optimiser is: hyper-parameters in the constructor, `fit` on a pool, a result with its warnings."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from lasw.metrics import Metric, Signature
from lasw.metrics import metric as metric_of
from lasw.tuning.pool import Columns, Floats, Standardised, check_norm, one_thread, unit_weights
from lasw.tuning.weights import Weights

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool

DEFAULT_SEED = 1
# By setting: another one, and what must be true of its value; else the setting changes nothing.
CountsIf: TypeAlias = Mapping[str, tuple[str, Callable[[Any], bool]]]
# A weight that is this much smaller in effect than the largest one plays no part.
VANISHING = 1e-6
# A score is clearly higher by this share, in pools of so many sentences and more; in smaller ones chance does more.
# Where nothing is wrong, no sign changed a real pool's BLEU by half as much.
CLEARLY, SENTENCES = 0.02, 400
MOST_TURNED = 50  # more weights are not looked at, as each costs a pass over the candidates


@dataclass(frozen=True)
class Fit:
    """What an optimiser found.

    Attributes:
        weights: the new weights.
        objective: the value of what was optimised (its meaning is the optimiser's own; see its docstring).
        iterations: steps of the solver.
        warnings: one line each, for the user.
    """

    weights: Weights
    objective: float
    iterations: int
    warnings: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        told = f", {len(self.warnings)} warnings" if self.warnings else ""
        return f"Fit({self.weights!r}, objective {self.objective:.6g}, {self.iterations} iterations{told})"


def unchanged(start: Weights, why: str, objective: float = 0.0) -> Fit:
    """The start weights, and why."""
    return Fit(start, objective, 0, (f"{why}: the weights stay as they are",))


def vanishing(effect: Floats, name: Callable[[int], str]) -> tuple[str, ...]:
    """A warning if no learnt weight, or only one, plays a part.

    Args:
        effect: (q,) of each on the scores, at least one; whatever the units of its feature.
        name: of the feature by its place.
    """
    effect = np.abs(effect)
    largest = float(effect.max())
    if largest == 0.0:
        return ("all learnt weights are 0: the features say nothing about which candidate is better",)
    if len(effect) > 1 and np.partition(effect, -2)[-2] <= VANISHING * largest:
        which = name(int(np.argmax(effect)))
        return (f"degenerate weights: {which} alone decides, all others vanish beside it",)
    return ()


class Optimiser(ABC):
    """Finds weights under which the candidates that the loss prefers score best.

    One is a frozen dataclass of its hyper-parameters, `metric` and `norm` among them, with `learn`.

    Attributes:
        name: in signatures and messages.
        takes_others: whether more starting points make a difference.
        counts_if: the hyper-parameters that count only beside some values of others.
        metric: the loss, or its specification.
        norm: of the result, see `Columns.weights`.
    """

    name: str
    takes_others: bool = False
    counts_if: ClassVar[CountsIf] = {}
    metric: Metric | str
    norm: str

    def __post_init__(self) -> None:
        check_norm(self.norm)
        _ = self.measure

    @property
    def measure(self) -> Metric:
        """The metric of `metric`.

        Raises:
            UserError: there is none of that specification.
        """
        return metric_of(self.metric) if isinstance(self.metric, str) else self.metric

    def signature(self) -> Signature:
        """All that the weights depend on besides the pool and where `fit` starts."""
        names: list[str] = [hyper.name for hyper in fields(self)] if is_dataclass(self) else []
        return Signature(self.name, tuple(pair for name in names for pair in self._shown(name, getattr(self, name))))

    def _shown(self, name: str, value: object) -> list[tuple[str, str]]:
        """What the signature says of the hyper-parameter `name`."""
        if name == "metric":
            metric = self.measure.signature()
            return [("metric", metric.name), *((f"metric.{key}", text) for key, text in metric.settings)]
        if isinstance(value, bool):
            value = "on" if value else "off"
        return [(name.replace("_", "-"), value if isinstance(value, str) else repr(value))]

    def fit(self, pool: Pool, start: Weights | None = None, *, others: Sequence[Weights] = ()) -> Fit:
        """New weights from all candidates so far; the start weights and one warning if there is nothing to learn.

        Args:
            pool: all candidates with their statistics.
            start: the weights of the previous iteration, over the same features; None: `unit_weights`.
            others: more starting points, for an optimiser that `takes_others`.

        Raises:
            ValueError: the pool is empty, or weights are of other features.
            UserError: as the class says.
        """
        if not len(pool):
            raise ValueError("an empty pool: there is nothing to learn from")
        start = unit_weights(pool) if start is None else start
        if any(weights.names != pool.names for weights in (start, *others)):
            raise ValueError("weights of other features than the pool's")
        return self.learn(pool, start, others) or unchanged(start, self.nothing())

    def for_folds(self) -> Optimiser:
        """One that finds much the same in less time, for all the pools of a cross-validation."""
        return self

    def with_pairs(self, pairs: int) -> Optimiser:
        """One that draws and keeps so many times as many pairs that it has this many a sentence, if that is more."""
        return self

    @abstractmethod
    def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit | None:
        """`fit` on a pool that has candidates; None if there is nothing to learn."""

    def nothing(self) -> str:
        """Why there is nothing to learn."""
        return f"no choice among the candidates changes {self.measure.name}, or no feature tells them apart"


@dataclass(frozen=True)
class Task:
    """What is learnt in standard units.

    Attributes:
        pool: all candidates.
        metric: the loss.
        features: of the candidates.
        start: the weights before.
        norm: of those to come.
    """

    pool: Pool
    metric: Metric
    features: Standardised
    start: Weights
    norm: str

    def weights(self, v: Floats) -> Weights:
        """Weights from those in standard units (q,)."""
        return self.features.weights(v, self.start, self.norm)

    def corpus_score(self, v: Floats) -> float:
        """The metric's, of the candidates that score best under `v` (q,)."""
        return self.pool.corpus_score(self.metric, self.weights(v))


@dataclass(frozen=True)
class Found:
    """What was learnt: weights in standard units (q,), and as `Fit`."""

    v: Floats
    objective: float
    iterations: int
    warnings: tuple[str, ...] = ()


def kept_signs(task: Task, weights: Weights) -> tuple[str, ...]:
    """A warning if candidates would score clearly higher were a dense weight not of the sign that it started with.

    An optimiser that goes downhill from the start weights may end before it has crossed 0.
    """
    columns, dense = task.features.columns, weights.dense
    kept = np.flatnonzero((dense * task.start.dense > 0) & columns.varies[: len(dense)])
    score = task.pool.corpus_score(task.metric, weights)
    chance = math.sqrt(max(1.0, SENTENCES / len(task.features.sizes)))
    best, which = score + CLEARLY * chance * abs(score), -1
    for k in kept.tolist() if len(kept) <= MOST_TURNED else ():
        turned = dense.copy()
        turned[k] = -turned[k]
        other = task.pool.corpus_score(task.metric, Weights(weights.names, turned, weights.sparse))
        if other > best:
            best, which = other, k
    if which < 0:
        return ()
    scale = task.metric.display_scale
    return (
        f"{weights.names.components[which]} has kept the sign of its start weight, with the other one "
        f"{task.metric.name} on the candidates would be {scale * best:.2f} instead of {scale * score:.2f}: start it "
        "with that (--start), or take another optimiser (mira, expected)",
    )


class StandardisedOptimiser(Optimiser):
    """One whose weights are in standard units (`lasw.tuning.pool.standardised`): the features' own do not matter."""

    def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit | None:
        """See `Optimiser`."""
        columns, metric = Columns.of(pool), self.measure
        pool.statistics(metric)  # computed here, on all threads
        if not columns.varies.any():
            return None
        with one_thread():
            task = Task(pool, metric, Standardised.of(columns), start, self.norm)
            found = self.search(task)
        if found is None or not found.v.any():
            return None
        weights = task.weights(found.v)
        return Fit(weights, found.objective, found.iterations, (*found.warnings, *kept_signs(task, weights)))

    @abstractmethod
    def search(self, task: Task) -> Found | None:
        """The best weights; None if nothing tells candidates apart."""


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
