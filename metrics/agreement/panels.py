"""How well a metric agrees with people: by segment and by system, with preferences or with direct assessment.

Preferences: Kendall's tau of sentence scores; Pearson and Spearman of corpus scores with the share of comparisons that
each system won, or with scores that people gave the systems.
Direct assessment: Pearson and Spearman of sentence scores with the marks, and of each system's corpus score over the
segments that it has marks for with the mean of these marks.

Scores of one segment's, or of all systems', that are equal by calculation are equal here, in whatever order their sums
were taken (`without_rounding`): nothing but ties of the metric, and ranks that are shared.

Each correlation can be had again for data sets drawn from the segments with replacement, people's side of the system
level included; metrics are paired because they share the draws (`lasw.metrics.agreement.significance`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.correlation import (
    Correlation,
    kendall,
    pearson,
    resampled_pearson,
    resampled_spearman,
    spearman,
    tau_of_counts,
)
from lasw.metrics.agreement.judgements import Judgements
from lasw.metrics.agreement.people import Judged, People, Scores, metric_scores, people_of
from lasw.metrics.agreement.questions import Key, Measure, Questions, Resample
from lasw.metrics.agreement.statistics import SEGMENTS, SYSTEMS, Asked
from lasw.metrics.agreement.sums import sums_by, weighted_sums
from lasw.metrics.base import Metric, without_rounding


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


def agreement_of(metric: Metric, data: Judged, *, tau: int = 13, asked: Sequence[Asked] = ()) -> Agreement:
    """Agreement of `metric` with people, on segments and on systems.

    Args:
        metric: any.
        data: preferences or marks, with the text they are of.
        tau: year of the WMT metrics task whose definition of Kendall's tau is meant (see `kendall`); of preferences.
        asked: statistics in place of these.
    """
    return agreement_of_scores(metric_scores(metric, data.evaluation), data, tau=tau, asked=asked)


def agreement_of_scores(scores: Scores, data: Judged, *, tau: int = 13, asked: Sequence[Asked] = ()) -> Agreement:
    """As `agreement`, of scores wherever they come from."""
    return agreements([scores], data, tau=tau, asked=asked)[0]


def agreements(
    several: Sequence[Scores], data: Judged, *, tau: int = 13, asked: Sequence[Asked] = (), wins_by: str = "share"
) -> list[Agreement]:
    """The same of several metrics, people's side of which is prepared once; `wins_by` as `WINS` have it."""
    people = people_of(data, wins_by)
    if asked:
        questions = people.questions(asked)
        return [_asked(scores, people, questions) for scores in several]
    if isinstance(data, Judgements):
        return [_with_preferences(scores, data, people, tau) for scores in several]
    return [_with_marks(scores, people) for scores in several]


def _asked(scores: Scores, people: People, questions: Questions) -> Agreement:
    sentences = people.sentences(scores)
    measures = questions.measures(sentences, people.of_systems(scores))
    pairs = people.rated.compared
    if pairs is None:
        return Agreement(measures, people.rated.units)
    tied = sentences[pairs.first] == sentences[pairs.second]
    return Agreement(measures, people.rated.units, int(np.count_nonzero(tied & (pairs.sign != 0))))


def _with_preferences(scores: Scores, judgements: Judgements, people: People, tau: int) -> Agreement:
    sentences = without_rounding(scores.sentences, axis=0)
    better = sentences[judgements.better, judgements.segment]
    worse = sentences[judgements.worse, judgements.segment]
    n = people.rated.units
    orders = np.stack([better > worse, better < worse, np.ones(len(better), dtype=np.bool_)], axis=1)
    by_segment = sums_by(judgements.segment, n, orders)

    def taus(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return tau_of_counts(weighted_sums(counts, by_segment), tau)

    measures = {(SEGMENTS, "kendall"): Measure(kendall(better, worse, tau=tau), taus)}
    measures |= _of_systems(scores, people)
    return Agreement(measures, n, int(np.count_nonzero(better == worse)))


def _with_marks(scores: Scores, people: People) -> Agreement:
    sentences, rated = people.sentences(scores), people.rated
    marks, unit = rated.marks, rated.item
    assert marks is not None

    def resampled(correlate: Callable[..., NDArray[np.float64]]) -> Resample:
        return lambda counts: correlate(sentences, marks, counts[:, unit])

    measures = {
        (SEGMENTS, "pearson"): Measure(pearson(sentences, marks), resampled(resampled_pearson), sentences),
        (SEGMENTS, "spearman"): Measure(spearman(sentences, marks), resampled(resampled_spearman)),
    }
    return Agreement(measures | _of_systems(scores, people), rated.units)


def _of_systems(scores: Scores, people: People) -> dict[Key, Measure]:
    """Both correlations of (b, S) corpus scores with (b, S) people's scores, of which NaN are left out."""
    systems = people.of_systems(scores)
    if systems is None:
        return {}
    corpus, human = _remembering(systems.metric), _remembering(systems.people)
    once = np.ones((1, people.rated.units))
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
