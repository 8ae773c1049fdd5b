"""N-best lists on their way between machines: plain arrays, every word and name once, or lines as a file has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from lasw.metrics import Corpus, Vocabulary
from lasw.tuning.formats import packed_lists
from lasw.tuning.nbest import NBest
from lasw.tuning.weights import FeatureNames


@dataclass(frozen=True)
class Answer:
    """What comes from a worker.

    Attributes:
        chosen: (m,) numbers of the sentences, ascending.
        seconds: that they took.
    """

    chosen: NDArray[np.int64]
    seconds: float


@dataclass(frozen=True)
class Lines(Answer):
    """Lists as the file holds them that will have them all.

    Attributes:
        lists: by sentence, for those that have hypotheses, see `packed_lists`.
    """

    lists: dict[int, bytes]

    @classmethod
    def of(cls, nbest: NBest, chosen: NDArray[np.int64], seconds: float) -> Lines:
        """The lists of the sentences `chosen`."""
        return cls(chosen, seconds, dict(zip(np.unique(nbest.owner).tolist(), packed_lists(nbest), strict=True)))


@dataclass(frozen=True)
class Packed(Answer):
    """Lists as arrays.

    Attributes:
        names: the dense features.
        owner: (n,) numbers of the sentences of the hypotheses, among all.
        words: the words of the hypotheses, a line each.
        ids: of the tokens, counted in `words`.
        offsets: (n + 1,) of the hypotheses in `ids`.
        dense, score: as in `NBest`.
        sparse: data, columns, row starts; columns are counted in `sparse_names`.
        sparse_names: a line each.
    """

    names: FeatureNames
    owner: NDArray[np.int32]
    words: NDArray[np.uint8]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    dense: NDArray[np.float64]
    score: NDArray[np.float64]
    sparse: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None
    sparse_names: NDArray[np.uint8] | None

    @classmethod
    def of(cls, nbest: NBest, chosen: NDArray[np.int64], seconds: float) -> Packed:
        """The lists of the sentences `chosen`."""
        matrix, names = nbest.sparse, nbest.sparse_names
        return cls(
            chosen,
            seconds,
            nbest.names,
            nbest.owner,
            _lines(nbest.hypotheses.vocabulary),
            nbest.hypotheses.ids,
            nbest.hypotheses.offsets,
            nbest.dense,
            nbest.score,
            None if matrix is None else (matrix.data, matrix.indices, matrix.indptr),
            None if matrix is None or names is None else _lines(names),
        )

    def unpacked(self, vocabulary: Vocabulary, names: Vocabulary) -> NBest:
        """The lists over the words and sparse features of here."""
        places = Corpus.of_bytes(self.words, vocabulary).ids
        hypotheses = Corpus(places[self.ids], self.offsets, vocabulary)
        sparse = None
        if self.sparse is not None and self.sparse_names is not None:
            data, columns, starts = self.sparse
            columns = Corpus.of_bytes(self.sparse_names, names).ids[columns]
            sparse = scipy.sparse.csr_array((data, columns, starts), (len(self.owner), len(names)))
        return NBest(self.names, self.owner, hypotheses, self.dense, self.score, sparse, names)


def _lines(vocabulary: Vocabulary) -> NDArray[np.uint8]:
    """All words, a line each."""
    starts = vocabulary.arrays.starts[: len(vocabulary) + 1]
    lengths = np.diff(starts)
    lines = np.full(int(starts[-1]) + len(lengths), ord("\n"), dtype=np.uint8)
    letters = np.ones(len(lines), dtype=bool)
    letters[np.cumsum(lengths + 1) - 1] = False
    lines[letters] = vocabulary.arrays.arena[: starts[-1]]
    return lines
