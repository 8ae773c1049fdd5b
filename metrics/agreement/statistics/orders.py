"""Statistics of pairs: does the metric order two translations, or two systems, as people do?

With C and D the pairs that the metric orders as people do and the other way round, and Tm, Tp, Tmp those tied by the
metric alone, by people alone, by both:

- tau-b: (C - D) / sqrt((C + D + Tp)(C + D + Tm)); tau-c: 2 (C - D) / (n² (m - 1)/m), m the fewer different values of
  the two (Kendall 1945; Stuart 1953).
- tau12, tau13, tau14: as the metrics tasks of these years had them, people's ties left out (see `correlation`).
- darr: (C - D - Tm) / all, of the pairs of one segment whose marks differ by 25 points or more, all segments together
  (Bojar et al. 2017).
- accuracy: (C + Tmp) / all (Deutsch et al. 2023), which of systems is pairwise accuracy (Kocmi et al. 2021).

The permutation test exchanges systems' scores, standardised, where the things are systems, else what two metrics say
of a pair, as the WMT metrics task does: for scores that are only compared there is no common scale.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from lasw.metrics.agreement.correlation import Correlation, quotient
from lasw.metrics.agreement.statistics.base import SEGMENTS, SYSTEMS, Asked, Finding, Floats, Statistic, Swaps, Values
from lasw.metrics.agreement.statistics.counting import KINDS, Orders, counted, hybrid_counts, orders, resampled
from lasw.metrics.agreement.statistics.rated import Pairs, Rated
from lasw.metrics.agreement.statistics.swapping import ROOT, bit_planes, kept_counts, order_differences

_COUNTS_AT_ONCE = 1 << 22


class OfOrders(Statistic):
    """What is a formula of the five counts."""

    of_pairs = True
    gains: ClassVar[tuple[float, ...]] = (1.0, -1.0, 0.0, 0.0, 0.0)  # what a pair of each kind adds
    denominator: ClassVar[int] = KINDS  # of how many kinds, from the first, it is the share; or `ROOT`
    pooled: ClassVar[bool] = False  # whether counts of groups are added up, else it is the mean of the groups

    def formula(self, counts: Floats) -> Floats:
        """(...,) of counts (..., 5), NaN where there is none."""
        gain = (counts * np.array(self.gains)).sum(axis=-1)
        if self.denominator == ROOT:
            c, d, of_metric, of_people, _ = np.moveaxis(counts, -1, 0)
            return quotient(gain, np.sqrt(c + d + of_people) * np.sqrt(c + d + of_metric))
        return quotient(gain, counts[..., : self.denominator].sum(axis=-1))

    def points(self, asked: Asked) -> float:
        """How far apart the marks of a pair have to be."""
        return 0.0

    def epsilon(self, metric: Floats, pairs: Pairs) -> float:
        """How far apart scores may be and still be a tie."""
        return 0.0

    def mean(self, counts: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        """(...,) the statistic of counts (..., g, 5), and how many groups have it; `sizes` as `_sizes` has them."""
        if self.pooled:
            counts = counts.sum(axis=-2, keepdims=True)
        each = self.formula(counts)
        has = ~np.isnan(each)
        return quotient(np.where(has, each, 0.0).sum(axis=-1), has.sum(axis=-1)), has.sum(axis=-1)

    def find(self, values: Values, rated: Rated, asked: Asked) -> Finding:  # noqa: D102
        pairs, details = rated.pairs(asked.average, self.points(asked)), dict[str, float]()
        if np.isnan(values.metric).any():
            return Finding(Correlation(None, rated.things, "a score is no number"), 0)
        if pairs is None:
            counts = counted(values.metric, rated, asked.average, self.points(asked))
        else:
            epsilon = self.epsilon(values.metric, pairs)
            details = {"epsilon": epsilon} if type(self).epsilon is not OfOrders.epsilon else {}
            counts = orders(values.metric, pairs, epsilon).by_group()
        value, groups = self.mean(counts, self._sizes(values, rated, asked))
        n = int(self.counting(counts).sum())
        if np.isnan(value):
            return Finding(Correlation(None, n, "nothing but ties" if n else "no pairs"), 0, details)
        return Finding(Correlation(float(value), n), int(groups), details)

    def counting(self, counts: Floats) -> Floats:
        """(...,) how many pairs enter."""
        return np.asarray(counts.sum(axis=-1))

    def resampled(self, values: Values, rated: Rated, asked: Asked, counts: Floats) -> Floats:  # noqa: D102
        pairs = rated.pairs(asked.average, self.points(asked))
        if pairs is None:
            return np.full(len(counts), np.nan)
        order = orders(values.metric, pairs, self.epsilon(values.metric, pairs))
        sizes = self._sizes(values, rated, asked)
        if pairs.units is None:
            drawn = resampled(order, rated, counts)
            return np.full(len(counts), np.nan) if drawn is None else self.mean(drawn, sizes)[0]
        if self.pooled or len(pairs.starts) == 2:
            return self.mean(np.einsum("bu,uq->bq", counts, order.by_unit(rated.units))[:, None], sizes)[0]
        return self._mean_of_units(order, pairs, counts, sizes)

    def _mean_of_units(self, order: Orders, pairs: Pairs, counts: Floats, sizes: Floats) -> Floats:
        """Of groups that are segments: the mean of what each has alone."""
        assert pairs.units is not None
        filled = np.flatnonzero(np.diff(pairs.starts))
        each = self._alone(order.by_group(), sizes)[filled]
        drawn = counts[:, pairs.units[pairs.starts[filled]]] * ~np.isnan(each)
        return quotient(np.einsum("bg,g->b", drawn, np.nan_to_num(each)), drawn.sum(axis=1))

    def _alone(self, counts: Floats, sizes: Floats) -> Floats:
        """(g,) what each group has."""
        return np.array([self.mean(row[None], size[None])[0] for row, size in zip(counts, sizes, strict=True)])

    def _sizes(self, values: Values, rated: Rated, asked: Asked) -> Floats:
        """(g, 2) things and different values in each group, for those who need them."""
        if rated.marks is None:
            pairs = rated.pairs(asked.average)
            return np.zeros((len(pairs.starts) - 1 if pairs else 1, 2))
        return np.zeros((len(rated.groups(asked.average)[1]) - 1, 2))

    def swaps(self, several: Sequence[Values], rated: Rated, asked: Asked) -> Swaps | None:  # noqa: D102
        if rated.of_systems:
            return self._swapped_systems(several, rated)
        pairs = rated.pairs(asked.average, self.points(asked))
        return None if pairs is None else self._swapped_pairs(several, pairs)

    def _swapped_systems(self, several: Sequence[Values], rated: Rated) -> Swaps:
        marks = rated.marks
        assert marks is not None
        scores = [(x.metric - x.metric.mean()) / (x.metric.std() or 1.0) for x in several]

        def swaps(samples: int, seed: int) -> Floats:
            kept = np.random.default_rng(seed).integers(0, 2, size=(samples, len(marks)), dtype=np.uint8)
            out = np.zeros((samples, len(scores), len(scores)))
            for i in range(len(scores)):
                for j in range(i + 1, len(scores)):
                    values = self.formula(hybrid_counts(scores[i], scores[j], marks, kept).astype(np.float64))
                    out[:, i, j] = values[:, 0] - values[:, 1]
                    out[:, j, i] = -out[:, i, j]
            return out

        return swaps

    def _swapped_pairs(self, several: Sequence[Values], pairs: Pairs) -> Swaps:
        kinds = [orders(x.metric, pairs, self.epsilon(x.metric, pairs)).kind for x in several]
        starts = pairs.starts[[0, -1]] if self.pooled else pairs.starts
        planes, words = bit_planes(np.stack([[kind == q for q in range(KINDS)] for kind in kinds]), starts)
        whole = kept_counts(planes, words, np.full((1, planes.shape[-1]), ~np.uint64(0)))[0]

        def swaps(samples: int, seed: int) -> Floats:
            random, parts = np.random.default_rng(seed), []
            step = max(1, _COUNTS_AT_ONCE // (len(words) * len(kinds) * KINDS))
            for begin in range(0, samples, step):
                size = (min(step, samples - begin), planes.shape[-1])
                kept = kept_counts(planes, words, random.integers(0, 1 << 64, size=size, dtype=np.uint64))
                parts.append(order_differences(kept, whole, self.gains, self.denominator))
            return np.concatenate(parts)

        return swaps


class TauB(OfOrders):
    """Kendall's tau-b."""

    of_pairs = False
    denominator = ROOT


class TauC(TauB):
    """Stuart's tau-c; it has no permutation test, since exchanged pairs have no number of values."""

    def mean(self, counts: Floats, sizes: Floats) -> tuple[Floats, Floats]:  # noqa: D102
        things, values = sizes[:, 0], sizes[:, 1]
        difference = counts[..., 0] - counts[..., 1]
        most = np.broadcast_to(things**2 * (values - 1), difference.shape)
        each = quotient(2 * difference * values, most)
        has = ~np.isnan(each)
        return quotient(np.where(has, each, 0.0).sum(axis=-1), has.sum(axis=-1)), has.sum(axis=-1)

    def _sizes(self, values: Values, rated: Rated, asked: Asked) -> Floats:
        places, starts = rated.groups(asked.average)
        assert rated.marks is not None
        parts = [places[begin:end] for begin, end in itertools.pairwise(starts)]
        fewer = [min(len(np.unique(values.metric[part])), len(np.unique(rated.marks[part]))) for part in parts]
        return np.array([[len(part), few] for part, few in zip(parts, fewer, strict=True)], dtype=np.float64)

    def swaps(self, several: Sequence[Values], rated: Rated, asked: Asked) -> Swaps | None:  # noqa: D102
        return None


class Tau13(OfOrders):
    """Kendall's tau as WMT13 had it."""

    levels = (SEGMENTS,)
    average = "item"
    denominator = 2

    def counting(self, counts: Floats) -> Floats:  # noqa: D102
        return np.asarray(counts[..., :3].sum(axis=-1))


class Tau12(Tau13):
    """As WMT12 had it: the metric's ties count against it."""

    gains = (1.0, -1.0, -1.0, 0.0, 0.0)
    denominator = 3


class Tau14(Tau13):
    """As WMT14 had it: the metric's ties count as pairs."""

    denominator = 3


class Darr(Tau12):
    """Relative rankings made of direct assessment."""

    of_pairs = False
    pooled = True

    def points(self, asked: Asked) -> float:  # noqa: D102
        return asked.points


class Accuracy(OfOrders):
    """The share of pairs that the metric orders, or ties, as people do."""

    average = "item"
    gains = (1.0, 0.0, 0.0, 0.0, 1.0)


class PairwiseAccuracy(Accuracy):
    """The same, of systems alone."""

    levels = (SYSTEMS,)
