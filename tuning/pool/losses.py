"""A loss that was computed elsewhere: a number for every hypothesis of the lists."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Corpus, MeanMetric, References, Signature, UserError
from lasw.tuning.formats import Growing
from lasw.tuning.pool.pool import Pool
from lasw.tuning.weights import FeatureNames

LOSS_COLUMN = "--loss-scores"  # the name of the column that scores are read as


@dataclass(frozen=True)
class LossScores(MeanMetric):
    """Numbers that candidates of one pool have, higher is better; the corpus score is their mean, texts have none.

    Args:
        digest: of the numbers.
    """

    digest: str

    name = "LOSS-SCORES"
    display_scale = 1.0

    @property
    def of_words(self) -> bool:
        """It has words of its own, or none."""
        return False

    def signature(self) -> Signature:
        """A fingerprint of the numbers."""
        return Signature(self.name, (("scores", self.digest),))

    def prepare(self, references: References) -> Any:
        """Nothing."""
        return None

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        """Not of a text."""
        raise UserError("--loss-scores are of the lists alone", expected="a metric", remedy="give one with --metric")

    def sentence_scores(self, statistics: NDArray[Any]) -> NDArray[np.float64]:
        """The numbers."""
        return np.asarray(statistics[:, 0], dtype=np.float64)


def with_losses(pool: Pool) -> tuple[Pool, LossScores]:
    """A pool whose last dense feature, `LOSS_COLUMN`, are scores, as one with a loss and without that feature.

    Args:
        pool: at least one candidate. Candidates are two where their scores differ.

    Returns:
        A view of the pool, and the metric that its candidates have these scores of.
    """
    assert pool.names is not None
    scores = np.ascontiguousarray(pool.dense[:, -1])
    view = copy.copy(pool)
    view.names = FeatureNames(pool.names.groups[:-1])
    view._dense = Growing.of(np.ascontiguousarray(pool.dense[:, :-1]))
    loss = LossScores(hashlib.sha256(scores.tobytes()).hexdigest()[:12])
    view._statistics = {loss.statistics_key(): Growing.of(np.column_stack([scores, np.ones_like(scores)]))}
    view._prepared, view._sentence_scores = {loss.statistics_key(): None}, {}
    view._is_view = True
    return view, loss
