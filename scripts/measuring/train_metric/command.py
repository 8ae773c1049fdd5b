"""`lasw train-metric`: metrics that are trained on people's judgements."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
from collections.abc import Mapping
from typing import Any, Protocol, cast

from lasw.metrics import refuse_overwriting, training_fingerprint, write_trained_metric
from lasw.scripts.command_line import Parser, add_action, preprocessing, print_json, warn

# what is trained -> (module, one line of help). A new one is one line here and one module: an `Action`.
ACTIONS: dict[str, tuple[str, str]] = {
    "rose": (
        "lasw.scripts.measuring.train_metric.rose",
        "ROSE: a linear model of n-gram, word count and part-of-speech features",
    ),
    "pairwise": (
        "lasw.scripts.measuring.train_metric.pairwise",
        "PAIRWISE: a network that decides which of two translations is better",
    ),
    "combine": ("lasw.scripts.measuring.train_metric.combination", "COMBINATION: weights of several metrics"),
}


class Action(Protocol):
    """A module that trains one metric."""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options, `--data` and `--output` among them."""

    def train(self, arguments: argparse.Namespace) -> Any:
        """The model, a `TrainedMetric`."""

    def as_json(self, model: Any) -> dict[str, Any]:
        """What is printed with `--json`."""

    def as_lines(self, model: Any) -> list[str]:
        """What a person sees of it."""


_EPILOG = """\
example:
  lasw train-metric rose --kind rank --data wmt11/cs-en wmt11/de-en --tokenize 13a --lowercase --output rose.json
  lasw agree -m ROSE:model=rose.json --tokenize 13a --lowercase wmt13/cs-en
"""


def add_arguments(parser: Parser) -> None:
    """Declare the actions, each with its own options."""
    parser.epilog = _EPILOG
    actions = parser.add_subparsers(dest="action", metavar="METRIC", required=True, title="metrics")
    for name, (_, text) in ACTIONS.items():
        _action(name).add_arguments(add_action(actions, name, text))


def run(arguments: argparse.Namespace) -> int:
    """Train, write, print what came out; 0 if done."""
    action = _action(arguments.action)
    refuse_overwriting([arguments.output], arguments.data)
    model = action.train(arguments)
    learnt_from = [*arguments.data, *(getattr(arguments, "held_out", None) or [])]
    training = {**model.training, "fingerprint": training_fingerprint(learnt_from)}
    model = dataclasses.replace(model, text=preprocessing(arguments).settings(), training=training)
    write_trained_metric(arguments.output, model)
    doubts = _doubts(training)
    warn("train-metric", doubts)
    if arguments.json:
        print_json({"model": model.fingerprint(), **action.as_json(model), "warnings": doubts})
    else:
        print("\n".join([*action.as_lines(model), f"model {model.fingerprint()} in {arguments.output}"]))
    return 0


def _doubts(training: Mapping[str, Any]) -> list[str]:
    """That a metric orders more translations wrongly than rightly, by what its training says of it."""
    told = [f"held-out tau is {training['tau']:.3f}"] if training.get("tau", 0) < 0 else []
    share = training.get("ordered-right", 1)
    told += [f"of the preferences it was trained on {share:.1%} are in the right order"] if share < 0.5 else []
    return [f"{text}: more often than not it prefers the worse translation" for text in told]


def _action(name: str) -> Action:
    return cast(Action, importlib.import_module(ACTIONS[name][0]))
