"""N-grams that long texts have in common with their references: time and memory grow with the length of the texts.

What counts sentences walks from place to place of a word, or keeps a trie of all orders. Of texts of millions of words
the one takes hours, the other gigabytes. Here n-grams are numbered an order at a time: an n-gram of n words is the
number of its first n - 1 words and the last one, looked up in a table that holds one order only and grows with the
n-grams that differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.kernels import borrowing
from lasw.metrics.ngram.trie import FREE, child_key, child_slot

MOST_NODES = 1 << 20  # of a trie of one segment's references; what has more n-grams is a long text

_NONE = -1  # stands behind each text, and where no n-gram begins
_FIRST_SLOTS = 1 << 12
_BLOCK = 1 << 22  # places; between two blocks signals are heeded


@dataclass(frozen=True)
class Common:
    """The n-grams of one order, N that differ in the references.

    Attributes:
        names: (words of all references,) int32, the number of the n-gram that begins at each; -1 where none does.
        limits: (N,) int32, how often one reference has it at most.
        counts: (N,) int32, how often the text has it.
    """

    names: NDArray[np.int32]
    limits: NDArray[np.int32]
    counts: NDArray[np.int32]

    @property
    def clipped(self) -> int:
        """N-grams of the text, each counted as often as one reference has it at most."""
        return int(np.minimum(self.limits, self.counts).sum(dtype=np.int64))


def common_ngrams(references: Sequence[NDArray[np.int32]], text: NDArray[np.int32], orders: int) -> Iterator[Common]:
    """What the references have of each order, from 1 on, and how often the text has it.

    Args:
        references: R texts.
        text: the one that is compared; as those of symbols from 0 on.
        orders: largest n-gram.
    """
    ends = np.cumsum([0, *(len(reference) + 1 for reference in references)])
    end = np.array([_NONE], dtype=np.int32)
    symbols = np.concatenate([part for one in (*references, text) for part in (one, end)], dtype=np.int32)
    inside = symbols[: ends[-1]] != _NONE
    for names, many in _named(symbols, orders, int(ends[-1])):
        limits: NDArray[np.int32] = np.zeros(many, dtype=np.int32)
        for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            limits = np.maximum(limits, _counted(names[first:last], many))
        yield Common(names[: ends[-1]][inside], limits, _counted(names[ends[-1] :], many))


def ngram_names(texts: NDArray[np.int32], offsets: NDArray[np.int64], orders: int) -> Iterator[NDArray[np.int32]]:
    """The n-grams of each order, from 1 on, of m texts.

    Args:
        texts: symbols of all of them, one behind the other.
        offsets: (m + 1,) into `texts`.
        orders: largest n-gram.

    Yields:
        (symbols,) int32, the number of the n-gram that begins at each; -1 where none does. Filled anew for the next.
    """
    places = np.arange(len(texts)) + np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    symbols = np.full(len(texts) + len(offsets) - 1, _NONE, dtype=np.int32)
    symbols[places] = texts
    for names, _ in _named(symbols, orders, len(symbols)):
        yield names[places]


def _named(symbols: NDArray[np.int32], orders: int, known: int) -> Iterator[tuple[NDArray[np.int32], int]]:
    """Names of n-grams of each order by the place that they begin at, and how many differ; -1: there is none.

    From place `known` on only those have a name that stand before it as well.
    """
    names = np.zeros(len(symbols), dtype=np.int32)
    for order in range(orders):
        keys, values = _table(_FIRST_SLOTS)
        place = many = 0
        while place < len(symbols):
            end = min(place + _BLOCK, len(symbols))
            place, many = _name(symbols, order, place, end, known, keys, values, many, names)
            if place < end:
                old, (keys, values) = (keys, values), _table(2 * len(keys))
                _moved(*old, keys, values)
        del keys, values
        yield names, many


def _table(slots: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    return np.zeros(slots, dtype=np.int64), np.empty(slots, dtype=np.int32)


def _counted(names: NDArray[np.int32], many: int) -> NDArray[np.int32]:
    """(many,) how often each occurs."""
    counts = np.zeros(many, dtype=np.int32)
    for first in range(0, len(names), _BLOCK):
        _count(names[first : first + _BLOCK], counts)
    return counts


@borrowing
def _name(symbols, order, first, last, known, keys, values, many, names):  # type: ignore[no-untyped-def]
    """Turn names of `order` symbols into those of one more, in place, as long as the table has room.

    Returns:
        The place where it stopped, and how many names there are.
    """
    mask = np.int64(keys.shape[0] - 1)
    most = 2 * (keys.shape[0] // 3)
    for i in range(first, last):
        if names[i] < 0:
            continue
        symbol = symbols[i + order]  # there is one: behind the last text stands a symbol that no n-gram reaches across
        if symbol < 0:
            names[i] = _NONE
            continue
        slot = child_slot(names[i], symbol, keys, mask)
        if keys[slot] == FREE:
            if i >= known:
                names[i] = _NONE
                continue
            if many == most:
                return i, many
            keys[slot] = child_key(names[i], symbol)
            values[slot] = many
            many += 1
        names[i] = values[slot]
    return last, many


@borrowing
def _moved(old_keys, old_values, keys, values):  # type: ignore[no-untyped-def]
    mask = np.int64(keys.shape[0] - 1)
    for i in range(old_keys.shape[0]):
        key = old_keys[i]
        if key != FREE:
            slot = child_slot(key >> 32, (key & 0xFFFFFFFF) - 1, keys, mask)
            keys[slot] = key
            values[slot] = old_values[i]


@borrowing
def _count(names, counts):  # type: ignore[no-untyped-def]
    for name in names:
        if name >= 0:
            counts[name] += 1
