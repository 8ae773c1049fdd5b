"""ROSE as a metric that `lasw agree` trains itself: ``ROSE[:cost=C][:clip=no][:counts=ratio]``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lasw.metrics.agreement import DirectAssessment, Judgements
from lasw.metrics.base import Metric, Signature
from lasw.metrics.errors import UserError, unknown
from lasw.metrics.learned.rose.features import RoseFeatures
from lasw.metrics.learned.rose.rose import Rose
from lasw.metrics.learned.rose.training import DEFAULT_COST, MOST_COST, train_rank, train_reg
from lasw.metrics.learned.word_classes import most_frequent

_CHOICES = {"clip": ("yes", "no"), "counts": ("difference", "ratio")}


@dataclass(frozen=True)
class RoseTrainer:
    """Trains ROSE-rank on preferences, ROSE-reg on marks; function words are the training references' most frequent.

    Args:
        cost: as `train_rank`.
        clip: whether n-grams are clipped.
        ratio: word counts as ratios instead of differences.
    """

    cost: float = DEFAULT_COST
    clip: bool = True
    ratio: bool = False

    def signature(self) -> Signature:
        """Like a trained ROSE's, the cost instead of the model."""
        counts = "ratio" if self.ratio else "difference"
        return Signature(
            "ROSE", (("cost", f"{self.cost:g}"), ("clip", "yes" if self.clip else "no"), ("counts", counts))
        )

    def train(self, data: Sequence[Judgements | DirectAssessment]) -> Metric:
        """A ROSE with its model in memory."""
        references = [corpus for x in data for corpus in x.evaluation.references.corpora]
        features = RoseFeatures(most_frequent(references), clip=self.clip, ratio=self.ratio)
        preferences = [x for x in data if isinstance(x, Judgements)]
        if preferences:
            return Rose(train_rank(preferences, features, cost=self.cost))
        return Rose(train_reg([x for x in data if isinstance(x, DirectAssessment)], features, cost=self.cost))


def from_options(options: dict[str, str]) -> RoseTrainer:
    """The trainer of a specification.

    Raises:
        UserError: an option or a value that does not exist, with the nearest that does.
    """
    for key, value in options.items():
        if key != "cost" and key not in _CHOICES:
            raise unknown("option of ROSE", key, ["cost", *_CHOICES])
        if key in _CHOICES and value not in _CHOICES[key]:
            raise unknown(f"value of ROSE:{key}", value, list(_CHOICES[key]))
    return RoseTrainer(
        _cost(options["cost"]) if "cost" in options else DEFAULT_COST,
        options.get("clip", "yes") == "yes",
        options.get("counts", "difference") == "ratio",
    )


def _cost(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= MOST_COST:  # NaN is not
        raise UserError(f"ROSE: cost={text}", expected=f"a number above 0, {MOST_COST:g} at most")
    return value
