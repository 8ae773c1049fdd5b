"""A pairwise network asked as its paper asks it: which of two translations of a segment is better (Guzmán et al. 2015).

As a metric, `lasw.metrics.learned.pairwise.pairwise`, it has an opponent that is always the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lasw.metrics.agreement import TAUS, Correlation, Judgements, kendall
from lasw.metrics.learned.pairwise.model import Seen
from lasw.metrics.learned.pairwise.network import Floats
from lasw.metrics.learned.pairwise.pairwise import Pairwise


@dataclass(frozen=True)
class Comparisons:
    """How far a network's own comparisons are those of people.

    Attributes:
        decisions: Kendall's tau by year (`kendall`) of its decisions between the two translations of each preference.
        mean_wins: the same of each translation's mean probability to be better than the other systems' of its segment.
    """

    decisions: dict[int, Correlation]
    mean_wins: dict[int, Correlation]


def comparisons(metric: Pairwise, judgements: Judgements) -> Comparisons:
    """Ask for every preference, in both orders, and for every pair of systems of every segment that has a preference.

    Raises:
        UserError: as `PairwiseInputs.prepare`.
    """
    segments, segment = np.unique(judgements.segment, return_inverse=True)
    seen, n = _seen(metric, judgements, segments), len(segments)
    better, worse = judgements.better * n + segment, judgements.worse * n + segment
    forward, backward = metric.model.decide(seen, better, worse), metric.model.decide(seen, worse, better)
    wins = np.empty((len(judgements.systems), n))
    for k in range(n):
        rows = np.arange(len(judgements.systems)) * n + k
        wins[:, k] = metric.model.mean_wins(Seen(seen.projected[rows], seen.skipped[rows], seen.references[rows]))
    of_better, of_worse = wins.ravel()[better], wins.ravel()[worse]
    return Comparisons(_taus(forward, backward), _taus(of_better, of_worse))


def _seen(metric: Pairwise, judgements: Judgements, segments: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Seen:
    """All systems' translations of these segments, system by system."""
    prepared = metric.prepare(judgements.evaluation.references)
    parts = [metric.seen(system.take(segments), prepared, segments) for system in judgements.evaluation.systems]
    return Seen(*(np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])))


def _taus(better: Floats, worse: Floats) -> dict[int, Correlation]:
    return {tau: kendall(better, worse, tau=tau) for tau in TAUS}
