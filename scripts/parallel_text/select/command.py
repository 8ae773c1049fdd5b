"""`lasw select`: a development set from a pool of noisy parallel text."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from lasw.metrics import (
    LARGEST,
    STANDARD_INPUT,
    Corpus,
    ScratchFolder,
    UserError,
    Vocabulary,
    check_alike,
    own_names,
    read_lines,
    refuse_links,
    refuse_or_warn,
    refuse_overwriting,
    version,
)
from lasw.scripts.command_line import (
    Parser,
    Rule,
    add_jobs,
    add_output_options,
    note,
    positive_int,
    single_assignments,
    tell_idle,
    warn,
)
from lasw.scripts.parallel_text.select.methods import (
    SPECIAL,
    add_method_options,
    check_options,
    methods_text,
    read_lists,
    read_test,
)
from lasw.scripts.parallel_text.select.output import explain, print_profile, watched, write, write_local
from lasw.scripts.parallel_text.select.pool import Pipes, bitext
from lasw.scripts.parallel_text.train import text_notes
from lasw.selection import (
    ALIGNERS,
    METHODS,
    NAMES,
    PAIR_COLUMNS,
    SAMPLE,
    SYMMETRISATIONS,
    UNBOUNDED,
    WORDS,
    Bitext,
    Diversity,
    LAScorer,
    Material,
    Method,
    ToTest,
    align_pool,
    choose,
    files_of,
    filters,
    local_sets,
    most_frequent,
    read_shards,
    reading,
    scored_blocks,
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
_FURTHER = (
    *("--shards", "--columns", "--score", "--encoding", "--skip-bad", "--low", "--high", "--weight", "--added-sign"),
    *("--similarity", "--diversity", "--window", "--untranslated", "--function-words", "--align", "--align-model"),
    *("--symmetrise", "--explain", "--test-source", "--trusted-source", "--trusted-target", "--trusted-alignment"),
    *("--nbest", "--test-nbest", "--metric", "--local", "--dask"),
)


_LOOKED_AT = 2000  # pairs, whose text is looked at first


def add_arguments(parser: Parser) -> None:
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
    where = parser.add_argument_group("where").add_mutually_exclusive_group()
    add_jobs(where, 1, "threads that score, with --shards processes")
    parser.rename("--workers", "--jobs")
    where.add_argument("--dask", metavar="ADDRESS", help="of a Dask scheduler, whose workers score")
    add_output_options(parser)
    parser.further(*_FURTHER)


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
    group.add_argument(
        "--method",
        default="la",
        metavar="NAME",
        type=METHODS.spelt,
        help="what ranks the pairs, --help-all lists all (default: la)",
    )
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
        "--added-sign",
        action="store_true",
        help="add the function-word term instead of subtracting it, as table 4.1 of Song (2015) is printed",
    )
    group.add_argument("--paper-sign", action=_AsItIs, nargs=0, help=argparse.SUPPRESS)  # of earlier releases
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


class _AsItIs(argparse.Action):
    """What an option asked for is what is done without it now."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"{parser.prog}: {self.option_strings[0]} is what is done without it now", file=sys.stderr)


def _add_alignment(group: Any) -> None:
    group.add_argument("--align", choices=ALIGNERS, default="fast_align", help="model to train (default: fast_align)")
    group.add_argument("--align-model", metavar="PREFIX", help="models that lasw align --save has kept")
    group.add_argument(
        "--symmetrise", choices=SYMMETRISATIONS, default="grow-diag-final-and", help="default: grow-diag-final-and"
    )


def run(arguments: argparse.Namespace) -> int:
    """Select; 0."""
    output = arguments.output
    if not (output or arguments.dry_run or arguments.explain):
        raise UserError("nowhere to write to", remedy="give --output PREFIX, --dry-run or --explain LINE")
    if os.path.basename(output or "x") in ("", os.curdir, os.pardir):
        raise UserError(f"--output {output}", expected="PREFIX, the beginning of names of files")
    if output and not Path(output).absolute().parent.is_dir():
        raise UserError("no such folder", path=os.path.dirname(output), remedy="make it first")
    given = {option for option in SPECIAL if getattr(arguments, option[2:].replace("-", "_"))}
    kind = check_options(arguments.method, given)
    with ScratchFolder("lasw-select-") as scratch, contextlib.ExitStack() as stack:
        pipes = Pipes(Path(scratch))
        stack.enter_context(pipes.named_as_given())
        pool = _pool(arguments, pipes)
        with contextlib.suppress(UserError):  # a fault in these files is told by what reads them all
            warn("select", _text_notes(arguments, pool), arguments.quiet)
        names = text_names(*pool.paths[:2])
        if output:
            refuse_overwriting(files_of(output, names), _files_read(arguments, pool), "give --output another PREFIX")
            refuse_links(files_of(output, names), "remove it, or give --output another PREFIX")
            stack.enter_context(own_names(f"{output}."))
        tell_idle(arguments, *_idle(arguments, kind, pool))
        if kind.aligned:
            pool = _aligned(pool, arguments, Path(scratch, "alignment"))
        watch = stack.enter_context(watched(arguments.quiet))
        workers = {"jobs": arguments.jobs, "scheduler": arguments.dask, "watch": watch}
        material = stack.enter_context(reading(pool, _la_scorer(arguments, pool), words=arguments.words, **workers))
        method = kind(**_taken(arguments, kind, material.pool))
        if arguments.local and output and not arguments.dry_run and isinstance(method, ToTest):
            sets = local_sets(scored_blocks(material.pool, material.la), method.ready(material), arguments.local)
            write_local(f"{output}.local.tsv", sets, quiet=arguments.quiet, as_json=arguments.json)
        else:
            _select(arguments, material, method, names)
    return 0


def _idle(arguments: argparse.Namespace, kind: type[Method], pool: Bitext) -> Iterator[Rule]:
    """Which options do nothing with a method, a pool or each other."""
    name = f"method {arguments.method}"
    chosen = ("--words", "--diversity", "--window", "--untranslated", "--similarity")
    yield ("--output", *chosen, "--local"), not arguments.dry_run, "--dry-run only says what is in the pool"
    yield ("--output", "--local"), not arguments.explain, "--explain only says what becomes of a pair"
    yield chosen, not arguments.local, "--local takes the pairs that are nearest to each test sentence"
    yield "--seed", "seed" in kind.takes(), f"{name} draws nothing"
    yield "--metric", "lists" in kind.takes(), f"{name} looks at no N-best lists"
    yield ("--align", "--align-model", "--symmetrise"), kind.aligned, f"{name} needs no word alignment"
    yield ("--align", "--symmetrise"), not pool.aligned, "the pool comes with its alignment"
    yield "--align", not arguments.align_model, "--align-model has the models"
    only_shown = f"{name} does not look at function words, only a column of the scores does"
    yield ("--added-sign", "--function-words"), kind.function_words, only_shown
    on = filters(kind, arguments.diversity, arguments.window, arguments.untranslated)
    off = "no filter by similarity is on (--diversity, --untranslated)"
    yield "--window", on.threshold <= 1, "the filter by similarity to others is off (--diversity)"
    yield "--similarity", min(on.threshold, on.untranslated) <= 1, off


def _select(arguments: argparse.Namespace, material: Material, method: Method, names: tuple[str, str]) -> None:
    """What is asked for of a ranked pool: its profile, the fate of a pair, or a development set."""
    pool, scorer = material.pool, method.scorer(material)
    if arguments.dry_run:
        profile = material.collect(scorer)(1, None).profile
        print_profile(profile, scorer.feature_names, aligned=pool.aligned, as_json=arguments.json)
        return
    on = filters(type(method), arguments.diversity, arguments.window, arguments.untranslated, arguments.similarity)
    selection = choose(
        material.collect(scorer),
        arguments.words,
        on,
        feature_names=scorer.feature_names,
        follow=arguments.explain or 0,
    )
    if not selection.profile.pairs:
        raise UserError("the pool is empty", path=pool.paths[0], expected="a pair a line")
    if arguments.explain:
        explain(pool, scorer, selection, arguments.explain, as_json=arguments.json)
    else:
        write(
            selection,
            arguments.output,
            names,
            arguments.words,
            quiet=arguments.quiet,
            as_json=arguments.json,
            settings=_settings(arguments, on),
            pool=_named(arguments),
        )


def _named(arguments: argparse.Namespace) -> list[str]:
    """The files of the pool as they were typed."""
    return [path for path in (arguments.source, arguments.target, arguments.tsv, arguments.shards) if path]


def _settings(arguments: argparse.Namespace, on: Diversity) -> dict[str, object]:
    """What the report says of how it was made."""
    limits = {"source sentences longer than": arguments.low, "and shorter than": arguments.high}
    return {
        "command": shlex.join(["lasw", *sys.argv[1:]]),
        "method": arguments.method,
        "source words wanted": arguments.words,
        **limits,
        **{name.replace("_", " "): value for name, value in asdict(on).items()},
        "version": version(),
    }


def _pool(arguments: argparse.Namespace, pipes: Pipes) -> Bitext:
    sides = arguments.source, arguments.target
    text = {"encoding": arguments.encoding, "skip_bad": arguments.skip_bad}
    if not arguments.shards:
        columns = arguments.tsv, arguments.columns
        return bitext(sides, arguments.alignment, *columns, arguments.score, pipes, **text)
    if any((*sides, arguments.alignment, arguments.tsv, arguments.columns, arguments.score)):
        raise UserError("--shards beside another pool", expected="--shards alone")
    return read_shards(arguments.shards, **text)


def _text_notes(arguments: argparse.Namespace, pool: Bitext) -> list[str]:
    """What the first pairs say of how both sides are written, and of the test set that they are compared with."""
    if STANDARD_INPUT in pool.paths:
        return []  # which can be read once
    blocks = pool.first(_LOOKED_AT)
    lines = [[line for block in blocks for line in getattr(block, side).texts()] for side in ("source", "target")]
    notes = text_notes(pool.paths[:2], lines) if lines[0] else []
    if arguments.test_source and lines[0]:
        vocabulary = Vocabulary()
        texts = lines[0], read_lines(arguments.test_source, encoding=arguments.encoding)
        own, test = (Corpus.from_lines(text, vocabulary) for text in texts)
        paths = pool.paths[0], arguments.test_source
        notes += refuse_or_warn([check_alike(replace(own, path=paths[0]), replace(test, path=paths[1]))])
    return notes


def _files_read(arguments: argparse.Namespace, pool: Bitext) -> list[str]:
    """The pool's own files, and what else the options name."""
    own = [path for part in pool.bitexts for path in (*part.paths, *(file.path for file in part.scores))]
    named = [arguments.shards, arguments.function_words, *_trusted(arguments), arguments.test_source]
    return [path for path in (*own, *named, *arguments.nbest, *arguments.test_nbest) if path]


def _aligned(pool: Bitext, arguments: argparse.Namespace, path: Path) -> Bitext:
    """The pool with a word alignment."""
    kept = arguments.align_model
    if pool.aligned:
        if kept:
            raise UserError("--align-model for a pool that is aligned", expected="one of model and alignment")
        return pool
    if arguments.shards:
        raise UserError("shards without alignment", path=arguments.shards, remedy="align each first (lasw align)")
    note(
        arguments.quiet,
        f"aligning the pool with {kept}" if kept else f"training {arguments.align} on the pool to align it",
    )
    return align_pool(pool, path, model=arguments.align, kept=kept, heuristic=arguments.symmetrise)


def _la_scorer(arguments: argparse.Namespace, pool: Bitext) -> LAScorer:
    weights = {name: _number(name, text) for name, text in single_assignments("--weight", arguments.weight).items()}
    columns = NAMES + pool.score_names
    if len({*PAIR_COLUMNS, *columns}) < len(PAIR_COLUMNS + columns):
        raise UserError(
            "a score column has the name of another, or of a feature", remedy="name it anew: --score NAME=FILE"
        )
    unknown = next((name for name in weights if name not in columns), None)
    if unknown is not None:
        raise UserError(f"--weight of unknown {unknown!r}", expected=f"one of {', '.join(columns)}")
    words: tuple[str, ...] = ()
    if arguments.function_words:
        lines = read_lines(arguments.function_words, encoding=arguments.encoding)
        words = tuple(filter(None, (line.strip(" \t") for line in lines)))
        if not words:
            raise UserError("no function word", path=arguments.function_words, expected="one a line")
    return LAScorer(
        words or most_frequent(pool.first(SAMPLE)),
        arguments.low,
        arguments.high,
        arguments.added_sign,
        weights,
        pool.score_names,
        pool.aligned,
    )


def _taken(arguments: argparse.Namespace, kind: type[Method], pool: Bitext) -> dict[str, Any]:
    """What the constructor of a method takes."""
    takes = kind.takes()
    taken: dict[str, Any] = {"seed": arguments.seed} if "seed" in takes else {}
    if "test" in takes:
        taken["test"] = read_test(arguments.test_source, arguments.encoding)
    if "trusted" in takes:
        taken["trusted"] = Bitext(*_trusted(arguments), encoding=arguments.encoding, skip_bad=arguments.skip_bad)
    if "lists" in takes:
        lists = read_lists(pool, arguments.nbest, arguments.test_nbest, arguments.metric, arguments.quiet)
        taken |= dict(zip(("lists", "test_lists"), lists, strict=False))
    return taken


def _trusted(arguments: argparse.Namespace) -> tuple[str, str, str]:
    return arguments.trusted_source, arguments.trusted_target, arguments.trusted_alignment


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
