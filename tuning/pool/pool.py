"""All candidates so far, equal ones merged, with the statistics of any metric."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from lasw.metrics import Corpus, Metric, References, UserError, Vocabulary
from lasw.tuning.formats import Growing
from lasw.tuning.nbest import NBest, ScoredList, check_finite
from lasw.tuning.pool.kernels import best_rows, merge, model_scores, rehash
from lasw.tuning.pool.sparse import SparseRows
from lasw.tuning.weights import FeatureNames, Weights

_STEP = 1 << 16  # candidates whose statistics are computed at once: bounds the memory for what is in between


class Pool:
    """Candidates of S sentences in the order they came; `order` and `starts` group them by sentence.

    Two candidates are one if sentence, tokens and all features are equal (0 and -0 are equal, an absent sparse
    feature is 0). A pool `without_text` takes lists that have statistics in the place of tokens.

    Arrays that the pool hands out are views, valid for good but not extended by later `add`s: ask again.
    """

    def __init__(self, references: References) -> None:
        self._references: References | None = references
        self._segments = len(references)
        self._start()

    @classmethod
    def without_text(cls) -> Pool:
        """A pool of `ScoredList`s: it knows the scores of those metrics only that their statistics are of."""
        pool = cls.__new__(cls)
        pool._references = None
        pool._segments = 0
        pool._start()
        return pool

    @classmethod
    def without_references(cls, vocabulary: Vocabulary) -> Pool:
        """A pool of texts that are compared with nothing: only of losses that are given anything is known.

        Args:
            vocabulary: of the texts.
        """
        pool = cls(References.from_lines([""], vocabulary=vocabulary))
        pool._segments = 0
        pool._only_given = True
        return pool

    def _start(self) -> None:
        self.names: FeatureNames | None = None
        self._given_key: str | None = None
        self._width = 0
        self._owner = Growing(np.int32)
        self._ids = Growing(np.int32)
        self._offsets = Growing(np.int64)
        self._dense: Growing | None = None
        self._sparse = SparseRows()
        self._is_view = self._only_given = False
        self._hashes = Growing(np.uint64)
        self._table = np.full(1 << 10, -1, dtype=np.int32)
        self._offsets.append(np.zeros(1, dtype=np.int64))
        self._grouped: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
        self._prepared: dict[str, Any] = {}
        self._statistics: dict[str, Growing] = {}
        self._sentence_scores: dict[str, Growing] = {}

    def __len__(self) -> int:
        return len(self._owner)

    def __repr__(self) -> str:
        dense = len(self.names) if self.names is not None else 0
        features = f"{dense} dense and {len(self.sparse_names)} sparse features"
        return f"Pool({self._segments} sentences, {len(self)} candidates, {features})"

    @property
    def compared(self) -> bool:
        """Whether there are references."""
        return self._references is not None and not self._only_given

    @property
    def references(self) -> References:
        """What the candidates are compared with; of a pool `without_references` one of nothing.

        Raises:
            ValueError: the pool is without text.
        """
        if self._references is None:
            raise ValueError("a pool without text has no references")
        return self._references

    def add(self, nbest: NBest | ScoredList) -> int:
        """Take in the candidates that are not there yet; how many those are.

        Raises:
            UserError: other features than before, or a sentence beyond the references.
            TypeError: the hypotheses do not share the references' vocabulary; a list without text in a pool with text,
                or the other way round.
            ValueError: a feature is not finite, or the pool is a view (`without_rare`).
        """
        if self._is_view:
            raise ValueError("a view of a pool takes no candidates")
        ids, offsets = self._contents(nbest)
        self._check(nbest)
        if self._dense is None:
            self.names = nbest.names
            self._dense = Growing(np.float64, len(nbest.names))
        before = len(self)
        starts, columns, values = self._sparse.of(nbest)
        dense = nbest.dense + 0.0  # -0 becomes 0
        new = (nbest.owner, ids, offsets, dense.view(np.uint64), starts, columns, values.view(np.uint64))
        self._make_table(len(nbest))
        rows, tokens, entries = len(nbest), len(ids), len(columns)
        pool = (
            self._owner.room(rows),
            self._ids.room(tokens),
            self._offsets.room(rows),
            self._dense.room(rows).view(np.uint64),
            self._sparse.starts.room(rows),
            self._sparse.columns.room(entries),
            self._sparse.values.room(entries).view(np.uint64),
        )
        count = int(merge(new, pool, self._table, self._hashes.room(rows), before))
        for column in (self._owner, self._dense, self._hashes):
            column.size = count
        self._offsets.size = self._sparse.starts.size = count + 1
        self._ids.size = int(pool[2][count])
        self._sparse.columns.size = self._sparse.values.size = int(pool[4][count])
        self._grouped = None
        return count - before

    @property
    def dense(self) -> NDArray[np.float64]:
        """(n, d) dense features."""
        return np.empty((0, 0)) if self._dense is None else self._dense.rows

    @property
    def sparse(self) -> scipy.sparse.csr_array | None:
        """(n, p) sparse features, None if no list had any; column j is `sparse_names[j]`."""
        return self._sparse.matrix

    @property
    def sparse_names(self) -> tuple[str, ...]:
        """Names of the sparse features."""
        return self._sparse.names

    def without_rare(self, min_count: int) -> Pool:
        """The same candidates without the sparse features that few sentences have.

        Args:
            min_count: a feature stays if it is not zero in candidates of at least so many sentences (how many
                candidates of a sentence have it does not matter: they are alike).

        Returns:
            A view that optimisers take as any pool. It is of use until candidates are added to this one, and takes
            none itself. Candidates that only differed in rare features are still two.
        """
        keep = self._sparse.in_sentences(self.order, self.starts) >= min_count
        if keep.all():
            return self
        view = copy.copy(self)
        view._sparse = self._sparse.only(keep)
        view._is_view = True
        return view

    def without_feature(self, name: str) -> Pool:
        """The same candidates, a dense feature of which is 0 everywhere; a view that takes none."""
        assert self.names is not None
        dense = self.dense.copy()
        dense[:, self.names.slices[name]] = 0.0
        view = copy.copy(self)
        view._dense, view._is_view = Growing.of(dense), True
        return view

    def of_sentences(self, keep: NDArray[np.bool_]) -> Pool:
        """The candidates of some sentences, with what is known of their statistics.

        Args:
            keep: (S,) which; the others have no candidates any more.

        Returns:
            A view: it takes no candidates.

        """
        rows = np.flatnonzero(keep[self.owner])
        view = copy.copy(self)
        if self._references is None:  # statistics in the place of tokens, equally many of each
            contents = Corpus(self._ids.rows, self._offsets.rows, Vocabulary())
        else:
            contents = self.hypotheses
        corpus = contents.take(rows)
        view._owner, view._dense = Growing.of(self.owner[rows]), Growing.of(self.dense[rows])
        view._ids, view._offsets = Growing.of(corpus.ids), Growing.of(corpus.offsets)
        view._sparse = self._sparse.take(rows)
        view._statistics, view._sentence_scores = (
            {key: Growing.of(known.rows[rows]) for key, known in all_known.items() if len(known) == len(self)}
            for all_known in (self._statistics, self._sentence_scores)
        )
        view._grouped, view._is_view = None, True
        return view

    @property
    def owner(self) -> NDArray[np.int32]:
        """(n,) the sentence of each candidate."""
        return self._owner.rows

    @property
    def hypotheses(self) -> Corpus:
        """The text of the candidates, n sentences.

        Raises:
            ValueError: the pool is without text.
        """
        return Corpus(self._ids.rows, self._offsets.rows, self.references.vocabulary)

    def slice(self, start: int, end: int) -> Corpus:
        """The text of the candidates from `start` to `end`, in the order they came."""
        offsets = self._offsets.rows[start : end + 1]
        ids = self._ids.rows[offsets[0] : offsets[-1]]
        return Corpus(ids, offsets - offsets[0], self.references.vocabulary)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(n,) tokens of each candidate; without text, its unigrams in Moses' BLEU statistics."""
        if self._references is None:
            return self._ids.rows.reshape(len(self), self._width)[:, 1].astype(np.int64)
        return np.diff(self._offsets.rows)

    @property
    def order(self) -> NDArray[np.int64]:
        """(n,) candidates by sentence, within a sentence as they came."""
        return self._groups()[0]

    @property
    def starts(self) -> NDArray[np.int64]:
        """(S + 1,): the candidates of sentence s are `order[starts[s]:starts[s + 1]]`."""
        return self._groups()[1]

    def knows(self, metric: Metric) -> bool:
        """Whether there are sufficient statistics of a metric, or what they are computed from."""
        if self._references is None or self._only_given:
            return metric.statistics_key() in self._statistics
        return True

    def statistics(self, metric: Metric) -> NDArray[Any]:
        """(n, k) sufficient statistics; computed once for metrics that share them.

        Raises:
            UserError: the pool is without text and its statistics are of other metrics.
        """
        key = metric.statistics_key()
        if self._references is None:
            return self._given(metric.name, key)
        if self._only_given and key not in self._statistics:
            raise UserError(
                f"{metric.name} cannot be computed without references",
                remedy="give --references, or an optimiser (and options) that needs no more than the loss",
            )
        if key not in self._prepared:
            self._prepared[key] = metric.prepare(self.references)
        done = len(self._statistics[key]) if key in self._statistics else 0
        for start in range(done, len(self), _STEP):
            end = min(start + _STEP, len(self))
            part = metric.statistics(self.slice(start, end), self._prepared[key], self._owner.rows[start:end])
            if key not in self._statistics:
                self._statistics[key] = Growing(part.dtype, part.shape[1])
            self._statistics[key].append(part)
        if key not in self._statistics:
            return metric.statistics(self.hypotheses, self._prepared[key], self.owner)
        return self._statistics[key].rows

    def statistics_of(self, metric: Metric, rows: NDArray[np.int64]) -> NDArray[Any]:
        """(m, k) sufficient statistics of the candidates `rows` (m,), those of the others only if they are known.

        Raises:
            UserError: see `statistics`.
        """
        key = metric.statistics_key()
        known = self._statistics.get(key)
        if self._references is None or self._only_given or (known is not None and len(known) == len(self)):
            return np.asarray(self.statistics(metric)[rows])
        prepared = self._prepared.get(key) or metric.prepare(self.references)
        return metric.statistics(self.hypotheses.take(rows), prepared, self.owner[rows])

    def sentence_scores(self, metric: Metric) -> NDArray[np.float64]:
        """(n,) the metric's score of every candidate."""
        key = str(metric.signature())
        scores = self._sentence_scores.setdefault(key, Growing(np.float64))
        if len(scores) < len(self):
            statistics = self.statistics(metric)
            for start in range(len(scores), len(self), _STEP):
                scores.append(metric.sentence_scores(statistics[start : start + _STEP]))
        return scores.rows

    def model_scores(self, weights: Weights) -> NDArray[np.float64]:
        """(n,) dot products of features and weights; equal features have equal scores.

        Raises:
            ValueError: the weights are of other features.
            UserError: a score overflows.
        """
        if self.names is not None and weights.names != self.names:
            raise ValueError(f"weights of {weights.names.groups} for features {self.names.groups}")
        scores = np.empty(len(self))
        if len(self):
            vector = weights.sparse_vector(self.sparse_names)
            model_scores((self.dense, *self._sparse.parts), weights.dense, vector, 0, scores)
        check_finite(scores, self.owner)
        return scores

    def best(self, weights: Weights) -> NDArray[np.int64]:
        """(S',) for every sentence that has candidates, in order: its best-scoring one, the earliest among equals."""
        return self.best_by(self.model_scores(weights))

    def best_by(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """The same by scores (n,) of the candidates; by a metric's, the oracles."""
        best = np.empty(self._segments, dtype=np.int64)
        best_rows(self.owner, scores, best)
        return best[best >= 0]

    def corpus_score(self, metric: Metric, weights: Weights) -> float:
        """The metric's corpus score of the best-scoring candidates; with PGBC4 it is the pool BLEU.

        Raises:
            ValueError: the pool is empty.
        """
        if not len(self):
            raise ValueError("an empty pool has no score")
        return metric.corpus_score(self.statistics(metric)[self.best(weights)].sum(axis=0))

    def _contents(self, nbest: NBest | ScoredList) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """What tells candidates apart beside their features: flat tokens, or statistics, and where each's begin."""
        if isinstance(nbest, NBest):
            if nbest.hypotheses.vocabulary is not self.references.vocabulary:
                raise TypeError("hypotheses and references must share one vocabulary")
            if self._only_given:
                self._segments = max(self._segments, int(nbest.owner.max(initial=-1)) + 1)
            return nbest.hypotheses.ids, nbest.hypotheses.offsets
        if self._references is not None:
            raise TypeError("a list without text in a pool with text")
        width = nbest.statistics.shape[1]
        if self._given_key is None:
            self._given_key, self._width = nbest.statistics_key, width
        elif self._given_key != nbest.statistics_key:
            raise ValueError(f"statistics {nbest.statistics_key}, before them {self._given_key}")
        self._segments = max(self._segments, int(nbest.owner.max(initial=-1)) + 1)
        offsets = np.arange(0, width * len(nbest) + 1, width, dtype=np.int64)
        return nbest.statistics.astype(np.int32).reshape(-1), offsets

    def _given(self, name: str, key: str) -> NDArray[np.int32]:
        if self._given_key is None or key == self._given_key:
            return self._ids.rows.reshape(len(self), self._width)
        raise UserError(
            f"{name} cannot be computed from lists without text",
            expected=f"a metric with the statistics {self._given_key}",
            remedy="give the N-best lists",
        )

    def _check(self, nbest: NBest | ScoredList) -> None:
        path = nbest.hypotheses.path if isinstance(nbest, NBest) else nbest.path
        if self.names is not None and nbest.names != self.names:
            raise UserError(
                f"features {_shown(nbest.names)}", path=path, expected=f"{_shown(self.names)}, as in the lists before"
            )
        if len(nbest) and (int(nbest.owner.max()) >= self._segments or int(nbest.owner.min()) < 0):
            raise UserError(
                f"sentence id {int(nbest.owner.max())}",
                path=path,
                expected=f"0 to {self._segments - 1}, there are {self._segments} references",
                remedy="are these the references of this list?",
            )
        if not np.isfinite(nbest.dense).all() or (
            nbest.sparse is not None and not np.isfinite(nbest.sparse.data).all()
        ):
            raise ValueError("features must be finite")

    def _make_table(self, extra: int) -> None:
        needed = 2 * (len(self) + extra)
        if needed > len(self._table):
            self._table = np.full(1 << (needed - 1).bit_length(), -1, dtype=np.int32)
            rehash(self._table, self._hashes.rows, len(self))

    def _groups(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if self._grouped is None:
            owner = self._owner.rows
            starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=self._segments))])
            self._grouped = np.argsort(owner, kind="stable"), starts
        return self._grouped


def _shown(names: FeatureNames) -> str:
    return " ".join(f"{name}({size})" for name, size in names.groups)
