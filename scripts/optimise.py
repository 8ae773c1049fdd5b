"""`lasw optimise`: weights from N-best lists on disk."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lasw.metrics import STANDARD_INPUT, Preprocessing, References, UserError, metric
from lasw.scripts.command_line import (
    Parser,
    add_metric,
    add_old_option,
    add_output_options,
    add_section,
    add_seed,
    add_text_options,
    assignments,
    given_hyperparameters,
    note,
    print_json,
    warn,
)
from lasw.tuning import (
    DEFAULT_SEED,
    MOSES,
    OPTIMISERS,
    WEIGHT_FILES,
    ExtraFeatures,
    FeatureNames,
    FilePath,
    Fit,
    Match,
    Pool,
    Weights,
    as_json,
    check_min_count,
    check_output,
    is_features_file,
    kind_of_name,
    make_optimiser,
    match,
    pruned,
    read_pool,
    read_scored_pool,
    read_weight_file,
    write_weights,
)

_EPILOG = """\
examples:
  lasw optimise --optimiser wro --metric PABC4 --references dev.en --start moses.ini --output tuned.ini run*.out.gz
  lasw optimise --optimiser pro --references ref0 ref1 --psi 0.1 --output weights.json --json nbest.gz
  lasw optimise --optimiser pro --features run1.features.dat --scores run1.scores.dat --start moses.ini

Without --start (or --moses-ini) all weights start as 1; they matter where psi < 1, and for features that never differ.
"""
_POOL_METRIC = "PGBC4"


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    nbest = parser.add_argument("nbest", nargs="*", metavar="NBEST", help="N-best lists of the same sentences")
    parser.add_argument("--optimiser", required=True, metavar="NAME", help=f"one of {', '.join(OPTIMISERS)}")
    add_metric(
        parser, "the loss, any metric of lasw score (default: BLEU+1, PABC4 for wro, BLEU for mert, mira, expected)"
    )
    parser.add_references(nbest, required=False, help="reference files")
    moses = parser.add_argument_group("instead of N-best lists and references, Moses' own files")
    moses.add_argument("--features", action="append", default=[], metavar="FILE", help="features.dat, may be repeated")
    moses.add_argument("--scores", action="append", default=[], metavar="FILE", help="scores.dat of each --features")
    add_seed(parser, "of all draws", DEFAULT_SEED)
    parser.add_argument(
        "--feature", action="append", default=[], metavar="NAME=FILE", help="one more feature, a number per N-best line"
    )
    parser.add_argument(
        "--min-count",
        type=int,
        default=1,
        metavar="K",
        help="leave out sparse features that fewer than K sentences have (default: %(default)s)",
    )
    parser.add_argument("--unsorted", action="store_true", help="sentence ids may decrease within a list")
    weights = parser.add_argument_group("weights")
    weights.add_argument("--start", metavar="WEIGHTS", help="the previous weights, any weight file")
    weights.add_argument("--sparse-weights", metavar="FILE", help="previous sparse weights, if in a file of their own")
    weights.add_argument("--output", metavar="WEIGHTS", help="where the new weights go (.ini: moses.ini, else JSON)")
    weights.add_argument("--output-format", metavar="KIND", help=f"instead of by the name: {', '.join(WEIGHT_FILES)}")
    weights.add_argument("--moses-ini", metavar="INI", help="the moses.ini to rewrite (default: that of --start)")
    add_section(parser, "optimiser", "hyper-parameters of the optimisers", without=("name", "metric"))
    add_old_option(parser)
    add_text_options(parser)
    add_output_options(parser)
    parser.further("--features", "--scores", "--feature", "--min-count", "--unsorted", "--sparse-weights")
    parser.further("--output-format", "--moses-ini", "--encoding")


@dataclass(frozen=True)
class _Result:
    pool: Pool
    match: Match
    fit: Fit
    start_bleu: float
    pool_bleu: float
    left_out: int | None
    signature: str
    warnings: list[str]

    @property
    def weights(self) -> Weights:
        return self.match.complete(self.fit.weights)


def run(arguments: argparse.Namespace) -> int:
    """Optimise, write the weights, print the result; 0 if done."""
    began = time.perf_counter()
    _check(arguments)
    result = _optimise(arguments)
    warn("optimise", result.warnings)
    if arguments.output:
        _write(arguments, result)
    # On stderr: what is on stdout is the same for the same input.
    note(arguments.quiet, f"{time.perf_counter() - began:.1f} s")
    if arguments.json:
        print_json(_as_json(result, arguments.seed))
        return 0
    print(f"candidates  {len(result.pool)}")
    if result.left_out is not None:
        print(f"left out    {result.left_out} sparse features, in fewer than {arguments.min_count} sentences")
    print(f"pool BLEU   {100 * result.pool_bleu:.2f}  (before {100 * result.start_bleu:.2f})")
    print(f"signature   {result.signature}")
    if not arguments.output:
        for name, values in result.weights.by_group().items():
            print(f"{name}= {' '.join(map(repr, values))}")
        for name, value in sorted(result.weights.sparse.items()):
            print(f"{name} {value!r}")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if arguments.features or arguments.scores:
        if arguments.nbest or arguments.references:
            raise UserError("--features and --scores beside N-best lists or references", expected="one of the two")
        if len(arguments.features) != len(arguments.scores):
            raise UserError(f"{len(arguments.features)} --features", expected=f"{len(arguments.scores)}, as --scores")
        for option in ("tokenize", "lowercase", "unsorted"):
            if getattr(arguments, option):
                raise UserError(f"--{option} beside --features", expected="N-best lists, whose text it is about")
    elif not arguments.nbest or not arguments.references:
        raise UserError(
            "no N-best lists" if arguments.references else "no references",
            expected="--references REF ... and NBEST ..., or --features FILE --scores FILE",
            remedy="are lists taken for references? -- between them ends those" if arguments.references else None,
        )
    if [*arguments.nbest, *arguments.references].count(STANDARD_INPUT) > 1:
        raise UserError("standard input is named twice", expected="one '-' at most")
    check_min_count(arguments.min_count)
    if arguments.sparse_weights and not (arguments.start or arguments.moses_ini):
        raise UserError("--sparse-weights without the dense ones", remedy="give those with --start")
    if not arguments.output and (arguments.moses_ini or arguments.output_format):
        raise UserError("a format without a file", remedy="give --output")
    if arguments.output:
        check_output(arguments.output, kind=_kind(arguments), template=_template(arguments))


def _kind(arguments: argparse.Namespace) -> str | None:
    """Of the file to write; None: what its name says."""
    chosen: str | None = arguments.output_format
    return chosen or (MOSES if arguments.moses_ini else None)


def _writes_moses(arguments: argparse.Namespace) -> bool:
    return (_kind(arguments) or kind_of_name(arguments.output)) == MOSES


def _template(arguments: argparse.Namespace) -> str | None:
    template: str | None = arguments.moses_ini or arguments.start
    return template


def _optimise(arguments: argparse.Namespace) -> _Result:
    options = given_hyperparameters(arguments)
    optimiser = make_optimiser(arguments.optimiser, options, metric=arguments.metric, seed=arguments.seed)
    start_path = arguments.start or arguments.moses_ini
    given = (
        read_weight_file(start_path, sparse_path=arguments.sparse_weights, encoding=arguments.encoding)
        if start_path
        else None
    )
    columns = ExtraFeatures(assignments("--feature", arguments.feature), encoding=arguments.encoding)
    text = Preprocessing(arguments.tokenize, arguments.lowercase)
    pool, warnings = _read(arguments, text, columns, given.dense if given is not None else ())
    names = pool.names
    if names is None or not len(pool):
        raise UserError("no hypotheses", path=[*arguments.nbest, *arguments.features][0])
    matched = match(
        given.weights if given is not None else _ones(names, columns),
        names,
        sparse_names=pool.sparse_names,
        default=dict.fromkeys(columns.names, 0.0),
        path=start_path,
    )
    if arguments.output:
        everything = Weights(names, matched.weights.dense, dict.fromkeys(pool.sparse_names, 0.0))
        check_output(
            arguments.output,
            kind=_kind(arguments),
            template=_template(arguments),
            weights=everything if _writes_moses(arguments) else matched.complete(everything),
        )
    given_to = pruned(pool, matched.weights, arguments.min_count)
    if given_to.line:
        note(arguments.quiet, given_to.line)
    note(arguments.quiet, f"{optimiser.name} on {len(pool)} candidates")
    bleu = metric(_POOL_METRIC)
    before = pool.corpus_score(bleu, matched.weights)  # weights whose scores overflow are refused here
    fit = optimiser.fit(given_to.pool, given_to.start)
    settings = {"nrefs": str(len(arguments.references)), **text.settings()} if arguments.references else {}
    if arguments.min_count > 1:
        settings["min-count"] = str(arguments.min_count)
    return _Result(
        pool,
        matched,
        fit,
        before,
        pool.corpus_score(bleu, fit.weights),
        given_to.left_out if given_to.line else None,
        str(optimiser.signature().with_settings(settings)),
        [*warnings, *matched.warnings, *fit.warnings],
    )


def _read(
    arguments: argparse.Namespace, text: Preprocessing, columns: ExtraFeatures, dense: Sequence[str]
) -> tuple[Pool, list[str]]:
    """The pool, and what is to be said about the lists."""

    def progress(path: FilePath, lines: int, new: int) -> None:
        note(arguments.quiet, f"{path}: {lines} hypotheses, {new} new")

    if arguments.features:
        pairs = list(zip(arguments.features, arguments.scores, strict=True))
        return read_scored_pool(pairs, columns=columns, encoding=arguments.encoding, progress=progress), []
    _refuse_features_files(arguments.nbest)
    preprocess = text.function()
    references = References.read(arguments.references, preprocess=preprocess, encoding=arguments.encoding)
    return read_pool(
        arguments.nbest,
        references,
        dense=dense,
        columns=columns,
        preprocess=preprocess,
        encoding=arguments.encoding,
        unsorted=arguments.unsorted,
        progress=progress,
    )


def _refuse_features_files(paths: Sequence[str]) -> None:
    for path in paths:
        if path != STANDARD_INPUT and is_features_file(path):
            raise UserError(
                "a features file of Moses",
                path=path,
                expected="an N-best list",
                remedy="give it with --features, and its scores file with --scores",
            )


def _ones(names: FeatureNames, columns: ExtraFeatures) -> Weights:
    return Weights.from_groups({name: [1.0] * size for name, size in names.groups if name not in columns.names})


def _write(arguments: argparse.Namespace, result: _Result) -> None:
    comment = (
        f"BLEU {result.pool_bleu:.6f} on {' '.join(arguments.references or arguments.scores)} "
        f"(best of {len(result.pool)} candidates; {result.start_bleu:.6f} before)",
        result.signature,
    )
    write_weights(
        arguments.output,
        result.fit.weights if _writes_moses(arguments) else result.weights,
        kind=_kind(arguments),
        template=_template(arguments),
        comment=comment,
    )


def _as_json(result: _Result, seed: int) -> dict[str, Any]:
    return {
        "candidates": len(result.pool),
        "pool_bleu": result.pool_bleu,
        "start_pool_bleu": result.start_bleu,
        **({} if result.left_out is None else {"left_out": result.left_out}),
        "weights": as_json(result.weights),
        "seed": seed,
        "signature": result.signature,
        "warnings": result.warnings,
    }
