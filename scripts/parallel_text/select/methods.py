"""The methods of `lasw select` beside LA: their options, what they need, and where the pool is scored."""

from __future__ import annotations

import argparse
import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from lasw.metrics import Corpus, References, UserError, Vocabulary, metric, read_lines, write_text
from lasw.scripts.command_line import positive_int, print_json, warn
from lasw.scripts.parallel_text.select.output import warn_of_faults
from lasw.selection import (
    ALIGNMENT,
    LISTS,
    METHODS,
    TEST,
    TEST_LISTS,
    TRUSTED,
    Bitext,
    Collect,
    Diversity,
    LAScorer,
    Lists,
    Material,
    Method,
    PairBlock,
    Scorer,
    ShardedBitext,
    checked_blocks,
    method,
    pool_collector,
)
from lasw.tuning import FeatureNames

Collector = Callable[[Scorer], Collect]

_OFF = 2.0  # no similarity is larger
_LOCAL = ("tfidf", "edit")
_WEIGHTED = ("la", "svm")
_OPTIONS = {
    TEST: ("--test-source",),
    TRUSTED: ("--trusted-source", "--trusted-target", "--trusted-alignment"),
    LISTS: ("--nbest",),
    TEST_LISTS: ("--test-nbest",),
}


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Options of single methods."""
    group = parser.add_argument_group("methods")
    group.add_argument("--seed", type=int, default=1, help="of methods random and length (default: 1)")
    group.add_argument("--test-source", metavar="FILE", help="of a known test set: methods tfidf and edit")
    for side in ("source", "target", "alignment"):
        group.add_argument(f"--trusted-{side}", metavar="FILE", help="of good translations: method svm")
    group.add_argument(
        "--nbest",
        nargs="+",
        default=[],
        metavar="FILE",
        help="N-best lists of the whole pool: methods oracle, separability and features",
    )
    group.add_argument(
        "--test-nbest", nargs="+", default=[], metavar="FILE", help="N-best lists of a test set: method features"
    )
    group.add_argument(
        "--metric", default="BLEU+1", metavar="METRIC", help="of hypotheses in these lists (default: %(default)s)"
    )
    group.add_argument(
        "--local",
        type=positive_int,
        metavar="N",
        help="with tfidf and edit: the N most similar pairs for every test sentence, in PREFIX.local.tsv, instead of "
        "one development set",
    )


def add_place_options(parser: argparse.ArgumentParser) -> None:
    """Where scoring runs."""
    group = parser.add_argument_group("where").add_mutually_exclusive_group()
    group.add_argument(
        "--workers", type=positive_int, default=1, help="threads that score, with --shards processes (default: 1)"
    )
    group.add_argument("--dask", metavar="ADDRESS", help="of a Dask scheduler, whose workers score")


def methods_text() -> str:
    """The methods, a line each, for the help."""
    width = max(map(len, METHODS))
    return "\n".join(f"  {name:<{width}}  {one.meaning}" for name, one in METHODS.items())


def chosen_method(arguments: argparse.Namespace) -> Method:
    """The method asked for, all of whose options are there.

    Raises:
        UserError: an option is missing, or given to a method that does not use it.
    """
    chosen = method(arguments.method)
    for need, options in _OPTIONS.items():
        given = [option for option in options if getattr(arguments, option[2:].replace("-", "_"))]
        if need in chosen.needs and len(given) < len(options):
            missing = next(option for option in options if option not in given)
            raise UserError(f"method {arguments.method} needs {missing}")
        if need not in chosen.needs and given:
            users = ", ".join(name for name, one in METHODS.items() if need in one.needs)
            raise UserError(f"{given[0]} with method {arguments.method}", expected=f"method {users}")
    if arguments.weight and arguments.method not in _WEIGHTED:
        raise UserError(f"--weight with method {arguments.method}", expected=f"method {' or '.join(_WEIGHTED)}")
    if arguments.local and arguments.method not in _LOCAL:
        raise UserError(f"--local with method {arguments.method}", expected=f"method {' or '.join(_LOCAL)}")
    return chosen


def needs_alignment(chosen: Method) -> bool:
    """Whether the pool must be aligned."""
    return ALIGNMENT in chosen.needs


def diversity(arguments: argparse.Namespace, chosen: Method) -> Diversity:
    """The filters: where the user says nothing, the method's own."""
    limits = [
        (default if chosen.filtered else _OFF) if given is None else given
        for given, default in ((arguments.diversity, 0.3), (arguments.untranslated, 0.6))
    ]
    return Diversity(limits[0], arguments.window, limits[1], arguments.similarity)


@contextlib.contextmanager
def collector(
    arguments: argparse.Namespace, bitext: Bitext, watch: Callable[[int], object] | None
) -> Iterator[Collector]:
    """What reads the pool with a scorer: threads of this process, processes for many files, or a Dask cluster."""
    if not (arguments.dask or isinstance(bitext, ShardedBitext)):
        yield lambda scorer: pool_collector(bitext, scorer, arguments.workers, watch=watch)
        return
    from lasw.selection import Workers, counted, dask, distributed_collector, processes

    with contextlib.ExitStack() as stack:
        if arguments.dask:
            workers = stack.enter_context(dask(arguments.dask))
        elif arguments.workers > 1:
            workers = stack.enter_context(processes(arguments.workers))
        else:
            workers = Workers(lambda: ThreadPoolExecutor(1), 2)
            stack.callback(workers.close)
        pool = counted(bitext, workers) if isinstance(bitext, ShardedBitext) else bitext
        yield lambda scorer: distributed_collector(pool, scorer, workers, watch=watch)


def material(
    arguments: argparse.Namespace,
    bitext: Bitext,
    la: LAScorer,
    sample: Callable[[], Iterable[PairBlock]],
    collect: Collector,
) -> Material:
    """All that the options give to methods."""
    trusted = None
    if arguments.trusted_source:
        trusted = Bitext(
            arguments.trusted_source,
            arguments.trusted_target,
            arguments.trusted_alignment,
            encoding=arguments.encoding,
            skip_bad=arguments.skip_bad,
        )
    test = tuple(read_lines(arguments.test_source, encoding=arguments.encoding)) if arguments.test_source else ()
    if arguments.test_source and not test:
        raise UserError("no test sentence", path=arguments.test_source)
    lists, names = _pool_lists(arguments, bitext) if arguments.nbest else (None, None)
    return Material(
        la,
        sample,
        collect,
        arguments.words,
        arguments.seed,
        test,
        trusted,
        lists,
        _test_lists(arguments, names) if arguments.test_nbest else None,
    )


def write_local(arguments: argparse.Namespace, bitext: Bitext, scorer: Any) -> None:
    """Write the most similar pairs of every test sentence, and say so in a line."""
    from lasw.selection import local_sets

    verdicts: Counter[int] = Counter()
    blocks = checked_blocks(bitext, scorer.la, verdicts)
    lines, values = local_sets(blocks, scorer.la, scorer.ranking.similarity, arguments.local)
    rows = ["test_line\trank\tline\tsimilarity\n"]
    for test, (numbers, similarities) in enumerate(zip(lines.tolist(), values.tolist(), strict=True), start=1):
        for rank, (line, value) in enumerate(zip(numbers, similarities, strict=True), start=1):
            rows.append(f"{test}\t{rank}\t{line}\t{value!r}\n")
    path = f"{arguments.output}.local.tsv"
    write_text(path, "".join(rows))
    warn_of_faults(verdicts, arguments.quiet)
    if arguments.json:
        print_json({"test_sentences": len(lines), "pairs_each": lines.shape[1], "files": [path]})
        return
    print(f"{lines.shape[1]} pairs for each of {len(lines)} test sentences: {path}")


def _pool_lists(arguments: argparse.Namespace, bitext: Bitext) -> tuple[Lists, FeatureNames | None]:
    """Lists of the pool, the pool's target sides being the references, and their features."""
    from lasw.tuning import read_pool

    texts = (text for block in bitext.blocks() for text in block.target.texts())
    references = References((Corpus.from_lines(texts, Vocabulary()),))
    pool, warnings = read_pool(arguments.nbest, references, encoding=arguments.encoding)
    if not arguments.quiet:
        warn("select", warnings)
    order = pool.order
    scores = pool.sentence_scores(metric(arguments.metric))[order] if len(pool) else np.empty(0)
    return Lists(pool.starts, pool.dense[order], scores), pool.names


def _test_lists(arguments: argparse.Namespace, names: FeatureNames | None) -> Lists:
    """Lists of a test set, of which only the features matter: those of the pool's lists."""
    from lasw.tuning import read_nbest

    parts = [read_nbest(path, Vocabulary(), encoding=arguments.encoding) for path in arguments.test_nbest]
    for path, part in zip(arguments.test_nbest, parts, strict=True):
        if names is not None and part.names != names:
            shown = [" ".join(f"{name}({size})" for name, size in one.groups) for one in (part.names, names)]
            raise UserError(f"features {shown[0]}", path=path, expected=f"{shown[1]}, as in the lists of the pool")
    owner = np.concatenate([part.owner for part in parts])
    order = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[order], np.arange(int(owner.max(initial=-1)) + 2))
    features = np.concatenate([part.dense for part in parts])[order]
    return Lists(starts, features, np.zeros(len(owner)))
