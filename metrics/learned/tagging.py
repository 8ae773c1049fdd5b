"""Tagged text: words and their parts of speech.

A tagged token is ``word|TAG``, parted at its last bar, as factored Moses systems read and write it. Tags may also stand
in a file beside the text (`joined`), or be made by a tagger whose model comes with its package (`tagger`, extra
``pos``).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from lasw.metrics.errors import UserError, unknown
from lasw.metrics.text import Corpus, PerWord, Vocabulary, tokens

BAR = "|"
TAGGERS = {"hanta-de": "morphmodel_ger.pgz", "hanta-en": "morphmodel_en.pgz", "hanta-nl": "morphmodel_dutch.pgz"}


def parted(token: str) -> tuple[str, str]:
    """Word and tag of ``word|TAG``; either is empty where there is none (``|`` is the word ``|`` without a tag)."""
    word, bar, tag = token.rpartition(BAR)
    return (word, tag) if bar and word else (token, "")


class TaggedText:
    """The words and the tags of texts over one vocabulary of ``word|TAG`` tokens, which may grow.

    Args:
        vocabulary: of the tagged tokens.

    Attributes:
        words, tags: vocabularies of what the tokens consist of.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.words, self.tags = Vocabulary(), Vocabulary()
        self._words = PerWord(vocabulary, lambda token: self.words.add(parted(token)[0]))
        self._tags = PerWord(vocabulary, lambda token: self.tags.add(parted(token)[1]) if parted(token)[1] else -1)

    def split(self, corpus: Corpus) -> tuple[Corpus, Corpus]:
        """The corpus' words and its tags, each a corpus of the same shape.

        Raises:
            UserError: a token has no tag.
            TypeError: the corpus has another vocabulary.
        """
        if corpus.vocabulary is not self._vocabulary:
            raise TypeError("hypotheses and references must share one vocabulary")
        words, tags = self._words.numbers()[corpus.ids], self._tags.numbers()[corpus.ids]
        bare = np.flatnonzero(tags < 0)
        if len(bare):
            line = int(np.searchsorted(corpus.offsets, bare[0], side="right"))
            raise UserError(
                f"token {self._vocabulary[int(corpus.ids[bare[0]])]!r} without a tag",
                path=corpus.path,
                line=line if corpus.path else None,
                expected="word|TAG",
                remedy="'lasw tag' makes such text",
            )
        parts = ((words, self.words), (tags, self.tags))
        first, second = (Corpus(ids, corpus.offsets, vocabulary, corpus.path) for ids, vocabulary in parts)
        return first, second


def joined(lines: Sequence[str], tags: Sequence[str], *, path: str, tag_path: str) -> list[str]:
    """Lines of ``word|TAG`` from lines of words and lines of as many tags.

    Raises:
        UserError: another number of lines or of tags in a line.
    """
    if len(lines) != len(tags):
        raise UserError(f"{len(tags)} lines", path=tag_path, expected=f"{len(lines)}, as many as {path} has")
    out = []
    for number, (line, tag_line) in enumerate(zip(lines, tags, strict=True), start=1):
        words, names = tokens(line), tokens(tag_line)
        if len(words) != len(names):
            raise UserError(
                f"{len(names)} tags", path=tag_path, line=number, expected=f"{len(words)}, one for each word of {path}"
            )
        out.append(_line(words, names, path, number))
    return out


def tagged(lines: Iterable[str], tag: Callable[[list[str]], list[str]], *, path: str) -> list[str]:
    """Lines of ``word|TAG`` from lines of words, by a tagger as `tagger` gives them."""
    out = []
    for number, line in enumerate(lines, start=1):
        words = tokens(line)
        out.append(_line(words, tag(words) if words else [], path, number))
    return out


def _line(words: list[str], tags: list[str], path: str, number: int) -> str:
    for tag in tags:
        if BAR in tag or not tag:
            raise UserError(f"tag {tag!r} of line {number}", path=path, expected="a tag without a bar")
    return " ".join(f"{word}{BAR}{tag}" for word, tag in zip(words, tags, strict=True))


def tagger(name: str) -> Callable[[list[str]], list[str]]:
    """A function from the words of a sentence to their tags.

    Args:
        name: one of `TAGGERS`.

    Raises:
        UserError: no such tagger, or its package is not installed.
    """
    if name not in TAGGERS:
        raise unknown("tagger", name, list(TAGGERS))
    try:
        package = importlib.import_module("HanTa.HanoverTagger")
    except ImportError:
        raise UserError(f"tagger {name!r} needs a package that is not installed", remedy="pip install HanTa") from None
    model = package.HanoverTagger(TAGGERS[name])
    return lambda words: [tag for _word, _lemma, tag in model.tag_sent(words)]
