"""Scorers that keep what LA selection sees of a pair and rank by something else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lasw.selection.features import OK, LAScorer, Scored
from lasw.selection.pool import PairBlock

UNBOUNDED = 1 << 31  # source words: no sentence is longer


class Ranking(Protocol):
    """What pairs are ranked by instead of LA's sum; can be sent to another process."""

    def __call__(self, block: PairBlock, scored: Scored, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(m,) scores of the pairs `rows` (m,) of a block, higher is better.

        A pair's score depends to the last bit on nothing but the pair and its line number, never on the block.
        """


@dataclass(frozen=True)
class RankedBy:
    """A scorer with the features and verdicts of LA selection and the score of a ranking.

    Args:
        la: LA's scorer; its length limits hold.
        ranking: of the pairs that have no fault and the right length.
    """

    la: LAScorer
    ranking: Ranking

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Those of LA selection."""
        return self.la.feature_names

    def score(self, block: PairBlock) -> Scored:
        """See `la_features.Scorer`."""
        scored = self.la.score(block)
        rows = np.flatnonzero(scored.verdicts == OK)
        score = np.zeros(len(block))
        if len(rows):
            score[rows] = self.ranking(block, scored, rows)
        return replace(scored, score=score)


def any_length(la: LAScorer) -> LAScorer:
    """The same scorer without limits of length."""
    return replace(la, low=0, high=UNBOUNDED)
