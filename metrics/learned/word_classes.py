"""Function words, punctuation and content words: what each token is, and how many of each a sentence has.

Function words are a list, by default the most frequent words of the references at hand, since what a language has most
of are its function words. Punctuation is what holds neither a letter nor a digit: Unicode's categories P and S.
"""

from __future__ import annotations

import importlib
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError
from lasw.metrics.kernels import borrowing
from lasw.metrics.text import Corpus, PerWord, Vocabulary

FUNCTION, PUNCTUATION, CONTENT = 0, 1, 2
CLASSES = 3
FUNCTION_WORDS = 100  # of a language (thesis 3.3)


def is_punctuation(token: str) -> bool:
    """Whether every character is punctuation or a symbol."""
    return all(unicodedata.category(character)[0] in "PS" for character in token)


def frequent_words(corpora: Iterable[Corpus], size: int = FUNCTION_WORDS) -> tuple[str, ...]:
    """The `size` most frequent words of some texts, punctuation left out; equally frequent ones by name."""
    counts: dict[str, int] = {}
    for corpus in corpora:
        ids, occurrences = np.unique(corpus.ids, return_counts=True)
        for index, count in zip(ids.tolist(), occurrences.tolist(), strict=True):
            word = corpus.vocabulary[index]
            counts[word] = counts.get(word, 0) + count
    words = [word for word in counts if not is_punctuation(word)]
    return tuple(sorted(words, key=lambda word: (-counts[word], word))[:size])


def listed_function_words(language: str, size: int = FUNCTION_WORDS) -> tuple[str, ...]:
    """The `size` most frequent words of a language by the package wordfreq, whose lists come with it.

    Raises:
        UserError: the package is not installed, or does not know the language.
    """
    try:
        package = importlib.import_module("wordfreq")
    except ImportError:
        raise UserError(
            "function words of a language need the package wordfreq", remedy="pip install wordfreq"
        ) from None
    try:
        words = package.top_n_list(language, 2 * size)
    except LookupError:
        raise UserError(f"no word list of language {language!r}", expected="a code such as en or de") from None
    return tuple([word for word in words if not is_punctuation(word)][:size])


class WordClasses:
    """The class of every word of one vocabulary, which may grow.

    Args:
        vocabulary: of the texts that will be counted.
        function_words: as they are spelt in those texts.
    """

    def __init__(self, vocabulary: Vocabulary, function_words: Sequence[str]) -> None:
        self._vocabulary = vocabulary
        self._function_words = frozenset(function_words)
        self._classes = PerWord(vocabulary, self._class_of, np.int8)

    def counts(self, corpus: Corpus) -> NDArray[np.int32]:
        """(n, 3) int32: function words, punctuation and content words of each sentence.

        Raises:
            TypeError: the corpus has another vocabulary.
        """
        if corpus.vocabulary is not self._vocabulary:
            raise TypeError("hypotheses and references must share one vocabulary")
        out = np.zeros((len(corpus), CLASSES), dtype=np.int32)
        _count(corpus.ids, corpus.offsets, self._classes.numbers(), out)
        return out

    def _class_of(self, token: str) -> int:
        if is_punctuation(token):
            return PUNCTUATION
        return FUNCTION if token in self._function_words else CONTENT


@borrowing
def _count(ids, offsets, classes, out):  # type: ignore[no-untyped-def]
    for row in range(out.shape[0]):
        for i in range(offsets[row], offsets[row + 1]):
            out[row, classes[ids[i]]] += 1
