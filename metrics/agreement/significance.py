"""How sure it is that one metric agrees better with people than another.

Pearson's correlations are compared with Williams' test, as WMT does (Graham & Baldwin 2014); all others with the paired
bootstrap over segments (Koehn 2004); or all of them with one of bootstrap and PERM-BOTH (Deutsch et al. 2021), where
two metrics exchange their scores at random. Intervals are the bootstrap's for all of them. Segments are drawn, and
exchanges made, once for all metrics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.correlation import pearson
from lasw.metrics.agreement.panels import Agreement
from lasw.metrics.agreement.questions import Key, Measure
from lasw.metrics.significance import (
    BOOTSTRAP_SEED,
    DEFAULT_SAMPLES,
    MINIMUM_SEGMENTS,
    Interval,
    confidence,
    resampled_counts,
)

WILLIAMS, BOOTSTRAP, PERM_BOTH = SIGNIFICANCE_TESTS = "williams", "bootstrap", "perm-both"
_ROUNDING = 1e-12  # correlations of equal ranks differ by less
_ENOUGH = 0.9  # of the samples must have the correlation, else what the others say is worth nothing


@dataclass(frozen=True, eq=False)
class Significance:
    """M metrics under one correlation with one set of judgements.

    Attributes:
        test: one of `SIGNIFICANCE_TESTS`.
        intervals: M, of 95 %; None where the correlation or too many of its resamplings are undefined, and of fewer
            than `MINIMUM_SEGMENTS`.
        p_values: (M, M) one-sided: how likely the row's metric would lead the column's by so much if it were no
            better. NaN where a correlation is undefined, the two metrics do not differ, or segments are so few.
        samples: (M, b) the correlation in each resampled set, NaN where undefined.
    """

    test: str
    intervals: tuple[Interval | None, ...]
    p_values: NDArray[np.float64]
    samples: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))


def agreement_significance(
    agreements: Sequence[Agreement],
    *,
    samples: int = DEFAULT_SAMPLES,
    seed: int = BOOTSTRAP_SEED,
    test: str = WILLIAMS,
) -> dict[Key, Significance]:
    """Intervals and pairwise p-values for every correlation that the metrics have.

    Args:
        agreements: M metrics with the same judgements.
        samples: resampled sets, each of as many segments as there are; and exchanges.
        seed: of the resampling.
        test: one of `SIGNIFICANCE_TESTS`; what is not Pearson's takes `BOOTSTRAP` for `WILLIAMS`.
    """
    keys = list(agreements[0].measures)
    resampled = {key: np.empty((len(agreements), samples)) for key in keys}
    for part, counts in resampled_counts(agreements[0].units, samples, seed):
        for key in keys:
            for row, agreement in zip(resampled[key], agreements, strict=True):
                row[part] = agreement.measures[key].resample(counts)
    if agreements[0].units < MINIMUM_SEGMENTS:
        for samples_of_one in resampled.values():
            samples_of_one[:] = np.nan
    columns = {key: [a.measures[key] for a in agreements] for key in keys}
    if test == PERM_BOTH:
        return {key: _exchanged(columns[key], resampled[key], samples, seed) for key in keys}
    return {key: _significance(columns[key], resampled[key], test) for key in keys}


def _exchanged(measures: Sequence[Measure], resampled: NDArray[np.float64], samples: int, seed: int) -> Significance:
    """By the permutation test; the observed exchange, of nothing, is counted in, so that p is never 0."""
    intervals = tuple(_interval(m, row) for m, row in zip(measures, resampled, strict=True))
    values = np.array([np.nan if m.correlation.value is None else m.correlation.value for m in measures])
    p_values = np.full((len(measures), len(measures)), np.nan)
    lead = values[:, None] - values
    differ = np.abs(lead) > _ROUNDING  # NaN do not
    swaps = measures[0].swaps(measures) if measures[0].swaps is not None and differ.any() else None
    if swaps is not None:
        beyond = (swaps(samples, seed) >= lead - _ROUNDING).sum(axis=0)
        p_values[differ] = (beyond[differ] + 1) / (samples + 1)
    return Significance(PERM_BOTH, intervals, p_values, resampled)


def _significance(measures: Sequence[Measure], samples: NDArray[np.float64], test: str) -> Significance:
    intervals = tuple(_interval(m, row) for m, row in zip(measures, samples, strict=True))
    by_williams = measures[0].linear and test == WILLIAMS
    p_values = np.full((len(measures), len(measures)), np.nan)
    for i, first in enumerate(measures):
        for j, second in enumerate(measures):
            if i != j and first.correlation.value is not None and second.correlation.value is not None:
                p = _williams(first, second) if by_williams else _bootstrap(samples[i], samples[j])
                p_values[i, j] = np.nan if p is None else p
    return Significance(WILLIAMS if by_williams else BOOTSTRAP, intervals, p_values, samples)


def _interval(measure: Measure, samples: NDArray[np.float64]) -> Interval | None:
    defined = samples[~np.isnan(samples)]
    if measure.correlation.value is None or not len(defined) or len(defined) < _ENOUGH * len(samples):
        return None
    return confidence(defined)


def _williams(first: Measure, second: Measure) -> float | None:
    assert first.scores is not None  # nobody calls it for another than Pearson's
    assert second.scores is not None
    r12, r13 = first.correlation.value, second.correlation.value
    r23 = pearson(first.scores, second.scores).value
    if r12 is None or r13 is None or r23 is None:
        return None
    return williams(r12, r13, r23, first.correlation.n)


def williams(first: float, second: float, between: float, n: int) -> float | None:
    """One-sided p-value of a correlation being larger than another, which depends on it (Williams 1959).

    With r the three correlations and K = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23, the test's
    t = (r12 - r13) sqrt((n - 1)(1 + r23)) / sqrt(2K (n - 1)/(n - 3) + (r12 + r13)^2 (1 - r23)^3 / 4) has n - 3 degrees
    of freedom.

    Args:
        first, second: r12 and r13, Pearson's correlation of each metric with people.
        between: r23, that of the two metrics with each other.
        n: items that all three are of.

    Returns:
        The p-value; None with fewer than four items, or where the two metrics differ by no more than a positive factor
        and a constant.
    """
    if n < 4:
        return None
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    # Rounding can leave a determinant of 0 slightly below.
    below = 2 * max(determinant, 0.0) * (n - 1) / (n - 3) + (first + second) ** 2 * (1 - between) ** 3 / 4
    if between >= 1 - 1e-12 or below <= 0:
        return None
    from scipy.special import stdtr

    t = (first - second) * math.sqrt((n - 1) * (1 + between) / below)
    return float(stdtr(n - 3, -t))


def _bootstrap(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """The share of samples in which the first is not ahead; one is added to both counts, so that it is never 0."""
    differences = first - second
    differences = differences[~np.isnan(differences)]
    if len(differences) < _ENOUGH * len(first) or not (np.abs(differences) > _ROUNDING).any():
        return None
    return float((np.count_nonzero(differences <= _ROUNDING) + 1) / (len(differences) + 1))
