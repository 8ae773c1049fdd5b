"""Does locality pay? Every development sentence is reranked with weights that ignore its own samples.

For sentence s its own instance weight is 0, and the prior's centre is the global solution without s, so nothing of s
has a part in its weights, which are those of one Newton step. What is compared is the corpus score of the candidates
that come out best, with that of the global weights found in the same way.

A setting is better only if that is unlikely to be chance, and the best of many is better by chance more often than one
is. So p-values are corrected for the number of settings as in Romano & Wolf (2005, single step): with the lead of every
setting over the global weights divided by its standard error, how often the largest one, on resampled sentences and
with the mean leads taken away, reaches what was observed. Settings that resemble each other cost little, and one that
scatters much does not hide the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from lasw.metrics import BOOTSTRAP_SEED, DEFAULT_SAMPLES, Metric, bootstrap_scores, borrowing
from lasw.tuning.local.samples import LocalSamples
from lasw.tuning.local.weighing import LocalWeigher, Setting
from lasw.tuning.pool import Floats

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool

LEVEL = 0.05


@dataclass(frozen=True)
class Point:
    """One setting's outcome.

    Attributes:
        setting: what was tried.
        score: corpus score of the development set, each sentence with its own weights.
        lead: that minus the score of the global weights.
        low, high: between which the lead is by resampling sentences, 95 % sure of either end and of all settings at
            once: `low` is above 0 if and only if `p_value` is below .05.
        p_value: of a lead above 0, corrected for the number of settings.
    """

    setting: Setting
    score: float
    lead: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Curve:
    """All settings and what follows.

    Attributes:
        points: in the order given.
        global_score: corpus score of the global weights, also leaving one out.
        best: the point with the highest score.
    """

    points: tuple[Point, ...]
    global_score: float
    best: Point

    @property
    def p_value(self) -> float:
        """Of the best point's lead."""
        return self.best.p_value

    @property
    def chosen(self) -> Setting | None:
        """The highest score among the settings whose lead is significant; None, the global weights, if none's is."""
        significant = [point for point in self.points if point.lead > 0 and point.p_value < LEVEL]
        return max(significant, key=lambda point: point.score).setting if significant else None


def grid(similarities: Sequence[str]) -> tuple[Setting, ...]:
    """The settings that are tried by default: ten a similarity, the thesis' first, from hardly local to very."""
    alone = {"alpha1": 0.0, "alpha2": 1.0}  # the similarity without the global instance weight
    shapes: list[dict[str, Any]] = [
        {},
        {"prior": 0.1},
        {"prior": 0.01, **alone},
        {"power": 2.0, **alone},
        {"power": 2.0, "prior": 0.01, **alone},
        {"power": 4.0, "prior": 0.01, **alone},
        *({"power": None, "beta": 5.0, "prior": prior} for prior in (0.0, 0.1)),
        *({"power": None, "beta": 10.0, "prior": prior} for prior in (0.1, 1.0)),
    ]
    return tuple(Setting(similarity, **shape) for similarity in similarities for shape in shapes)


def leave_one_out(
    pool: Pool,
    samples: LocalSamples,
    similarities: Mapping[str, Floats],
    settings: Sequence[Setting],
    measure: Metric,
    *,
    resamples: int = DEFAULT_SAMPLES,
    seed: int = BOOTSTRAP_SEED,
) -> Curve:
    """Try settings on the development set.

    Args:
        pool: the candidates that the samples were drawn from.
        samples: of all S sentences.
        similarities: by name, (S, S): row t holds the similarities to sentence t.
        settings: at least one.
        measure: its corpus score decides.
        resamples: of the bootstrap.
        seed: of the bootstrap.

    Raises:
        ValueError: no setting, or an empty pool.
    """
    if not settings or not len(pool):
        raise ValueError(f"{len(settings)} settings on {len(pool)} candidates")
    statistics = pool.statistics(measure)
    ranked = _Reranked(pool, samples)
    resampled = partial(bootstrap_scores, measure, samples=resamples, seed=seed)
    with threadpool_limits(limits=1, user_api="blas"):
        plain = LocalWeigher(samples, None)
        others = np.tile(samples.instance, (len(samples.instance), 1))
        np.fill_diagonal(others, 0.0)
        without = plain.steps(others)  # row s: the global solution without sentence s
        rows = statistics[ranked.best(plain, without)]
        base, base_scores = measure.corpus_score(rows.sum(axis=0)), resampled(rows)
        scores, leads = [], []
        for setting in settings:
            weigher = LocalWeigher(samples, setting)
            k = setting.instance_weights(similarities[setting.similarity], samples.instance)
            np.fill_diagonal(k, 0.0)
            rows = statistics[ranked.best(weigher, weigher.steps(k, without))]
            scores.append(float(measure.corpus_score(rows.sum(axis=0))))
            leads.append(resampled(rows) - base_scores)
    observed = np.array(scores) - base
    corrected = zip(_corrected(observed, np.stack(leads)), *_ends(observed, np.stack(leads)), strict=True)
    points = tuple(
        Point(setting, score, score - base, low, high, p_value)
        for setting, score, (p_value, low, high) in zip(settings, scores, corrected, strict=True)
    )
    return Curve(points, float(base), max(points, key=lambda point: point.score))


def _corrected(observed: Floats, resampled: Floats) -> list[float]:
    """The p-value of each lead, (n,) as observed and (n, resamples); one is added to both counts, so it is never 0."""
    scaled, unit = _scaled(observed, resampled)
    reached = np.count_nonzero(scaled.max(axis=0)[None] >= (observed / unit)[:, None], axis=1)
    return [float((count + 1) / (resampled.shape[1] + 1)) for count in reached.tolist()]


def _ends(observed: Floats, resampled: Floats) -> tuple[list[float], list[float]]:
    """Both ends of every lead's interval: as many errors away as the largest (smallest) lead reaches one time in 20."""
    scaled, unit = _scaled(observed, resampled)
    error = np.where(np.isfinite(unit), unit, 0.0)
    # So many resamples may reach a lead whose p-value is below LEVEL, see `_corrected`.
    beyond = max(resampled.shape[1] // 20 - 1, 0)
    most, least = np.sort(scaled.max(axis=0))[::-1], np.sort(scaled.min(axis=0))
    return (observed - error * most[beyond]).tolist(), (observed - error * least[beyond]).tolist()


def _scaled(observed: Floats, resampled: Floats) -> tuple[Floats, Floats]:
    """(n, resamples) leads less the observed ones in units of their standard errors, and these (n,)."""
    error = resampled.std(axis=1)
    # A setting that changes nothing has no error: its lead is 0 and never the largest.
    unit = np.where(error > 0, error, np.inf)
    return (resampled - observed[:, None]) / unit[:, None], unit


class _Reranked:
    """The pool's candidates by sentence, to be reranked with weights of each sentence's own."""

    def __init__(self, pool: Pool, samples: LocalSamples) -> None:
        self._order, self._starts = pool.order, pool.starts
        self._dense = pool.dense
        self._sparse = None if pool.sparse is None else scipy.sparse.csr_array(pool.sparse[self._order])
        self._d = len(samples.names)

    def best(self, weigher: LocalWeigher, b: Floats) -> NDArray[np.int64]:
        """(S',) row of the best candidate under weights (S, q) as `steps` gives them, where there are candidates."""
        weights, offset = np.empty((len(b), self._d)), np.zeros(len(self._order))
        for s, row in enumerate(b):
            vector = weigher.vector(row)
            weights[s] = vector[: self._d]
            if self._sparse is not None:
                start, end = self._starts[s], self._starts[s + 1]
                offset[start:end] = self._sparse[start:end] @ vector[self._d :]
        best = np.empty(len(b), dtype=np.int64)
        _best_each(self._order, self._starts, self._dense, offset, weights, best)
        return best[best >= 0]


@borrowing
def _best_each(order, starts, dense, offset, weights, best):  # type: ignore[no-untyped-def]
    """`best[s]` = the row of sentence s that scores highest under weights[s], the earliest among equals, or -1."""
    for s in range(best.shape[0]):
        best[s] = -1
        top = 0.0
        for place in range(starts[s], starts[s + 1]):
            row = order[place]
            score = offset[place]
            for j in range(weights.shape[1]):
                score += dense[row, j] * weights[s, j]
            if best[s] < 0 or score > top:
                best[s] = row
                top = score
