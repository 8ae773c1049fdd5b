"""`lasw train-metric pairwise`: a pairwise network from preferences."""

from __future__ import annotations

import argparse
import dataclasses

from lasw.metrics import (
    LOSSES,
    Examples,
    PairwiseInputs,
    PairwiseModel,
    Preprocessing,
    Settings,
    examples,
    read_preferences,
    refuse_overwriting,
    train_pairwise,
    training_fingerprint,
    write_trained_metric,
)
from lasw.scripts.command_line import Parser, add_output_options, add_seed, add_text_options, note, print_json

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
        "--sentence-vectors", default="", metavar="FILE", help="or sentence vectors, lines SENTENCE TAB NUMBERS"
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
    add_text_options(parser)
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


def run(arguments: argparse.Namespace) -> int:
    """Read, train, write, print what came out; 0 if done."""
    refuse_overwriting([arguments.output], arguments.data)
    numbers = {f.name: getattr(arguments, f"setting_{f.name}", None) for f in dataclasses.fields(Settings)}
    settings = Settings(**{**numbers, "loss": arguments.loss, "seed": arguments.seed})
    inputs = PairwiseInputs(tuple(arguments.skip), arguments.vectors, arguments.sentence_vectors)
    text = Preprocessing(arguments.tokenize, arguments.lowercase)
    data = _examples(arguments, arguments.data, inputs, text)
    held_out = _examples(arguments, arguments.held_out, inputs, text) if arguments.held_out else None
    model = train_pairwise(inputs, data, held_out, settings)
    training = {**model.training, "fingerprint": training_fingerprint(arguments.data + (arguments.held_out or []))}
    model = dataclasses.replace(model, text=text.settings(), training=training)
    write_trained_metric(arguments.output, model)
    _print(arguments, model)
    return 0


def _examples(
    arguments: argparse.Namespace, folders: list[str], inputs: PairwiseInputs, text: Preprocessing
) -> Examples:
    found = read_preferences(folders, preprocess=text.function(), encoding=arguments.encoding)
    for x in found:
        note(arguments.quiet, f"{x.name}: {len(x.segment)} preferences, {x.ties} ties left out")
    return examples(found, inputs)


def _print(arguments: argparse.Namespace, model: PairwiseModel) -> None:
    found = model.training
    if arguments.json:
        print_json({"model": model.fingerprint(), "training": found})
        return
    print(f"{found['preferences']} preferences, {found['held-out-preferences']} held out, {found['passes']} passes")
    print(f"held-out tau (WMT12) of decisions: {found['tau']:.3f}")
    print(
        f"p(t1, t2) + p(t2, t1) is {found['gap']:.3f} from 1 in the mean, {found['largest-gap']:.3f} at most; "
        f"{found['consistent']:.1%} of decisions are the same in both orders"
    )
    print(f"model {model.fingerprint()} in {arguments.output}")
