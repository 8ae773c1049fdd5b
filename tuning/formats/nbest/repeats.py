"""Lines that came before: later lists of a tuning run repeat most of the candidates of earlier ones.

A line equal to an earlier one up to its total (which changes with the weights) is the same candidate, so a pool need
not read it again. Lines are told apart by 128 bits of hash; among a million lines the chance of any two clashing is
below 10^-26.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import borrowing, leading_bytes, load_word, nested

_MOST = 1 << 20  # lines remembered: bounds the memory to 32 MB, further ones are read every time
_FIRST = 1 << 12
# Odd numbers without pattern: 2^64 over the golden ratio, and 2^64 times the fraction of the square root of 3.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ROOT = np.uint64(0xBB67AE8584CAA73B)
_SHIFT = np.uint64(29)
_ROTATE, _BACK = np.uint64(31), np.uint64(33)
_NONE = np.uint64(0)


class RepeatArrays(NamedTuple):
    """For kernels: `keys` (power of two, 2) uint64, a row of zeros is free; `used` (2,): lines, and lines met again."""

    keys: NDArray[np.uint64]
    used: NDArray[np.int64]


class RepeatedLines:
    """The lines met so far; give the same object to all lists whose candidates go into one pool."""

    def __init__(self) -> None:
        self.arrays = RepeatArrays(np.zeros((_FIRST, 2), dtype=np.uint64), np.zeros(2, dtype=np.int64))

    @property
    def skipped(self) -> int:
        """How many lines were met again, and not read."""
        return int(self.arrays.used[1])

    def reserve(self, lines: int) -> None:
        """Make room for so many more lines, as far as they are remembered."""
        old, used = self.arrays
        wanted = 2 * min(int(used[0]) + lines, _MOST)
        if wanted > len(old):
            keys = np.zeros((1 << (wanted - 1).bit_length(), 2), dtype=np.uint64)
            _refill(keys, old)
            self.arrays = RepeatArrays(keys, used)


@nested
def find_line(repeats, data, start, end):  # type: ignore[no-untyped-def]
    """Kernel: (slot, whether the line `data[start:end]` is there, and its two hashes)."""
    first, second = np.uint64(end - start), _ROOT
    i = start
    while i < end:
        word = load_word(data, i) if end - i >= 8 else leading_bytes(data, i, end - i)
        first = (first ^ word) * _GOLDEN
        first ^= first >> _SHIFT
        second = ((second << _ROTATE) | (second >> _BACK)) + word
        second *= _ROOT
        i += 8
    second ^= second >> _SHIFT
    if first == _NONE:
        first = _GOLDEN
    mask = np.uint64(repeats.keys.shape[0] - 1)
    slot = (first ^ (first >> _SHIFT)) & mask
    while repeats.keys[slot, 0] != _NONE:
        if repeats.keys[slot, 0] == first and repeats.keys[slot, 1] == second:
            return slot, True, first, second
        slot = (slot + np.uint64(1)) & mask
    return slot, False, first, second


@nested
def remember_line(repeats, slot, first, second):  # type: ignore[no-untyped-def]
    """Kernel: put a line where `find_line` did not find it, if there is room."""
    if 2 * (repeats.used[0] + 1) <= repeats.keys.shape[0]:
        repeats.keys[slot, 0] = first
        repeats.keys[slot, 1] = second
        repeats.used[0] += 1


@borrowing
def _refill(keys, old):  # type: ignore[no-untyped-def]
    mask = np.uint64(keys.shape[0] - 1)
    for k in range(old.shape[0]):
        first = old[k, 0]
        if first != _NONE:
            slot = (first ^ (first >> _SHIFT)) & mask
            while keys[slot, 0] != _NONE:
                slot = (slot + np.uint64(1)) & mask
            keys[slot, 0] = first
            keys[slot, 1] = old[k, 1]
