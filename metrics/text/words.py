"""What is known of the words of a vocabulary that grows as text comes in, found out once for each word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lasw.metrics.text.corpus import Corpus, Vocabulary


class PerWord:
    """A number of every word.

    Args:
        vocabulary: of the words.
        number_of: from a word to its number.
        dtype: of the numbers.
    """

    def __init__(self, vocabulary: Vocabulary, number_of: Callable[[str], int], dtype: DTypeLike = np.int32) -> None:
        self._vocabulary, self._number_of = vocabulary, number_of
        self._numbers: NDArray[Any] = np.empty(0, dtype=dtype)

    def numbers(self) -> NDArray[Any]:
        """(V,) of all words that the vocabulary has by now."""
        done, now = len(self._numbers), len(self._vocabulary)
        if done < now:
            new = [self._number_of(self._vocabulary[k]) for k in range(done, now)]
            self._numbers = np.concatenate([self._numbers, np.array(new, dtype=self._numbers.dtype)])
        return self._numbers


class Spelling:
    """Every word as a sequence of symbols: its characters, or the words that it falls apart into.

    Args:
        vocabulary: of the words; the symbols may be words of it, which makes it grow.
        spell: from a word to its symbols, numbers of any kind.
    """

    def __init__(self, vocabulary: Vocabulary, spell: Callable[[str], list[int]]) -> None:
        self._vocabulary, self._spell = vocabulary, spell
        self._symbols: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._offsets: NDArray[np.int64] = np.zeros(1, dtype=np.int64)

    def of(self, corpus: Corpus) -> Corpus:
        """The sentences as symbols, which need not be ids of the corpus' vocabulary."""
        self._learn(int(corpus.ids.max(initial=-1)) + 1)
        words = Corpus(self._symbols, self._offsets, self._vocabulary).take(corpus.ids)
        return Corpus(words.ids, words.offsets[corpus.offsets], corpus.vocabulary, corpus.path)

    def _learn(self, words: int) -> None:
        done = len(self._offsets) - 1
        if done < words:
            spelt = [self._spell(self._vocabulary[k]) for k in range(done, words)]
            flat = np.array([symbol for symbols in spelt for symbol in symbols], dtype=np.int32)
            ends = self._offsets[-1] + np.cumsum([len(symbols) for symbols in spelt], dtype=np.int64)
            self._symbols, self._offsets = np.concatenate([self._symbols, flat]), np.concatenate([self._offsets, ends])
