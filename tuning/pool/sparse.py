"""The sparse features of a pool: rows that grow, columns numbered by one vocabulary whatever the lists' own are."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import NDArray

from lasw.metrics import Vocabulary, borrowing, intern_token
from lasw.tuning.formats import Growing
from lasw.tuning.pool.kernels import count_sentences

if TYPE_CHECKING:
    from lasw.tuning.nbest import NBest, ScoredList


class SparseRows:
    """Row i is `columns` and `values` from `starts[i]` to `starts[i + 1]`; columns ascend, no value is 0."""

    def __init__(self) -> None:
        self.starts = Growing(np.int64)
        self.columns = Growing(np.int32)
        self.values = Growing(np.float64)
        self.starts.append(np.zeros(1, dtype=np.int64))
        self.vocabulary: Vocabulary | None = None
        self._names: tuple[str, ...] = ()
        self._renumbered: tuple[Vocabulary, NDArray[np.int32]] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        if self.vocabulary is not None and len(self._names) < len(self.vocabulary):
            self._names += names_from(self.vocabulary, len(self._names))
        return self._names

    @property
    def matrix(self) -> scipy.sparse.csr_array | None:
        """(n, p), None if no list had any sparse feature."""
        if self.vocabulary is None:
            return None
        parts = (self.values.rows, self.columns.rows, self.starts.rows)
        return scipy.sparse.csr_array(parts, shape=(len(self.starts) - 1, len(self.vocabulary)))

    @property
    def parts(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Starts, columns and values, as kernels take them."""
        return self.starts.rows, self.columns.rows, self.values.rows

    def of(self, nbest: NBest | ScoredList) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Starts, columns (numbered as here) and values of a list's sparse features; they are not added."""
        if nbest.sparse is None:
            return np.zeros(len(nbest) + 1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0)
        names = nbest.sparse_names
        if names is None:
            raise ValueError("sparse features without names")
        if self.vocabulary is None:
            self.vocabulary = names
        rows = nbest.sparse
        if names is not self.vocabulary:
            columns = self._numbers(self.vocabulary, names)[rows.indices]
            rows = scipy.sparse.csr_array((rows.data, columns, rows.indptr), shape=(len(nbest), len(self.vocabulary)))
        if not rows.has_canonical_format or not rows.data.all():
            rows = rows.copy()
            rows.sum_duplicates()
            rows.eliminate_zeros()
        return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float64)

    def in_sentences(self, order: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """(p,) in how many sentences each feature is not 0, of candidates grouped by `order` and `starts`."""
        p = 0 if self.vocabulary is None else len(self.vocabulary)
        counts = np.zeros(p, dtype=np.int64)
        count_sentences(order, starts, self.starts.rows, self.columns.rows, np.full(p, -1, dtype=np.int64), counts)
        return counts

    def only(self, keep: NDArray[np.bool_]) -> SparseRows:
        """The same rows with some of the p columns, in their order."""
        kept = SparseRows()
        numbers = np.full(len(keep), -1, dtype=np.int32)
        if self.vocabulary is not None and keep.any():
            kept.vocabulary = Vocabulary()
            numbers[keep] = numbers_in(kept.vocabulary, self.vocabulary, np.flatnonzero(keep))
        starts, columns, values = self.parts
        there = keep[columns]
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(there)])
        kept.starts.append(ends[starts[1:]])
        kept.columns.append(numbers[columns[there]])
        kept.values.append(values[there])
        return kept

    def take(self, rows: NDArray[np.int64]) -> SparseRows:
        """The rows `rows` (m,), in that order, with all columns."""
        taken = SparseRows()
        taken.vocabulary = self.vocabulary
        if self.matrix is None:
            taken.starts = Growing.of(np.zeros(len(rows) + 1, dtype=np.int64))
            return taken
        part = scipy.sparse.csr_array(self.matrix[rows])
        parts = (part.indptr, np.int64), (part.indices, np.int32), (part.data, np.float64)
        taken.starts, taken.columns, taken.values = (
            Growing.of(array.astype(dtype, copy=False)) for array, dtype in parts
        )
        return taken

    def _numbers(self, vocabulary: Vocabulary, names: Vocabulary) -> NDArray[np.int32]:
        """The number in `vocabulary` of every word of another one, which is remembered."""
        known = np.empty(0, dtype=np.int32)
        if self._renumbered is not None and self._renumbered[0] is names:
            known = self._renumbered[1]
        if len(known) < len(names):
            known = np.concatenate([known, numbers_in(vocabulary, names, np.arange(len(known), len(names)))])
            self._renumbered = names, known
        return known


def names_from(vocabulary: Vocabulary, first: int) -> tuple[str, ...]:
    """The words of a vocabulary from number `first` on."""
    count = len(vocabulary)
    places = vocabulary.arrays.starts[first : count + 1].tolist()
    start = places[0]
    data = vocabulary.arrays.arena[start : places[-1]].tobytes()
    return tuple([data[a - start : b - start].decode() for a, b in pairwise(places)])


def numbers_in(target: Vocabulary, source: Vocabulary, which: NDArray[np.int64]) -> NDArray[np.int32]:
    """(m,) the numbers in `target` of the words `which` (m,) of `source`, new ones for those that it does not have."""
    numbers = np.empty(len(which), dtype=np.int32)
    starts, arena = source.arrays.starts, source.arrays.arena
    longest = int((starts[which + 1] - starts[which]).max(initial=0))
    done = 0
    while (done := int(_intern(target.arrays, starts, arena, which, done, numbers))) < len(which):
        target.grow(longest)
    return numbers


@borrowing
def _intern(vocabulary, starts, arena, which, done, numbers):  # type: ignore[no-untyped-def]
    """Fill `numbers` from `done` on; how far it came before the vocabulary was full."""
    for k in range(done, which.shape[0]):
        word = which[k]
        number = intern_token(vocabulary, arena, starts[word], starts[word + 1])
        if number < 0:
            return k
        numbers[k] = number
    return which.shape[0]
