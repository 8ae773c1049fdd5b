"""N-best lists one after the other as one list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from lasw.metrics import Corpus, Vocabulary
from lasw.tuning.nbest import NBest


def joined(lists: Sequence[NBest], first: Sequence[int]) -> NBest:
    """The lists as one, in ascending order of sentence, the order of the lists within a sentence.

    Args:
        lists: over the same vocabulary, with the same features and the same numbering of sparse ones.
        first: for each list, the number that its sentence 0 gets.

    Raises:
        ValueError: no list, or lists with other features or another vocabulary.
    """
    head = lists[0]
    vocabulary, names = head.hypotheses.vocabulary, head.names
    if any(part.names != names or part.hypotheses.vocabulary is not vocabulary for part in lists):
        raise ValueError("lists over other features or another vocabulary")
    owner = np.concatenate([part.owner + np.int32(start) for part, start in zip(lists, first, strict=True)])
    lengths = np.concatenate([part.hypotheses.lengths for part in lists])
    hypotheses = Corpus(
        np.concatenate([part.hypotheses.ids for part in lists]),
        np.concatenate([[0], np.cumsum(lengths)]),
        vocabulary,
    )
    dense = np.concatenate([part.dense for part in lists])
    score = np.concatenate([part.score for part in lists])
    whole = NBest(names, owner, hypotheses, dense, score, *_sparse(lists))
    return whole if np.all(np.diff(owner) >= 0) else rows(whole, np.argsort(owner, kind="stable"))


def rows(nbest: NBest, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> NBest:
    """The hypotheses `order` (m,) of a list, in that order."""
    sparse = None if nbest.sparse is None else scipy.sparse.csr_array(nbest.sparse[order])
    return NBest(
        nbest.names,
        nbest.owner[order],
        nbest.hypotheses.take(order),
        nbest.dense[order],
        nbest.score[order],
        sparse,
        nbest.sparse_names,
    )


def _sparse(lists: Sequence[NBest]) -> tuple[scipy.sparse.csr_array | None, Vocabulary | None]:
    known = next((part.sparse_names for part in lists if part.sparse_names is not None), None)
    if known is None or all(part.sparse is None for part in lists):
        return None, known
    parts = []
    for part in lists:
        if part.sparse is None:
            parts.append(scipy.sparse.csr_array((len(part), len(known)), dtype=np.float64))
        else:
            parts.append(
                scipy.sparse.csr_array(
                    (part.sparse.data, part.sparse.indices, part.sparse.indptr), (len(part), len(known))
                )
            )
    return scipy.sparse.csr_array(scipy.sparse.vstack(parts, format="csr")), known
