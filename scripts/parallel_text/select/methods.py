"""The methods of `lasw select`: their options, and how what they need is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from lasw.metrics import Corpus, Finding, References, UserError, Vocabulary, metric, read_lines, refuse_or_warn
from lasw.scripts.command_line import Parser, add_metric, add_seed, positive_int, warn
from lasw.selection import METHODS, Bitext, Lists, Method, ToTest
from lasw.tuning import FeatureNames

# What a method may need -> the options that give it.
_OPTIONS = {
    "test": ("--test-source",),
    "trusted": ("--trusted-source", "--trusted-target", "--trusted-alignment"),
    "lists": ("--nbest",),
    "test_lists": ("--test-nbest",),
}
SPECIAL = (*(option for options in _OPTIONS.values() for option in options), "--weight", "--local")
"""Options that not every method has."""


def add_method_options(parser: Parser) -> None:
    """Options of single methods."""
    group = parser.add_argument_group("methods")
    add_seed(group, "of methods random and length", 1)
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
    add_metric(group, "of hypotheses in these lists (default: %(default)s)", default="BLEU+1")
    group.add_argument(
        "--local",
        type=positive_int,
        metavar="N",
        help="with tfidf and edit: the N most similar pairs for every test sentence, in PREFIX.local.tsv, instead of "
        "one development set",
    )


def methods_text() -> str:
    """The methods, a line each, for the help."""
    width = max(map(len, METHODS))
    return "\n".join(f"  {name:<{width}}  {METHODS.find(name).meaning}" for name in METHODS)


def check_options(name: str, given: set[str]) -> type[Method]:
    """The method of this name, all of whose options are there.

    Args:
        name: of the method.
        given: which of `SPECIAL` are there.

    Raises:
        UserError: there is no such method, an option is missing, or given to a method that does not use it.
    """
    method = METHODS.find(name)
    for need, options in _OPTIONS.items():
        used = [option for option in options if option in given]
        if need in method.takes() and len(used) < len(options):
            raise UserError(f"method {name} needs {next(option for option in options if option not in given)}")
        if need not in method.takes() and used:
            users = ", ".join(other for other in METHODS if need in METHODS.find(other).takes())
            raise UserError(f"{used[0]} with method {name}", expected=f"method {users}")
    for option, works in (("--weight", lambda kind: kind.weighted), ("--local", lambda kind: issubclass(kind, ToTest))):
        if option in given and not works(method):
            users = " or ".join(other for other in METHODS if works(METHODS.find(other)))
            raise UserError(f"{option} with method {name}", expected=f"method {users}")
    return method


def read_test(path: str, encoding: str) -> tuple[str, ...]:
    """The source sentences of a test set.

    Raises:
        UserError: there is none.
    """
    test = tuple(read_lines(path, encoding=encoding))
    if not test:
        raise UserError("no test sentence", path=path)
    return test


def read_lists(
    bitext: Bitext, paths: Sequence[str], test_paths: Sequence[str], measure: str, quiet: bool
) -> list[Lists]:
    """N-best lists of the pool, the pool's target sides being the references, and those of a test set if it has some.

    Args:
        bitext: the pool.
        paths: of its lists.
        test_paths: of those of the test set, of which only the features matter.
        measure: metric of the pool's hypotheses.
        quiet: no warnings.

    Raises:
        UserError: the features are not the same.
    """
    from lasw.tuning import read_pool

    texts = (text for block in bitext.blocks() for text in block.target.texts())
    references = References((Corpus.from_lines(texts, Vocabulary()),))
    scoring = metric(measure)
    pool, warnings = read_pool(paths, references, encoding=bitext.encoding, metrics=[scoring], settle=_unlike)
    warn("select", warnings, quiet)
    order = pool.order
    scores = pool.sentence_scores(scoring)[order] if len(pool) else np.empty(0)
    lists = [Lists(pool.starts, pool.dense[order], scores)]
    return [*lists, _test_lists(test_paths, pool.names, bitext.encoding)] if test_paths else lists


def _unlike(findings: Iterable[Finding | None]) -> list[str]:
    """Warnings: what would mend a text for scoring is no option here, where the pool is written as it is."""
    kept = [replace(one, remedy="prepare lists and target alike") for one in findings if one is not None]
    return refuse_or_warn(kept, force=True)


def _test_lists(paths: Sequence[str], names: FeatureNames | None, encoding: str) -> Lists:
    from lasw.tuning import read_nbest

    parts = [read_nbest(path, Vocabulary(), encoding=encoding) for path in paths]
    for path, part in zip(paths, parts, strict=True):
        if names is not None and part.names != names:
            shown = [" ".join(f"{name}({size})" for name, size in one.groups) for one in (part.names, names)]
            raise UserError(f"features {shown[0]}", path=path, expected=f"{shown[1]}, as in the lists of the pool")
    owner = np.concatenate([part.owner for part in parts])
    order = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[order], np.arange(int(owner.max(initial=-1)) + 2))
    features = np.concatenate([part.dense for part in parts])[order]
    return Lists(starts, features, np.zeros(len(owner)))
