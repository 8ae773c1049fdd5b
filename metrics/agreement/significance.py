"""How sure it is that one metric agrees better with people than another.

Pearson's correlations are compared with Williams' test, as WMT does (Graham & Baldwin 2014); Kendall's and Spearman's
with the paired bootstrap over segments (Koehn 2004). Intervals are the bootstrap's for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.correlation import pearson
from lasw.metrics.agreement.panels import Agreement, Key, Measure
from lasw.metrics.agreement.williams import williams
from lasw.metrics.significance import BOOTSTRAP_SEED, DEFAULT_SAMPLES, Interval, confidence

WILLIAMS, BOOTSTRAP = "williams", "bootstrap"
_COUNTS_AT_ONCE = 1 << 20  # entries of the counts matrix that are in memory together
_ROUNDING = 1e-12  # correlations of equal ranks differ by less
_ENOUGH = 0.9  # of the samples must have the correlation, else what the others say is worth nothing


@dataclass(frozen=True, eq=False)
class Significance:
    """M metrics under one correlation with one set of judgements.

    Attributes:
        test: `WILLIAMS` or `BOOTSTRAP`.
        intervals: M, of 95 %; None where the correlation or too many of its resamplings are undefined.
        p_values: (M, M) one-sided: how likely the row's metric would lead the column's by so much if it were no
            better. NaN where a correlation is undefined or the two metrics do not differ.
    """

    test: str
    intervals: tuple[Interval | None, ...]
    p_values: NDArray[np.float64]


def agreement_significance(
    agreements: Sequence[Agreement], *, samples: int = DEFAULT_SAMPLES, seed: int = BOOTSTRAP_SEED
) -> dict[Key, Significance]:
    """Intervals and pairwise p-values for every correlation that the metrics have.

    Args:
        agreements: M metrics with the same judgements.
        samples: resampled sets, each of as many segments as there are.
        seed: of the resampling.
    """
    keys = list(agreements[0].measures)
    found = {key: np.empty((len(agreements), samples)) for key in keys}
    start = 0
    for counts in draws(agreements[0].units, samples, seed):
        for key in keys:
            for row, one in zip(found[key], agreements, strict=True):
                row[start : start + len(counts)] = one.measures[key].resample(counts)
        start += len(counts)
    return {key: _significance([one.measures[key] for one in agreements], found[key]) for key in keys}


def draws(units: int, samples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """(b, units) how often each unit is in a sample of as many, drawn with replacement; `samples` rows in all."""
    random = np.random.default_rng(seed)
    step = max(1, _COUNTS_AT_ONCE // units)
    for start in range(0, samples, step):
        size = min(step, samples - start)
        cells = random.integers(units, size=(size, units)) + units * np.arange(size)[:, None]
        yield np.bincount(cells.ravel(), minlength=size * units).reshape(size, units).astype(np.float64)


def _significance(measures: Sequence[Measure], samples: NDArray[np.float64]) -> Significance:
    intervals = tuple(_interval(m, row) for m, row in zip(measures, samples, strict=True))
    by_williams = measures[0].linear
    p_values = np.full((len(measures), len(measures)), np.nan)
    for i, first in enumerate(measures):
        for j, second in enumerate(measures):
            if i != j and first.correlation.value is not None and second.correlation.value is not None:
                p = _williams(first, second) if by_williams else _bootstrap(samples[i], samples[j])
                p_values[i, j] = np.nan if p is None else p
    return Significance(WILLIAMS if by_williams else BOOTSTRAP, intervals, p_values)


def _interval(measure: Measure, samples: NDArray[np.float64]) -> Interval | None:
    defined = samples[~np.isnan(samples)]
    if measure.correlation.value is None or not len(defined) or len(defined) < _ENOUGH * len(samples):
        return None
    return confidence(defined)


def _williams(first: Measure, second: Measure) -> float | None:
    assert first.scores is not None  # nobody calls it for another than Pearson's
    assert second.scores is not None
    values = (first.correlation.value, second.correlation.value, pearson(first.scores, second.scores).value)
    if None in values:
        return None
    one, other, between = (float(x) for x in values if x is not None)
    return williams(one, other, between, first.correlation.n)


def _bootstrap(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """The share of samples in which the first is not ahead; one is added to both counts, so that it is never 0."""
    differences = first - second
    differences = differences[~np.isnan(differences)]
    if len(differences) < _ENOUGH * len(first) or not (np.abs(differences) > _ROUNDING).any():
        return None
    return float((np.count_nonzero(differences <= _ROUNDING) + 1) / (len(differences) + 1))
