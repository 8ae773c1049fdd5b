"""One fast look over raw bytes: line ends, NUL bytes, and whether they are valid UTF-8."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.kernels import HIGH_BITS, ONES, borrowing, nested

# Eight bytes are looked at as one word. A word has a zero byte where (w - 01..01) & ~w & 80..80 is not zero
# (exact as a yes or no); where a byte is to be found, xor with that byte eight times makes it zero.
_LOW7 = np.uint64(0x7F7F7F7F7F7F7F7F)
_LFS = np.uint64(0x0A0A0A0A0A0A0A0A)
_CRS = np.uint64(0x0D0D0D0D0D0D0D0D)
_TOP = np.uint64(56)
_SEVEN = np.uint64(7)
_NONE = np.uint64(0)


class Scan(NamedTuple):
    """What a block of bytes holds: counts, and the first offset of a NUL and of an invalid byte (-1: none)."""

    newlines: int
    carriage_returns: int
    nul: int
    invalid: int


def scan(data: NDArray[np.uint8]) -> Scan:
    """Look over `data` (n,): whole UTF-8 characters as RFC 3629 has them (no surrogates, no overlong forms)."""
    n = len(data) // 8 * 8
    words = np.ascontiguousarray(data[:n]).view(np.uint64)
    return Scan(*_scan(data, words))


@borrowing
def _scan(data, words):  # type: ignore[no-untyped-def]
    n = data.shape[0]
    newlines = 0
    carriage_returns = 0
    nul = -1
    done = 0  # bytes known to be valid: a character may reach into the next word
    for k in range(words.shape[0]):
        w = words[k]
        x = w ^ _LFS
        zero = ~(((x & _LOW7) + _LOW7) | x) & HIGH_BITS
        if zero != _NONE:
            newlines += np.int64(((zero >> _SEVEN) * ONES) >> _TOP)
        c = w ^ _CRS
        strange = (((w - ONES) & ~w) | ((c - ONES) & ~c) | w) & HIGH_BITS
        if strange == _NONE:
            continue
        end = 8 * k + 8
        for j in range(8 * k, end):
            if data[j] == 13:
                carriage_returns += 1
            elif data[j] == 0 and nul < 0:
                nul = j
        j = max(done, 8 * k)
        while j < end:
            size = _character(data, j, n)
            if size == 0:
                return newlines, carriage_returns, nul, j
            j += size
        done = j
    for j in range(8 * words.shape[0], n):
        newlines += data[j] == 10
        carriage_returns += data[j] == 13
        if data[j] == 0 and nul < 0:
            nul = j
    j = max(done, 8 * words.shape[0])
    while j < n:
        size = _character(data, j, n)
        if size == 0:
            return newlines, carriage_returns, nul, j
        j += size
    return newlines, carriage_returns, nul, -1


@nested
def _character(data, i, n):  # type: ignore[no-untyped-def]
    """Bytes of the UTF-8 character at `i`, 0 if it is none (table 3-7 of the Unicode standard)."""
    b = data[i]
    if b < 0x80:
        return 1
    if b < 0xC2 or b > 0xF4:
        return 0
    size = 2 if b < 0xE0 else (3 if b < 0xF0 else 4)
    if i + size > n:
        return 0
    low, top = 0x80, 0xBF
    if b == 0xE0:
        low = 0xA0
    elif b == 0xED:
        top = 0x9F
    elif b == 0xF0:
        low = 0x90
    elif b == 0xF4:
        top = 0x8F
    if data[i + 1] < low or data[i + 1] > top:
        return 0
    for j in range(2, size):
        if data[i + j] < 0x80 or data[i + j] > 0xBF:
            return 0
    return size
