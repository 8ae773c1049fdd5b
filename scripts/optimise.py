"""`lasw optimise`: weights from N-best lists on disk."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lasw.metrics import STANDARD_INPUT, Display, UserError, labels, metric, parameters, refuse_overwriting
from lasw.scripts.command_line import (
    GivenPool,
    Parser,
    PoolReader,
    add_metric,
    add_old_option,
    add_output_options,
    add_pool_options,
    add_section,
    add_seed,
    add_text_options,
    given_hyperparameters,
    given_settings,
    idle_options,
    idle_settings,
    note,
    print_json,
    warn,
)
from lasw.tuning import (
    DEFAULT_SEED,
    MOSES,
    OPTIMISERS,
    WEIGHT_FILES,
    Assessment,
    Fit,
    Match,
    Optimiser,
    Pool,
    Proposal,
    Weights,
    as_json,
    assessed,
    check_min_count,
    check_output,
    is_features_file,
    kind_of_name,
    make_optimiser,
    pruned,
    share_of,
    write_weights,
)

_EPILOG = """\
examples:
  lasw optimise --optimiser wro --metric PABC4 --references dev.en --start moses.ini --output tuned.ini run*.out.gz
  lasw optimise --optimiser pro --references ref0 ref1 --psi 0.1 --output weights.json --json nbest.gz
  lasw optimise --optimiser pro --features run1.features.dat --scores run1.scores.dat --start moses.ini

Without --start (or --moses-ini) dense weights start as one over the feature's deviation within the lists, so that all
have as much to say, and sparse ones as 0; with it, those of --feature as 0 if it has none for them. The start matters
to mira, mle, perceptron, ramp, for psi < 1, and where features never differ.

With --start the new weights are the whole way from these only if there are lists of four rounds or more: one list says
little of what a decoder would find with other weights (--step 1 goes all the way; to rerank these very lists it may).
"""
_POOL_METRIC = "PGBC4"
_POOL_NAMES = (_POOL_METRIC, "BLEU")
_SMALL_SCALE = 10.0  # scores on smaller scales are shown with more digits


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "--optimiser", required=True, metavar="NAME", type=OPTIMISERS.spelt, help=f"one of {', '.join(OPTIMISERS)}"
    )
    add_metric(
        parser,
        "the loss, any metric of lasw score (default: BLEU+1, PABC4 for wro, BLEU for mert, mira, expected; average: "
        "each its own)",
    )
    add_pool_options(parser, "N-best lists of the same sentences", required=False)
    add_seed(parser, "of all draws", DEFAULT_SEED)
    parser.add_argument(
        "--min-count",
        type=int,
        default=1,
        metavar="K",
        help="leave out sparse features that fewer than K sentences have (default: %(default)s)",
    )
    parser.add_argument(
        "--step",
        type=_share,
        metavar="SHARE",
        help="go this share of the way from --start to the weights that are best on the lists, 1: all the way "
        "(default: .3, .5, .7, 1 for the lists of 1, 2, 3, more rounds; without --start 1)",
    )
    parser.add_argument(
        "--loss-scores",
        action="append",
        default=[],
        metavar="FILE",
        help="the loss computed elsewhere, a number for every hypothesis, higher is better; may be repeated",
    )
    parser.add_argument(
        "--folds",
        type=_folds,
        default=0,
        metavar="K",
        help="also the gain on sentences kept out, a K-th of them at a time (default: 0, not)",
    )
    parser.add_argument(
        "--ablate", action="store_true", help="also what is lost without each dense feature, one at a time"
    )
    moses = parser.add_argument_group("instead of N-best lists and references, Moses' own files")
    moses.add_argument("--features", action="append", default=[], metavar="FILE", help="features.dat, may be repeated")
    moses.add_argument("--scores", action="append", default=[], metavar="FILE", help="scores.dat of each --features")
    weights = parser.add_argument_group("the new weights")
    weights.add_argument("--output", metavar="WEIGHTS", help="where they go (.ini: moses.ini, else JSON)")
    weights.add_argument("--output-format", metavar="KIND", help=f"instead of by the name: {', '.join(WEIGHT_FILES)}")
    weights.add_argument("--moses-ini", metavar="INI", help="the moses.ini to rewrite (default: that of --start)")
    add_section(parser, "optimiser", "hyper-parameters of the optimisers", without=("name", "metric"))
    add_old_option(parser)
    add_text_options(parser, force=True)
    add_output_options(parser)
    parser.further(
        "--features",
        "--scores",
        "--min-count",
        "--step",
        "--loss-scores",
        "--folds",
        "--ablate",
        "--output-format",
        "--moses-ini",
        "--encoding",
    )


def _share(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < float(text) <= 1:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r}, expected a number above 0 and at most 1")


def _idle(arguments: argparse.Namespace) -> list[str]:
    """A line for every option that changes nothing."""
    name = arguments.optimiser
    draws = "seed" in parameters(OPTIMISERS.find(name))
    given = {"optimiser": {"name": name, **given_settings(arguments, "optimiser")}}
    return [
        *idle_options(arguments, [("--seed", draws, f"{name} draws nothing")]),
        *idle_settings(arguments, given),
    ]


def _folds(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) != 1:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r}, expected a whole number of at least 2, or 0")


@dataclass(frozen=True)
class _Output:
    """The file that the new weights go to: its kind, None for what its name says, and what is rewritten for it."""

    path: str
    kind: str | None
    template: str | None

    def check(self, pool: GivenPool | None = None) -> None:
        """Refuse what cannot be written, as far as it is known."""
        weights = None
        if pool is not None:
            dense = pool.start.weights
            sparse = dict.fromkeys(pool.pool.sparse_names, 0.0)
            weights = self._content(pool.start, Weights(dense.names, dense.dense, sparse))
        check_output(self.path, kind=self.kind, template=self.template, weights=weights)

    def write(self, start: Match, weights: Weights, comment: Sequence[str]) -> None:
        """Write the weights that were learnt."""
        content = self._content(start, weights)
        write_weights(self.path, content, kind=self.kind, template=self.template, comment=comment)

    def _content(self, start: Match, weights: Weights) -> Weights:
        """A moses.ini keeps what it has besides; any other file gets the weights that were given besides."""
        return weights if (self.kind or kind_of_name(self.path, self.template)) == MOSES else start.complete(weights)


@dataclass(frozen=True)
class _Result:
    """What is told: `loss` is what was optimised, `start_loss` and `pool_loss` as people read it, see `display`."""

    candidates: int
    weights: Weights
    start_bleu: float | None
    pool_bleu: float | None
    loss: str
    display: Display
    start_loss: float
    pool_loss: float
    left_out: int | None
    signature: str
    warnings: list[str]
    assessment: Assessment


def run(arguments: argparse.Namespace) -> int:
    """Optimise, write the weights, print the result; 0 if done."""
    began = time.perf_counter()
    output = _checked(arguments)
    optimiser = make_optimiser(
        arguments.optimiser, given_hyperparameters(arguments), metric=arguments.metric, seed=arguments.seed
    )
    start = arguments.start or arguments.moses_ini
    reader = PoolReader(arguments, start, loss_scores=arguments.loss_scores)
    given = _read(arguments, reader, optimiser)
    if given.loss is not None:
        optimiser = replace(optimiser, metric=given.loss)  # type: ignore[type-var]
    if output is not None:
        output.check(given)
    settings = {"nrefs": str(len(arguments.references)), **reader.text.settings()} if arguments.references else {}
    if arguments.min_count > 1:
        settings["min-count"] = str(arguments.min_count)
    fit, result = _optimised(optimiser, given, _Step.asked(arguments), settings, arguments)
    warn("optimise", [*_idle(arguments), *result.warnings])
    if output is not None:
        output.write(given.start, fit.weights, (_comment(result, arguments), result.signature))
    # On stderr: what is on stdout is the same for the same input.
    note(arguments.quiet, f"{time.perf_counter() - began:.1f} s")
    if arguments.json:
        print_json(_as_json(result, arguments.seed))
    else:
        _print(result, arguments.min_count, with_weights=output is None)
    return 0


def _comment(result: _Result, arguments: argparse.Namespace) -> str:
    """What the file of the weights says of them."""
    of = f"(best of {result.candidates} candidates; {{:.6f}} before)"
    if result.pool_bleu is None or result.start_bleu is None:
        return f"loss {result.pool_loss:.6f} by {' '.join(arguments.loss_scores)} {of.format(result.start_loss)}"
    on = " ".join(arguments.references or arguments.scores)
    return f"BLEU {result.pool_bleu:.6f} on {on} {of.format(result.start_bleu)}"


def _checked(arguments: argparse.Namespace) -> _Output | None:
    """Refuse options that do not go together; the file to write, if there is one."""
    if arguments.features or arguments.scores:
        if arguments.nbest or arguments.references:
            raise UserError("--features and --scores beside N-best lists or references", expected="one of the two")
        if len(arguments.features) != len(arguments.scores):
            raise UserError(f"{len(arguments.features)} --features", expected=f"{len(arguments.scores)}, as --scores")
        for option in ("tokenize", "lowercase", "unsorted"):
            if getattr(arguments, option):
                raise UserError(f"--{option} beside --features", expected="N-best lists, whose text it is about")
        if arguments.loss_scores:
            raise UserError("--loss-scores beside --features", expected="N-best lists, whose loss they are")
    elif not arguments.nbest or not (arguments.references or arguments.loss_scores):
        raise UserError(
            "no references" if arguments.nbest else "no N-best lists",
            expected="--references REF ... and NBEST ..., or --loss-scores, or --features FILE --scores FILE",
        )
    if arguments.loss_scores and arguments.metric:
        raise UserError("--loss-scores and --metric", expected="one loss")
    if [*arguments.nbest, *arguments.references].count(STANDARD_INPUT) > 1:
        raise UserError("standard input is named twice", expected="one '-' at most")
    check_min_count(arguments.min_count)
    if not arguments.output:
        if arguments.moses_ini or arguments.output_format:
            raise UserError("a format without a file", remedy="give --output")
        return None
    # The start weights may be written over: files of a run are passed on in this way.
    read = (*arguments.nbest, *arguments.references, *arguments.features, *arguments.scores, *arguments.loss_scores)
    refuse_overwriting([arguments.output], read)
    kind = arguments.output_format or (MOSES if arguments.moses_ini else None)
    output = _Output(arguments.output, kind, arguments.moses_ini or arguments.start)
    output.check()
    return output


def _read(arguments: argparse.Namespace, reader: PoolReader, optimiser: Optimiser) -> GivenPool:
    if arguments.features:
        return reader.scored(list(zip(arguments.features, arguments.scores, strict=True)))
    for path in arguments.nbest:
        if path != STANDARD_INPUT and is_features_file(path):
            raise UserError(
                "a features file of Moses",
                path=path,
                expected="an N-best list",
                remedy="give it with --features, and its scores file with --scores",
            )
    references = reader.references(arguments.references) if arguments.references else None
    return reader.lists(arguments.nbest, references, [optimiser.measure] if references is not None else [])


@dataclass(frozen=True)
class _Step:
    """The share of the way to go, and the number of lists if these decide."""

    share: float
    lists: int = 0

    @classmethod
    def asked(cls, arguments: argparse.Namespace) -> _Step:
        if arguments.step is not None:
            return cls(arguments.step)
        lists = len(arguments.nbest) or len(arguments.features)
        return cls(share_of(lists), lists) if arguments.start or arguments.moses_ini else cls(1.0)

    def warnings(self) -> tuple[str, ...]:
        if not self.lists:
            return ()
        lists = f"{self.lists} list{'s' * (self.lists > 1)}"
        return (
            f"the new weights are {self.share:g} of the way from --start: {lists} cannot vouch for more, as a decoder "
            "finds other candidates; 'lasw tune' asks it, --step 1 goes all the way",
        )


def _optimised(
    optimiser: Optimiser,
    given: GivenPool,
    step: _Step,
    settings: Mapping[str, str],
    arguments: argparse.Namespace,
) -> tuple[Fit, _Result]:
    pool, start = given.pool, given.start
    used = pruned(pool, start.weights, arguments.min_count)
    if used.line:
        note(arguments.quiet, used.line)
    note(arguments.quiet, f"{optimiser.name} on {len(pool)} candidates")
    sentences = int(np.count_nonzero(np.diff(pool.starts)))
    if arguments.folds > sentences:
        raise UserError(f"--folds {arguments.folds}", expected=f"at most {sentences}, the sentences with candidates")
    loss, bleu = optimiser.measure, metric(_POOL_METRIC)
    with_bleu = given.loss is None or bool(arguments.references)
    loss_before = pool.corpus_score(loss, start.weights)  # weights whose scores overflow are refused here
    fit = optimiser.fit(used.pool, used.start)
    proposal = Proposal(fit, used.start, used.pool)
    if step.share < 1 and proposal.moves:
        settings = {**settings, "step": f"{step.share:g}"}
        fit = replace(fit, weights=proposal.at(step.share), warnings=(*fit.warnings, *step.warnings()))

    def learn(part: Pool) -> Weights:
        proposed = Proposal(optimiser.for_folds().fit(part, used.start), used.start, part)
        return proposed.at(step.share)

    assessment = assessed(
        used.pool, loss, used.start, learn, folds=arguments.folds, ablate=arguments.ablate, seed=arguments.seed or 0
    )
    display = loss.display
    named = given.loss is None and optimiser.metric != "default"
    return fit, _Result(
        len(pool),
        start.complete(fit.weights),
        pool.corpus_score(bleu, start.weights) if with_bleu else None,
        pool.corpus_score(bleu, fit.weights) if with_bleu else None,
        optimiser.metric if named and isinstance(optimiser.metric, str) else loss.name,
        display,
        display.score(loss_before),
        display.score(pool.corpus_score(loss, fit.weights)),
        used.left_out if used.line else None,
        str(optimiser.signature().with_settings(settings)),
        [*given.warnings, *fit.warnings],
        assessment,
    )


def _print(result: _Result, min_count: int, *, with_weights: bool) -> None:
    print(f"candidates  {result.candidates}")
    if result.left_out is not None:
        print(f"left out    {result.left_out} sparse features, in fewer than {min_count} sentences")
    if result.pool_bleu is not None and result.start_bleu is not None:
        print(f"pool BLEU   {100 * result.pool_bleu:.2f}  (before {100 * result.start_bleu:.2f})")
    if result.loss not in _POOL_NAMES or result.pool_bleu is None:
        (loss,) = labels([result.loss], [result.display])
        digits = 2 if result.display.scale >= _SMALL_SCALE else 4
        print(f"{f'pool {loss}':11} {result.pool_loss:.{digits}f}  (before {result.start_loss:.{digits}f})")
    for line in result.assessment.lines(result.display.scale):
        print(line)
    print(f"signature   {result.signature}")
    if with_weights:
        for name, values in result.weights.by_group().items():
            print(f"{name}= {' '.join(map(repr, values))}")
        for name, value in sorted(result.weights.sparse.items()):
            print(f"{name} {value!r}")


def _as_json(result: _Result, seed: int) -> dict[str, Any]:
    return {
        "candidates": result.candidates,
        **({} if result.pool_bleu is None else {"pool_bleu": result.pool_bleu, "start_pool_bleu": result.start_bleu}),
        "loss": {
            "metric": result.loss,
            "better": result.display.better,
            "pool": result.pool_loss,
            "start_pool": result.start_loss,
        },
        **({} if result.left_out is None else {"left_out": result.left_out}),
        **result.assessment.as_json(),
        "weights": as_json(result.weights),
        "seed": seed,
        "signature": result.signature,
        "warnings": result.warnings,
    }
