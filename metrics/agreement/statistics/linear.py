"""Pearson's r and Spearman's rho, over everything or as the mean over segments or systems; r without outliers.

Exchanging scores for the test PERM-BOTH (Deutsch et al. 2021) makes hybrids of two metrics, which are brought to one
scale first: standardised for Pearson's, ranked (within the groups) for Spearman's, whose hybrids are correlated as they
are. All pairs of metrics come from the same few sums: of what would be kept by each metric alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.correlation import (
    MINIMUM_PAIRS,
    Correlation,
    pearson,
    resampled_pearson,
    resampled_spearman,
    spearman,
)
from lasw.metrics.agreement.statistics.base import SYSTEMS, Asked, Finding, Floats, Statistic, Swaps, Values
from lasw.metrics.agreement.statistics.rated import Rated
from lasw.metrics.agreement.statistics.swapping import mean_differences, swapped_moments
from lasw.metrics.agreement.sums import weighted_sums

_OUTLIER = 2.5  # deviations, estimated by the median absolute one
_CONSISTENT = 1.483  # makes that one the standard deviation of a normal distribution
_BITS_AT_ONCE = 1 << 22


class Pearson(Statistic):
    """Pearson's product-moment correlation."""

    def find(self, values: Values, rated: Rated, asked: Asked) -> Finding:  # noqa: D102
        marks = _marks(rated)
        if asked.average == "none":
            return Finding(self._correlation(values.metric, marks))
        if np.isnan(values.metric).any():
            return Finding(Correlation(None, rated.things, "a score is no number"), 0)
        found, n = [], 0
        for places in _parts(rated, asked.average):
            value = self._group(values.metric[places], marks[places])
            if value is not None:
                found.append(value)
                n += len(places)
        if not found:
            return Finding(Correlation(None, 0, "no group has it"), 0)
        return Finding(Correlation(float(np.mean(found)), n), len(found))

    def resampled(self, values: Values, rated: Rated, asked: Asked, counts: Floats) -> Floats:  # noqa: D102
        marks = _marks(rated)
        if asked.average == "none":
            return self._resampled_whole(values.metric, marks, rated, counts)
        if asked.average == "item":
            parts = _parts(rated, "item")
            alone = [self._group(values.metric[places], marks[places]) for places in parts]
            has = np.array([value is not None for value in alone])
            numbers = np.array([value or 0.0 for value in alone])
            drawn = counts[:, [int(rated.item[places[0]]) for places in parts]] * has
            with np.errstate(invalid="ignore"):
                return np.asarray(np.einsum("bg,g->b", drawn, numbers) / drawn.sum(axis=1))
        each = np.stack([self._resampled(values.metric[p], marks[p], counts[:, rated.item[p]]) for p in rated.systems])
        has = ~np.isnan(each)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(has, each, 0.0).sum(axis=0) / has.sum(axis=0))

    def swaps(self, several: Sequence[Values], rated: Rated, asked: Asked) -> Swaps | None:  # noqa: D102
        places, starts = rated.groups(asked.average)
        marks = self._scaled(_marks(rated)[places], starts)
        scores = np.stack([self._scaled(values.metric[places], starts) for values in several])

        def swaps(samples: int, seed: int) -> Floats:
            random, parts = np.random.default_rng(seed), []
            step = max(1, _BITS_AT_ONCE // (len(places) + 8 * len(starts) * len(scores)))
            for begin in range(0, samples, step):
                kept = random.integers(0, 2, size=(min(step, samples - begin), len(places)), dtype=np.uint8)
                parts.append(mean_differences(*swapped_moments(scores, marks, starts, kept), np.diff(starts)))
            return np.concatenate(parts)

        return swaps

    def _correlation(self, metric: Floats, marks: Floats) -> Correlation:
        return pearson(metric, marks)

    def _resampled(self, metric: Floats, marks: Floats, counts: Floats) -> Floats:
        return resampled_pearson(metric, marks, counts)

    def _resampled_whole(self, metric: Floats, marks: Floats, rated: Rated, counts: Floats) -> Floats:
        """(b,) of all things, from sums of every segment's."""
        x, y = (self._scaled(numbers, np.array([0, len(numbers)])) for numbers in (metric, marks))
        terms = (np.ones_like(x), x, y, x * x, y * y, x * y)
        by_unit = np.stack([np.bincount(rated.item, term, rated.units) for term in terms], axis=1)
        n, sx, sy, sxx, syy, sxy = weighted_sums(counts, by_unit).T
        with np.errstate(invalid="ignore", divide="ignore"):
            variances = (sxx - sx * sx / n) * (syy - sy * sy / n)
            value = (sxy - sx * sy / n) / np.sqrt(np.maximum(variances, 0.0))
        return np.where((variances > 0) & (n >= MINIMUM_PAIRS), np.clip(value, -1.0, 1.0), np.nan)

    def _group(self, metric: Floats, marks: Floats) -> float | None:
        """Of one group of several, for which two are enough."""
        if len(metric) == 2:
            sign = np.sign(metric[1] - metric[0]) * np.sign(marks[1] - marks[0])
            return float(sign) if sign else None
        return self._correlation(metric, marks).value

    def _scaled(self, numbers: Floats, starts: NDArray[np.int64]) -> Floats:
        """(k,) numbers of different metrics that can stand for each other."""
        spread = numbers.std() if len(numbers) else 0.0
        return np.asarray((numbers - numbers.mean()) / spread) if spread > 0 else np.zeros_like(numbers)


class Spearman(Pearson):
    """Spearman's rank correlation."""

    def _correlation(self, metric: Floats, marks: Floats) -> Correlation:
        return spearman(metric, marks)

    def _resampled(self, metric: Floats, marks: Floats, counts: Floats) -> Floats:
        return resampled_spearman(metric, marks, counts)

    def _resampled_whole(self, metric: Floats, marks: Floats, rated: Rated, counts: Floats) -> Floats:
        step = max(1, _BITS_AT_ONCE // max(len(metric), 1))
        parts = [counts[begin : begin + step] for begin in range(0, len(counts), step)]
        return np.concatenate([self._resampled(metric, marks, part[:, rated.item]) for part in parts])

    def _scaled(self, numbers: Floats, starts: NDArray[np.int64]) -> Floats:
        from scipy.stats import rankdata

        parts = [rankdata(part) for part in np.split(numbers, starts[1:-1]) if len(part)]
        return super()._scaled(np.concatenate([*parts, np.empty(0)]), starts)


class RobustPearson(Pearson):
    """Pearson's correlation without the systems that are far better or worse than the others (Mathur et al. 2020).

    With m the median of people's scores, a system is an outlier if |score - m| / (1.483 median |score - m|) > 2.5.
    """

    levels = (SYSTEMS,)

    def find(self, values: Values, rated: Rated, asked: Asked) -> Finding:  # noqa: D102
        kept = ~outliers(_marks(rated))
        found = super().find(Values(values.metric[kept]), _only(rated, kept), asked)
        return replace(found, details={"outliers": float(np.count_nonzero(~kept))})

    def swaps(self, several: Sequence[Values], rated: Rated, asked: Asked) -> Swaps | None:  # noqa: D102
        kept = ~outliers(_marks(rated))
        return super().swaps([Values(values.metric[kept]) for values in several], _only(rated, kept), asked)


def outliers(marks: Floats) -> NDArray[np.bool_]:
    """(c,) which of people's scores lie far outside; none where more than half are the same."""
    distance = np.abs(marks - np.median(marks)) if len(marks) else np.zeros(0)
    scale = _CONSISTENT * np.median(distance) if len(marks) else 0.0
    return np.asarray(distance > _OUTLIER * scale) if scale > 0 else np.zeros(len(marks), dtype=np.bool_)


def _only(rated: Rated, kept: NDArray[np.bool_]) -> Rated:
    return Rated(int(kept.sum()), _marks(rated)[kept], rated.item[kept], rated.units, of_systems=True)


def _marks(rated: Rated) -> Floats:
    assert rated.marks is not None  # of_pairs is False
    return rated.marks


def _parts(rated: Rated, average: str) -> list[NDArray[np.int64]]:
    places, starts = rated.groups(average)
    return [part for part in np.split(places, starts[1:-1]) if len(part)]
