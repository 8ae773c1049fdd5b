"""N-best lists in the order of other weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError
from lasw.tuning.formats import Match, match
from lasw.tuning.nbest import NBest, check_finite
from lasw.tuning.pool import model_scores
from lasw.tuning.reranking.lists import ListReranker
from lasw.tuning.weights import Weights


class Reranker(ListReranker):
    """Sorts the hypotheses of each sentence by their scores under `weights`.

    Hypotheses with equal scores stay in the order of the list, and equal features give equal scores. A feature with
    weight 0 counts as absent.

    Args:
        weights: as a file had them; matched with the features of the first list.
        path: where they came from, for messages.
    """

    def __init__(self, weights: Weights, *, path: str | None = None) -> None:
        self._weights = weights
        self._path = path
        self._match: Match | None = None
        self._sparse: list[tuple[str, float]] = []  # weight of every sparse feature met so far, by its column

    def warnings(self) -> tuple[str, ...]:
        """Weights that are not of these lists."""
        if self._match is None:
            return ()
        given = self._weights.names.slices
        taken = self._match.weights
        met = {name for name, _ in self._sparse}
        absent = [name for name in taken.sparse if name in given and name not in met]
        if not absent:
            return self._match.warnings
        return (
            *self._match.warnings,
            f"the N-best lists have no feature {', '.join(absent)}: what was learnt for it is not used",
        )

    def scores(self, nbest: NBest) -> NDArray[np.float64]:
        """(n,) products of features and weights.

        Raises:
            UserError: the weights are not those of these features, or so large that a score overflows.
        """
        if self._match is None:
            # Sparse features may turn up later, so what is no dense feature is taken for one of them until the end.
            self._match = match(self._weights, nbest.names, sparse_names=None, path=self._path)
        weights = self._match.weights
        scores = np.empty(len(nbest))
        starts, columns, values = np.zeros(len(nbest) + 1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0)
        sparse_weights = np.empty(0)
        if nbest.sparse is not None and nbest.sparse_names is not None:
            new = [nbest.sparse_names[k] for k in range(len(self._sparse), nbest.sparse.shape[1])]
            self._sparse.extend((name, weights.sparse.get(name, 0.0)) for name in new)
            sparse_weights = np.array([weight for _, weight in self._sparse])
            starts = nbest.sparse.indptr.astype(np.int64)
            columns, values = nbest.sparse.indices.astype(np.int32), nbest.sparse.data
        model_scores((nbest.dense, starts, columns, values), weights.dense, sparse_weights, 0, scores)
        check_finite(scores, nbest.owner, self._path)
        return scores


class LocalReranker(Reranker):
    """The same with weights of its own for every sentence.

    Args:
        weights: sentence k's at k, all of the same features.
        path: where they came from, for messages.

    Raises:
        UserError: there are none.
    """

    def __init__(self, weights: Sequence[Weights], *, path: str | None = None) -> None:
        if not weights:
            raise UserError("no weights in it", path=path)
        super().__init__(weights[0], path=path)
        self._local = weights
        self._sentences = 0  # up to the last one met

    def warnings(self) -> tuple[str, ...]:
        """As `Reranker`, and weights that no sentence asked for."""
        given, met = len(self._local), self._sentences
        if given <= met:
            return super().warnings()
        return (*super().warnings(), f"weights for {given} sentences, the N-best lists end with the {met}. of them")

    def scores(self, nbest: NBest) -> NDArray[np.float64]:
        """As `Reranker`.

        Raises:
            UserError: as there, or a sentence has no weights.
        """
        if len(nbest) and int(nbest.owner.max()) >= len(self._local):
            raise UserError(
                f"weights for {len(self._local)} sentences",
                path=self._path,
                expected=f"more, the N-best lists have sentence {int(nbest.owner.max())}",
            )
        self._sentences = max(self._sentences, int(nbest.owner.max(initial=-1)) + 1)
        scores = super().scores(nbest)  # matches the features, and notes what the lists lack
        cuts = np.flatnonzero(np.diff(nbest.owner, prepend=-1, append=-1))
        for start, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            scores[start:end] = self._of_one(nbest.take(np.arange(start, end)))
        return scores

    def _of_one(self, nbest: NBest) -> NDArray[np.float64]:
        one = Reranker(self._local[int(nbest.owner[0])], path=self._path)
        return one.scores(nbest)
