"""The nearest words of words, by the cosine of their vectors, among all words of a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.vector_files import VectorFile
from lasw.metrics.vectors import blocks

_AT_ONCE = 512  # words whose cosines with a block are in memory
_SPARE = 8  # more candidates than asked for, as single precision may order the nearest ones wrongly


def nearest(file: VectorFile, rows: NDArray[np.int64], k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The k nearest neighbours of words.

    Args:
        file: whose words are looked among; those that stand there repeatedly count once.
        rows: (m,) the words, by their rows in the file.
        k: how many of each, without the word itself.

    Returns:
        neighbours: (m, k) rows, the nearest first, of equally near ones the first in the file; -1 where there is none.
        cosines: (m, k), 0 there.

    Raises:
        UserError: a vector of the file is not all numbers.
    """
    found = np.full((len(rows), k), -1, dtype=np.int64)
    cosines = np.zeros((len(rows), k))
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        targets = _unit(file.rows(part).astype(np.float64))
        candidates = _candidates(file, part, targets.astype(np.float32), k + _SPARE)
        for i, several in enumerate(candidates):
            kept = several[[bool(file.word(int(row))) for row in several]] if len(several) else several
            exact = (_unit(file.rows(kept).astype(np.float64)) * targets[i]).sum(axis=1)
            order = np.lexsort((kept, -exact))[:k]
            found[start + i, : len(order)] = kept[order]
            cosines[start + i, : len(order)] = np.clip(exact[order], -1.0, 1.0)
    return found, cosines


def _candidates(
    file: VectorFile, rows: NDArray[np.int64], targets: NDArray[np.float32], many: int
) -> list[NDArray[np.int64]]:
    """For each target the `many` nearest rows or a few more, ascending, without itself."""
    best: list[NDArray[np.float32]] = [np.empty(0, dtype=np.float32)] * len(rows)
    where: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)] * len(rows)
    least = np.full(len(rows), -np.inf, dtype=np.float32)
    for first, vectors in blocks(file):
        scores = targets @ _unit(vectors).T
        for i in np.flatnonzero(scores.max(axis=1, initial=-np.inf) >= least).tolist():
            near = np.flatnonzero(scores[i] >= least[i])
            if len(near) > many:
                near = np.sort(near[np.argpartition(-scores[i, near], many)[: many + 1]])
            near = near[near + first != rows[i]]
            best[i] = np.concatenate([best[i], scores[i, near]])
            where[i] = np.concatenate([where[i], near + first])
            if len(best[i]) > many:
                kept = np.sort(np.argpartition(-best[i], many - 1)[:many])
                best[i], where[i] = best[i][kept], where[i][kept]
                least[i] = best[i].min()
    return where


def _unit(vectors: NDArray[Any]) -> NDArray[Any]:
    lengths = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))
