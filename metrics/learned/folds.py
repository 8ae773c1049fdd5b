"""Cross-validation of trained metrics: every segment is scored by a metric that was trained on other segments.

Folds go by segment number, the same for all sets of judgements, because sets that translate into one language often
share their references.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement import DirectAssessment, Scores, quotient, weighted_sums
from lasw.metrics.base import Evaluation, Metric
from lasw.metrics.errors import UserError
from lasw.metrics.learned.trainers import Data, Trainer
from lasw.metrics.significance import BOOTSTRAP_SEED


def held_out_scores(trainer: Trainer, data: Sequence[Data], folds: int, *, seed: int = BOOTSTRAP_SEED) -> list[Scores]:
    """Scores for each set, those of a fold's segments by a metric trained on the other folds of all sets.

    A system's corpus score is the mean of its scores on the folds, each counting as many times as segments of it are
    drawn.

    Args:
        trainer: of the metric.
        data: sets of judgements, all of one kind.
        folds: at least 2.
        seed: of the random folds.

    Raises:
        UserError: without one of the folds nothing is left to train on, or what the trainer raises.
    """
    places = [_segments(x) for x in data]
    fold_of_segment = np.random.default_rng(seed).integers(folds, size=1 + max(int(x.max(initial=0)) for x in places))
    fold_of = [fold_of_segment[x] for x in places]
    metrics = []
    for k in range(folds):
        rest = [_only(x, fold != k) for x, fold in zip(data, fold_of, strict=True)]
        rest = [x for x in rest if _judged(x)]
        if not rest:
            raise UserError(f"{folds} folds", expected="fewer", remedy="all that is judged is in one of them")
        metrics.append(trainer.train(rest))
    return [_joined(metrics, x.evaluation, fold) for x, fold in zip(data, fold_of, strict=True)]


def _segments(data: Data) -> NDArray[np.int64]:
    """(n,) the number of each of the evaluation's segments."""
    return data.segments if isinstance(data, DirectAssessment) else np.arange(len(data.evaluation.references))


def _only(data: Data, kept: NDArray[np.bool_]) -> Data:
    """What is judged of the segments that are kept, without the text of the others."""
    rows = np.flatnonzero(kept)
    if isinstance(data, DirectAssessment):
        return data.take(rows)
    chosen = kept[data.segment]
    place = np.cumsum(kept) - 1
    return dataclasses.replace(
        data,
        evaluation=_part(data.evaluation, rows),
        segment=place[data.segment[chosen]],
        better=data.better[chosen],
        worse=data.worse[chosen],
    )


def _judged(data: Data) -> int:
    return len(data.marks if isinstance(data, DirectAssessment) else data.segment)


def _part(evaluation: Evaluation, rows: NDArray[np.integer]) -> Evaluation:
    systems = tuple(system.take(rows) for system in evaluation.systems)
    return Evaluation(evaluation.references.take(rows), systems)


def _joined(metrics: Sequence[Metric], evaluation: Evaluation, fold: NDArray[np.integer]) -> Scores:
    """Each metric on its own fold."""
    sentences = np.empty((len(evaluation.systems), len(fold)))
    place = np.empty(len(fold), dtype=np.int64)
    parts: list[tuple[int, Metric, Evaluation]] = []
    for k, metric in enumerate(metrics):
        rows = np.flatnonzero(fold == k)
        if len(rows):
            place[rows] = np.arange(len(rows))
            parts.append((k, metric, _part(evaluation, rows)))
            sentences[:, rows] = parts[-1][2].sentence_scores(metric)

    def corpus(system: int, rows: NDArray[np.integer], counts: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.zeros(len(counts))
        for k, metric, part in parts:
            here = fold[rows] == k
            drawn = counts[:, here].sum(axis=1)
            sums = weighted_sums(counts[:, here], part.statistics(metric)[system][place[rows[here]]])
            total[drawn > 0] += drawn[drawn > 0] * metric.corpus_scores(sums[drawn > 0])
        return quotient(total, counts.sum(axis=1))

    return Scores(sentences, corpus)
