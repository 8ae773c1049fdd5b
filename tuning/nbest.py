"""N-best lists in columns: what every reader gives and every decoder returns."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
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

    def __repr__(self) -> str:
        sparse = 0 if self.sparse_names is None else len(self.sparse_names)
        return f"NBest({len(self)} hypotheses, {len(self.names)} dense and {sparse} sparse features)"

    @classmethod
    def joined(cls, lists: Sequence[NBest], first: Sequence[int] | None = None) -> NBest:
        """Lists as one, in ascending order of sentence, the order of the lists within a sentence.

        Args:
            lists: over the same vocabulary, with the same features and the same numbering of sparse ones.
            first: for each list, the number that its sentence 0 gets; 0 by default.

        Raises:
            ValueError: no list, or lists with other features or another vocabulary.
        """
        names, vocabulary = lists[0].names, lists[0].hypotheses.vocabulary
        if any(part.names != names or part.hypotheses.vocabulary is not vocabulary for part in lists):
            raise ValueError("lists over other features or another vocabulary")
        starts = [0] * len(lists) if first is None else first
        owner = np.concatenate([part.owner + np.int32(start) for part, start in zip(lists, starts, strict=True)])
        lengths = np.concatenate([part.hypotheses.lengths for part in lists])
        ids = np.concatenate([part.hypotheses.ids for part in lists])
        whole = cls(
            names,
            owner,
            Corpus(ids, np.concatenate([[0], np.cumsum(lengths)]), vocabulary),
            np.concatenate([part.dense for part in lists]),
            np.concatenate([part.score for part in lists]),
            *_joined_sparse(lists),
        )
        return whole if np.all(np.diff(owner) >= 0) else whole.take(np.argsort(owner, kind="stable"))

    def take(self, rows: NDArray[np.int64]) -> NBest:
        """The hypotheses `rows` (m,), in that order."""
        return dataclasses.replace(
            self,
            owner=self.owner[rows],
            hypotheses=self.hypotheses.take(rows),
            dense=self.dense[rows],
            score=self.score[rows],
            sparse=None if self.sparse is None else scipy.sparse.csr_array(self.sparse[rows]),
        )

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


def _joined_sparse(lists: Sequence[NBest]) -> tuple[scipy.sparse.csr_array | None, Vocabulary | None]:
    names = next((part.sparse_names for part in lists if part.sparse_names is not None), None)
    if names is None or all(part.sparse is None for part in lists):
        return None, names
    widened = []
    for part in lists:  # with room for the features that came up later
        rows = scipy.sparse.csr_array((len(part), len(names))) if part.sparse is None else part.sparse
        widened.append(scipy.sparse.csr_array((rows.data, rows.indices, rows.indptr), (len(part), len(names))))
    return scipy.sparse.csr_array(scipy.sparse.vstack(widened, format="csr")), names


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
