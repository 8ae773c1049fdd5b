"""Names of sparse features, a million at a time: as strings, and from one vocabulary to another."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Vocabulary, borrowing, intern_token


def names_from(vocabulary: Vocabulary, first: int) -> tuple[str, ...]:
    """The words of a vocabulary from number `first` on."""
    count = len(vocabulary)
    places = vocabulary.arrays.starts[first : count + 1].tolist()
    start = places[0]
    data = vocabulary.arrays.arena[start : places[-1]].tobytes()
    return tuple([data[a - start : b - start].decode() for a, b in pairwise(places)])


def numbers_in(target: Vocabulary, source: Vocabulary, which: NDArray[np.int64]) -> NDArray[np.int32]:
    """(m,) the numbers in `target` of the words `which` (m,) of `source`, new ones for those that it does not have."""
    numbers = np.empty(len(which), dtype=np.int32)
    starts, arena = source.arrays.starts, source.arrays.arena
    longest = int((starts[which + 1] - starts[which]).max(initial=0))
    done = 0
    while (done := int(_intern(target.arrays, starts, arena, which, done, numbers))) < len(which):
        target.grow(longest)
    return numbers


@borrowing
def _intern(vocabulary, starts, arena, which, done, numbers):  # type: ignore[no-untyped-def]
    """Fill `numbers` from `done` on; how far it came before the vocabulary was full."""
    for k in range(done, which.shape[0]):
        word = which[k]
        number = intern_token(vocabulary, arena, starts[word], starts[word + 1])
        if number < 0:
            return k
        numbers[k] = number
    return which.shape[0]
