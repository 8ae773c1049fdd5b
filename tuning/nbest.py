"""N-best lists in columns: what every reader gives and every decoder returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from lasw.metrics import Corpus, UserError, Vocabulary
from lasw.tuning.weights import FeatureNames


@dataclass(frozen=True)
class NBest:
    """n hypotheses of some source sentences, in the order of the list.

    Attributes:
        names: the dense features.
        owner: (n,) int32, 0-based source sentence of each hypothesis.
        hypotheses: their text, n sentences.
        dense: (n, d) float64.
        score: (n,) float64, the decoder's own total; 0 where the list has none.
        sparse: (n, p) CSR or None; column j is the feature `sparse_names[j]`.
        sparse_names: grows while lists are read; readers that share it number features alike.
    """

    names: FeatureNames
    owner: NDArray[np.int32]
    hypotheses: Corpus
    dense: NDArray[np.float64]
    score: NDArray[np.float64]
    sparse: scipy.sparse.csr_array | None = None
    sparse_names: Vocabulary | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.owner)

    def model_scores(
        self, dense_weights: NDArray[np.float64], sparse_weights: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """(n,) dot products with the weights."""
        scores = self.dense @ dense_weights
        if self.sparse is not None and sparse_weights is not None:
            scores = scores + self.sparse @ sparse_weights
        return np.asarray(scores)


@dataclass(frozen=True)
class ScoredList:
    """n hypotheses of which features and a metric's statistics are known, but not the text.

    Attributes:
        names, owner, dense, sparse, sparse_names: as in `NBest`.
        statistics: (n, k) int32.
        statistics_key: `Metric.statistics_key()` of the metrics that have these statistics.
        path: where they were read from, for messages.
    """

    names: FeatureNames
    owner: NDArray[np.int32]
    dense: NDArray[np.float64]
    statistics: NDArray[Any]
    statistics_key: str
    sparse: scipy.sparse.csr_array | None = None
    sparse_names: Vocabulary | None = field(default=None, repr=False)
    path: str | None = None

    def __len__(self) -> int:
        return len(self.owner)


def check_finite(scores: NDArray[np.float64], owner: NDArray[np.int32], path: str | None = None) -> None:
    """Refuse model scores (n,) that overflowed.

    Args:
        scores: of hypotheses.
        owner: (n,) their sentences.
        path: where the weights came from.

    Raises:
        UserError: one did.
    """
    if np.isfinite(scores).all():
        return
    raise UserError(
        f"a score of sentence {int(owner[np.argmin(np.isfinite(scores))])} is beyond the range of numbers",
        path=path,
        expected="weights that leave scores finite",
        remedy="divide all weights by the same number",
    )
