"""How far judges agree with each other and with themselves: kappa, as WMT's overviews have it (Bojar et al. 2013).

P(A) is the share of pairs of judgements of the same two systems' same segment that say the same (better, worse, a tie);
P(E) what it would be by chance: with t the share of ties among all judgements, t² + 2 ((1 - t)/2)²;
kappa = (P(A) - P(E)) / (1 - P(E)). Judges without a name are left out.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.correlation import Correlation


def judges_agreement(votes: NDArray[np.int64]) -> dict[str, Correlation]:
    """Kappa between different judges (``inter``) and of judges with themselves (``intra``); n is how many pairs.

    Args:
        votes: (v, 5) comparisons, as `Judgements` has them.
    """
    votes = votes[votes[:, 4] >= 0]
    turned = votes[:, 1] > votes[:, 2]
    low, high = votes[:, 1:3].min(axis=1), votes[:, 1:3].max(axis=1)
    sign = np.where(turned, -votes[:, 3], votes[:, 3])
    order = np.lexsort((high, low, votes[:, 0]))
    items = np.stack([votes[order, 0], low[order], high[order]], axis=1)
    starts = np.flatnonzero((np.diff(items, axis=0, prepend=-1) != 0).any(axis=1))
    alike, pairs = {"inter": 0, "intra": 0}, {"inter": 0, "intra": 0}
    for begin, end in itertools.pairwise([*starts.tolist(), len(order)]):
        said = list(zip(votes[order[begin:end], 4].tolist(), sign[order[begin:end]].tolist(), strict=True))
        for (judge, one), (other_judge, other) in itertools.combinations(said, 2):
            kind = "intra" if judge == other_judge else "inter"
            pairs[kind] += 1
            alike[kind] += one == other
    ties = float(np.mean(sign == 0)) if len(sign) else 0.0
    chance = ties**2 + (1 - ties) ** 2 / 2
    return {kind: _kappa(alike[kind], pairs[kind], chance) for kind in pairs}


def _kappa(alike: int, pairs: int, chance: float) -> Correlation:
    if not pairs:
        return Correlation(None, 0, "nothing was judged twice")
    if chance == 1:
        return Correlation(None, pairs, "nothing but ties")
    return Correlation((alike / pairs - chance) / (1 - chance), pairs)
