"""`lasw train-metric combine`: weights of several metrics from preferences."""

from __future__ import annotations

import argparse
import math
from typing import Any

from lasw.metrics import (
    COMBINATION_KINDS,
    DEFAULT_PENALTY,
    FLOOR,
    LINEAR,
    CombinationModel,
    UserError,
    metric,
    named_in,
    train_combination,
)
from lasw.scripts.command_line import Parser, add_metric, add_output_options, add_text_options
from lasw.scripts.measuring.train_metric.data import preferences

_EPILOG = """\
example:
  lasw train-metric combine -m METEOR -m TER -m NIST -m BLEU+1 --data wmt11/cs-en wmt11/de-en --output combination.json
  lasw agree -m COMBINATION:model=combination.json -m METEOR wmt13/cs-en

It learns from folders of judgements as 'lasw agree' reads them: ref.txt, hyp/SYSTEM.txt, pairs.tsv. A model of
metrics with files of their own (WMD, ROSE, ...) opens these only as COMBINATION:model=FILE:files=yes.
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("--data", nargs="+", action="extend", required=True, metavar="FOLDER", help="judgements")
    add_metric(parser, "a metric to combine, repeat it", action="append", required=True)
    parser.add_argument("--output", required=True, metavar="FILE", help="where the model goes, JSON")
    parser.add_argument("--kind", choices=COMBINATION_KINDS, default=LINEAR, help="default: %(default)s")
    parser.add_argument(
        "--penalty", type=float, default=DEFAULT_PENALTY, help="of large weights (default: %(default)s)"
    )
    parser.add_argument(
        "--floor", type=float, default=FLOOR, help="added before logarithms are taken (default: %(default)s)"
    )
    parser.add_argument("--signed", action="store_true", help="let weights be negative")
    add_text_options(parser, force=True)
    add_output_options(parser)


def train(arguments: argparse.Namespace) -> CombinationModel:
    """Read and learn."""
    for option, value in (("--penalty", arguments.penalty), ("--floor", arguments.floor)):
        if not (math.isfinite(value) and value > 0):
            raise UserError(f"{option} {value:g}", expected="a number above 0")
    with named_in(arguments.output, files=True):  # what the model could not name when it is read is not trained
        metrics = [metric(spec) for spec in arguments.metric]
    return train_combination(
        preferences(arguments, arguments.data, metrics),
        arguments.metric,
        kind=arguments.kind,
        penalty=arguments.penalty,
        floor=arguments.floor,
        signed=arguments.signed,
    )


def as_json(model: CombinationModel) -> dict[str, Any]:
    """Weights, and how they were learnt."""
    mixture = {"mixture": model.mixture_spec()} if model.kind == LINEAR else {}
    return {"kind": model.kind, "weights": _weights(model), "training": model.training, **mixture}


def as_lines(model: CombinationModel) -> list[str]:
    """A table of weights."""
    weights, deviations = _weights(model), model.training["weights-of-deviations"]
    width = max(map(len, deviations))
    return [
        f"{'metric':{width}}   weight  of one deviation",
        *(f"{name:{width}}  {weights.get(name, 0.0):+.4f}  {x:+.4f}" for name, x in deviations.items()),
        *([model.mixture_spec()] if model.kind == LINEAR else []),
    ]


def _weights(model: CombinationModel) -> dict[str, float]:
    return dict(zip(model.specs, model.weights, strict=True))
