"""A development set for every test sentence, and weights tuned on it (Liu et al. 2012).

The sentences of a large pool that are most like a test sentence, and those of a standard development set if there is
one, are its local development set; the weights are tuned on it alone, from the weights that are good for all. What the
decoder makes of the pool is decoded once: every set is a part of the same N-best lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError, read_lines
from lasw.tuning.formats import FilePath
from lasw.tuning.weights import Weights

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool

HEADER = "test_line\trank\tline\tsimilarity"
"""Of the table of sets that `lasw select --local` writes."""
_LONG = 19  # digits: no line has such a number, and no array holds it


def read_local_sets(path: FilePath) -> list[NDArray[np.int64]]:
    """The pool's lines, counted from 0, of every test sentence's set.

    Raises:
        UserError: no such table, a line that is no number of a line, or test sentences that are not all there in order.
    """
    lines = read_lines(path)
    if not lines or lines[0] != HEADER:
        raise UserError("no table of local sets", path=path, line=1, expected=HEADER.replace("\t", ", "))
    sets: list[list[int]] = []
    for number, line in enumerate(lines[1:], 2):
        fields = line.split("\t")
        numbers = [
            int(field) if field.isascii() and field.isdigit() and len(field) < _LONG else 0 for field in fields[:3]
        ]
        if len(fields) != 4 or min(numbers) < 1:
            raise UserError(f"{line[:60]!r}", path=path, line=number, expected="three numbers from 1 and a similarity")
        test, _, place = numbers
        if test not in (len(sets), len(sets) + 1) or not test:
            raise UserError(f"test sentence {test}", path=path, line=number, expected=f"{len(sets)} or {len(sets) + 1}")
        if test > len(sets):
            sets.append([])
        sets[-1].append(place - 1)
    return [np.unique(np.array(one, dtype=np.int64)) for one in sets]


def retrained(
    learn: Callable[[Pool], Weights], pool: Pool, sets: Sequence[NDArray[np.int64]], standard: int = 0
) -> Iterator[Weights]:
    """The weights of every test sentence, in order; equal sets have equal weights and are tuned on once.

    Args:
        learn: gives the weights that are good for a part of the pool.
        pool: N-best lists of all sentences that sets are made of.
        sets: sentences of the pool, for every test sentence.
        standard: so many first sentences of the pool are in every set.

    Raises:
        UserError: a sentence that the pool does not have, or a set without any list.
    """
    sentences = len(pool.starts) - 1
    if standard > sentences:
        raise UserError(f"{standard} standard sentences", expected=f"{sentences} at most, as many as the pool has")
    known: dict[bytes, Weights] = {}
    for number, one in enumerate(sets, 1):
        if len(one) and one[-1] >= sentences:
            raise UserError(f"line {one[-1] + 1} in the set of test sentence {number}", expected=f"{sentences} at most")
        keep = np.zeros(sentences, dtype=np.bool_)
        keep[:standard] = True
        keep[one] = True
        key = keep.tobytes()
        if key not in known:
            part = pool.of_sentences(keep)
            if not len(part):
                raise UserError(f"no N-best list for the set of test sentence {number}", expected="lists of the pool")
            known[key] = learn(part)
        yield known[key]
