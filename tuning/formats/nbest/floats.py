"""Decimal numbers in raw bytes, read to the bits that `float` gives.

Short numbers take Clinger's way (PLDI 1990): a whole number below 2^53 times or over an exact power of ten rounds once.
Longer ones, up to 19 digits, are multiplied by a 128-bit power of five (Lemire, "Number parsing at a gigabyte per
second", 2021, section 5). The few that neither settles are left to `float`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import borrowing, nested

_MAX_DIGITS = 19  # fit 64 bits
_EXACT_POWER = 22  # 10^22 is the largest power of ten that is a float64
_EXACT_WHOLE = np.uint64(1 << 53)
_SMALLEST, _LARGEST = -342, 308  # powers of ten outside give 0 or infinity with 19 digits
_MAX_EXPONENT = 9999  # larger ones are left to `float`, so that sums do not overflow

_TENS = np.array([10.0**k for k in range(_EXACT_POWER + 1)])
_LOW32 = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ZERO, _ONE, _THREE = np.uint64(0), np.uint64(1), np.uint64(3)
_NINE_BITS = np.uint64(0x1FF)
_ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)


def powers_of_five(smallest: int, largest: int, up_from: int) -> NDArray[np.uint64]:
    """(n, 2): the 128 leading bits of 5^q, and so of 10^q, as high and low word.

    Rounded up for q below 0 and from `up_from` on, else down.
    """
    words = []
    for power in range(smallest, largest + 1):
        value = 5 ** abs(power)
        if power >= 0:
            shift = value.bit_length() - 128
            bits = (value + (1 << shift) - 1 if power >= up_from else value) >> shift if shift > 0 else value << -shift
        else:
            bits = (1 << (value.bit_length() + 127)) // value + 1
        words.append((bits >> 64, bits & (2**64 - 1)))
    return np.array(words, dtype=np.uint64)


_FIVES = powers_of_five(_SMALLEST, _LARGEST, _LARGEST + 1)


@nested
def read_number(data, i):  # type: ignore[no-untyped-def]
    """Kernel: the number at byte `i` as (value, first byte behind it, whether it is one that was read exactly).

    Infinities, NaN, more than 19 digits and what under- or overflows are not read. `data` must go on behind the number.
    """
    negative = data[i] == 45
    if negative or data[i] == 43:
        i += 1
    first = i
    whole = np.uint64(0)
    power = 0
    d = np.int64(data[i]) - 48
    while 0 <= d <= 9:
        whole = whole * np.uint64(10) + np.uint64(d)
        i += 1
        d = np.int64(data[i]) - 48
    digits = i - first
    if d == -2:  # a point
        i += 1
        point = i
        d = np.int64(data[i]) - 48
        while 0 <= d <= 9:
            whole = whole * np.uint64(10) + np.uint64(d)
            i += 1
            d = np.int64(data[i]) - 48
        power = point - i
        digits -= power
    if digits == 0:
        return 0.0, i, False
    if d == 21 or d == 53:  # E, e
        i += 1
        minus = data[i] == 45
        if minus or data[i] == 43:
            i += 1
        exponent = 0
        start = i
        while 48 <= data[i] <= 57:
            exponent = min(10 * exponent + np.int64(data[i]) - 48, _MAX_EXPONENT)
            i += 1
        if i == start or exponent == _MAX_EXPONENT:
            return 0.0, i, False
        power += -exponent if minus else exponent
    if digits > _MAX_DIGITS:
        while data[first] == 48 or data[first] == 46:
            digits -= data[first] == 48
            first += 1
        if digits > _MAX_DIGITS:
            return 0.0, i, False
    if whole <= _EXACT_WHOLE and -_EXACT_POWER <= power <= _EXACT_POWER:
        value = np.float64(np.int64(whole))
        value = value / _TENS[-power] if power < 0 else value * _TENS[power]
    else:
        value = _long_number(whole, power)
        if value < 0.0:
            return 0.0, i, False
    return -value if negative else value, i, True


@nested
def product_of_words(a, b):  # type: ignore[no-untyped-def]
    """High and low word of the 128-bit product of two words."""
    low = (a & _LOW32) * (b & _LOW32)
    cross = (a >> _HALF) * (b & _LOW32) + (low >> _HALF)
    middle = (a & _LOW32) * (b >> _HALF) + (cross & _LOW32)
    high = (a >> _HALF) * (b >> _HALF) + (cross >> _HALF) + (middle >> _HALF)
    return high, (middle << _HALF) | (low & _LOW32)


@nested
def _long_number(whole, power):  # type: ignore[no-untyped-def]
    """`whole` times 10^power, rounded to nearest; -1 where this way cannot tell, or the result is not normal."""
    if whole == _ZERO:
        return 0.0
    if power < _SMALLEST or power > _LARGEST:
        return -1.0
    zeros = 0
    while whole >> np.uint64(63) == _ZERO:
        whole <<= _ONE
        zeros += 1
    row = power - _SMALLEST
    high, low = product_of_words(whole, _FIVES[row, 0])
    if high & _NINE_BITS == _NINE_BITS:
        more, _rest = product_of_words(whole, _FIVES[row, 1])
        low += more
        if low < more:
            high += _ONE
        if low == _ALL_BITS and not -27 <= power <= 55:
            return -1.0
    top = high >> np.uint64(63)
    shift = top + np.uint64(9)
    mantissa = high >> shift
    # (152170 + 65536) * power >> 16 is the floor of power * log2(10) in this range; 1023 is the bias of float64.
    exponent = ((217706 * power) >> 16) + 63 + np.int64(top) - zeros + 1023
    if exponent <= 0:
        return -1.0
    if low <= _ONE and -4 <= power <= 23 and mantissa & _THREE == _ONE and mantissa << shift == high:
        mantissa -= _ONE  # exactly between two: the even one
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    if exponent >= 2046:  # may round up to infinity
        return -1.0
    return math.ldexp(np.float64(np.int64(mantissa)), exponent - 1075)  # exact: 52 bits of fraction and the bias


@borrowing
def read_matrix(data, out):  # type: ignore[no-untyped-def]
    """Kernel: fill `out` (n, d) from n lines of d numbers between blanks; False if they are not all just that."""
    i = 0
    for row in range(out.shape[0]):
        for k in range(out.shape[1]):
            i = _behind_blanks(data, i)
            out[row, k], i, exact = read_number(data, i)
            if not exact or data[i] > 32:
                return False
        i = _behind_blanks(data, i)
        if data[i] != 10:
            return False
        i += 1
    return True


@nested
def _behind_blanks(data, i):  # type: ignore[no-untyped-def]
    while data[i] == 32 or data[i] == 9:
        i += 1
    return i
