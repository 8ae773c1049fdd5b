"""Given N-best lists in place of a decoder: rerankers are tuned this way."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Metric, References, UserError, Vocabulary
from lasw.tuning.decoders.base import Decoder
from lasw.tuning.formats import (
    ExtraFeatures,
    Options,
    WeightFile,
    layout_options,
    match,
    read_nbest,
    read_weight_file,
    stream_nbest,
)
from lasw.tuning.nbest import NBest
from lasw.tuning.pool import LOSS_COLUMN, Pool, TextScores, preprocessed, unit_weights
from lasw.tuning.weights import FeatureNames, Weights


class Fixed(Decoder):
    """Gives the same hypotheses every time, the best under the weights first (ties in the order of the lists).

    For n = 1 that is the best one, for any other n the whole lists.

    Args:
        lists: N-best lists, in any layout that lasw reads; those of one sentence are put together.
        initial: a file of weights to start from; without it every dense feature has as much to say (`unit_weights`).
        features: more features as NAME=FILE, a number for every hypothesis of all lists; 0 where initial
            has no weight.
        layout: of the lists; empty: found by content.
        nbest_size: lists are texts, so many lines a sentence.
        column: of a table, ROLE=NAME: which column is the text, id, score.
        source_ids: a file of the sentences' ids in order, where they are no numbers.
        sum_scores: totals are means over tokens and end: multiply by their number.
        no_score: totals of lists without features are no feature either.
        with_score: totals of lists with features are a feature score too.
        loss_scores: files of a loss that was computed elsewhere, a number for every hypothesis, higher is better.
        unsorted: sentence ids may decrease within a list.
        encoding: of all files.
    """

    name = "fixed"
    follows_weights = False
    translates = False

    def __init__(
        self,
        lists: tuple[str | os.PathLike[str], ...],
        *,
        initial: str | os.PathLike[str] | None = None,
        features: tuple[str, ...] = (),
        layout: str = "",
        nbest_size: int = 0,
        column: tuple[str, ...] = (),
        source_ids: str = "",
        sum_scores: bool = False,
        no_score: bool = False,
        with_score: bool = False,
        loss_scores: tuple[str, ...] = (),
        unsorted: bool = False,
        encoding: str = "utf-8",
    ) -> None:
        if not lists:
            raise ValueError("no lists")
        self._lists = lists
        self._features = _files_by_name(features)
        self._losses = loss_scores
        totals = sum_scores, no_score, with_score
        given = layout_options(layout, nbest_size, column, source_ids, *totals, encoding=encoding)
        self._layout = replace(given, featureless=bool(features))
        self._ids = [source_ids] if source_ids else []
        self._unsorted = unsorted
        self._encoding = encoding
        self._initial = initial
        self._file = None if initial is None else read_weight_file(initial, encoding=encoding)
        self._read: NBest | None = None
        self._start = self._starting(self._file)

    def input_files(self) -> Sequence[str | os.PathLike[str]]:
        """The lists, the weights, the columns."""
        initial = [] if self._initial is None else [self._initial]
        columns = (path for paths in self._features.values() for path in paths)
        return [*self._lists, *self._ids, *initial, *columns, *self._losses]

    def given_loss(self, references: References, preprocess: Callable[[str], str] | None) -> Metric | None:
        """The scores of the lists' texts, if there are any."""
        if not self._losses:
            return None
        nbest = self._whole(Vocabulary(), len(references), {LOSS_COLUMN: list(self._losses)})
        return TextScores.of(nbest if preprocess is None else preprocessed(nbest, preprocess), nbest.dense[:, -1])

    def start_weights(self) -> Weights:
        """The initial weights over the features of the lists, or `unit_weights` of the first hypotheses."""
        return self._start

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        """The lists; see `Decoder.decode`.

        Raises:
            UserError: a list cannot be read, or has ids beyond the source.
        """
        nbest = self._list(vocabulary, len(source))
        return _sorted(nbest, _scores(nbest, weights), n)

    def decode_some(
        self, source: Sequence[str], chosen: NDArray[np.int64], weights: Weights, n: int, vocabulary: Vocabulary
    ) -> NBest:
        """See `Decoder`; a sentence has its lists by its place among all."""
        nbest = self.decode(source, weights, n, vocabulary)
        rows = np.flatnonzero(np.isin(nbest.owner, chosen))
        owner = np.searchsorted(chosen, nbest.owner[rows]).astype(np.int32)
        return replace(nbest.take(rows), owner=owner)

    def _decode_each(self, source: Sequence[str], weights: Sequence[Weights], n: int, vocabulary: Vocabulary) -> NBest:
        nbest = self._list(vocabulary, len(source))
        score = np.empty(len(nbest))
        ends = np.searchsorted(nbest.owner, np.arange(len(source) + 1))
        for k, one in enumerate(weights):
            score[ends[k] : ends[k + 1]] = _scores(nbest.take(np.arange(ends[k], ends[k + 1])), one)
        return _sorted(nbest, score, n)

    def _list(self, vocabulary: Vocabulary, sentences: int) -> NBest:
        if self._read is None or self._read.hypotheses.vocabulary is not vocabulary:
            self._read = self._whole(vocabulary, sentences)
        return self._read

    def _whole(self, vocabulary: Vocabulary, segments: int, more: Mapping[str, list[str]] | None = None) -> NBest:
        extra = ExtraFeatures({**self._features, **(more or {})}, encoding=self._encoding)
        parts: list[NBest] = []
        options = self._options(segments)
        for path in self._lists:
            part = extra.extend(read_nbest(path, vocabulary, **options))
            if parts and part.names != parts[0].names:
                raise UserError(
                    f"features {' '.join(part.names.components)}",
                    path=path,
                    expected=f"those of {self._lists[0]}: {' '.join(parts[0].names.components)}",
                )
            parts.append(part)
        extra.finish()
        return NBest.joined(parts)

    def _options(self, segments: int | None) -> Options:
        options = Options(
            sparse_names=Vocabulary(),
            segments=segments,
            unsorted=self._unsorted,
            encoding=self._encoding,
            layout=self._layout,
        )
        if self._file is not None:
            options["dense"] = self._file.dense
        return options

    def _starting(self, file: WeightFile | None) -> Weights:
        vocabulary = Vocabulary()
        first = next(stream_nbest(self._lists[0], vocabulary, **self._options(None)))
        extra = ExtraFeatures(self._features, encoding=self._encoding)
        if file is None:
            pool = Pool.without_references(vocabulary)
            pool.add(extra.extend(first))
            return unit_weights(pool)
        names = FeatureNames(first.names.groups + extra.groups)
        default = dict.fromkeys(self._features, 0.0)
        return match(file.weights, names, sparse_names=None, default=default, path=self._initial).weights


def _files_by_name(features: Sequence[str]) -> dict[str, list[str]]:
    files: dict[str, list[str]] = {}
    for text in features:
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            raise UserError(f"feature {text!r}", expected="NAME=FILE")
        files.setdefault(name, []).append(path)
    return files


def _scores(nbest: NBest, weights: Weights) -> NDArray[np.float64]:
    names = nbest.sparse_names
    sparse = None if names is None else weights.sparse_vector([names[k] for k in range(len(names))])
    return nbest.model_scores(weights.dense, sparse)


def _sorted(nbest: NBest, score: NDArray[np.float64], n: int) -> NBest:
    order = np.lexsort((np.arange(len(nbest)), -score, nbest.owner))
    if n == 1:
        owner = nbest.owner[order]
        order = order[np.flatnonzero(np.diff(owner, prepend=-1))]
    return nbest.take(order)
