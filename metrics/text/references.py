"""What systems are compared with: one or more references for each of n segments."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError
from lasw.metrics.text.corpus import Corpus, Vocabulary, check_parallel, read_corpora


@dataclass(frozen=True)
class References:
    """One or more references for each of n segments: `corpora` holds R corpora of n sentences, one vocabulary.

    Raises:
        UserError: the corpora differ in length, or there is none.
        TypeError: they do not share one vocabulary object.
    """

    corpora: tuple[Corpus, ...]

    def __post_init__(self) -> None:
        if not self.corpora:
            raise UserError("no references", expected="at least one")
        first = self.corpora[0]
        for other in self.corpora[1:]:
            check_parallel(first, other)
            if other.vocabulary is not first.vocabulary:
                raise TypeError("references must share one vocabulary")

    def __len__(self) -> int:
        return len(self.corpora[0])

    def __repr__(self) -> str:
        return f"References({len(self)} segments, {len(self.corpora)} each, {len(self.vocabulary)} words)"

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary that hypotheses must share."""
        return self.corpora[0].vocabulary

    def take(self, rows: NDArray[np.integer]) -> References:
        """Of the segments `rows` (m,), in that order."""
        return References(tuple(corpus.take(rows) for corpus in self.corpora))

    @classmethod
    def read(
        cls,
        paths: Iterable[str | os.PathLike[str]],
        *,
        preprocess: Callable[[str], str] | None = None,
        encoding: str = "utf-8",
    ) -> References:
        """From files, one a reference set, a segment a line; other arguments as `read_corpus`.

        Raises:
            UserError: there is none, one cannot be read, is empty or is no text, or they differ in length.
        """
        return cls(read_corpora(paths, Vocabulary(), preprocess=preprocess, encoding=encoding))

    @classmethod
    def from_lines(cls, *sets: Sequence[str], vocabulary: Vocabulary | None = None) -> References:
        """From lists of n lines, one list a reference set, as files have them: ``from_lines(first, second)``.

        Each set is an argument of its own, because of a list of lists nobody can tell whether its rows are sets or
        segments where both are equally many.

        Raises:
            TypeError: a set is one string, or holds lists.
            UserError: the sets differ in length, or there is none.
        """
        for lines in sets:
            if isinstance(lines, (str, bytes)) or not all(issubclass(kind, str) for kind in set(map(type, lines))):
                raise TypeError("a reference set is a list of lines; give each set as an argument of its own")
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        return cls(tuple(Corpus.from_lines(lines, vocabulary) for lines in sets))
