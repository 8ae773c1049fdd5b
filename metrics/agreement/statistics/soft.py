"""Soft pairwise accuracy (Thompson et al. 2024): is the metric as sure of which system is better as people are?

For every pair of systems a paired permutation test says how likely the first would lead by so much if each segment's
two scores were exchanged at random; once by people's marks, once by the metric's scores. SPA is one minus the mean
absolute difference of the two p-values. As the tool of the WMT metrics task does it, the same 1 000 permutations serve
all pairs, come from a fixed seed and are summed in single precision, so that its numbers come out to the last digit.
Segments that lack a mark of one of the systems are left out for all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.correlation import Correlation
from lasw.metrics.agreement.statistics.base import SYSTEMS, Asked, Finding, Floats, Statistic, Swaps, Values
from lasw.metrics.agreement.statistics.rated import Rated
from lasw.metrics.agreement.sums import one_thread

_SEED, _PERMUTATIONS = 4, 1000


class SoftPairwiseAccuracy(Statistic):
    """SPA; n is how many segments have marks of all systems."""

    levels = (SYSTEMS,)
    resamples = False  # permutations of every resampled set would take hours

    def find(self, values: Values, rated: Rated, asked: Asked) -> Finding:  # noqa: D102
        if rated.segments is None or values.segments is None:
            return Finding(Correlation(None, 0, "needs scores of segments by system"), 0)
        marked, whole = _complete(rated.segments)
        n, pairs = int(whole.sum()), np.triu_indices(int(marked.sum()), 1)
        if not n or not len(pairs[0]):
            reason = "fewer than two systems" if n else "no segment has marks of all systems"
            return Finding(Correlation(None, n, reason), 0)
        if np.isnan(values.segments[marked][:, whole]).any():
            return Finding(Correlation(None, n, "a score is no number"), 0)
        people = p_values(rated.segments[marked][:, whole])[pairs]
        metric = p_values(values.segments[marked][:, whole])[pairs]
        return Finding(Correlation(float(1.0 - np.mean(np.abs(people - metric))), n), len(pairs[0]))

    def resampled(self, values: Values, rated: Rated, asked: Asked, counts: Floats) -> Floats:  # noqa: D102
        return np.full(len(counts), np.nan)

    def swaps(self, several: Sequence[Values], rated: Rated, asked: Asked) -> Swaps | None:
        """Systems change hands with all their segments, whose scores are standardised."""
        if rated.segments is None or any(x.segments is None for x in several):
            return None
        marked, whole = _complete(rated.segments)
        people = p_values(rated.segments[marked][:, whole])
        parts = [x.segments[marked][:, whole] for x in several if x.segments is not None]
        stacked = np.concatenate([(x - x.mean()) / (x.std() or 1.0) for x in parts])
        systems = len(people)
        mixed = p_values(stacked).reshape(len(parts), systems, len(parts), systems)
        distance = np.abs(mixed - people[None, :, None, :]).transpose(1, 3, 0, 2)  # (S, S, M, M)
        one, other = np.triu_indices(systems, 1)

        def swaps(samples: int, seed: int) -> Floats:
            kept = np.random.default_rng(seed).integers(0, 2, size=(samples, systems)).astype(np.bool_)
            out = np.zeros((samples, len(parts), len(parts)))
            for i in range(len(parts)):
                for j in range(i + 1, len(parts)):
                    first, second = np.where(kept, i, j), np.where(kept, j, i)
                    errors = [distance[one, other, x[:, one], x[:, other]].mean(axis=1) for x in (first, second)]
                    out[:, i, j] = errors[1] - errors[0]
                    out[:, j, i] = -out[:, i, j]
            return out

        return swaps


def _complete(marks: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(S,) systems with any marks, (n,) segments that have one of each of these."""
    there = ~np.isnan(marks)
    marked = np.asarray(there.any(axis=1))
    return marked, np.asarray(there[marked].all(axis=0))


def p_values(scores: Floats) -> NDArray[np.float64]:
    """(S, S) the p-value of the row's system leading the column's, of scores (S, n) of segments."""
    random = np.random.default_rng(_SEED).random((_PERMUTATIONS, scores.shape[1]), dtype=np.float32)
    signs = np.where(random > 0.5, np.float32(1), np.float32(-1))
    single = np.ascontiguousarray(scores, dtype=np.float32)
    totals = single.sum(axis=1)
    with one_thread():
        flipped = np.matmul(signs, single.T)
    out = np.empty((len(scores), len(scores)))
    for i in range(len(scores)):
        out[i] = ((flipped[:, i, None] - flipped) >= totals[i] - totals).mean(axis=0)
    return out
