"""Paired bootstrap resampling (Koehn 2004) on rows of sufficient statistics.

A resampled corpus is how often it holds each segment, so its statistics are counts times statistics: resampling a
thousand corpora is one product of matrices, and systems are paired because they share the counts.

What cannot be told apart counts as equal: a resampled difference as large as the one observed speaks for chance, two
scores that are equal but for rounding have p = 1, and fewer than five segments have no p-value (of two segments a
sample is one of them twice in half of all draws; whatever they say, it is said for certain).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import ROUNDING, Metric, nearly_equal

DEFAULT_SAMPLES = 1000
BOOTSTRAP_SEED = 1
MINIMUM_SEGMENTS = 5  # for a p-value
FEW_SEGMENTS = f"fewer than {MINIMUM_SEGMENTS} segments: no p-values"
_COUNTS_AT_ONCE = 1 << 20  # entries of the counts matrix that are in memory together


@dataclass(frozen=True)
class Interval:
    """The 95 % interval of resampled scores, and their mean."""

    mean: float
    low: float
    high: float

    @property
    def radius(self) -> float:
        """Half its width, what is printed behind ±."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Comparison:
    """One system against the first one.

    Attributes:
        score: of the corpus.
        interval: None where there is but one segment, of which all samples are alike.
        p_value: how likely so large a difference from the first system is by chance, 1 where there is none; None for
            the first system itself, for one that is `identical`, and for fewer than `MINIMUM_SEGMENTS` that differ.
        identical: every segment has the statistics that it has in the first system.
    """

    score: float
    interval: Interval | None
    p_value: float | None = None
    identical: bool = False


def bootstrap_scores(
    metric: Metric, statistics: NDArray[Any], *, samples: int = DEFAULT_SAMPLES, seed: int = BOOTSTRAP_SEED
) -> NDArray[np.float64]:
    """Scores of corpora drawn from the segments with replacement.

    Args:
        metric: that the statistics belong to.
        statistics: (n, k).
        samples: number of corpora, each of n segments.
        seed: systems with the same n and the same seed are resampled alike.

    Returns:
        (samples,) corpus scores.
    """
    rows = np.asarray(statistics, dtype=np.float64)
    totals = np.empty((samples, rows.shape[1]))
    for part, counts in resampled_counts(len(rows), samples, seed):
        # Not BLAS: its order of summation, and so the last bit, depends on the number of threads.
        totals[part] = np.einsum("bn,nk->bk", counts, rows)
    return metric.corpus_scores(totals)


def resampled_counts(n: int, samples: int, seed: int | Sequence[int]) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """How often each of n items is in a sample of as many, drawn with replacement.

    Yields:
        Which of the samples, and their counts (b, n): in parts, as all together may not fit into memory.
    """
    random = np.random.default_rng(seed)
    step = max(1, _COUNTS_AT_ONCE // n)
    for start in range(0, samples, step):
        size = min(step, samples - start)
        cells = random.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
        counts = np.bincount(cells.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
        yield slice(start, start + size), counts


def confidence(scores: NDArray[np.float64]) -> Interval:
    """The middle 95 % of resampled scores (m,): one in forty is cut off at either end, as sacreBLEU does."""
    ordered = np.sort(scores)
    cut = len(ordered) // 40
    return Interval(float(ordered.mean()), float(ordered[cut]), float(ordered[-1 - cut]))


def paired_p_value(difference: float, first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """P-value of a difference in score, from paired resampled scores (m,) of the two systems.

    The share of samples whose absolute difference, less the mean of these, reaches the one observed; one is added to
    both counts, so that p is never 0. The convention of sacreBLEU (and of MultEval and Moses before it), but that ties
    count, and that a difference of 0 has p = 1.
    """
    rounding = ROUNDING * max(np.abs(first).max(initial=0.0), np.abs(second).max(initial=0.0))
    if abs(difference) <= rounding:
        return 1.0
    differences = np.abs(second - first)
    beyond = np.count_nonzero(differences - differences.mean() >= abs(difference) - rounding)
    return float((beyond + 1) / (len(differences) + 1))


def percentile_p_value(differences: NDArray[np.float64]) -> float:
    """Two-sided p-value from resampled differences (m,): twice the share of those on the other side of 0.

    Of 20 and more it is below .05 if and only if `confidence` of the same differences excludes 0: both ask whether more
    than one in forty is on the other side, or 0.
    """
    other = min(int(np.count_nonzero(differences <= 0)), int(np.count_nonzero(differences >= 0)))
    return float(min(1.0, max(2 * other, 1) / (len(differences) + 1)))


def paired_bootstrap(
    metric: Metric,
    systems: Sequence[NDArray[Any]],
    *,
    samples: int = DEFAULT_SAMPLES,
    seed: int = BOOTSTRAP_SEED,
) -> list[Comparison]:
    """Scores with intervals, and each system against the first.

    Args:
        metric: that the statistics belong to.
        systems: statistics (n, k) of each system over the same n segments.
        samples: number of resampled corpora.
        seed: of the resampling.

    Returns:
        One comparison a system, in order.
    """
    results: list[Comparison] = []
    first = np.asarray(systems[0])
    baseline_scores = np.empty(0)
    for index, statistics in enumerate(systems):
        score = metric.corpus_score(statistics.sum(axis=0))
        scores = bootstrap_scores(metric, statistics, samples=samples, seed=seed)
        interval = confidence(scores) if len(statistics) > 1 else None
        if index == 0:
            baseline_scores = scores
            results.append(Comparison(score, interval))
        elif np.array_equal(statistics, first):
            results.append(Comparison(score, interval, identical=True))
        else:
            few = len(first) < MINIMUM_SEGMENTS and not nearly_equal(score, results[0].score)
            p = None if few else paired_p_value(score - results[0].score, baseline_scores, scores)
            results.append(Comparison(score, interval, p_value=p))
    return results
