"""What is noticed about a whole N-best list: the order of its sentence ids, missing ones, what was repaired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Blocks, UserError

_SHOWN = 5  # ids named in a message


@dataclass
class Notices:
    """Fed with the ids of every block, in order.

    Attributes:
        path: the list.
        segments: number of source sentences, None if it is not known.
        unsorted: whether ids may decrease.
        zeros, reordered: see `lasw.tuning.formats.nbest.pattern.Row`.
    """

    path: str
    segments: int | None
    unsorted: bool
    zeros: int = 0
    reordered: int = 0
    _last: int = 0
    _ids: list[NDArray[np.int32]] = field(default_factory=list)  # the distinct ones of every block

    def block(self, owner: NDArray[np.int32], lines: Sequence[int]) -> None:
        """Take in the ids (n,) on `lines` (n,).

        Raises:
            UserError: an id is smaller than the one before, or beyond the source.
        """
        if not self.unsorted:
            steps = np.diff(owner, prepend=np.int32(self._last))
            if steps.min() < 0:
                k = int(np.argmax(steps < 0))
                raise UserError(
                    f"sentence id {owner[k]} after {owner[k] - steps[k]}",
                    path=self.path,
                    line=lines[k],
                    expected="ids that never decrease",
                    remedy="if the list is whole, sort it by ids (sort -s -n), or give --unsorted where that exists",
                )
            self._last = int(owner[-1])
        largest = int(owner.max())
        if self.segments is not None and largest >= self.segments:
            k = int(np.argmax(owner >= self.segments))
            raise UserError(
                f"sentence id {owner[k]}",
                path=self.path,
                line=lines[k],
                expected=f"at most {self.segments - 1}, there are {self.segments} references",
                remedy=self._remedy(owner[: k + 1]),
            )
        self._ids.append(np.unique(owner))

    def warnings(self, blocks: Blocks) -> list[str]:
        """One line for everything that the user should know."""
        texts = []
        count, some = self._missing()
        if count:
            named = ", ".join(map(str, some)) + (", ..." if count > len(some) else "")
            texts.append(f"no hypotheses for {_count(count, 'sentence')} (id {named})")
        if self.zeros:
            texts.append(f"{_count(self.zeros, 'dense feature value')} not printed, taken as 0")
        if self.reordered:
            texts.append(f"{_count(self.reordered, 'line')} with the features in another order, read by their names")
        if blocks.carriage_returns:
            texts.append(f"{_count(blocks.carriage_returns, 'line')} ended in CR LF, the CR was dropped")
        if not blocks.final_newline:
            texts.append("the last line has no end; was the file cut off?")
        return [f"{self.path}: {text}" for text in texts]

    def _missing(self) -> tuple[int, list[int]]:
        """How many sentences have no hypothesis, and the first few of them; in memory of the ids that are there."""
        present = np.unique(np.concatenate(self._ids)).astype(np.int64)
        size = self.segments if self.segments is not None else int(present[-1]) + 1
        gaps = np.concatenate([[-1], present, [size]])
        some: list[int] = []
        for k in np.flatnonzero(np.diff(gaps) > 1).tolist():
            some += range(int(gaps[k]) + 1, min(int(gaps[k + 1]), int(gaps[k]) + 1 + _SHOWN))
            if len(some) >= _SHOWN:
                break
        return size - len(present), some[:_SHOWN]

    def _remedy(self, owner: NDArray[np.int32]) -> str:
        without_0 = owner.all() and all(ids[0] != 0 for ids in self._ids)
        if owner[-1] == self.segments and without_0:
            return "do the ids start at 1? They must start at 0"
        return "are these the references of this list?"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
