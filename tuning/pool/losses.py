"""A loss that was computed elsewhere: a number for every hypothesis of the lists."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Corpus, MeanMetric, References, Signature, UserError, with_ones
from lasw.tuning.formats import Growing
from lasw.tuning.nbest import NBest
from lasw.tuning.pool.columns import Floats
from lasw.tuning.pool.pool import Pool
from lasw.tuning.weights import FeatureNames

LOSS_COLUMN = "--loss-scores"  # the name of the column that scores are read as


@dataclass(frozen=True)
class _Given(MeanMetric):
    """Numbers that hypotheses have, higher is better; the corpus score is their mean.

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

    def sentence_scores(self, statistics: NDArray[Any]) -> NDArray[np.float64]:
        """The numbers."""
        return np.asarray(statistics[:, 0], dtype=np.float64)


@dataclass(frozen=True)
class LossScores(_Given):
    """Those of the candidates of one pool; texts have none."""

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        """Not of a text."""
        raise UserError("--loss-scores are of the lists alone", expected="a metric", remedy="give one with --metric")


@dataclass(frozen=True)
class TextScores(_Given):
    """Those of the texts of one list.

    Args:
        scores: by sentence and text.
    """

    scores: Mapping[tuple[int, str], float] = field(repr=False, compare=False)

    @classmethod
    def of(cls, nbest: NBest, values: Floats) -> TextScores:
        """Of a list with the numbers of its hypotheses (n,).

        Raises:
            UserError: a text of a sentence has two.
        """
        scores: dict[tuple[int, str], float] = {}
        for k, (owner, value) in enumerate(zip(nbest.owner.tolist(), values.tolist(), strict=True)):
            text = nbest.hypotheses.text(k)
            if scores.setdefault((owner, text), value) != value:
                raise UserError(
                    f"--loss-scores: {value!r} and {scores[owner, text]!r} for one text of sentence {owner}",
                    expected="one number for a text",
                    remedy="'lasw optimise --loss-scores' takes several",
                )
        return cls(_digest(values), scores)

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        """(n, 2) score and 1.

        Raises:
            UserError: a text that the list does not have.
        """
        found = [self.scores.get((s, hypotheses.text(k))) for k, s in enumerate(np.asarray(owner).tolist())]
        if None in found:
            k = found.index(None)
            raise UserError(f"no --loss-scores for {hypotheses.text(k)[:60]!r} of sentence {int(owner[k])}")
        return with_ones(np.array(found, dtype=np.float64))


def _digest(scores: Floats) -> str:
    return hashlib.sha256(np.ascontiguousarray(scores).tobytes()).hexdigest()[:12]


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
    loss = LossScores(_digest(scores))
    view._statistics = {loss.statistics_key(): Growing.of(with_ones(scores))}
    view._prepared, view._sentence_scores = {loss.statistics_key(): None}, {}
    view._is_view = True
    return view, loss
