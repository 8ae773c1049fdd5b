"""What metrics are trained on: people's preferences between two translations, and where the data came from.

People's marks for single translations are in `lasw.metrics.agreement.direct_assessment`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement import Judgements, read_judgements
from lasw.metrics.errors import UserError
from lasw.metrics.text import Corpus, References, content_digest

Columns = Callable[[Corpus, NDArray[np.int32]], NDArray[np.float64]]


def read_preferences(
    folders: Iterable[str | Path], *, preprocess: Callable[[str], str] | None = None, encoding: str = "utf-8"
) -> list[Judgements]:
    """Read folders of judgements (`lasw.metrics.agreement.judgements`), each with at least one preference.

    Raises:
        UserError: as `read_judgements`, a folder without preferences, or one that is given twice.
    """
    paths = [Path(folder) for folder in folders]
    for k, path in enumerate(paths):
        if path.resolve() in [other.resolve() for other in paths[:k]]:
            raise UserError("the same folder twice", path=path, expected="each one once")
    data = [read_judgements(path, preprocess=preprocess, encoding=encoding) for path in paths]
    for judgements, path in zip(data, paths, strict=True):
        if not len(judgements.segment):
            raise UserError("no preferences", path=path, expected="pairs of which one is better")
    return data


def by_system(judgements: Judgements, columns: Columns) -> NDArray[np.float64]:
    """(S, n, d): the d numbers that `columns` gives for each translation of each system, 0 where nobody judged one.

    Args:
        judgements: of S systems and n segments.
        columns: from m hypotheses and their segments (m,) to (m, d).
    """
    judged = np.zeros((len(judgements.systems), len(judgements.evaluation.references)), dtype=np.bool_)
    judged[judgements.better, judgements.segment] = True
    judged[judgements.worse, judgements.segment] = True
    out: NDArray[np.float64] | None = None
    for system, rows in enumerate(judged):
        segments = np.flatnonzero(rows).astype(np.int32)
        numbers = columns(judgements.evaluation.systems[system].take(segments), segments)
        if out is None:
            out = np.zeros((*judged.shape, numbers.shape[1]))
        out[system, segments] = numbers
    assert out is not None  # a folder without systems was refused when it was read
    return out


def preference_columns(
    data: Sequence[Judgements], columns: Callable[[References], Columns]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(m, d) numbers of the better and of the worse translation of each preference, set after set.

    Args:
        data: sets of preferences.
        columns: from the references of a set to the `columns` of `by_system`.
    """
    better, worse = [], []
    for judgements in data:
        table = by_system(judgements, columns(judgements.evaluation.references))
        better.append(table[judgements.better, judgements.segment])
        worse.append(table[judgements.worse, judgements.segment])
    return np.concatenate(better), np.concatenate(worse)


def training_fingerprint(paths: Sequence[str | Path]) -> str:
    """Twelve hexadecimal digits of the content of files, and of folders of judgements; compression does not matter."""
    total = hashlib.sha256()
    for path in map(Path, paths):
        files = sorted(x for x in (path, *path.rglob("*")) if x.is_file()) if path.is_dir() else [path]
        for file in files:
            total.update(content_digest(file))
    return total.hexdigest()[:12]
