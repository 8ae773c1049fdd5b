"""The nearest words of words, by the cosine of their vectors, among all words of a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.vectors.base import VectorFile
from lasw.metrics.vectors.vectors import blocks

_AT_ONCE = 512  # words whose cosines with a block are in memory
_FIRST = 1024
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
    neighbours = np.full((len(rows), k), -1, dtype=np.int64)
    cosines = np.zeros((len(rows), k))
    targets = _unit(file.rows(rows).astype(np.float64))
    for i, several in enumerate(_candidates(file, rows, targets.astype(np.float32), k + _SPARE)):
        kept = several[np.array([bool(file.word(int(row))) for row in several], dtype=np.bool_)]
        exact = (_unit(file.rows(kept).astype(np.float64)) * targets[i]).sum(axis=1)
        order = np.lexsort((kept, -exact))[:k]
        neighbours[i, : len(order)] = kept[order]
        cosines[i, : len(order)] = np.clip(exact[order], -1.0, 1.0)
    return neighbours, cosines


def _candidates(
    file: VectorFile, rows: NDArray[np.int64], targets: NDArray[np.float32], many: int
) -> list[NDArray[np.int64]]:
    """For each target the `many` nearest rows, without itself; the file is gone through once."""
    best = [np.empty(0, dtype=np.float32)] * len(rows)
    where = [np.empty(0, dtype=np.int64)] * len(rows)
    least = np.full(len(rows), -np.inf, dtype=np.float32)
    for first, vectors in blocks(file):
        unit = _unit(vectors)
        # A small part first: what is nearest there lets nearly all of the rest be passed over.
        for start, end in ((0, _FIRST), (_FIRST, len(unit))):
            for chunk in range(0, len(rows) if start < len(unit) else 0, _AT_ONCE):
                scores = targets[chunk : chunk + _AT_ONCE] @ unit[start:end].T
                for k in np.flatnonzero(scores.max(axis=1) >= least[chunk : chunk + _AT_ONCE]).tolist():
                    i = chunk + k
                    near = np.flatnonzero(scores[k] >= least[i])
                    near = near[near + first + start != rows[i]]
                    values = np.concatenate([best[i], scores[k, near]])
                    places = np.concatenate([where[i], near + first + start])
                    if len(values) > many:
                        kept = np.argpartition(-values, many - 1)[:many]
                        values, places = values[kept], places[kept]
                        least[i] = values.min()
                    best[i], where[i] = values, places
    return where


def _unit(vectors: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore", under="ignore"):
        squares = (vectors**2).sum(axis=1, keepdims=True)
    odd = ~(np.isfinite(squares) & (squares > np.finfo(vectors.dtype).tiny))[:, 0]
    if odd.any():  # squares that single precision does not hold: the largest numbers of such vectors become 1
        largest = np.abs(vectors[odd]).max(axis=1, keepdims=True)
        vectors = vectors.copy()
        vectors[odd] = np.divide(vectors[odd], largest, out=np.zeros_like(vectors[odd]), where=largest > 0)
        squares = (vectors**2).sum(axis=1, keepdims=True)
    lengths = np.sqrt(squares)
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))
