"""Hypotheses that are the same text of the same segment, found, so that what costs much is computed once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.kernels import borrowing
from lasw.metrics.text.corpus import Corpus

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, odd
_SHIFT = np.uint64(29)


def distinct(hypotheses: Corpus, owner: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of every group of equal hypotheses, by segment.

    Args:
        hypotheses: n sentences.
        owner: (n,) the segment of each.

    Returns:
        rows: (m,) one row of each distinct hypothesis, those of a segment together, segments ascending.
        inverse: (n,) hypothesis i is the same as `rows[inverse[i]]`.

    Raises:
        ValueError: `owner` has another length.
    """
    owner = np.ascontiguousarray(owner, dtype=np.int32)
    n = len(hypotheses)
    if owner.shape != (n,):
        raise ValueError(f"owner has shape {owner.shape} for {n} hypotheses")
    first = np.empty(n, dtype=np.int64)
    table = np.full(1 << max(1, (2 * n - 1).bit_length() if n else 1), -1, dtype=np.int64)
    _first_of_each(hypotheses.ids, hypotheses.offsets, owner, table, np.empty(n, dtype=np.uint64), first)
    rows = np.flatnonzero(first == np.arange(n))
    rows = rows[np.argsort(owner[rows], kind="stable")]
    place = np.empty(n, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    return rows, place[first]


@borrowing
def _first_of_each(ids, offsets, owner, table, hashes, first):  # type: ignore[no-untyped-def]
    """first[i]: the first hypothesis that equals i. `table` (power of two) holds rows, -1 is free."""
    mask = np.uint64(table.shape[0] - 1)
    for row in range(owner.shape[0]):
        start, end = offsets[row], offsets[row + 1]
        h = (np.uint64(owner[row]) ^ _GOLDEN) * _GOLDEN
        for i in range(start, end):
            h = (h ^ (h >> _SHIFT) ^ np.uint64(ids[i])) * _GOLDEN
        h ^= h >> _SHIFT
        hashes[row] = h
        slot = h & mask
        first[row] = row
        while table[slot] >= 0:
            other = table[slot]
            if hashes[other] == h and owner[other] == owner[row] and offsets[other + 1] - offsets[other] == end - start:
                shift = offsets[other] - start
                i = start
                while i < end and ids[i] == ids[i + shift]:
                    i += 1
                if i == end:
                    first[row] = other
                    break
            slot = (slot + np.uint64(1)) & mask
        if first[row] == row:
            table[slot] = row
