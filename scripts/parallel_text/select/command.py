"""`lasw select`: a development set from a pool of noisy parallel text."""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from lasw.metrics import LARGEST, UserError, read_lines, refuse_overwriting
from lasw.scripts.command_line import add_output_options, note, positive_int, single_assignments
from lasw.scripts.parallel_text.select.methods import (
    add_method_options,
    add_place_options,
    chosen_method,
    collector,
    diversity,
    material,
    methods_text,
    needs_alignment,
    write_local,
)
from lasw.scripts.parallel_text.select.output import explain, print_profile, watched, write
from lasw.scripts.parallel_text.select.pool import bitexts, files_read, read_pool, told_as_given
from lasw.selection import (
    NAMES,
    PAIR_COLUMNS,
    UNBOUNDED,
    WORDS,
    Bitext,
    LAScorer,
    PairBlock,
    Selection,
    ShardedBitext,
    files_of,
    first_pairs,
    known_features,
    most_frequent,
    select,
    text_names,
)

_EPILOG = """\
examples:
  lasw select --method la --source pool.de --target pool.en --alignment pool.align --words 30000 --output dev
  lasw select --tsv pool.tsv.gz --columns 1,2,3 --dry-run
  lasw select --shards shards.tsv --dask tcp://head:8786 --output dev

Writes dev.de, dev.en (endings of the pool's files, else .source and .target), dev.alignment, dev.lines (numbers in the
pool), dev.scores, dev.rejected.tsv (why each of the first 1000 rejected was) and dev.html. The result is the same for
any number of workers, on this machine or on a Dask cluster.

methods:
"""
FIRST_PAIRS = 100_000  # function words are counted in so many first pairs: a prefix, whatever reads the rest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG + methods_text() + "\n"
    _add_pool(parser.add_argument_group("pool"))
    _add_choice(parser.add_argument_group("choice"))
    _add_alignment(parser.add_argument_group("word alignment, for a pool that comes without"))
    parser.add_argument("--output", metavar="PREFIX", help="of the files written")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--dry-run", action="store_true", help="only say what is in the pool, write nothing")
    what.add_argument(
        "--explain", type=positive_int, metavar="LINE", help="only say what becomes of this pair, and why"
    )
    add_method_options(parser)
    add_place_options(parser)
    add_output_options(parser)


def _add_pool(group: Any) -> None:
    group.add_argument("--source", metavar="FILE", help="tokenised source sentences, one a line; - is standard input")
    group.add_argument("--target", metavar="FILE", help="their translations")
    group.add_argument("--alignment", metavar="FILE", help="their word alignment, Pharaoh's or GIZA++'s layout")
    group.add_argument("--tsv", metavar="FILE", help="one file with tabs instead of these")
    group.add_argument(
        "--shards",
        metavar="FILE",
        help="a pool in many files: a line a shard with source, target and alignment file, separated by tabs",
    )
    group.add_argument("--columns", metavar="S,T[,A]", help="its columns of source, target, alignment (default: 1,2)")
    group.add_argument(
        "--score",
        action="append",
        default=[],
        metavar="NAME=FILE[:KEY]",
        help="a score of another tool, added to the sum: a column of a file with tabs (default: the last), or a key of "
        "JSON lines, as NAME.0",
    )
    group.add_argument("--encoding", default="utf-8", help="of the text (default: utf-8)")
    group.add_argument("--skip-bad", action="store_true", help="leave out faulty pairs, and count them")


def _add_choice(group: Any) -> None:
    group.add_argument("--method", default="la", metavar="NAME", help="what ranks the pairs, see below (default: la)")
    group.add_argument("--words", type=positive_int, default=WORDS, help="source words wanted (default: %(default)s)")
    group.add_argument("--low", type=_limit, default=10, help="source sentences are longer than this (default: 10)")
    group.add_argument("--high", type=_limit, default=50, help="and shorter than this (default: 50)")
    group.add_argument(
        "--weight", action="append", default=[], metavar="NAME=W", help="of a feature or score in the sum (default: 1)"
    )
    group.add_argument(
        "--function-words",
        metavar="FILE",
        help="of the target language, one a line (default: the 100 most frequent words of the first 100000 pairs)",
    )
    group.add_argument(
        "--paper-sign", action="store_true", help="subtract the function-word term, as table 4.1 is printed"
    )
    group.add_argument("--similarity", default="BLEU+1", metavar="METRIC", help="of sentences (default: BLEU+1)")
    group.add_argument(
        "--diversity",
        type=float,
        metavar="X",
        help="sources are less similar than this to those selected last (default: 0.3 for la and svm, else 2: off)",
    )
    group.add_argument(
        "--window", type=partial(_limit, least=1), default=200, help="how many of those selected last (default: 200)"
    )
    group.add_argument(
        "--untranslated",
        type=float,
        metavar="X",
        help="source and target are less similar than this (default: 0.6 for la and svm, else 2: off)",
    )


def _add_alignment(group: Any) -> None:
    from lasw.selection import MODELS, SYMMETRISATIONS

    group.add_argument("--align", choices=MODELS, default="fast_align", help="model to train (default: fast_align)")
    group.add_argument("--align-model", metavar="PREFIX", help="models that lasw align --save has kept")
    group.add_argument(
        "--symmetrise", choices=SYMMETRISATIONS, default="grow-diag-final-and", help="default: grow-diag-final-and"
    )


def run(arguments: argparse.Namespace) -> int:
    """Select; 0."""
    if not (arguments.output or arguments.dry_run or arguments.explain):
        raise UserError("nowhere to write to", remedy="give --output PREFIX, --dry-run or --explain LINE")
    if os.path.basename(arguments.output or "x") in ("", os.curdir, os.pardir):
        raise UserError(f"--output {arguments.output}", expected="PREFIX, the beginning of names of files")
    if arguments.output and not Path(arguments.output).absolute().parent.is_dir():
        raise UserError("no such folder", path=os.path.dirname(arguments.output), remedy="make it first")
    chosen = chosen_method(arguments)
    with tempfile.TemporaryDirectory(prefix="lasw-select-") as scratch, contextlib.ExitStack() as stack:
        copies: dict[str, str] = {}
        stack.enter_context(told_as_given(copies))
        given = read_pool(arguments, Path(scratch), copies)
        if arguments.output:
            written = files_of(arguments.output, text_names(*given.paths[:2]))
            refuse_overwriting(written, files_read(arguments, given), "give --output another PREFIX")
        pool = _aligned(given, arguments, Path(scratch)) if needs_alignment(chosen) else given
        watch = stack.enter_context(watched(arguments.quiet))
        collect = stack.enter_context(collector(arguments, pool, watch))
        sample = partial(_first_pairs, pool)
        la = _la_scorer(arguments, pool, sample)
        scorer = chosen.scorer(material(arguments, pool, la, sample, collect))
        if arguments.dry_run:
            profile = collect(scorer)(1, None).profile
            described = Selection(None, 0, profile, feature_names=scorer.feature_names)
            print_profile(known_features(described, pool.aligned), arguments, aligned=pool.aligned)
            return 0
        if arguments.local and arguments.output:
            write_local(arguments, pool, scorer)
            return 0
        selection = select(
            collect(scorer),
            arguments.words,
            diversity(arguments, chosen),
            feature_names=scorer.feature_names,
            follow=arguments.explain or 0,
        )
        if not selection.profile.pairs:
            raise UserError("the pool is empty", path=given.paths[0], expected="a pair a line")
        if arguments.explain:
            explain(pool, scorer, selection, arguments)
        else:
            write(known_features(selection, pool.aligned), given, arguments)
    return 0


def _first_pairs(pool: Bitext) -> list[PairBlock]:
    # Not the pool's own blocks: for line numbers many files would have to be counted first.
    return first_pairs((block for one in bitexts(pool) for block in one.blocks()), FIRST_PAIRS)


def _aligned(bitext: Bitext, arguments: argparse.Namespace, scratch: Path) -> Bitext:
    """The pool with a word alignment."""
    if bitext.aligned:
        if arguments.align_model:
            raise UserError("--align-model for a pool that is aligned", expected="one of model and alignment")
        return bitext
    if isinstance(bitext, ShardedBitext):
        raise UserError("shards without alignment", path=arguments.shards, remedy="align each first (lasw align)")
    from lasw.selection import align_by_models, train_on_pool

    path = scratch / "alignment"
    if arguments.align_model:
        note(arguments.quiet, f"aligning the pool with {arguments.align_model}")
        align_by_models(bitext, path, arguments.align_model, heuristic=arguments.symmetrise)
    else:
        note(arguments.quiet, f"training {arguments.align} on the pool to align it")
        train_on_pool(bitext, path, model=arguments.align, heuristic=arguments.symmetrise)
    return replace(bitext, alignment=str(path))


def _la_scorer(arguments: argparse.Namespace, pool: Bitext, sample: Callable[[], list[PairBlock]]) -> LAScorer:
    weights = {name: _number(name, text) for name, text in single_assignments("--weight", arguments.weight).items()}
    extra = pool.score_names
    columns = (*PAIR_COLUMNS, *NAMES, *extra)
    if len(set(columns)) < len(columns):
        raise UserError(
            "a score column has the name of another, or of a feature", remedy="name it anew: --score NAME=FILE"
        )
    unknown = next((name for name in weights if name not in NAMES and name not in extra), None)
    if unknown is not None:
        raise UserError(f"--weight of unknown {unknown!r}", expected=f"one of {', '.join(NAMES + extra)}")
    if arguments.function_words:
        lines = read_lines(arguments.function_words, encoding=arguments.encoding)
        words = tuple(filter(None, (line.strip(" \t") for line in lines)))
        if not words:
            raise UserError("no function word", path=arguments.function_words, expected="one a line")
    else:
        words = most_frequent(sample())
    return LAScorer(
        words,
        arguments.low,
        arguments.high,
        arguments.paper_sign,
        tuple((name, weights[name]) for name in NAMES if name in weights),
        extra,
        tuple(weights.get(name, 1.0) for name in extra),
    )


def _limit(text: str, least: int = 0) -> int:
    """An argparse type: a number of words or sentences, up to more than there ever are."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(UNBOUNDED)) and least <= int(text) <= UNBOUNDED):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} to {UNBOUNDED}")
    return int(text)


def _number(name: str, text: str) -> float:
    with contextlib.suppress(ValueError):
        if abs(float(text)) <= LARGEST:  # NaN is not
            return float(text)
    raise UserError(f"--weight {name}={text}", expected=f"a number from {-LARGEST:g} to {LARGEST:g}")
