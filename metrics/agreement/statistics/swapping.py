"""Kernels of the permutation test PERM-BOTH (Deutsch et al. 2021), for all pairs of metrics at once.

A permutation says of every thing whether two metrics keep their scores of it or exchange them. What a metric would keep
is summed once a metric; what it gets from the other is that one's total less what the other keeps. So a permutation
costs M sums, and the M(M - 1)/2 pairs of metrics only the arithmetic on these.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.kernels import borrowing, nested, ones_in

Floats = NDArray[np.float64]
ROOT = 0  # in place of a number of kinds
_SMALLEST = 1e-10  # variance of standardised scores that is rounding


def swapped_moments(
    scores: Floats, marks: Floats, starts: NDArray[np.int64], kept: NDArray[np.uint8]
) -> tuple[Floats, Floats, Floats]:
    """Sums over what each metric keeps.

    Args:
        scores: (M, k) of M metrics, each group's side by side.
        marks: (k,) people's.
        starts: (g + 1,) where groups begin.
        kept: (b, k) 0 or 1.

    Returns:
        (b, g, M, 3) sums of score x centred mark, of score, of its square, where kept; the same (g, M, 3) of all;
        (g,) the root of the sum of squares of the centred marks.
    """
    groups, metrics = len(starts) - 1, len(scores)
    sums, totals = np.empty((len(kept), groups, metrics, 3)), np.empty((groups, metrics, 3))
    lengths, centred = np.empty(groups), np.empty(len(marks))
    for g, (begin, end) in enumerate(itertools.pairwise(starts)):
        centred[begin:end] = marks[begin:end] - (marks[begin:end].mean() if end > begin else 0.0)
        lengths[g] = np.sqrt(np.sum(centred[begin:end] ** 2))
    terms = np.ascontiguousarray(np.stack([scores * centred, scores, scores**2], axis=-1).transpose(1, 0, 2))
    _kept_sums(terms.reshape(len(marks), -1), starts, kept, sums.reshape(len(kept), groups, -1))
    _kept_sums(terms.reshape(len(marks), -1), starts, np.ones((1, len(marks)), np.uint8), totals.reshape(1, groups, -1))
    return sums, totals, lengths


def mean_differences(sums: Floats, totals: Floats, lengths: Floats, sizes: NDArray[np.int64]) -> Floats:
    """(b, M, M) Pearson's correlation of hybrid i less that of hybrid j, each the mean over the groups that have it."""
    out = np.zeros((sums.shape[0], sums.shape[2], sums.shape[2]))
    _mean_differences(sums, totals, lengths, sizes.astype(np.float64), out)
    return out


@borrowing
def _kept_sums(terms, starts, kept, out):  # type: ignore[no-untyped-def]
    """Kernel: (b, g, t) sums of the rows of terms (k, t) where kept (b, k) is 1."""
    for b in range(kept.shape[0]):
        for g in range(starts.shape[0] - 1):
            for t in range(terms.shape[1]):
                out[b, g, t] = 0.0
            for k in range(starts[g], starts[g + 1]):
                if kept[b, k]:
                    for t in range(terms.shape[1]):
                        out[b, g, t] += terms[k, t]


@nested
def _correlation(product, total, square, length, size):  # type: ignore[no-untyped-def]
    variance = square - total * total / size
    if variance < _SMALLEST * size or length <= 0.0:
        return np.nan
    return product / (np.sqrt(variance) * length)


@borrowing
def _mean_differences(sums, totals, lengths, sizes, out):  # type: ignore[no-untyped-def]
    """Kernel of `mean_differences`."""
    groups, metrics = totals.shape[0], totals.shape[1]
    for b in range(sums.shape[0]):
        for i in range(metrics):
            for j in range(i + 1, metrics):
                first = second = 0.0
                has_first = has_second = 0
                for g in range(groups):
                    if sizes[g] < 2:
                        continue
                    a, c = sums[b, g, i], sums[b, g, j]
                    s, t = totals[g, i], totals[g, j]
                    r = _correlation(a[0] + t[0] - c[0], a[1] + t[1] - c[1], a[2] + t[2] - c[2], lengths[g], sizes[g])
                    if not np.isnan(r):
                        first += r
                        has_first += 1
                    r = _correlation(c[0] + s[0] - a[0], c[1] + s[1] - a[1], c[2] + s[2] - a[2], lengths[g], sizes[g])
                    if not np.isnan(r):
                        second += r
                        has_second += 1
                out[b, i, j] = first / max(has_first, 1) - second / max(has_second, 1)
                out[b, j, i] = -out[b, i, j]


def kept_counts(planes: NDArray[np.uint64], words: NDArray[np.int64], kept: NDArray[np.uint64]) -> NDArray[np.int32]:
    """(b, g, M, q) how many pairs of each kind each metric keeps.

    Args:
        planes: (M, q, w) bits of the pairs that are of a kind, each group's in words of its own.
        words: (g + 1,) where the groups' words begin.
        kept: (b, w) random bits.
    """
    out = np.zeros((len(kept), len(words) - 1, *planes.shape[:2]), dtype=np.int32)
    _kept_counts(planes, words, kept, out)
    return out


@borrowing
def _kept_counts(planes, words, kept, out):  # type: ignore[no-untyped-def]
    """Kernel of `kept_counts`."""
    for b in range(kept.shape[0]):
        for g in range(words.shape[0] - 1):
            for m in range(planes.shape[0]):
                for q in range(planes.shape[1]):
                    count = 0
                    for w in range(words[g], words[g + 1]):
                        count += ones_in(planes[m, q, w] & kept[b, w])
                    out[b, g, m, q] = count


def order_differences(
    kept: NDArray[np.int32], whole: NDArray[np.int32], gains: tuple[float, ...], denominator: int
) -> Floats:
    """(b, M, M) a statistic of the pairs of hybrid i less that of hybrid j, the mean over the groups that have it.

    Args:
        kept: (b, g, M, 5) how many pairs of each kind each metric keeps.
        whole: (g, M, 5) how many it has.
        gains: what a pair of each kind adds to the numerator.
        denominator: of how many of the kinds, from the first, it is the share; or `ROOT`, that of tau-b.
    """
    out = np.zeros((kept.shape[0], kept.shape[2], kept.shape[2]))
    _order_differences(kept, whole, np.array(gains), denominator, out)
    return out


@nested
def _of_hybrid(kept, others, theirs, gains, denominator):  # type: ignore[no-untyped-def]
    """Kernel: of the pairs (5,) that one metric keeps and the other's but for those that this one keeps."""
    numerator = below = 0.0
    for q in range(gains.shape[0]):
        count = kept[q] + others[q] - theirs[q]
        numerator += gains[q] * count
        if q < denominator:
            below += count
    if denominator == ROOT:
        ordered = kept[0] + others[0] - theirs[0] + kept[1] + others[1] - theirs[1]
        of_metric = kept[2] + others[2] - theirs[2]
        of_people = kept[3] + others[3] - theirs[3]
        below = np.sqrt(float(ordered + of_people)) * np.sqrt(float(ordered + of_metric))
    return numerator / below if below > 0.0 else np.nan


@borrowing
def _order_differences(kept, whole, gains, denominator, out):  # type: ignore[no-untyped-def]
    """Kernel of `order_differences`."""
    for b in range(kept.shape[0]):
        for i in range(whole.shape[1]):
            for j in range(i + 1, whole.shape[1]):
                first = second = 0.0
                has_first = has_second = 0
                for g in range(whole.shape[0]):
                    r = _of_hybrid(kept[b, g, i], whole[g, j], kept[b, g, j], gains, denominator)
                    if not np.isnan(r):
                        first += r
                        has_first += 1
                    r = _of_hybrid(kept[b, g, j], whole[g, i], kept[b, g, i], gains, denominator)
                    if not np.isnan(r):
                        second += r
                        has_second += 1
                out[b, i, j] = first / max(has_first, 1) - second / max(has_second, 1)
                out[b, j, i] = -out[b, i, j]


def bit_planes(kinds: NDArray[np.bool_], starts: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """(..., w) bits of (..., p) booleans, each group in words of its own; (g + 1,) where these begin."""
    sizes = np.diff(starts)
    words = np.cumsum([0, *((sizes + 63) // 64)])
    places = np.arange(kinds.shape[-1]) - np.repeat(starts[:-1], sizes) + 64 * np.repeat(words[:-1], sizes)
    spread = np.zeros((*kinds.shape[:-1], int(64 * words[-1])), dtype=np.uint8)
    spread[..., places] = kinds
    return np.ascontiguousarray(np.packbits(spread, axis=-1)).view(np.uint64), words
