"""How well a metric agrees with people: correlation by segment (Kendall) and by system (Pearson, Spearman).

Nothing is rounded before it is ranked. A correlation that does not exist says why instead of being a number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Metric
from lasw.metrics.judgements import Judgements

TAUS = (12, 13, 14)


@dataclass(frozen=True)
class Correlation:
    """A correlation of n pairs of numbers, or why there is none.

    Attributes:
        value: in [-1, 1]; None if undefined.
        n: pairs it was computed from.
        reason: why it is undefined, else empty.
    """

    value: float | None
    n: int
    reason: str = ""

    def __str__(self) -> str:
        return f"undefined ({self.reason})" if self.value is None else f"{self.value:.3f}"


@dataclass(frozen=True)
class Agreement:
    """One metric on one set of judgements.

    Attributes:
        kendall: of sentence scores with preferences.
        spearman, pearson: of corpus scores with the systems' expected wins.
        ties: preferences whose two hypotheses the metric scores alike.
    """

    kendall: Correlation
    spearman: Correlation
    pearson: Correlation
    ties: int


def agreement(metric: Metric, judgements: Judgements, *, tau: int = 13) -> Agreement:
    """Agreement of `metric` with people, on segments and on systems.

    Args:
        metric: any.
        judgements: the systems, their text and the preferences.
        tau: year of the WMT metrics task whose definition of Kendall's tau is meant (see `kendall`).
    """
    sentences = judgements.evaluation.sentence_scores(metric)
    better = sentences[judgements.better, judgements.segment]
    worse = sentences[judgements.worse, judgements.segment]
    wins = judgements.expected_wins()
    compared = ~np.isnan(wins)
    corpus = judgements.evaluation.corpus_scores(metric)[compared]
    return Agreement(
        kendall(better, worse, tau=tau),
        spearman(corpus, wins[compared]),
        pearson(corpus, wins[compared]),
        int(np.count_nonzero(better == worse)),
    )


def kendall(better: NDArray[np.float64], worse: NDArray[np.float64], *, tau: int = 13) -> Correlation:
    """Kendall's tau of scores with preferences, people's ties left out beforehand.

    With con and dis the pairs that the metric orders as people do and the other way round, and ties those it scores
    alike: WMT12 (con - dis - ties) / all; WMT13 (con - dis) / (con + dis); WMT14 (con - dis) / all
    (Callison-Burch et al. 2012; Bojar et al. 2013; Bojar et al. 2014).

    Args:
        better: (m,) scores of the hypotheses that people preferred.
        worse: (m,) scores of those they were preferred to.
        tau: 12, 13 or 14.
    """
    if tau not in TAUS:
        raise ValueError(f"tau={tau}; expected one of {TAUS}")
    concordant = int(np.count_nonzero(better > worse))
    discordant = int(np.count_nonzero(better < worse))
    pairs = len(better)
    ties = pairs - concordant - discordant
    numerator = concordant - discordant - (ties if tau == 12 else 0)
    denominator = concordant + discordant if tau == 13 else pairs
    if not denominator:
        return Correlation(None, pairs, "nothing but ties" if pairs else "no pairs")
    return Correlation(numerator / denominator, pairs)


def pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> Correlation:
    """Pearson's product-moment correlation of two vectors (n,)."""
    n = len(x)
    if n < 2:
        return Correlation(None, n, f"n = {n}")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(None, n, "constant")
    # Scaled to at most 1 before the squares are taken, which else vanish for tiny differences.
    u, v = ((z - z.mean()) / np.ptp(z) for z in (np.asarray(x, np.float64), np.asarray(y, np.float64)))
    return Correlation(float(np.clip(u @ v / np.sqrt((u @ u) * (v @ v)), -1.0, 1.0)), n)


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> Correlation:
    """Spearman's rank correlation of two vectors (n,): Pearson's of the ranks, equal values sharing their mean rank."""
    return pearson(_ranks(x), _ranks(y))


def _ranks(x: NDArray[np.float64]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse])
