"""Which candidates are too much like those already selected, or like their own translation (algorithm 4.1, line 12).

The similarity of two token lists is a sentence metric of the first against the second, sentence BLEU+1 by default; the
thesis says BLEU and leaves the smoothing open. It suits sentences of more than ten words: smoothing alone puts two
sentences of four words that share none at 0.30. Words are compared as strings, also across the two languages: a pair
whose sides share most of their words has not been translated.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import ORDERS, Corpus, Metric, ReferenceNgrams, References, SimpBleu, UserError, Vocabulary, metric

_AT_ONCE = 64  # sentences that are compared with a window


@dataclass(frozen=True)
class Diversity:
    """Settings of the two filters.

    Args:
        threshold: a source sentence must be less similar than this to each of the last `window` selected ones; above
            1 switches the filter off.
        window: how many of the last selected sentences are looked at.
        untranslated: source and target must be less similar than this; above 1 switches the filter off.
        similarity: a metric of single sentences (see `lasw.metrics.registry.metrics`).

    Raises:
        UserError: a threshold is NaN.
    """

    threshold: float = 0.3
    window: int = 200
    untranslated: float = 0.6
    similarity: str = "BLEU+1"

    def __post_init__(self) -> None:
        for name in ("threshold", "untranslated"):
            if math.isnan(getattr(self, name)):
                raise UserError(f"{name} of similarity nan", expected="a number; above 1 for no filter")


class Window:
    """The last sentences selected, and how similar another one is to them.

    Args:
        settings: of the filters.
        vocabulary: of all sentences.

    Raises:
        UserError: the similarity is no metric.
    """

    def __init__(self, settings: Diversity, vocabulary: Vocabulary) -> None:
        self.settings = settings
        self._metric = metric(settings.similarity)
        self._vocabulary = vocabulary
        self._prepared: Any = None  # held until the next is, so that vectors of the same words are looked up once
        self._lines: deque[int] = deque(maxlen=settings.window)
        self._corpus = Corpus(np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64), vocabulary)

    def add(self, line: int, ids: NDArray[np.int32]) -> None:
        """A sentence (t,) was selected, that of input line `line`."""
        self._lines.append(line)
        old, offsets = self._corpus.ids, self._corpus.offsets
        first = offsets[len(offsets) - len(self._lines)]  # behind the one that falls out, if one does
        offsets = np.append(offsets[len(offsets) - len(self._lines) :], len(old) + len(ids)) - first
        self._corpus = Corpus(np.concatenate([old[first:], ids]), offsets, self._vocabulary)

    @property
    def most_at_once(self) -> int:
        """How many sentences it pays to ask about together; 1 where a score may depend on what is scored with it."""
        return _AT_ONCE if _counts_clipped(self._metric) else 1

    def most_similar(self, sentences: Corpus) -> list[tuple[float, int]]:
        """Of each sentence its largest similarity to those of the window, and the input line of the first that has it.

        Without any sentence in the window it is (-inf, 0).
        """
        if not self._lines:
            return [(-np.inf, 0)] * len(sentences)
        similarities, self._prepared = _similarities(self._metric, sentences, self._corpus)
        best = similarities.argmax(axis=1)
        return [(float(similarities[k, j]), self._lines[j]) for k, j in enumerate(best.tolist())]


def translation_similarity(settings: Diversity, source: Corpus, target: Corpus) -> NDArray[np.float64]:
    """(n,) similarity of each source sentence to its own target sentence."""
    return _pairwise(metric(settings.similarity), source, target)[0]


def _pairwise(measure: Metric, first: Corpus, second: Corpus) -> tuple[NDArray[np.float64], Any]:
    """(n,) similarity of each of n sentences to the one in its place, and what the metric made of the latter."""
    prepared = measure.prepare(References((second,)))
    return np.asarray(measure.sentence_scores(measure.statistics(first, prepared, np.arange(len(first))))), prepared


def _similarities(measure: Metric, sentences: Corpus, window: Corpus) -> tuple[NDArray[np.float64], Any]:
    """(m, w) similarity of m sentences to each of w others, and what the metric made of these."""
    m, w = len(sentences), len(window)
    if not _counts_clipped(measure):
        scores, prepared = _pairwise(measure, sentences.take(np.zeros(w, dtype=np.int64)), window)
        return scores[None, :], prepared
    # Clipped matches are the same from either side, so that each sentence is indexed once as the reference.
    others = window if m == 1 else window.take(np.tile(np.arange(w), m))
    owner = np.repeat(np.arange(m, dtype=np.int32), w)
    statistics = ReferenceNgrams.of(References((sentences,))).statistics(others, owner)
    lengths = sentences.lengths[owner]
    for n in range(ORDERS):
        statistics[:, 2 * n + 1] = np.maximum(lengths - n, 0)
    statistics[:, 2 * ORDERS] = others.lengths
    return np.asarray(measure.sentence_scores(statistics)).reshape(m, w), None


def _counts_clipped(measure: Metric) -> bool:
    return isinstance(measure, SimpBleu) and measure.statistics_key().startswith("ngrams:precision:clipped:closest:")
