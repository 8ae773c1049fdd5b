"""How well a metric agrees with people: by segment and by system, with preferences or with direct assessment.

Preferences: Kendall's tau of sentence scores; Pearson and Spearman of corpus scores with the systems' expected wins, or
with scores that people gave the systems.
Direct assessment: Pearson and Spearman of sentence scores with the marks, and of each system's corpus score over the
segments that it has marks for with the mean of these marks.

Scores of one segment's, or of all systems', that are equal by calculation are equal here, in whatever order their sums
were taken (`without_rounding`): nothing but ties of the metric, and ranks that are shared.

Each correlation can be had again for data sets drawn from the segments with replacement, people's side of the system
level included; metrics are paired because they share the draws (`lasw.metrics.agreement.significance`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.correlation import (
    Correlation,
    kendall,
    pearson,
    quotient,
    resampled_pearson,
    resampled_spearman,
    spearman,
    tau_of_counts,
)
from lasw.metrics.agreement.direct_assessment import DirectAssessment
from lasw.metrics.agreement.judgements import Judgements
from lasw.metrics.base import Evaluation, Metric, without_rounding

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

SEGMENTS, SYSTEMS = "segments", "systems"
Key = tuple[str, str]  # level and coefficient
Resample = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Measure:
    """One correlation of a metric with people.

    Attributes:
        correlation: of the data as they are.
        resample: from how often each of u units is drawn, (b, u), to (b,) correlations, NaN where undefined.
        scores: (n,) the metric's numbers, where the correlation is Pearson's, which Williams' test needs; else None.
    """

    correlation: Correlation
    resample: Resample
    scores: NDArray[np.float64] | None = None

    @property
    def linear(self) -> bool:
        """Whether it is Pearson's."""
        return self.scores is not None


@dataclass(frozen=True, eq=False)
class Agreement:
    """One metric on one set of judgements.

    Attributes:
        measures: by level (`SEGMENTS`, `SYSTEMS`) and coefficient (``kendall``, ``pearson``, ``spearman``).
        units: how many segments resampling draws from.
        ties: preferences whose two hypotheses the metric scores alike; None without preferences.
    """

    measures: dict[Key, Measure]
    units: int
    ties: int | None = None

    def __getitem__(self, key: Key) -> Correlation:
        return self.measures[key].correlation


@dataclass(frozen=True, eq=False)
class Scores:
    """What a metric says of S systems over n segments, or of n single translations (S = 1).

    Attributes:
        sentences: (S, n) sentence scores.
        corpus: (b, m) corpus scores from a system, rows (m,) of it and how often each is drawn, (b, m) -> (b,).
    """

    sentences: NDArray[np.float64]
    corpus: Callable[[int, NDArray[np.integer], NDArray[np.float64]], NDArray[np.float64]]


def metric_scores(metric: Metric, evaluation: Evaluation) -> Scores:
    """Scores of one metric for all segments."""
    statistics = evaluation.statistics(metric)

    def corpus(system: int, rows: NDArray[np.integer], counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return metric.corpus_scores(weighted_sums(counts, statistics[system][rows]))

    return Scores(evaluation.sentence_scores(metric), corpus)


def weighted_sums(counts: NDArray[np.float64], statistics: NDArray[Any]) -> NDArray[np.float64]:
    """(b, k) sums of statistics (m, k), row i taken `counts[b, i]` times; the same bits for any number of threads."""
    with _blas().limit(limits=1, user_api="blas"):
        return np.asarray(counts @ statistics.astype(np.float64))


@functools.cache
def _blas() -> ThreadpoolController:
    """Found once: looking for the libraries takes as long as a product."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def agreement_of(metric: Metric, data: Judgements | DirectAssessment, *, tau: int = 13) -> Agreement:
    """Agreement of `metric` with people, on segments and on systems.

    Args:
        metric: any.
        data: preferences or marks, with the text they are of.
        tau: year of the WMT metrics task whose definition of Kendall's tau is meant (see `kendall`); of preferences.
    """
    return agreement_of_scores(metric_scores(metric, data.evaluation), data, tau=tau)


def agreement_of_scores(scores: Scores, data: Judgements | DirectAssessment, *, tau: int = 13) -> Agreement:
    """As `agreement`, of scores wherever they come from."""
    if isinstance(data, Judgements):
        return _with_preferences(scores, data, tau)
    return _with_marks(scores, data)


def _with_preferences(scores: Scores, judgements: Judgements, tau: int) -> Agreement:
    sentences = without_rounding(scores.sentences, axis=0)
    better = sentences[judgements.better, judgements.segment]
    worse = sentences[judgements.worse, judgements.segment]
    n, systems = len(judgements.evaluation.references), np.arange(len(judgements.systems))
    orders = np.stack([better > worse, better < worse, np.ones(len(better), dtype=np.bool_)], axis=1)
    by_segment = _sums_by(judgements.segment, n, orders)
    won = _sums_by(judgements.segment, n, judgements.better[:, None] == systems)
    compared = won + _sums_by(judgements.segment, n, judgements.worse[:, None] == systems)

    def taus(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return tau_of_counts(weighted_sums(counts, by_segment), tau)

    def corpus(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([scores.corpus(s, np.arange(n), counts) for s in systems.tolist()], axis=1)

    def human(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        if judgements.given is not None:
            return np.broadcast_to(judgements.given, (len(counts), len(judgements.given)))
        return quotient(weighted_sums(counts, won), weighted_sums(counts, compared))

    measures = {(SEGMENTS, "kendall"): Measure(kendall(better, worse, tau=tau), taus)}
    measures |= _of_systems(corpus, human, n)
    return Agreement(measures, n, int(np.count_nonzero(better == worse)))


def _with_marks(scores: Scores, data: DirectAssessment) -> Agreement:
    sentences, marks = without_rounding(scores.sentences[0]), data.marks
    units, unit = np.unique(data.segments, return_inverse=True)

    def resampled(correlate: Callable[..., NDArray[np.float64]]) -> Resample:
        return lambda counts: correlate(sentences, marks, counts[:, unit])

    measures = {
        (SEGMENTS, "pearson"): Measure(pearson(sentences, marks), resampled(resampled_pearson), sentences),
        (SEGMENTS, "spearman"): Measure(spearman(sentences, marks), resampled(resampled_spearman)),
    }
    if not data.systems:
        return Agreement(measures, len(units))
    rows = [np.flatnonzero(row) for row in data.gave]

    def corpus(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([scores.corpus(0, of_one, counts[:, unit[of_one]]) for of_one in rows], axis=1)

    def human(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        drawn = [counts[:, unit[of_one]] for of_one in rows]
        sums = [weighted_sums(c, marks[of_one][:, None])[:, 0] for c, of_one in zip(drawn, rows, strict=True)]
        return quotient(np.stack(sums, axis=1), np.stack([c.sum(axis=1) for c in drawn], axis=1))

    return Agreement(measures | _of_systems(corpus, human, len(units)), len(units))


def _of_systems(_corpus: Resample, human: Resample, units: int) -> dict[Key, Measure]:
    """Both correlations of (b, S) corpus scores with (b, S) people's scores, of which NaN are left out."""
    corpus, human = _remembering(lambda counts: without_rounding(_corpus(counts))), _remembering(human)
    once = np.ones((1, units))
    theirs = human(once)[0]
    compared = np.flatnonzero(~np.isnan(theirs))
    x, y = corpus(once)[0, compared], theirs[compared]

    def resampled(correlate: Callable[..., NDArray[np.float64]]) -> Resample:
        def resample(counts: NDArray[np.float64]) -> NDArray[np.float64]:
            drawn = human(counts)[:, compared]
            return correlate(corpus(counts)[:, compared], drawn, (~np.isnan(drawn)).astype(np.float64))

        return resample

    return {
        (SYSTEMS, "spearman"): Measure(spearman(x, y), resampled(resampled_spearman)),
        (SYSTEMS, "pearson"): Measure(pearson(x, y), resampled(resampled_pearson), x),
    }


def _remembering(function: Resample) -> Resample:
    """The same, but what it says of the last counts is kept for the other coefficient."""
    last: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []

    def remembered(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        if not last or last[0][0] is not counts:
            last[:] = [(counts, function(counts))]
        return last[0][1]

    return remembered


def _sums_by(group: NDArray[np.int64], groups: int, rows: NDArray[Any]) -> NDArray[np.float64]:
    """(groups, k) sums of the rows (m, k) of each group."""
    width = rows.shape[1]
    cells = (group[:, None] * width + np.arange(width)).ravel()
    sums = np.bincount(cells, weights=rows.astype(np.float64).ravel(), minlength=groups * width)
    return np.asarray(sums, dtype=np.float64).reshape(groups, width)
