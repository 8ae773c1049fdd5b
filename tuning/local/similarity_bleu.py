"""Smoothed sentence BLEU of development sentences against a sentence (Song 2015, equation 5.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lasw.metrics import Corpus, ReferenceNgrams, SimpBleu, Vocabulary
from lasw.tuning.local.similarity import Floats, Similarity, words_of

_UNKNOWN = " "  # no token holds a space, so no development sentence has it


class BleuSimilarity(Similarity):
    """BLEU+1 with the sentence in the reference's place and every development sentence as a hypothesis.

    Args:
        source: the development sentences.
    """

    def __init__(self, source: Sequence[str]) -> None:
        self._metric = SimpBleu("BLEU+1")
        self._source = Corpus.from_lines(list(source), Vocabulary())
        vocabulary = self._source.vocabulary
        self._ids = {vocabulary[k]: k for k in range(len(vocabulary))}
        # Words that the development set does not have match nothing: all are one, so that nothing grows with use.
        self._unknown = vocabulary.add(_UNKNOWN)

    def to(self, line: str) -> Floats:
        """See `Similarity`."""
        ids = np.array([self._ids.get(word, self._unknown) for word in words_of(line)], dtype=np.int32)
        offsets = np.array([[0, len(ids)]], dtype=np.int64)
        reference = ReferenceNgrams(ids, offsets, np.array([[len(ids)]]), self._source.vocabulary)
        statistics = self._metric.statistics(self._source, (reference,), np.zeros(len(self._source), dtype=np.int32))
        return self._metric.sentence_scores(statistics)
