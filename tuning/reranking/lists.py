"""Lists sorted sentence by sentence in bounded memory, whatever the order is made of."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from lasw.tuning.nbest import NBest


class ListReranker(ABC):
    """Sorts the hypotheses of each sentence by numbers of its own, the largest first."""

    def sort(self, blocks: Iterable[NBest]) -> Iterator[NBest]:
        """The lists sorted, `score` being the new one, in blocks of whole sentences.

        Args:
            blocks: one list in parts, the hypotheses of a sentence one after the other; or one whole list in any order,
                which comes back ordered by sentence.

        Raises:
            UserError: as `scores`.
        """
        for nbest in whole_sentences(blocks):
            scored = dataclasses.replace(nbest, score=self.scores(nbest))
            yield scored.take(self.order(scored))

    @abstractmethod
    def scores(self, nbest: NBest) -> NDArray[np.float64]:
        """(n,) of each hypothesis; lists of whole sentences come in the order of the file."""

    def order(self, scored: NBest) -> NDArray[np.int64]:
        """(n,) rows by sentence, score and place in the list."""
        return np.asarray(np.lexsort((-scored.score, scored.owner)))

    @abstractmethod
    def warnings(self) -> tuple[str, ...]:
        """To be asked behind the last block: one line each, for the user."""


def one_per_sentence(nbest: NBest) -> Iterator[tuple[int, str]]:
    """(sentence, text) of the first hypothesis of each sentence of a list ordered by sentence."""
    first = np.flatnonzero(np.diff(nbest.owner, prepend=np.int32(-1)))
    texts = nbest.hypotheses.take(first)
    for k, owner in enumerate(nbest.owner[first].tolist()):
        yield owner, texts.text(k)


def whole_sentences(blocks: Iterable[NBest]) -> Iterator[NBest]:
    """The same hypotheses in blocks that end where a sentence ends."""
    waiting: NBest | None = None
    for block in blocks:
        if not len(block):
            continue
        joined = block if waiting is None else NBest.joined([waiting, block])
        last = int(np.argmax(joined.owner == joined.owner[-1]))
        # Ids that decrease come from a whole list, which is the only block.
        if last and (np.diff(joined.owner) >= 0).all():
            yield joined.take(np.arange(last))
            joined = joined.take(np.arange(last, len(joined)))
        waiting = joined
    if waiting is not None:
        yield waiting
