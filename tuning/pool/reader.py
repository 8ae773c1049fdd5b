"""A pool from lists on disk."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Collection, Sequence

from lasw.metrics import Corpus, Coverages, Metric, References, Settle, Vocabulary, refuse_or_warn
from lasw.tuning.formats import ExtraFeatures, FilePath, LayoutOptions, RepeatedLines, read_moses_files, stream_nbest
from lasw.tuning.nbest import NBest
from lasw.tuning.pool.pool import Pool
from lasw.tuning.weights import FeatureNames


def read_pool(
    paths: Sequence[FilePath],
    references: References | None,
    *,
    dense: Collection[str] = (),
    columns: ExtraFeatures | None = None,
    preprocess: Callable[[str], str] | None = None,
    encoding: str = "utf-8",
    unsorted: bool = False,
    metrics: Sequence[Metric] = (),
    settle: Settle | None = refuse_or_warn,
    layout: LayoutOptions | None = None,
    progress: Callable[[FilePath, int, int], None] | None = None,
) -> tuple[Pool, list[str]]:
    """All candidates of the lists, and warnings.

    Args:
        paths: N-best lists of the same sentences and features.
        references: of these sentences; None: the lists have losses of their own (`with_losses`).
        dense: names of features that are known to be dense.
        columns: more features, in the order of the lists.
        preprocess: applied to every hypothesis, as it was to the references.
        encoding: of the lists.
        unsorted: ids may decrease within a list.
        metrics: that the candidates will be scored with.
        settle: makes warnings or an error of what is suspicious about a list's text (`Coverages.of_list`); None: the
            text is trusted.
        layout: what is said of the lists besides their content.
        progress: called behind each list with its path, its hypotheses and how many of them are new.

    Raises:
        UserError: a list that cannot be read, other features than in the lists before, ids beyond the references, or
            text that has nothing to do with the references or marks in it.
    """
    pool = Pool.without_references(Vocabulary()) if references is None else Pool(references)
    coverages = None if references is None else Coverages(metrics, references)
    warnings: list[str] = []
    sparse_names = Vocabulary()
    names: FeatureNames | None = None
    # A column of other features tells apart lines that look alike, and one list repeats nothing.
    plain = columns is None or not columns.names
    repeats = RepeatedLines() if plain and len(paths) > 1 else None
    given = layout or LayoutOptions()
    given = dataclasses.replace(given, featureless=given.featureless or not plain)
    for path in paths:
        before, lines = len(pool), -repeats.skipped if repeats else 0
        for block in stream_nbest(
            path,
            pool.references.vocabulary,
            sparse_names=sparse_names,
            names=names,
            dense=dense,
            segments=None if references is None else len(references),
            unsorted=unsorted,
            encoding=encoding,
            preprocess=preprocess,
            repeats=repeats,
            warnings=warnings,
            layout=given,
            learning=not dense,
        ):
            names = block.names
            lines += len(block)
            pool.add(block if columns is None else columns.extend(block))
        if settle is not None and coverages is not None:
            new = dataclasses.replace(pool.slice(before, len(pool)), path=os.fspath(path))
            warnings.extend(settle(coverages.of_list(new, pool.owner[before:])))
        lines += repeats.skipped if repeats else 0
        if progress is not None:
            progress(path, lines, len(pool) - before)
    if columns is not None:
        columns.finish()
    return pool, warnings


def read_scored_pool(
    pairs: Sequence[tuple[FilePath, FilePath]],
    *,
    columns: ExtraFeatures | None = None,
    encoding: str = "utf-8",
    progress: Callable[[FilePath, int, int], None] | None = None,
) -> Pool:
    """All candidates of pairs of Moses' features and scores files.

    Args:
        pairs: (features file, scores file).
        columns: more features, in the order of the files.
        encoding: of the names of features.
        progress: as `read_pool`, called with the features file.

    Raises:
        UserError: as `read_moses_files`, or other features than in the files before.
    """
    pool = Pool.without_text()
    sparse_names = Vocabulary()
    for features, scores in pairs:
        scored = read_moses_files(features, scores, sparse_names=sparse_names, encoding=encoding)
        new = pool.add(scored if columns is None else columns.extend(scored))
        if progress is not None:
            progress(features, len(scored), new)
    if columns is not None:
        columns.finish()
    return pool


def preprocessed(nbest: NBest, preprocess: Callable[[str], str]) -> NBest:
    """The list with every hypothesis changed by `preprocess` before it is split into tokens."""
    corpus = nbest.hypotheses
    lines = [preprocess(corpus.text(k)) for k in range(len(corpus))]
    changed = dataclasses.replace(Corpus.from_lines(lines, corpus.vocabulary), path=corpus.path)
    return dataclasses.replace(nbest, hypotheses=changed)
