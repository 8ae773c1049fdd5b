"""`lasw local`: WRO-local, a weight vector for every sentence."""

from __future__ import annotations

import argparse
import codecs
import json
import statistics
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence

from lasw.metrics import (
    STANDARD_INPUT,
    UserError,
    read_lines,
    refuse_overwriting,
)
from lasw.scripts.command_line import (
    Parser,
    add_action,
    add_dask,
    add_metric,
    add_old_option,
    add_output_options,
    add_pool_options,
    add_section,
    add_seed,
    add_text_options,
    note,
    say_new_word,
    warn,
)
from lasw.scripts.local import retrain as local_retrain
from lasw.scripts.local import train as local_train
from lasw.scripts.local.answers import Answers
from lasw.scripts.local.train import AUTO
from lasw.tuning import (
    DEFAULT_SEED,
    GLOBAL,
    check_output,
    json_line,
    write_local_weights,
)

_EPILOG = """\
examples:
  lasw local train --references dev.en --source dev.de --start moses.ini --output samples run*.best100.out.gz
  lasw local weights --samples samples --source test.de --output local.jsonl
  lasw rerank --local-weights local.jsonl test.nbest.gz > test.out
  lasw local serve --samples samples
  lasw local retrain --sets dev.local.tsv --references pool.en --start w.json --output local.jsonl pool.nbest.gz

train draws WRO's pairs, fits the global weights and stores both. It also tries settings of how local the weights should
be, each development sentence with weights that ignore its own pairs, and stores the best one if it beats the global
weights by more than chance; else the global weights are what every sentence gets. weights prints or writes one weight
vector a line of --source. serve does so for standard input, line by line, until it ends.

retrain tunes anew for every sentence, on the pairs of a pool that lasw select --local found most like it (Liu et al.
2012); N-best lists of the pool are what each set's candidates are taken from.

A setting: SIMILARITY[:power=P|:beta=B][:prior=L][:alphas=A,B], as bleu:power=1:prior=0.1:alphas=1,10.
"""
_OPTIMISERS = ("wro", "pro")
_LOOKED_AT = 200  # sentences that a service is asked for, before it says how they are written
_TIMED = 100_000  # the last so many answers are what the latency at the end is of


def add_arguments(parser: Parser) -> None:
    """Declare the four actions and their options."""
    parser.epilog = _EPILOG
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
    train = add_action(
        actions,
        "train",
        "store pairs and global weights, choose the setting",
        "lasw local train --references dev.en --source dev.de --start moses.ini --output samples run*.best100.out.gz",
    )
    add_pool_options(train, "N-best lists of the development set")
    train.add_argument("--source", required=True, metavar="DEV", help="source side of the development set, tokenised")
    train.add_argument("--output", required=True, metavar="SAMPLES", help="where the samples go")
    train.add_argument("--optimiser", default="wro", choices=_OPTIMISERS, help="default: %(default)s")
    add_metric(train, "sentence metric (default: BLEU+1 for pro, PABC4 for wro)")
    add_seed(train, "of all draws", DEFAULT_SEED)
    choice = train.add_argument_group("how local")
    choice.add_argument(
        "--setting",
        default=AUTO,
        metavar="SETTING",
        help="auto (default): the best if it is better by more than chance; best: in any case; global; or a setting",
    )
    choice.add_argument(
        "--try", dest="tried", nargs="+", default=[], metavar="SETTING", help="the settings that are tried"
    )
    choice.add_argument("--measure", default="BLEU", metavar="SPEC", help="whose corpus score decides (default: BLEU)")
    choice.add_argument("--vectors", metavar="FILE", help="word vectors: similarity embedding is tried as well")
    add_section(train, "optimiser", "hyper-parameters of the optimiser", names=_OPTIMISERS, without=("name", "metric"))
    add_old_option(train)
    add_text_options(train, force=True)
    add_output_options(train)
    train.further("--try", "--measure", "--vectors", "--encoding")
    weights = add_action(
        actions,
        "weights",
        "one weight vector for every sentence of a file",
        "lasw local weights --samples samples --source test.de --output local.jsonl",
    )
    weights.add_argument("--source", metavar="FILE", help="tokenised sentences, one a line (-: standard input)")
    weights.add_argument("file", nargs="?", help=argparse.SUPPRESS)  # as the source was given in earlier releases
    weights.add_argument("--output", metavar="FILE", help="JSON lines, or .npz (default: JSON lines on stdout)")
    add_dask(weights, "whose workers compute")
    local_retrain.add_arguments(
        add_action(
            actions,
            "retrain",
            "tune on the pairs of a pool that are most like each sentence",
            "lasw local retrain --sets dev.local.tsv --references pool.en --start w.json --output local.jsonl pool.gz",
        )
    )
    serve = add_action(
        actions,
        "serve",
        "answer sentences from standard input one by one",
        "lasw local serve --samples samples < test.de",
    )
    for action in (weights, serve):
        action.add_argument("--samples", required=True, metavar="SAMPLES", help="what 'lasw local train' wrote")
        action.add_argument("--exact", action="store_true", help="always iterate on all pairs to the optimum")
        action.add_argument("--setting", metavar="SETTING", help="instead of the one chosen in training")
        action.add_argument("--vectors", metavar="FILE", help="word vectors, for similarity embedding")
        action.add_argument("--encoding", default="utf-8", help="of the sentences (default: utf-8)")
        action.add_argument("--quiet", action="store_true", help="no notes on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Do what the action says; 0 if done."""
    does = {"train": local_train.run, "weights": _weights, "serve": _serve, "retrain": local_retrain.run}
    return does[arguments.action](arguments)


def _source(arguments: argparse.Namespace) -> str:
    if bool(arguments.source) == bool(arguments.file):
        found = "two files of sentences" if arguments.file else "no sentences"
        raise UserError(found, expected="--source FILE")
    if arguments.file:
        say_new_word("lasw local weights", arguments.file, f"--source {arguments.file}")
    source: str = arguments.source or arguments.file
    return source


def _weights(arguments: argparse.Namespace) -> int:
    source = _source(arguments)
    if arguments.output:
        check_output(arguments.output, kind="json")
        refuse_overwriting([arguments.output], filter(None, (source, arguments.samples, arguments.vectors)))
    answers = Answers(arguments)
    lines = list(read_lines(source, encoding=arguments.encoding))
    warn("local", answers.unlike(lines, source), arguments.quiet)
    if answers.setting == GLOBAL and not arguments.setting:
        note(arguments.quiet, "global weights for every sentence: in training locality did not pay")
    found = answers.to_all(lines, arguments.dask)
    if arguments.output:
        write_local_weights(arguments.output, found)
    else:
        for weights in found:
            sys.stdout.write(json_line(weights) + "\n")
    return 0


def _serve(arguments: argparse.Namespace) -> int:
    try:
        codecs.lookup(arguments.encoding)
    except LookupError:
        raise UserError(f"unknown encoding {arguments.encoding!r}", remedy="give a name that Python knows") from None
    answers = Answers(arguments)
    answers.to("")  # what is compiled at its first use is compiled before the first sentence
    seconds: deque[float] = deque(maxlen=_TIMED)
    first: list[bytes] = []
    try:
        for line in _raw_lines():
            began = time.perf_counter()
            sys.stdout.write(_answer(answers, line, arguments.encoding) + "\n")
            sys.stdout.flush()
            seconds.append(time.perf_counter() - began)
            if len(first) < _LOOKED_AT:
                first.append(line)
                if len(first) == _LOOKED_AT:
                    _tell_unlike(arguments, answers, first)
        if len(first) < _LOOKED_AT:
            _tell_unlike(arguments, answers, first)
    finally:  # services end by a signal
        if seconds:
            note(arguments.quiet, _latency(list(seconds)))
    return 0


def _tell_unlike(arguments: argparse.Namespace, answers: Answers, lines: Sequence[bytes]) -> None:
    texts = [line.decode(arguments.encoding, errors="replace") for line in lines]
    warn("local", answers.unlike(texts, STANDARD_INPUT), arguments.quiet)


def _answer(answers: Answers, line: bytes, encoding: str) -> str:
    try:
        return json_line(answers.to(line.decode(encoding)))
    except UnicodeDecodeError as error:
        return json.dumps({"error": f"not valid {encoding} ({error.reason})"})


def _latency(seconds: list[float]) -> str:
    ordered = sorted(1e3 * one for one in seconds)
    late = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return f"{len(ordered)} sentences, {statistics.median(ordered):.2f} ms at the median, {late:.2f} ms at 99 %"


def _raw_lines() -> Iterator[bytes]:
    """Lines of standard input as soon as they come, without their ends."""
    if sys.stdin is None or sys.stdin.closed:
        raise UserError("standard input is closed", path=STANDARD_INPUT)
    stream = sys.stdin.buffer
    while line := stream.readline():
        yield line.removesuffix(b"\n").removesuffix(b"\r")
