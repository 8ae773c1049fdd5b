"""WRO-global, weighted ranking optimisation (Song 2015, algorithm 5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lasw.metrics import Metric
from lasw.metrics import metric as metric_of
from lasw.tuning.optimisers.pairs.base import PairwiseOptimiser
from lasw.tuning.optimisers.pairs.sampling import ORACLE_SHARE, PairSampler
from lasw.tuning.pool import Floats

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool

REACHABLE = 0.4  # Song 2015, equation 5.3
_SWITCHES = ("oracle_sampling", "oracle_share", "global_weight", "reachable", "reach_metric")


@dataclass(frozen=True)
class WRO(PairwiseOptimiser):
    """Oracles against all candidates; sentences whose reference is out of reach count less.

    The four rows of the thesis' table 5.1 that need no test set are the switches `oracle_sampling` and
    `global_weight`; both off is PRO.

    Args:
        oracle_sampling: the better candidate of a pair is among the sentence's oracles.
        oracle_share: the oracles are this share of a sentence's candidates, those with the highest scores, rounded
            down, at least one.
        global_weight: instance weight of a sentence by how good its best candidate is, 1 from `reachable` on, below
            it exp(best - reachable) (equation 5.3).
        reachable: on the scale of `reach_metric`; the thesis' 0.4 was set for BLEU on its data.
        reach_metric: the metric of `global_weight`, sentence BLEU+1 whatever the loss is.
        metric: and all others, as `PairwiseOptimiser`.
    """

    metric: Metric | str = "PABC4"
    oracle_sampling: bool = True
    oracle_share: float = ORACLE_SHARE
    global_weight: bool = True
    reachable: float = REACHABLE
    reach_metric: Metric | str = "BLEU+1"

    name = "WRO"
    counts_if = {  # noqa: RUF012 - of the base class
        "oracle_share": ("oracle_sampling", bool),
        "reachable": ("global_weight", bool),
        "reach_metric": ("global_weight", bool),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isfinite(self.reachable):
            raise ValueError(f"reachable is {self.reachable}, expected a finite number")
        self._reach_metric()

    def _reach_metric(self) -> Metric:
        return metric_of(self.reach_metric) if isinstance(self.reach_metric, str) else self.reach_metric

    def _shown(self, name: str, value: object) -> list[tuple[str, str]]:
        if name in _SWITCHES:
            return []
        shown = super()._shown(name, value)
        if name == "threshold":  # what else decides about pairs is said beside it
            oracle = repr(self.oracle_share) if self.oracle_sampling else "off"
            weight = f"{self._reach_metric().name}<{self.reachable!r}" if self.global_weight else "off"
            shown += [("oracle-share", oracle), ("global-weight", weight)]
        return shown

    def _sampler(self) -> PairSampler:
        share = self.oracle_share if self.oracle_sampling else None
        return PairSampler(self.draws, self.pairs, self.threshold, share, self.seed)

    def _sentence_weights(self, pool: Pool) -> Floats:
        """(S,); a sentence without candidates has no pairs, so its 1 never counts."""
        sentences = len(pool.starts) - 1
        if not self.global_weight:
            return np.ones(sentences)
        best = np.full(sentences, -np.inf)
        np.maximum.at(best, pool.owner, pool.sentence_scores(self._reach_metric()))
        best[np.isneginf(best)] = self.reachable
        return reach_weights(best, self.reachable)


def reach_weights(best: Floats, reachable: float = REACHABLE) -> Floats:
    """(S,) instance weights of sentences by the score of their best candidate (Song 2015, equation 5.3)."""
    return np.exp(np.minimum(0.0, best - reachable))
