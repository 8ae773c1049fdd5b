"""`lasw train-metric`: metrics that are trained on people's judgements."""

from __future__ import annotations

import argparse
import importlib
from typing import cast

from lasw.scripts.command_line import Command, Parser, add_action

# what is trained -> (module, one line of help). A new one is one line here and one module with `add_arguments(parser)`
# and `run(arguments) -> exit code`.
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

_EPILOG = """\
example:
  lasw train-metric rose --kind rank --data wmt11/cs-en wmt11/de-en --tokenize 13a --lowercase --output rose.json
  lasw agree -m ROSE:model=rose.json --tokenize 13a --lowercase wmt13/cs-en
"""


def add_arguments(parser: Parser) -> None:
    """Declare the actions, each with its own options."""
    parser.epilog = _EPILOG
    actions = parser.add_subparsers(dest="action", metavar="METRIC", required=True, title="metrics")
    for name, (module, text) in ACTIONS.items():
        cast(Command, importlib.import_module(module)).add_arguments(add_action(actions, name, text))


def run(arguments: argparse.Namespace) -> int:
    """Train; 0 if done."""
    module, _ = ACTIONS[arguments.action]
    return cast(Command, importlib.import_module(module)).run(arguments)
