"""Metrics that `lasw agree` trains itself; a new one is a line in `TRAINERS`.

``ROSE[:cost=C][:clip=no][:counts=ratio][:characters=N]``,
``PAIRWISE[:skip=SPEC,SPEC][:vectors=FILE][:loss=L][:networks=N][:epochs=N][:seed=N]`` and
``COMBINATION:metrics=SPEC,SPEC[:kind=linear|log-linear]``. As colons part the options, a semicolon stands for the colon
within a SPEC: ``COMBINATION:metrics=METEOR,PABC4;alpha=3``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, Protocol

from lasw.metrics.agreement import DirectAssessment, Judgements
from lasw.metrics.base import Metric, Signature, number_in
from lasw.metrics.embedding import check_vectors
from lasw.metrics.errors import UserError
from lasw.metrics.learned.combination import combination
from lasw.metrics.learned.combination_training import train_combination
from lasw.metrics.learned.pairwise import Pairwise, PairwiseInputs, Settings, examples, train_pairwise
from lasw.metrics.learned.rose import (
    DEFAULT_COST,
    MOST_CHARACTERS,
    MOST_COST,
    Rose,
    RoseFeatures,
    train_rank,
    train_reg,
)
from lasw.metrics.learned.word_classes import frequent_words
from lasw.metrics.registry import Limits, Registry, check_options, construct, metric, options_of
from lasw.metrics.vectors import described

Data = Judgements | DirectAssessment


class Trainer(Protocol):
    """What makes a metric from judgements."""

    def signature(self) -> Signature:
        """All settings that change the metric, but for the data."""

    def train(self, data: Sequence[Data]) -> Metric:
        """A metric. `data` is all preferences or all marks, no set empty, and holds no text of held-out segments."""


def trainer(spec: str) -> Trainer:
    """The trainer that ``NAME[:key=value]*`` asks for.

    Raises:
        UserError: an unknown name or option (with the nearest valid one), or a bad value.
    """
    name, *parts = spec.split(":")
    options = options_of(f"trained metric {spec!r}", parts)
    return construct(TRAINERS.find(name), options, name, shown="{name}: {key}={value}")


@dataclass(frozen=True)
class RoseTrainer:
    """Trains ROSE-rank on preferences, ROSE-reg on marks; function words are the training references' most frequent.

    Args:
        cost: as `train_rank`, in digits.
        clip: whether n-grams are clipped.
        counts: word counts as differences or as ratios.
        characters: n-grams of up to so many characters too.
    """

    cost: str = f"{DEFAULT_COST:g}"
    clip: Literal["yes", "no"] = "yes"
    counts: Literal["difference", "ratio"] = "difference"
    characters: Annotated[int, Limits(f"0 to {MOST_CHARACTERS}", least=0, most=MOST_CHARACTERS)] = 0

    name = "ROSE"

    def __post_init__(self) -> None:
        check_options(self)
        if not 0 < self._cost <= MOST_COST:
            raise UserError(f"ROSE: cost={self.cost}", expected=f"a number above 0, {MOST_COST:g} at most")

    @property
    def _cost(self) -> float:
        return number_in(self.cost) or 0.0

    def signature(self) -> Signature:
        """Like a trained ROSE's, the cost instead of the model."""
        settings = [("cost", f"{self._cost:g}"), ("clip", self.clip), ("counts", self.counts)]
        settings += [("characters", str(self.characters))] if self.characters else []
        return Signature(self.name, tuple(settings))

    def train(self, data: Sequence[Data]) -> Metric:
        """A ROSE with its model in memory."""
        references = [corpus for x in data for corpus in x.evaluation.references.corpora]
        counting = {"clip": self.clip == "yes", "ratio": self.counts == "ratio"}
        features = RoseFeatures(frequent_words(references), **counting, characters=self.characters)
        preferences = [x for x in data if isinstance(x, Judgements)]
        if preferences:
            return Rose(train_rank(preferences, features, cost=self._cost))
        return Rose(train_reg([x for x in data if isinstance(x, DirectAssessment)], features, cost=self._cost))


@dataclass(frozen=True)
class PairwiseTrainer:
    """Trains a pairwise network; when to stop says a part of the segments it is given.

    Args:
        inputs: what the network sees.
        settings: of the training.
    """

    inputs: PairwiseInputs
    settings: Settings = field(default_factory=Settings)

    def signature(self) -> Signature:
        """The inputs and all settings."""
        vectors = described(self.inputs.vectors) if self.inputs.vectors else "none"
        settings = [(name, f"{value}") for name, value in vars(self.settings).items()]
        return Signature("PAIRWISE", (("skip", ",".join(self.inputs.skip) or "none"), ("vectors", vectors), *settings))

    def train(self, data: Sequence[Data]) -> Metric:
        """A network with its model in memory.

        Raises:
            UserError: `data` is marks instead of preferences, or too little.
        """
        preferences = examples(_preferences("PAIRWISE", data), self.inputs)
        return Pairwise(train_pairwise(self.inputs, preferences, settings=self.settings))


def pairwise_trainer(
    skip: str = "",
    vectors: str | None = None,
    loss: str = Settings.loss,
    networks: int = Settings.networks,
    epochs: int = Settings.epochs,
    seed: int = Settings.seed,
) -> PairwiseTrainer:
    """The trainer of ``PAIRWISE:skip=SPEC,SPEC:vectors=FILE`` and so on; other settings have their defaults.

    Raises:
        UserError: a value that does not exist.
    """
    if vectors is not None:
        check_vectors("PAIRWISE", vectors)
    settings = Settings(loss=loss, networks=networks, epochs=epochs, seed=seed)
    return PairwiseTrainer(PairwiseInputs(_specs(skip), vectors or ""), settings)


@dataclass(frozen=True)
class CombinationTrainer:
    """Learns the weights of metrics.

    Args:
        metrics: their specifications, commas between.
        kind: of the combination.
    """

    metrics: str = ""
    kind: Literal["linear", "log-linear"] = "linear"

    name = "COMBINATION"

    def __post_init__(self) -> None:
        if not _specs(self.metrics):
            raise UserError("COMBINATION of no metrics", expected="COMBINATION:metrics=SPEC,SPEC")
        check_options(self)
        self.signature()  # all metrics exist

    def signature(self) -> Signature:
        """The kind, and the metrics with their settings."""
        inner = [str(metric(spec).signature()).rpartition("|")[0] for spec in _specs(self.metrics)]
        return Signature(self.name, (("kind", self.kind), ("metrics", ",".join(inner))))

    def train(self, data: Sequence[Data]) -> Metric:
        """A combination with its model in memory.

        Raises:
            UserError: `data` is marks instead of preferences.
        """
        return combination(train_combination(_preferences(self.name, data), _specs(self.metrics), kind=self.kind))


def _preferences(name: str, data: Sequence[Data]) -> list[Judgements]:
    preferences = [x for x in data if isinstance(x, Judgements)]
    if len(preferences) < len(data):
        raise UserError(f"{name} trained on marks", expected="folders of preferences")
    return preferences


def _specs(text: str) -> tuple[str, ...]:
    return tuple(spec.replace(";", ":") for spec in text.split(",") if spec)


TRAINERS: Registry[Callable[..., Trainer]] = Registry(
    "trained metric",
    {
        "ROSE": f"{__name__}:RoseTrainer",
        "PAIRWISE": f"{__name__}:pairwise_trainer",
        "COMBINATION": f"{__name__}:CombinationTrainer",
    },
)
