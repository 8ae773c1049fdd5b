"""PRO, pairwise ranked optimisation (Hopkins & May 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lasw.tuning.optimisers.pairs.base import PairwiseOptimiser
from lasw.tuning.optimisers.pairs.sampling import PairSampler
from lasw.tuning.pool import Floats

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool


@dataclass(frozen=True)
class PRO(PairwiseOptimiser):
    """Both candidates of a pair are drawn from all of a sentence's candidates; all sentences count alike.

    Arguments as `PairwiseOptimiser`.
    """

    name = "PRO"

    def _sampler(self) -> PairSampler:
        return PairSampler(self.draws, self.pairs, self.threshold, seed=self.seed)

    def _sentence_weights(self, pool: Pool) -> Floats:
        return np.ones(len(pool.starts) - 1)
