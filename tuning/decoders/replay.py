"""Recorded N-best lists as a decoder: what a run would have found that never leaves what others decoded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Corpus, References, Vocabulary
from lasw.tuning.decoders.fixed import Fixed
from lasw.tuning.nbest import NBest
from lasw.tuning.pool import Pool
from lasw.tuning.weights import Weights


class Replay(Fixed):
    """Gives the n best of all recorded candidates of each sentence under the weights (ties in the order of the lists).

    Unlike `fixed` it follows the weights, so loops can be compared without a decoder. Equal candidates count once. The
    scores are those of the weights.

    Args:
        lists: N-best lists of all rounds of earlier runs, in any layout that lasw reads.
    """

    name = "replay"
    follows_weights = True
    _pool: Pool | None = None
    _sparse_names: Vocabulary | None = None

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        """The n best; see `Decoder.decode`.

        Raises:
            UserError: a list cannot be read, or has ids beyond the source.
        """
        pool = self._recorded(len(source), vocabulary)
        return self._best(pool, pool.model_scores(weights), n)

    def _decode_each(self, source: Sequence[str], weights: Sequence[Weights], n: int, vocabulary: Vocabulary) -> NBest:
        pool = self._recorded(len(source), vocabulary)
        scores = np.empty(len(pool))
        for k, one in enumerate(weights):
            mine = pool.order[pool.starts[k] : pool.starts[k + 1]]
            scores[mine] = pool.model_scores(one)[mine]
        return self._best(pool, scores, n)

    def _best(self, pool: Pool, scores: NDArray[np.float64], n: int) -> NBest:
        order = np.lexsort((np.arange(len(pool)), -scores, pool.owner))
        owner = pool.owner[order]
        order = order[np.arange(len(order)) - pool.starts[owner] < n]
        names = self.start_weights().names
        recorded = NBest(names, pool.owner, pool.hypotheses, pool.dense, scores, pool.sparse, self._sparse_names)
        return recorded.take(order)

    def _recorded(self, segments: int, vocabulary: Vocabulary) -> Pool:
        """All candidates, read once."""
        if self._pool is None or self._pool.references.vocabulary is not vocabulary:
            nothing = Corpus.from_lines([""] * segments, vocabulary)  # nobody scores these candidates
            self._pool = Pool(References((nothing,)))
            read = self._whole(vocabulary, segments)
            self._sparse_names = read.sparse_names
            self._pool.add(read)
        return self._pool
