"""Candidates of sentences, each to be compared with every reference of its sentence, perhaps candidates as well."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.text.corpus import Corpus, distinct


@dataclass(frozen=True)
class CandidatePairs:
    """Every hypothesis of a sentence against every reference of it: P pairs, ordered by hypothesis, then by reference.

    Attributes:
        hypotheses: n texts of S sentences, those of a sentence together, in the order of sentences.
        references: m texts over the same vocabulary, in the same order; the same object where the hypotheses are each
            other's references.
        sizes: (S, 2) int64, how many hypotheses and references each sentence has.
    """

    hypotheses: Corpus
    references: Corpus
    sizes: NDArray[np.int64]

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """(n,) the first pair of each hypothesis."""
        return np.cumsum(self._per_hypothesis) - self._per_hypothesis

    @cached_property
    def hypothesis(self) -> NDArray[np.int64]:
        """(P,) the hypothesis of each pair."""
        return np.repeat(np.arange(len(self.hypotheses)), self._per_hypothesis)

    @cached_property
    def reference(self) -> NDArray[np.int64]:
        """(P,) the reference of each pair."""
        starts = np.repeat(np.cumsum(self.sizes[:, 1]) - self.sizes[:, 1], self.sizes[:, 0])
        return np.arange(len(self.hypothesis)) + np.repeat(starts - self.first, self._per_hypothesis)

    def expected(self, values: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, k) of each hypothesis the weighted sum of (m, k) `values` over the references of its sentence."""
        sums = np.add.reduceat(values * weights[:, None], np.cumsum(self.sizes[:, 1]) - self.sizes[:, 1])
        return np.repeat(sums, self.sizes[:, 0], axis=0)

    @cached_property
    def _per_hypothesis(self) -> NDArray[np.int64]:
        return np.repeat(self.sizes[:, 1], self.sizes[:, 0])

    @cached_property
    def shared(self) -> SharedTexts:
        """The texts of both sides, each once a sentence."""
        return SharedTexts.of(self)


@dataclass(frozen=True)
class SharedTexts:
    """The distinct texts of each of S sentences, hypotheses and references together.

    Attributes:
        texts: u of them, those of a sentence together.
        offsets: (S + 1,) int64, which are a sentence's.
        hypothesis, reference: (n,) and (m,) int64, which text each hypothesis and each reference is.
        ends: (S + 1, 2) int64, which hypotheses and references are a sentence's.
    """

    texts: Corpus
    offsets: NDArray[np.int64]
    hypothesis: NDArray[np.int64]
    reference: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: CandidatePairs) -> SharedTexts:
        """Those of `pairs`."""
        sentences, n = np.arange(len(pairs.sizes), dtype=np.int32), len(pairs.hypotheses)
        owner, every = np.repeat(sentences, pairs.sizes[:, 0]), pairs.hypotheses
        if pairs.references is not pairs.hypotheses:
            owner = np.concatenate([owner, np.repeat(sentences, pairs.sizes[:, 1])])
            ids = np.concatenate([every.ids, pairs.references.ids])
            ends = np.concatenate([every.offsets, every.offsets[-1] + pairs.references.offsets[1:]])
            every = Corpus(ids, ends, every.vocabulary)
        rows, inverse = distinct(every, owner)
        offsets = np.searchsorted(owner[rows], np.arange(len(sentences) + 1))
        reference = inverse if len(every) == n else inverse[n:]
        ends = np.concatenate([np.zeros((1, 2), dtype=np.int64), np.cumsum(pairs.sizes, axis=0)])
        return cls(every.take(rows), offsets, inverse[:n], reference, ends)
