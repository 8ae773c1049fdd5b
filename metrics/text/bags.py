"""Texts as bags of words: how many they have, how many different ones, and how much two texts have in common.

Between relative frequencies p and q of the words of two texts:

    similarity     sum over words of min(p, q): 1 for texts with the same frequencies, whatever their lengths
    common words   different words in both / different words in either (Jaccard)
    covered        tokens of the other text whose word this one has / all its tokens
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.text.corpus import Corpus


@dataclass(frozen=True)
class Bag:
    """The words of a text.

    Attributes:
        sentences: how many lines it has.
        counts: (V,) int64 occurrences of each word of the vocabulary that it was read with.
    """

    sentences: int
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, corpus: Corpus) -> Bag:
        """Of all sentences together."""
        return cls(len(corpus), np.bincount(corpus.ids, minlength=len(corpus.vocabulary)))

    @property
    def tokens(self) -> int:
        """All words, each as often as it is there."""
        return int(self.counts.sum())

    @property
    def words(self) -> int:
        """Different ones."""
        return int(np.count_nonzero(self.counts))

    def overlap(self, other: Bag) -> Overlap:
        """What it has in common with another text that was read with the same vocabulary; 0 where one is empty."""
        size = max(len(self.counts), len(other.counts))
        mine, theirs = (np.pad(bag.counts, (0, size - len(bag.counts))) for bag in (self, other))
        either = np.count_nonzero((mine > 0) | (theirs > 0))
        if not (self.tokens and other.tokens):
            return Overlap(0.0, 0.0, 0.0)
        return Overlap(
            float(np.minimum(mine / self.tokens, theirs / other.tokens).sum()),
            float(np.count_nonzero((mine > 0) & (theirs > 0)) / either),
            float(theirs[mine > 0].sum() / other.tokens),
        )


@dataclass(frozen=True)
class Overlap:
    """What two texts have in common, in [0, 1] each; see the module."""

    similarity: float
    common_words: float
    covered: float
