"""PAIRWISE: a trained network that decides which of two translations is better (Guzmán et al. 2015).

``PAIRWISE:model=FILE[:vectors=FILE][:files=yes]``, the model as ``lasw train-metric pairwise`` wrote it; vectors only
where their file is not any more where it was in training. A model is data: its skip features run no program, and open
files only with ``files=yes``.

The network compares, and a metric gives a translation a score by itself, the same whatever is scored beside it. So
the score is the probability to be better than an opponent that is always the same: one whose sentence vector is the
reference's and whose skip features are the average of the training set's translations. Both orders are asked and the
difference of their log odds is halved, so that the score of two equal ones is 0.5. `Pairwise.decisions` and
`Pairwise.mean_wins` have the paper's own comparisons, among translations of one segment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Lookup, MeanMetric, Signature, with_ones
from lasw.metrics.learned.json_model import model_file
from lasw.metrics.learned.pairwise.inputs import PreparedInputs
from lasw.metrics.learned.pairwise.model import PairwiseModel, Seen, read_pairwise
from lasw.metrics.text import Corpus, References, distinct

_STEP = 1 << 13  # hypotheses at once, so that what is computed for them stays in the processor's cache


@dataclass(frozen=True)
class Pairwise(MeanMetric):
    """The pairwise network as a metric; scores in (0, 1), 0.5 is an average translation of the training set.

    Args:
        model: as `read_pairwise` gives it.

    Statistics: (n, 2) float64, score and 1. The corpus score is the mean.
    """

    model: PairwiseModel

    name = "PAIRWISE"

    def signature(self) -> Signature:
        """Fingerprint of the model, its inputs, how its training text was prepared."""
        model = self.model
        settings = [
            ("model", model.fingerprint()),
            ("skip", ",".join(model.inputs.skip) or "none"),
            ("vectors", ",".join(model.vectors) or "none"),
            *model.settings_of_text(),
        ]
        return Signature(self.name, tuple(settings))

    def lookups(self) -> tuple[Lookup, ...]:
        """Those of its inputs."""
        return self.model.inputs.lookups()

    def prepare(self, references: References) -> PreparedInputs:
        """Digest the references for all inputs."""
        return self.model.inputs.prepare(references)

    def seen(self, hypotheses: Corpus, prepared: PreparedInputs, owner: NDArray[np.integer]) -> Seen:
        """What decisions need of n hypotheses; arguments as `statistics`."""
        vectors, skip = self.model.inputs.of(hypotheses, prepared, owner)
        return self.model.seen(vectors, skip, prepared.vectors[owner])

    def decisions(
        self, hypotheses: Corpus, prepared: PreparedInputs, owner: NDArray[np.integer], first: Any, second: Any
    ) -> NDArray[np.float64]:
        """(m,) probabilities that hypothesis `first[i]` is better than `second[i]`, of one segment.

        Raises:
            ValueError: two are of different segments.
        """
        owner, first, second = np.asarray(owner), np.asarray(first), np.asarray(second)
        if (owner[first] != owner[second]).any():
            raise ValueError("a decision between hypotheses of different segments")
        return self.model.decide(self.seen(hypotheses, prepared, owner), first, second)

    def mean_wins(
        self, hypotheses: Corpus, prepared: PreparedInputs, owner: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """(n,) mean probability of each hypothesis to be better than each other one of its segment; 0.5 without any."""
        owner = np.asarray(owner)
        seen = self.seen(hypotheses, prepared, owner)
        out = np.empty(len(hypotheses))
        order = np.argsort(owner, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(owner[order])) + 1):
            out[rows] = self.model.mean_wins(Seen(seen.projected[rows], seen.skipped[rows], seen.references[rows]))
        return out

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[np.float64]:
        """(n, 2) score and 1; the same text of a segment is looked at once."""
        owner = np.ascontiguousarray(owner, dtype=np.int32)
        rows, inverse = distinct(hypotheses, owner)
        scores = np.empty(len(rows))
        for start in range(0, len(rows), _STEP):
            part = rows[start : start + _STEP]
            seen = self.seen(hypotheses.take(part), prepared, owner[part])
            scores[start : start + _STEP] = self.model.scores(seen, prepared.vectors[owner[part]])
        return with_ones(scores[inverse])


def from_file(model: str = "", vectors: str = "", files: bool = False) -> Pairwise:
    """The metric of ``PAIRWISE:model=FILE:vectors=FILE:files=yes``.

    Raises:
        UserError: no model, one that cannot be read, or one that names a metric that is not for it to name.
    """
    return Pairwise(read_pairwise(model_file(Pairwise.name, model), vectors, files=files))
