"""People's side of a set of judgements, whatever file it came from: rated things, and scores of whole systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.comparing import wins_of
from lasw.metrics.agreement.correlation import quotient
from lasw.metrics.agreement.direct_assessment import DirectAssessment
from lasw.metrics.agreement.judgements import Judgements
from lasw.metrics.agreement.marked import MarkedSystems, StoredMetric
from lasw.metrics.agreement.questions import Questions, Resample, Systems
from lasw.metrics.agreement.statistics import Asked, Rated, rated_marks, rated_pairs
from lasw.metrics.agreement.sums import weighted_sums
from lasw.metrics.base import Evaluation, Metric, without_rounding

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scores:
    """What a metric says of S systems over n segments, or of n single translations (S = 1).

    Attributes:
        sentences: (S, n) sentence scores.
        corpus: (b, m) corpus scores from a system, rows (m,) of it and how often each is drawn, (b, m) -> (b,).
    """

    sentences: Floats
    corpus: Callable[[int, NDArray[np.integer], Floats], Floats]


def metric_scores(metric: Metric, evaluation: Evaluation) -> Scores:
    """Scores of one metric for all segments."""
    statistics = evaluation.statistics(metric)

    def corpus(system: int, rows: NDArray[np.integer], counts: Floats) -> Floats:
        return metric.corpus_scores(weighted_sums(counts, statistics[system][rows]))

    return Scores(evaluation.sentence_scores(metric), corpus)


@dataclass(frozen=True, eq=False)
class People:
    """What people say.

    Attributes:
        rated: of segments' translations.
        sentences: from a metric's scores to the (c,) of the things rated.
        corpus: from a metric's scores and (b, units) how often each segment is drawn to (b, S) scores of systems.
        human: from the same counts to (b, S) people's scores, NaN for a system without; None if no system is known.
        grid: (S, units) places among the rated things, -1 where there is none; None if no system is known.
    """

    rated: Rated
    sentences: Callable[[Scores], Floats]
    corpus: Callable[[Scores, Floats], Floats]
    human: Resample | None
    grid: NDArray[np.int64] | None

    def questions(self, asked: Sequence[Asked]) -> Questions:
        """What is asked of them."""
        systems = None if self.human is None else self.human(np.ones((1, self.rated.units)))[0]
        marks = self.rated.marks
        return Questions(asked, self.rated, systems, None if marks is None else self._by_system(marks))

    def of_systems(self, scores: Scores) -> Systems | None:
        """What a metric says of systems."""
        if self.human is None:
            return None
        sentences = self.sentences(scores)
        by_system = None if self.rated.marks is None else self._by_system(sentences)

        def metric(counts: Floats) -> Floats:
            return without_rounding(self.corpus(scores, counts))

        return Systems(metric, self.human, by_system)

    def _by_system(self, numbers: Floats) -> Floats | None:
        """(S, units) of numbers (c,) of rated things, NaN where there is none."""
        return None if self.grid is None else np.append(numbers, np.nan)[self.grid]


Judged = Judgements | DirectAssessment | MarkedSystems


def people_of(data: Judged, wins_by: str = "share") -> People:
    """The common form of a set of judgements; systems' scores from preferences as `WINS` have it."""
    if isinstance(data, MarkedSystems):
        return _marking_systems(data)
    return _comparing(data, wins_by) if isinstance(data, Judgements) else _marking(data)


def stored_scores(stored: StoredMetric, data: MarkedSystems) -> Scores:
    """What a metric said elsewhere; NaN where it said nothing.

    A system's score in resampled segments is the mean of theirs, if all scores of systems are; else there is none.
    """
    shape = data.marks.shape
    sentences = np.full(shape, np.nan) if stored.segments is None else stored.segments
    means = sentences.mean(axis=1)
    systems = means if stored.systems is None else stored.systems
    additive = np.allclose(means, systems, rtol=1e-6, atol=1e-9)

    def corpus(system: int, rows: NDArray[np.integer], counts: Floats) -> Floats:
        if additive:
            drawn = weighted_sums(counts, sentences[system][rows][:, None])[:, 0] / counts.sum(axis=1)
        else:
            drawn = np.full(len(counts), np.nan)
        return np.asarray(np.where((counts == 1).all(axis=1), systems[system], drawn))

    return Scores(sentences, corpus)


def _marking_systems(data: MarkedSystems) -> People:
    systems, n = data.marks.shape
    there = ~np.isnan(data.marks)
    system, item = np.nonzero(there)
    grid = np.full(there.shape, -1)
    grid[there] = np.arange(len(item))
    marks = np.where(there, data.marks, 0.0)

    def corpus(scores: Scores, counts: Floats) -> Floats:
        return np.stack([scores.corpus(s, np.arange(n), counts) for s in range(systems)], axis=1)

    def human(counts: Floats) -> Floats:
        if data.given is not None:
            return np.broadcast_to(data.given, (len(counts), systems))
        return quotient(weighted_sums(counts, marks.T), weighted_sums(counts, there.T))

    rows = [np.flatnonzero(system == s) for s in range(systems)]
    rated = rated_marks(data.marks[there], item, rows, n)
    return People(rated, lambda scores: without_rounding(scores.sentences, axis=0)[there], corpus, human, grid)


def _comparing(data: Judgements, wins_by: str) -> People:
    n, systems = len(data.evaluation.references), len(data.systems)
    better, worse = ((side * n + data.segment) for side in (data.better, data.worse))
    tied = data.tied
    first = np.concatenate([better, tied[:, 1] * n + tied[:, 0]])
    second = np.concatenate([worse, tied[:, 2] * n + tied[:, 0]])
    sign = np.repeat(np.array([1, 0], dtype=np.int8), [len(better), len(tied)])
    rated = rated_pairs(first, second, sign, np.tile(np.arange(n), systems), n)

    def corpus(scores: Scores, counts: Floats) -> Floats:
        return np.stack([scores.corpus(s, np.arange(n), counts) for s in range(systems)], axis=1)

    return People(
        rated, lambda scores: without_rounding(scores.sentences, axis=0).ravel(), corpus, wins_of(data, wins_by), None
    )


def _marking(data: DirectAssessment) -> People:
    units, unit = np.unique(data.segments, return_inverse=True)
    rows = [np.flatnonzero(row) for row in data.gave]
    grid = np.full((len(rows), len(units)), -1)
    for s, of_one in enumerate(rows):
        grid[s, unit[of_one]] = of_one

    def corpus(scores: Scores, counts: Floats) -> Floats:
        return np.stack([scores.corpus(0, of_one, counts[:, unit[of_one]]) for of_one in rows], axis=1)

    def human(counts: Floats) -> Floats:
        drawn = [counts[:, unit[of_one]] for of_one in rows]
        sums = [weighted_sums(c, data.marks[of_one][:, None])[:, 0] for c, of_one in zip(drawn, rows, strict=True)]
        return quotient(np.stack(sums, axis=1), np.stack([c.sum(axis=1) for c in drawn], axis=1))

    return People(
        rated_marks(data.marks, unit.astype(np.int64), rows, len(units)),
        lambda scores: without_rounding(scores.sentences[0]),
        corpus,
        human if data.systems else None,
        grid if data.systems else None,
    )
