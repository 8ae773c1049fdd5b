"""`lasw train-metric pairwise`: a pairwise network from preferences."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from lasw.metrics import (
    LOSSES,
    PairwiseInputs,
    PairwiseModel,
    Settings,
    examples,
    named_in,
    train_pairwise,
)
from lasw.scripts.command_line import Parser, add_output_options, add_seed, add_text_options, tell_idle
from lasw.scripts.measuring.train_metric.data import preferences

_EPILOG = """\
example:
  lasw train-metric pairwise --skip METEOR TER NIST BLEU+1 --vectors glove.bin --data wmt11/cs-en wmt11/de-en \\
      --tokenize 13a --lowercase --output pairwise.json
  lasw agree -m PAIRWISE:model=pairwise.json -m METEOR --tokenize 13a --lowercase wmt13/cs-en

It learns from folders of judgements as 'lasw agree' reads them: ref.txt, hyp/SYSTEM.txt, pairs.tsv. Skip features are
metrics, or BLEUCOMP for BLEU's components.
"""
_DEFAULTS = Settings()


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("--data", nargs="+", action="extend", required=True, metavar="FOLDER", help="judgements")
    parser.add_argument("--output", required=True, metavar="FILE", help="where the model goes, JSON")
    group = parser.add_argument_group("inputs")
    group.add_argument(
        "--skip", nargs="+", action="extend", default=[], metavar="SPEC", help="metrics that are skip features"
    )
    group.add_argument("--vectors", default="", metavar="FILE", help="word vectors, averaged over a sentence")
    group.add_argument(
        "--sentence-vectors",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="sentence vectors, lines SENTENCE TAB NUMBERS; those of several files, and --vectors, side by side",
    )
    group = parser.add_argument_group("training")
    group.add_argument("--loss", choices=LOSSES, default=_DEFAULTS.loss, help="default: %(default)s")
    group.add_argument(
        "--held-out",
        nargs="+",
        action="extend",
        metavar="FOLDER",
        help="judgements that say when to stop (default: a share of --data)",
    )
    _number(group, "held-out-share", "held_out", float, "of the segments of --data")
    _number(group, "hidden", "hidden", int, "nodes in each of the three groups")
    _number(group, "networks", "networks", int, "trained from different first weights and averaged")
    _number(group, "decay", "decay", float, "of squared weights")
    _number(group, "epochs", "epochs", int, "passes over the data at most")
    _number(group, "patience", "patience", int, "passes without a better tau before it ends")
    add_seed(group, "of all that is drawn", _DEFAULTS.seed)
    add_text_options(parser, force=True)
    add_output_options(parser)
    parser.further(
        "--sentence-vectors", "--held-out-share", "--hidden", "--networks", "--decay", "--epochs", "--patience"
    )
    parser.further("--patience", "--encoding")


def _number(group: argparse._ArgumentGroup, option: str, name: str, kind: type, text: str) -> None:
    default = getattr(_DEFAULTS, name)
    group.add_argument(
        f"--{option}",
        dest=f"setting_{name}",
        type=kind,
        default=default,
        metavar="N" if kind is int else "X",
        help=f"{text} (default: %(default)s)",
    )


def train(arguments: argparse.Namespace) -> PairwiseModel:
    """Read and learn."""
    numbers = {f.name: getattr(arguments, f"setting_{f.name}", None) for f in dataclasses.fields(Settings)}
    tell_idle(arguments, ("--held-out-share", not arguments.held_out, "--held-out has the judgements"))
    settings = Settings(**{**numbers, "loss": arguments.loss, "seed": arguments.seed})
    with named_in(arguments.output, files=True):  # what the model could not name when it is read is not trained
        inputs = PairwiseInputs(tuple(arguments.skip), arguments.vectors, tuple(arguments.sentence_vectors))
    data = examples(preferences(arguments, arguments.data, [inputs]), inputs)
    held_out = examples(preferences(arguments, arguments.held_out, [inputs]), inputs) if arguments.held_out else None
    return train_pairwise(inputs, data, held_out, settings)


def as_json(model: PairwiseModel) -> dict[str, Any]:
    """How it was trained."""
    return {"training": model.training}


def as_lines(model: PairwiseModel) -> list[str]:
    """How good it is."""
    training = model.training
    return [
        f"{training['preferences']} preferences, {training['held-out-preferences']} held out, "
        f"{training['passes']} passes",
        f"held-out tau (WMT12) of decisions: {training['tau']:.3f}",
        f"p(t1, t2) + p(t2, t1) is {training['gap']:.3f} from 1 in the mean, {training['largest-gap']:.3f} at most; "
        f"{training['consistent']:.1%} of decisions are the same in both orders",
    ]
