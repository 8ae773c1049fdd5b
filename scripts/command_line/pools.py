"""N-best lists as commands read them: with features in files of their own, and the weights to start from."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from lasw.metrics import Metric, References, UserError, refuse_or_warn
from lasw.scripts.command_line.options import (
    add_layout_options,
    assignments,
    layout_of_arguments,
    note,
    preprocessing,
)
from lasw.scripts.command_line.parser import Parser
from lasw.tuning import (
    LOSS_COLUMN,
    ExtraFeatures,
    FeatureNames,
    FilePath,
    LossScores,
    Match,
    Pool,
    match,
    read_pool,
    read_scored_pool,
    read_weight_file,
    unit_weights,
    with_losses,
)


def add_pool_options(parser: Parser, nbest: str, *, required: bool = True) -> None:
    """NBEST and ``--references``, ``--feature``, ``--unsorted``, ``--start``, ``--sparse-weights``."""
    lists = parser.add_argument("nbest", nargs="*", metavar="NBEST", help=nbest)
    parser.add_references(lists, required=required, needed=required, help="reference files")
    parser.add_argument("--start", metavar="WEIGHTS", help="the previous weights, any weight file")
    parser.add_argument("--sparse-weights", metavar="FILE", help="previous sparse weights, if in a file of their own")
    parser.add_argument(
        "--feature", action="append", default=[], metavar="NAME=FILE", help="one more feature, a number per N-best line"
    )
    parser.add_argument("--unsorted", action="store_true", help="sentence ids may decrease within a list")
    parser.further("--sparse-weights", "--feature", "--unsorted")
    add_layout_options(parser)


@dataclass(frozen=True)
class GivenPool:
    """What `PoolReader` has read.

    Attributes:
        pool: the hypotheses, at least one.
        start: the weights to start from, of the pool's features.
        warnings: about the lists, then about the weights.
        loss: the metric of the scores that were given with the lists, if any were.
    """

    pool: Pool
    start: Match
    warnings: list[str]
    loss: LossScores | None = None


class PoolReader:
    """Reads a pool as the options of `add_pool_options` and those of text want it.

    Args:
        arguments: of the command.
        featureless: whether lists without any feature are taken.
        loss_scores: files of a loss, a number for every hypothesis of all lists.
        start_path: the file of the weights to start from, in which features in files of their own may lack one: 0;
            None: all dense ones are 1, sparse ones 0.

    Raises:
        UserError: the weights cannot be read.
    """

    def __init__(
        self,
        arguments: argparse.Namespace,
        start_path: str | None,
        *,
        featureless: bool = False,
        loss_scores: Sequence[str] = (),
    ) -> None:
        if arguments.sparse_weights and not start_path:
            raise UserError("--sparse-weights without the dense ones", remedy="give those with --start")
        self.text = preprocessing(arguments)
        self._settle = partial(refuse_or_warn, force=arguments.force)
        self._encoding: str = arguments.encoding
        self._quiet: bool = arguments.quiet
        self._unsorted: bool = arguments.unsorted
        self._path = start_path
        self._given = None
        if start_path:
            self._given = read_weight_file(start_path, sparse_path=arguments.sparse_weights, encoding=self._encoding)
        self._layout = replace(layout_of_arguments(arguments), featureless=featureless)
        files = assignments("--feature", arguments.feature)
        self._scored = bool(loss_scores)
        if loss_scores:
            files[LOSS_COLUMN] = list(loss_scores)
        self._columns = ExtraFeatures(files, encoding=self._encoding)

    def references(self, paths: Sequence[str]) -> References:
        """The references, prepared."""
        return References.read(paths, preprocess=self.text.function(), encoding=self._encoding)

    def lists(self, paths: Sequence[str], references: References | None, metrics: Sequence[Metric] = ()) -> GivenPool:
        """The pool of N-best lists, which will be scored with `metrics`; compared with nothing without references.

        Raises:
            UserError: lists that cannot be read or do not fit the references or the weights.
        """
        pool, warnings = read_pool(
            paths,
            references,
            dense=self._given.dense if self._given is not None else (),
            columns=self._columns,
            preprocess=self.text.function(),
            encoding=self._encoding,
            unsorted=self._unsorted,
            metrics=metrics,
            settle=self._settle,
            layout=self._layout,
            progress=self._told,
        )
        return self._started(pool, warnings, paths[0])

    def scored(self, pairs: Sequence[tuple[str, str]]) -> GivenPool:
        """The pool of Moses' features files and scores files.

        Raises:
            UserError: files that cannot be read or do not fit each other or the weights.
        """
        pool = read_scored_pool(pairs, columns=self._columns, encoding=self._encoding, progress=self._told)
        return self._started(pool, [], pairs[0][0])

    def _started(self, pool: Pool, warnings: list[str], path: str) -> GivenPool:
        names, more = pool.names, self._columns.names
        if names is None or not len(pool):
            raise UserError("no hypotheses", path=path)
        loss = None
        if self._scored:
            pool, loss = with_losses(pool)
            names = FeatureNames(names.groups[:-1])
            if not len(names):
                raise UserError(
                    "lists without features", path=path, expected="numbers in files of their own (--feature)"
                )
        weights = unit_weights(pool) if self._given is None else self._given.weights
        start = match(weights, names, sparse_names=pool.sparse_names, default=dict.fromkeys(more, 0.0), path=self._path)
        return GivenPool(pool, start, [*warnings, *start.warnings], loss)

    def _told(self, path: FilePath, lines: int, new: int) -> None:
        note(self._quiet, f"{path}: {lines} hypotheses, {new} new")
