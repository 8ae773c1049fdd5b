"""Correlations: Kendall's tau of preferences as three years of WMT had it, Pearson's r, Spearman's rho.

Scores are ranked as they are given. A correlation that does not exist says why instead of being a number; one of fewer
than three pairs, which is 1 or -1 whatever they are, does not. Each comes twice: of the data as they are, and of many
resampled data sets at once, where a row of `counts` says how often each item was drawn; there a correlation that does
not exist is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

TAUS = (12, 13, 14)
MINIMUM_PAIRS = 3  # of numbers, for Pearson's and Spearman's correlation


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
    if np.isnan(better).any() or np.isnan(worse).any():
        return Correlation(None, len(better), "a score is no number")
    orders = np.array([np.count_nonzero(better > worse), np.count_nonzero(better < worse), len(better)], np.float64)
    value = float(tau_of_counts(orders, tau))
    if np.isnan(value):
        return Correlation(None, len(better), "nothing but ties" if len(better) else "no pairs")
    return Correlation(value, len(better))


def tau_of_counts(orders: NDArray[np.float64], tau: int) -> NDArray[np.float64]:
    """(...,) Kendall's tau of (..., 3) pairs that are concordant, that are discordant, all; NaN where it has none."""
    if tau not in TAUS:
        raise ValueError(f"tau={tau}; expected one of {TAUS}")
    concordant, discordant, pairs = np.moveaxis(np.asarray(orders, dtype=np.float64), -1, 0)
    ties = pairs - concordant - discordant
    numerator = concordant - discordant - (ties if tau == 12 else 0.0)
    denominator = concordant + discordant if tau == 13 else pairs
    return quotient(np.asarray(numerator), np.asarray(denominator))


def pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> Correlation:
    """Pearson's product-moment correlation of two vectors (n,)."""
    n = len(x)
    if n < MINIMUM_PAIRS:
        return Correlation(None, n, f"n = {n}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return Correlation(None, n, "a score is no number")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(None, n, "constant")
    # From 0 to 1 before the mean is taken off and squares are taken, in which tiny differences else vanish.
    u, v = ((z - z.min()) / np.ptp(z) for z in (np.asarray(x, np.float64), np.asarray(y, np.float64)))
    u, v = u - u.mean(), v - v.mean()
    # Sums of products, not BLAS, whose last bit depends on the number of threads.
    value = np.sum(u * v) / np.sqrt(np.sum(u * u) * np.sum(v * v))
    return Correlation(float(np.clip(value, -1.0, 1.0)), n)


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> Correlation:
    """Spearman's rank correlation of two vectors (n,): Pearson's of the ranks, equal values sharing their mean rank."""
    finite = np.isfinite(x).all() and np.isfinite(y).all()
    return pearson(_ranks(x), _ranks(y)) if finite else pearson(x, y)


def resampled_pearson(
    x: NDArray[np.float64], y: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(b,) Pearson's correlation of b data sets that hold item i `counts[b, i]` times.

    Args:
        x, y: (n,) values, or (b, n) where each data set has its own; what was not drawn may be NaN.
        counts: (b, n), at least 0.
    """
    drawn = counts.sum(axis=1)
    u, v = (_centred(z, counts, drawn) for z in (x, y))
    uv, uu, vv = (np.einsum("bn,bn->b", counts, a * b) for a, b in ((u, v), (u, u), (v, v)))
    return np.where(drawn < MINIMUM_PAIRS, np.nan, np.clip(quotient(uv, np.sqrt(uu * vv)), -1.0, 1.0))


def resampled_spearman(
    x: NDArray[np.float64], y: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(b,) Spearman's correlation of b data sets, ranked anew in each; arguments as `resampled_pearson`."""
    return resampled_pearson(_resampled_ranks(x, counts), _resampled_ranks(y, counts), counts)


def _centred(
    values: NDArray[np.float64], counts: NDArray[np.float64], drawn: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(b, n) values less their mean in each data set, with a spread of 1; all exactly 0 if they are equal."""
    drawn_values = np.where(counts > 0, values, np.nan)
    with np.errstate(all="ignore"):
        low, high = (f.reduce(drawn_values, axis=1, initial=np.nan) for f in (np.fmin, np.fmax))
    spread = np.where(high > low, high - low, 1.0)
    shifted = np.where(counts > 0, (drawn_values - low[:, None]) / spread[:, None], 0.0)
    means = quotient(np.einsum("bn,bn->b", counts, shifted), drawn)
    return shifted - np.where(np.isnan(means), 0.0, means)[:, None]


def _ranks(x: NDArray[np.float64]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse])


def _resampled_ranks(x: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """(b, n) mean ranks among the items drawn, each as often as it was."""
    if x.ndim == 1:  # one order for all
        groups, inverse = np.unique(x, return_inverse=True)
        order = np.argsort(inverse, kind="stable")
        starts = np.searchsorted(inverse[order], np.arange(len(groups)))
        sizes = np.add.reduceat(counts[:, order], starts, axis=1)
        return np.asarray((np.cumsum(sizes, axis=1) - (sizes - 1) / 2)[:, inverse])
    below = np.einsum("bij,bj->bi", x[:, None, :] < x[:, :, None], counts)
    level = np.einsum("bij,bj->bi", x[:, None, :] == x[:, :, None], counts)
    return np.asarray(below + (level + 1) / 2)


def quotient(numerator: NDArray[np.float64], denominator: NDArray[Any]) -> NDArray[np.float64]:
    """Their quotient, NaN where the denominator is 0."""
    out = np.full(numerator.shape, np.nan)
    return np.asarray(np.divide(numerator, denominator, out=out, where=denominator > 0))
