"""Texts, one a line, and nothing else: a fixed number of lines for every sentence, or blank lines between sentences.

What OpenNMT (``-n_best N``), CTranslate2 and many scripts write. Where blank lines stand between the sentences every
blank line ends one: two of them leave a sentence without hypotheses, and a hypothesis has at least one token.
Features come from files of their own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError
from lasw.tuning.formats.nbest.layout import Fields, LayoutOptions, NBestLayout, Place, by_sentence
from lasw.tuning.nbest import NBest


class FlatLayout(NBestLayout):
    """Written with blank lines between the sentences."""

    holds = frozenset()
    only_texts = True

    def __init__(self, options: LayoutOptions | None = None) -> None:
        super().__init__(options)
        self._lines = self._sentence = 0

    @classmethod
    def detects(cls, line: str) -> bool:
        """Never: any text could be one."""
        return False

    def hypotheses(self, line: str, place: Place) -> Sequence[Fields]:
        """The text; whose it is `owners` says."""
        return (Fields(0, line, None, [], None),)

    def owners(self, lengths: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
        """See `NBestLayout`."""
        if self.options.size:
            owner = (self._lines + np.arange(len(lengths))) // self.options.size
            self._lines += len(lengths)
            return np.ones(len(lengths), dtype=np.bool_), owner.astype(np.int32)
        kept = lengths > 0
        owner = self._sentence + np.cumsum(~kept)
        self._sentence = int(owner[-1])
        return kept, owner[kept].astype(np.int32)

    def finish(self, path: str) -> None:
        """See `NBestLayout`.

        Raises:
            UserError: the last sentence has less lines than the others.
        """
        size = self.options.size
        if size and self._lines % size:
            raise UserError(
                f"{self._lines} lines",
                path=path,
                expected=f"a multiple of {size}, the number of hypotheses of every sentence (--nbest-size)",
                remedy="was the file cut off? With blank lines between the sentences leave --nbest-size out",
            )

    def text(self, nbest: NBest, path: str | os.PathLike[str] | None) -> Iterator[str]:
        """See `NBestLayout`; features and totals are left to others."""
        following = 0
        for sentence, rows in by_sentence(nbest):
            lines = [nbest.hypotheses.text(k) for k in rows]
            if not all(lines):
                raise UserError(
                    f"an empty hypothesis of sentence {sentence}", path=path, expected="text: it ends a list"
                )
            yield "\n" * (sentence - following) + "\n".join([*lines, "", ""])
            following = sentence + 1
