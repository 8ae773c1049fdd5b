"""A pool from N-best lists on disk."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from lasw.metrics.base import References
from lasw.metrics.text import Corpus, Vocabulary
from lasw.tuning.feature_columns import FeatureColumns
from lasw.tuning.nbest import NBest
from lasw.tuning.nbest_reader import read_nbest
from lasw.tuning.pool import Pool
from lasw.tuning.weight_lines import Path

_SHOWN = 5  # ids that a warning lists


def read_pool(
    paths: Sequence[Path],
    references: References,
    *,
    columns: FeatureColumns | None = None,
    preprocess: Callable[[str], str] | None = None,
    encoding: str = "utf-8",
    unsorted: bool = False,
    progress: Callable[[Path, int, int], None] | None = None,
) -> tuple[Pool, list[str]]:
    """All candidates of the lists, and warnings.

    Args:
        paths: N-best lists of the same sentences and features.
        references: of these sentences.
        columns: more features, in the order of the lists.
        preprocess: applied to every hypothesis, as it was to the references.
        encoding: of the lists.
        unsorted: ids may decrease within a list.
        progress: called behind each list with its path, its hypotheses and how many of them are new.

    Raises:
        UserError: a list that cannot be read, other features than in the lists before, ids beyond the references.
    """
    pool = Pool(references)
    warnings: list[str] = []
    sparse_names = Vocabulary()
    for path in paths:
        nbest = read_nbest(
            path,
            references.vocabulary,
            sparse_names=sparse_names,
            segments=len(references),
            unsorted=unsorted,
            encoding=encoding,
            warnings=warnings,
        )
        if preprocess is not None:
            nbest = preprocessed(nbest, preprocess)
        if columns is not None:
            nbest = columns.extend(nbest)
        new = pool.add(nbest)
        if progress is not None:
            progress(path, len(nbest), new)
    if columns is not None:
        columns.finish()
    return pool, warnings + _without_candidates(pool)


def preprocessed(nbest: NBest, preprocess: Callable[[str], str]) -> NBest:
    """The list with every hypothesis changed by `preprocess` before it is split into tokens."""
    corpus = nbest.hypotheses
    lines = [preprocess(corpus.text(k)) for k in range(len(corpus))]
    changed = dataclasses.replace(Corpus.from_lines(lines, corpus.vocabulary), path=corpus.path)
    return dataclasses.replace(nbest, hypotheses=changed)


def _without_candidates(pool: Pool) -> list[str]:
    missing = np.flatnonzero(np.diff(pool.starts) == 0)
    if not len(missing):
        return []
    shown = ", ".join(map(str, missing[:_SHOWN].tolist())) + (", ..." if len(missing) > _SHOWN else "")
    sentences = len(pool.starts) - 1
    return [f"{len(missing)} of {sentences} sentences have no candidate and do not count (ids {shown})"]
