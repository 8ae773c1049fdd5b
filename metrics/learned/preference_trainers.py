"""Pairwise networks and combinations as metrics that `lasw agree` trains itself, on preferences.

``PAIRWISE[:skip=SPEC,SPEC][:vectors=FILE][:loss=L][:networks=N][:epochs=N][:seed=N]`` and
``COMBINATION:metrics=SPEC,SPEC[:kind=linear|log-linear]``. As colons part the options, a semicolon stands for the colon
within a SPEC: ``COMBINATION:metrics=METEOR,PABC4;alpha=3``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lasw.metrics.agreement import DirectAssessment, Judgements
from lasw.metrics.base import Metric, Signature
from lasw.metrics.embedding import check_vectors
from lasw.metrics.errors import UserError, unknown
from lasw.metrics.learned.combination import COMBINATION_KINDS, LINEAR, combination
from lasw.metrics.learned.combination_training import train_combination
from lasw.metrics.learned.pairwise import Pairwise, PairwiseInputs, Settings, examples, trained_model
from lasw.metrics.registry import metric
from lasw.metrics.vectors import described

_NUMBERS = ("networks", "epochs", "seed")


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

    def train(self, data: Sequence[Judgements | DirectAssessment]) -> Metric:
        """A network with its model in memory.

        Raises:
            UserError: `data` is marks instead of preferences, or too little.
        """
        found = examples(_preferences("PAIRWISE", data), self.inputs)
        return Pairwise(trained_model(self.inputs, found, settings=self.settings))


@dataclass(frozen=True)
class CombinationTrainer:
    """Learns the weights of metrics.

    Args:
        specs: of the metrics.
        kind: ``linear`` or ``log-linear``.
    """

    specs: tuple[str, ...]
    kind: str = LINEAR

    def signature(self) -> Signature:
        """The kind, and the metrics with their settings."""
        inner = [str(metric(spec).signature()).rpartition("|")[0] for spec in self.specs]
        return Signature("COMBINATION", (("kind", self.kind), ("metrics", ",".join(inner))))

    def train(self, data: Sequence[Judgements | DirectAssessment]) -> Metric:
        """A combination with its model in memory.

        Raises:
            UserError: `data` is marks instead of preferences.
        """
        return combination(train_combination(_preferences("COMBINATION", data), self.specs, kind=self.kind))


def _preferences(name: str, data: Sequence[Judgements | DirectAssessment]) -> list[Judgements]:
    found = [x for x in data if isinstance(x, Judgements)]
    if len(found) < len(data):
        raise UserError(f"{name} trained on marks", expected="folders of preferences")
    return found


def pairwise_from_options(options: dict[str, str]) -> PairwiseTrainer:
    """The trainer of a specification.

    Raises:
        UserError: an option or a value that does not exist, with the nearest that does.
    """
    _check("PAIRWISE", options, ("skip", "vectors", "loss", *_NUMBERS))
    numbers = {key: _whole(key, options[key]) for key in _NUMBERS if key in options}
    if "vectors" in options:
        check_vectors("PAIRWISE", options["vectors"])
    inputs = PairwiseInputs(_specs(options.get("skip", "")), options.get("vectors", ""))
    return PairwiseTrainer(inputs, Settings(loss=options.get("loss", Settings.loss), **numbers))


def combination_from_options(options: dict[str, str]) -> CombinationTrainer:
    """The trainer of a specification.

    Raises:
        UserError: an option or a value that does not exist, with the nearest that does.
    """
    _check("COMBINATION", options, ("metrics", "kind"))
    specs, kind = _specs(options.get("metrics", "")), options.get("kind", LINEAR)
    if not specs:
        raise UserError("COMBINATION of no metrics", expected="COMBINATION:metrics=SPEC,SPEC")
    if kind not in COMBINATION_KINDS:
        raise unknown("value of COMBINATION:kind", kind, list(COMBINATION_KINDS))
    for spec in specs:
        metric(spec)
    return CombinationTrainer(specs, kind)


def _check(name: str, options: dict[str, str], known: tuple[str, ...]) -> None:
    for key in options:
        if key not in known:
            raise unknown(f"option of {name}", key, list(known))


def _specs(text: str) -> tuple[str, ...]:
    return tuple(spec.replace(";", ":") for spec in text.split(",") if spec)


def _whole(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UserError(f"PAIRWISE: {key}={text}", expected="a whole number") from None
