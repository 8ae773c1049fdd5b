"""Scores of systems from comparisons: the share of those won, expected wins, TrueSkill; ties count in the last only.

Expected wins (Koehn 2012, which WMT13 ranked systems by): the mean over opponents of the share of comparisons with that
opponent that were won, so that it does not matter how often a system met whom. TrueSkill (Herbrich, Minka and Graepel
2006; as WMT14 used it, Sakaguchi et al. 2014): every system's ability is normally distributed, and each comparison
moves both. Since the order of comparisons matters, it is the mean over shuffles of them; the probability of a draw is
the share of ties. It is not taken anew for resampled segments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.correlation import quotient
from lasw.metrics.agreement.judgements import Judgements
from lasw.metrics.agreement.sums import sums_by, weighted_sums
from lasw.metrics.kernels import borrowing, nested

WINS = {"share": "share of comparisons won", "expected": "expected wins", "trueskill": "TrueSkill"}

Floats = NDArray[np.float64]
_MEAN, _DEVIATION = 25.0, 25.0 / 3  # of abilities before any comparison
_NOISE = _DEVIATION / 2  # of one performance
_SHUFFLES = 20


def wins_of(data: Judgements, kind: str = "share") -> Callable[[Floats], Floats]:
    """From (b, n) how often each segment is drawn to (b, S) systems' scores, NaN without any; `kind` is of `WINS`."""
    if data.given is not None:
        return _fixed(data.given)
    if kind == "trueskill":
        return _fixed(trueskill(data.votes, len(data.systems)))
    return _share(data) if kind == "share" else _expected(data)


def _fixed(scores: Floats) -> Callable[[Floats], Floats]:
    return lambda counts: np.broadcast_to(scores, (len(counts), len(scores)))


def _share(data: Judgements) -> Callable[[Floats], Floats]:
    n, systems = len(data.evaluation.references), np.arange(len(data.systems))
    won = sums_by(data.segment, n, data.better[:, None] == systems)
    compared = won + sums_by(data.segment, n, data.worse[:, None] == systems)
    return lambda counts: quotient(weighted_sums(counts, won), weighted_sums(counts, compared))


def _expected(data: Judgements) -> Callable[[Floats], Floats]:
    n, systems = len(data.evaluation.references), len(data.systems)
    cells = (data.segment * systems + data.better) * systems + data.worse
    by_segment = np.bincount(cells, minlength=n * systems**2).reshape(n, systems**2)

    def expected(counts: Floats) -> Floats:
        won = weighted_sums(counts, by_segment).reshape(-1, systems, systems)
        shares = quotient(won, won + won.transpose(0, 2, 1))
        met = ~np.isnan(shares)
        return quotient(np.where(met, shares, 0.0).sum(axis=2), met.sum(axis=2))

    return expected


def trueskill(votes: NDArray[np.int64], systems: int, *, shuffles: int = _SHUFFLES, seed: int = 1) -> Floats:
    """(systems,) mean abilities, NaN of those that were not compared.

    Args:
        votes: (v, 5) comparisons, as `Judgements` has them.
        systems: how many there are.
        shuffles: of the comparisons; 0 takes them once, as they stand.
        seed: of the shuffles.
    """
    ties = float(np.mean(votes[:, 3] == 0)) if len(votes) else 0.0
    margin = _quantile((ties + 1) / 2) * math.sqrt(2) * _NOISE if ties < 1 else 6 * _NOISE
    random = np.random.default_rng(seed)
    total = np.zeros(systems)
    for _ in range(max(shuffles, 1)):
        order = random.permutation(len(votes)) if shuffles else np.arange(len(votes))
        means, variances = np.full(systems, _MEAN), np.full(systems, _DEVIATION**2)
        _play(np.ascontiguousarray(votes[order, 1:4]), margin, means, variances)
        total += means
    out = total / max(shuffles, 1)
    out[np.setdiff1d(np.arange(systems), votes[:, 1:3])] = np.nan
    return out


def _quantile(share: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(share))


@nested
def _density(x):  # type: ignore[no-untyped-def]
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


@nested
def _below(x):  # type: ignore[no-untyped-def]
    return math.erfc(-x / math.sqrt(2)) / 2


@borrowing
def _play(games: Any, margin: float, means: Any, variances: Any) -> None:
    """Kernel: every comparison in turn moves the abilities of both, `means` and `variances` (S,)."""
    for k in range(games.shape[0]):
        winner, loser, sign = games[k]
        if sign < 0:
            winner, loser = loser, winner
        scale = math.sqrt(2 * _NOISE * _NOISE + variances[winner] + variances[loser])
        lead, wide = (means[winner] - means[loser]) / scale, margin / scale
        if sign == 0:
            share = max(_below(wide - lead) - _below(-wide - lead), 1e-300)
            step = (_density(-wide - lead) - _density(wide - lead)) / share
            shrink = (
                step * step + ((wide - lead) * _density(wide - lead) + (wide + lead) * _density(wide + lead)) / share
            )
        else:
            share = max(_below(lead - wide), 1e-300)
            step = _density(lead - wide) / share
            shrink = step * (step + lead - wide)
        means[winner] += variances[winner] / scale * step
        means[loser] -= variances[loser] / scale * step
        variances[winner] *= max(1 - variances[winner] / (scale * scale) * shrink, 1e-6)
        variances[loser] *= max(1 - variances[loser] / (scale * scale) * shrink, 1e-6)
