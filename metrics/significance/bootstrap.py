"""Paired bootstrap resampling (Koehn 2004) on rows of sufficient statistics.

A resampled corpus is how often it holds each segment, so its statistics are counts times statistics: resampling a
thousand corpora is one product of matrices, and systems are paired because they share the counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Metric

DEFAULT_SAMPLES = 1000
BOOTSTRAP_SEED = 1
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
        p_value: how likely so large a difference from the first system is by chance; None for the first system
            itself and for one that is `identical`.
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
    """Two-sided p-value of a difference in score, from paired resampled scores (m,) of the two systems.

    The share of samples whose difference, centred on its mean, exceeds the one observed; one is added to both
    counts, so that p is never 0. The convention of sacreBLEU (and of MultEval and Moses before it).
    """
    differences = np.abs(second - first)
    beyond = np.count_nonzero(differences - differences.mean() > abs(difference))
    return float((beyond + 1) / (len(differences) + 1))


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
            p = paired_p_value(score - results[0].score, baseline_scores, scores)
            results.append(Comparison(score, interval, p_value=p))
    return results
