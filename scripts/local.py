"""`lasw local`: WRO-local, a weight vector for every sentence."""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from lasw.metrics.base import References
from lasw.metrics.errors import UserError
from lasw.metrics.files import STANDARD_INPUT, read_lines
from lasw.metrics.preprocessing import Preprocessing
from lasw.metrics.registry import metric
from lasw.metrics.text import Vocabulary, read_corpus
from lasw.scripts.assignments import assignments, single_assignments
from lasw.scripts.options import add_output_options, add_text_options, note, print_json, warn
from lasw.tuning.formats.feature_columns import FeatureColumns
from lasw.tuning.formats.local_weights import json_line, write_local_weights
from lasw.tuning.formats.weight_files import check_output, read_weight_file
from lasw.tuning.formats.weight_match import match
from lasw.tuning.leave_one_out import Curve, grid, leave_one_out
from lasw.tuning.local import GLOBAL, LocalWeigher, Setting, fast_form_error
from lasw.tuning.local_samples import LocalSamples, local_samples, read_samples, write_samples
from lasw.tuning.optimiser import DEFAULT_SEED
from lasw.tuning.optimisers import make_optimiser
from lasw.tuning.pairwise import PairwiseOptimiser
from lasw.tuning.pool import Pool
from lasw.tuning.pool_reader import read_pool
from lasw.tuning.ranking import Floats
from lasw.tuning.similarity import NAMES as SIMILARITIES
from lasw.tuning.similarity import Similarity, make_similarity
from lasw.tuning.weights import Weights

_EPILOG = """\
examples:
  lasw local train --references dev.en --source dev.de --start moses.ini --output samples run*.best100.out.gz
  lasw local weights --samples samples test.de --output local.jsonl
  lasw rerank --local-weights local.jsonl test.nbest.gz > test.out
  lasw local serve --samples samples

train draws WRO's pairs, fits the global weights and stores both. It also tries settings of how local the weights should
be, each development sentence with weights that ignore its own pairs, and stores the best one if it beats the global
weights by more than chance; else the global weights are what every sentence gets. weights prints or writes one weight
vector a line of SOURCE. serve does so for standard input, line by line, until it ends.

A setting: SIMILARITY[:power=P|:beta=B][:prior=L][:alphas=A,B], as bleu:power=1:prior=0.1:alphas=1,10.
"""
AUTO, BEST = "auto", "best"
_CHECKED_SENTENCES = 20  # whose fast weights are compared with the exact ones
_TOLERABLE = 0.01
# Without a word of their own: what comes with word vectors needs their file.
_BY_DEFAULT = ("bleu", "words", "characters")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the three actions and their options."""
    parser.epilog = _EPILOG
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
    train = _action(
        actions,
        "train",
        "store pairs and global weights, choose the setting",
        "lasw local train --references dev.en --source dev.de --start moses.ini --output samples run*.best100.out.gz",
    )
    train.add_argument("nbest", nargs="+", metavar="NBEST", help="N-best lists of the development set")
    train.add_argument("--references", "-r", nargs="+", action="extend", required=True, metavar="REF")
    train.add_argument("--source", required=True, metavar="DEV", help="source side of the development set, tokenised")
    train.add_argument("--output", required=True, metavar="SAMPLES", help="where the samples go")
    train.add_argument("--optimiser", default="wro", choices=("wro", "pro"), help="default: %(default)s")
    train.add_argument("--metric", metavar="SPEC", help="sentence metric (default: BLEU+1 for pro, PABC4 for wro)")
    train.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="a hyper-parameter of it")
    train.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of all draws (default: %(default)s)")
    train.add_argument("--start", metavar="WEIGHTS", help="the previous weights, any weight file")
    train.add_argument("--sparse-weights", metavar="FILE", help="previous sparse weights, if in a file of their own")
    train.add_argument(
        "--feature", action="append", default=[], metavar="NAME=FILE", help="one more feature, a number per N-best line"
    )
    train.add_argument("--unsorted", action="store_true", help="sentence ids may decrease within a list")
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
    add_text_options(train)
    add_output_options(train)
    weights = _action(
        actions,
        "weights",
        "one weight vector for every sentence of a file",
        "lasw local weights --samples samples test.de --output local.jsonl",
    )
    weights.add_argument("file", metavar="SOURCE", help="tokenised sentences, one a line (-: standard input)")
    weights.add_argument("--output", metavar="FILE", help="JSON lines, or .npz (default: JSON lines on stdout)")
    serve = _action(
        actions,
        "serve",
        "answer sentences from standard input one by one",
        "lasw local serve --samples samples < test.de",
    )
    for action in (weights, serve):
        action.add_argument("--samples", required=True, metavar="SAMPLES", help="what 'lasw local train' wrote")
        action.add_argument("--exact", action="store_true", help="iterate on all pairs instead of one Newton step")
        action.add_argument("--setting", metavar="SETTING", help="instead of the one chosen in training")
        action.add_argument("--vectors", metavar="FILE", help="word vectors, for similarity embedding")
        action.add_argument("--encoding", default="utf-8", help="of the sentences (default: utf-8)")
        action.add_argument("--quiet", action="store_true", help="no notes on stderr")


def _action(actions: Any, name: str, text: str, example: str) -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(
        name,
        help=text,
        description=text,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    action.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help="show the traceback of an error"
    )
    return action


def run(arguments: argparse.Namespace) -> int:
    """Do what the action says; 0 if done."""
    return {"train": _train, "weights": _weights, "serve": _serve}[arguments.action](arguments)


def _train(arguments: argparse.Namespace) -> int:
    check_output(arguments.output, kind="json")
    if arguments.seed < 0:
        raise UserError(f"--seed {arguments.seed}", expected="a number of at least 0")
    fixed = None if arguments.setting in (AUTO, BEST, GLOBAL) else Setting.parse(arguments.setting)
    names = (*_BY_DEFAULT, "embedding") if arguments.vectors else _BY_DEFAULT
    tried = tuple(map(Setting.parse, arguments.tried)) or grid(names)
    if fixed is not None and fixed not in tried:
        tried = (*tried, fixed)
    measure = metric(arguments.measure)
    pool, samples, warnings = _samples(arguments)
    similarities = _similarities(arguments, samples, {setting.similarity for setting in tried})
    matrices = {name: similarity.matrix(samples.source) for name, similarity in similarities.items()}
    note(arguments.quiet, f"{len(tried)} settings, leaving one out")
    curve = leave_one_out(pool, samples, matrices, tried, measure, seed=arguments.seed)
    setting = {AUTO: curve.chosen, BEST: curve.best.setting, GLOBAL: None}.get(arguments.setting, fixed)
    if setting is not None:
        warnings += _fast_form_warnings(samples, setting, matrices[setting.similarity])
    described = _described(curve, setting, arguments.measure)
    marks = {name: similarity.fingerprint() for name, similarity in similarities.items()}
    chosen = {"setting": described["setting"], "leave_one_out": described, "fingerprints": marks}
    write_samples(arguments.output, _with_header(samples, chosen))
    if not arguments.quiet:
        warn("local", warnings)
    result = {
        "candidates": len(pool),
        "pairs": len(samples.x),
        "signature": samples.header["signature"],
        **described,
        "warnings": warnings,
    }
    if arguments.json:
        print_json(result)
    else:
        _print_curve(result, curve, setting)
    return 0


def _samples(arguments: argparse.Namespace) -> tuple[Pool, LocalSamples, list[str]]:
    options = single_assignments("--option", arguments.option)
    optimiser = make_optimiser(arguments.optimiser, options, metric=arguments.metric, seed=arguments.seed)
    assert isinstance(optimiser, PairwiseOptimiser)
    given = None
    if arguments.start:
        given = read_weight_file(arguments.start, sparse_path=arguments.sparse_weights, encoding=arguments.encoding)
    elif arguments.sparse_weights:
        raise UserError("--sparse-weights without the dense ones", remedy="give those with --start")
    columns = FeatureColumns(assignments("--feature", arguments.feature), encoding=arguments.encoding)
    preprocess = Preprocessing(arguments.tokenize, arguments.lowercase).function()
    vocabulary = Vocabulary()
    corpora = [
        read_corpus(path, vocabulary, preprocess=preprocess, encoding=arguments.encoding)
        for path in arguments.references
    ]
    references = References(tuple(corpora))
    source = tuple(read_lines(arguments.source, encoding=arguments.encoding))
    if len(source) != len(references):
        raise UserError(
            f"{len(source)} lines",
            path=arguments.source,
            expected=f"{len(references)}, as many as {arguments.references[0]} has",
        )
    pool, warnings = read_pool(
        arguments.nbest,
        references,
        dense=given.dense if given is not None else (),
        columns=columns,
        preprocess=preprocess,
        encoding=arguments.encoding,
        unsorted=arguments.unsorted,
        progress=lambda path, lines, new: note(arguments.quiet, f"{path}: {lines} hypotheses, {new} new"),
    )
    if pool.names is None or not len(pool):
        raise UserError("no hypotheses", path=arguments.nbest[0])
    own = {name: [1.0] * size for name, size in pool.names.groups if name not in columns.names}
    matched = match(
        given.weights if given is not None else Weights.from_groups(own),
        pool.names,
        sparse_names=pool.sparse_names,
        default=dict.fromkeys(columns.names, 0.0),
        path=arguments.start,
    )
    samples = local_samples(
        optimiser, optimiser.sample(pool), matched.weights, source, {"unused": dict(matched.unused)}
    )
    return pool, samples, [*warnings, *matched.warnings, *samples.header["warnings"]]


def _similarities(arguments: argparse.Namespace, samples: LocalSamples, names: set[str]) -> dict[str, Similarity]:
    return {
        name: make_similarity(name, samples.source, vectors=arguments.vectors) for name in SIMILARITIES if name in names
    }


def _fast_form_warnings(samples: LocalSamples, setting: Setting, similarities: Floats) -> list[str]:
    chosen = np.unique(np.linspace(0, len(similarities) - 1, _CHECKED_SENTENCES).astype(int))
    rows = similarities[chosen].copy()
    rows[np.arange(len(chosen)), chosen] = 0.0
    error = fast_form_error(LocalWeigher(samples, setting), rows)
    if error <= _TOLERABLE:
        return []
    return [f"under {setting} the fast form is up to {100 * error:.1f} % away from the optimum: use --exact"]


def _with_header(samples: LocalSamples, more: Mapping[str, Any]) -> LocalSamples:
    return dataclasses.replace(samples, header={**samples.header, **more})


def _described(curve: Curve, setting: Setting | None, measure: str) -> dict[str, Any]:
    return {
        "setting": GLOBAL if setting is None else str(setting),
        "measure": measure,
        "global_score": curve.global_score,
        "best": str(curve.best.setting),
        "p_value": curve.best.p_value,
        "curve": [
            {
                "setting": str(point.setting),
                "score": point.score,
                "lead": point.lead,
                "low": point.low,
                "high": point.high,
                "p_value": point.p_value,
            }
            for point in curve.points
        ],
    }


def _print_curve(result: Mapping[str, Any], curve: Curve, setting: Setting | None) -> None:
    width = max(len(str(point.setting)) for point in curve.points)
    print(f"{'setting':{width}}  {result['measure']:>6}  {'lead':>6}  {'95 % interval':14}  p")
    print(f"{GLOBAL:{width}}  {100 * curve.global_score:6.2f}")
    for point in curve.points:
        interval = f"[{100 * point.low:+.2f}, {100 * point.high:+.2f}]"
        lead = f"{100 * point.lead:+6.2f}  {interval:14}  {point.p_value:.3f}"
        print(f"{point.setting!s:{width}}  {100 * point.score:6.2f}  {lead}")
    print(f"best        {curve.best.setting}, p = {curve.best.p_value:.3f} (of {len(curve.points)} settings)")
    print(f"chosen      {GLOBAL if setting is None else setting}")
    print(f"signature   {result['signature']}")


class _Answers:
    """Weights for lines, as the samples and the options ask for them."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        samples = read_samples(arguments.samples)
        text = arguments.setting or samples.header.get("setting", GLOBAL)
        setting = None if text == GLOBAL else Setting.parse(text)
        self.setting = text
        self._exact = bool(arguments.exact)
        self._weigher = LocalWeigher(samples, setting)
        self._unused = {name: list(values) for name, values in samples.header.get("unused", {}).items()}
        self._similarity = None
        if setting is not None:
            self._similarity = make_similarity(setting.similarity, samples.source, vectors=arguments.vectors)
            known = samples.header.get("fingerprints", {}).get(setting.similarity)
            if known is not None and known != self._similarity.fingerprint():
                raise UserError("other word vectors than in training", path=arguments.vectors)

    def to(self, line: str) -> Weights:
        """The weights of one sentence, those of features that no list showed behind the others."""
        if self._similarity is None:
            weights = self._weigher.global_weights
        else:
            weights = self._weigher.weights(self._similarity.to(line), exact=self._exact)
        if not self._unused:
            return weights
        return Weights.from_groups({**weights.by_group(), **self._unused}, weights.sparse)


def _weights(arguments: argparse.Namespace) -> int:
    if arguments.output:
        check_output(arguments.output, kind="json")
    answers = _Answers(arguments)
    lines = read_lines(arguments.file, encoding=arguments.encoding)
    if answers.setting == GLOBAL:
        note(arguments.quiet, "global weights for every sentence: in training locality did not pay")
    found = [answers.to(line) for line in lines]
    if arguments.output:
        write_local_weights(arguments.output, found)
    else:
        for weights in found:
            sys.stdout.write(json_line(weights) + "\n")
    return 0


def _serve(arguments: argparse.Namespace) -> int:
    answers = _Answers(arguments)
    answers.to("")  # what is compiled at its first use is compiled before the first sentence
    out = sys.stdout
    seconds: list[float] = []
    for line in _raw_lines():
        began = time.perf_counter()
        try:
            text = json_line(answers.to(line.decode(arguments.encoding)))
        except UnicodeDecodeError as error:
            text = json.dumps({"error": f"not valid {arguments.encoding} ({error.reason})"})
        out.write(text + "\n")
        out.flush()
        seconds.append(time.perf_counter() - began)
    if seconds:
        ordered = sorted(seconds)
        median, late = statistics.median(ordered), ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
        note(
            arguments.quiet,
            f"{len(seconds)} sentences, {1e3 * median:.2f} ms at the median, {1e3 * late:.2f} ms at 99 %",
        )
    return 0


def _raw_lines() -> Iterator[bytes]:
    """Lines of standard input as soon as they come, without their ends."""
    if sys.stdin is None or sys.stdin.closed:
        raise UserError("standard input is closed", path=STANDARD_INPUT)
    stream = sys.stdin.buffer
    while line := stream.readline():
        yield line.removesuffix(b"\n").removesuffix(b"\r")
