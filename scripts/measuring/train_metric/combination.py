"""`lasw train-metric combine`: weights of several metrics from preferences."""

from __future__ import annotations

import argparse
import dataclasses
import math

from lasw.metrics import (
    COMBINATION_KINDS,
    DEFAULT_PENALTY,
    FLOOR,
    LINEAR,
    CombinationModel,
    Preprocessing,
    UserError,
    read_preferences,
    refuse_overwriting,
    train_combination,
    training_fingerprint,
    write_trained_metric,
)
from lasw.scripts.command_line import Parser, add_metric, add_output_options, add_text_options, note, print_json

_EPILOG = """\
example:
  lasw train-metric combine -m METEOR -m TER -m NIST -m BLEU+1 --data wmt11/cs-en wmt11/de-en --output combination.json
  lasw agree -m COMBINATION:model=combination.json -m METEOR wmt13/cs-en

It learns from folders of judgements as 'lasw agree' reads them: ref.txt, hyp/SYSTEM.txt, pairs.tsv.
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
    add_text_options(parser)
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read, train, write, print the weights; 0 if done."""
    refuse_overwriting([arguments.output], arguments.data)
    for option, value in (("--penalty", arguments.penalty), ("--floor", arguments.floor)):
        if not (math.isfinite(value) and value > 0):
            raise UserError(f"{option} {value:g}", expected="a number above 0")
    text = Preprocessing(arguments.tokenize, arguments.lowercase)
    data = read_preferences(arguments.data, preprocess=text.function(), encoding=arguments.encoding)
    for x in data:
        note(arguments.quiet, f"{x.name}: {len(x.segment)} preferences, {x.ties} ties left out")
    model = train_combination(
        data,
        arguments.metric,
        kind=arguments.kind,
        penalty=arguments.penalty,
        floor=arguments.floor,
        signed=arguments.signed,
    )
    training = {**model.training, "fingerprint": training_fingerprint(arguments.data)}
    model = dataclasses.replace(model, text=text.settings(), training=training)
    write_trained_metric(arguments.output, model)
    _print(arguments, model)
    return 0


def _print(arguments: argparse.Namespace, model: CombinationModel) -> None:
    spec = model.mixture_spec() if model.kind == LINEAR else None
    if arguments.json:
        weights = dict(zip(model.specs, model.weights, strict=True))
        result = {"model": model.fingerprint(), "kind": model.kind, "weights": weights, "training": model.training}
        print_json({**result, **({"mixture": spec} if spec else {})})
        return
    weights = dict(zip(model.specs, model.weights, strict=True))
    deviations = model.training["weights-of-deviations"]
    width = max(map(len, deviations))
    print(f"{'metric':{width}}   weight  of one deviation")
    for name, deviation in deviations.items():
        print(f"{name:{width}}  {weights.get(name, 0.0):+.4f}  {deviation:+.4f}")
    if spec:
        print(spec)
    print(f"model {model.fingerprint()} in {arguments.output}")
