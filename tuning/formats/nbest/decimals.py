"""float64 as the bytes that `repr` gives: the shortest decimal that is read as the same number, of those the closest.

Giulietti's way (Schubfach, "The Schubfach way to render doubles", 2020, section 9): one 128-bit power of ten takes a
number and the ends of the interval that rounds to it to a scale at which four candidates are left.
"""

from __future__ import annotations

import numpy as np

from lasw.metrics import nested
from lasw.tuning.formats.nbest.floats import powers_of_five, product_of_words

LONGEST = 24  # bytes of a number
_SMALLEST, _LARGEST = -292, 324  # powers of ten that take a float64 to that scale
_FRACTION = np.uint64((1 << 52) - 1)
_HIDDEN = np.uint64(1 << 52)
_EXPONENTS = np.uint64(0x7FF)
_BIAS = 1075
_SIGN = np.uint64(63)
_NONE, _ONE, _TWO, _THREE, _FOUR = (np.uint64(k) for k in (0, 1, 2, 3, 4))
_TEN, _FORTY = np.uint64(10), np.uint64(40)
_POINT, _ZERO, _MINUS, _PLUS, _E = 46, 48, 45, 43, 101


_TENS = powers_of_five(_SMALLEST, _LARGEST, 0)  # rounded up


@nested
def write_number(bits, out, i):  # type: ignore[no-untyped-def]
    """Kernel: write the finite float64 with the given bits at `out[i]`; the first byte behind it."""
    if bits >> _SIGN != _NONE:
        out[i] = _MINUS
        i += 1
    fraction = bits & _FRACTION
    biased = np.int64((bits >> np.uint64(52)) & _EXPONENTS)
    if biased == 0 and fraction == _NONE:
        out[i], out[i + 1], out[i + 2] = _ZERO, _POINT, _ZERO
        return i + 3
    if biased == 0:
        digits, power = _shortest(fraction, np.int64(1 - _BIAS), False)
    else:
        digits, power = _shortest(fraction | _HIDDEN, biased - _BIAS, fraction == _NONE and biased > 1)
    while digits % _TEN == _NONE:
        digits //= _TEN
        power += 1
    return _write_decimal(digits, power, out, i)


@nested
def _shortest(whole, exponent, narrow):  # type: ignore[no-untyped-def]
    """Digits and power of ten of the decimal for `whole` times 2^exponent; `narrow`: its lower neighbour is nearer."""
    odd = whole & _ONE
    power = (exponent * 1262611 - (524031 if narrow else 0)) >> 22  # floor of the logarithm of 2^exponent (times 3/4)
    shift = np.uint64(exponent + ((-power * 1741647) >> 19) + 1)
    row = -power - _SMALLEST
    high, low = _TENS[row, 0], _TENS[row, 1]
    four = whole << _TWO
    lower = _scaled(high, low, (four - (_ONE if narrow else _TWO)) << shift) + odd
    value = _scaled(high, low, four << shift)
    upper = _scaled(high, low, (four + _TWO) << shift) - odd
    digits = value >> _TWO
    if digits >= _TEN:
        fewer = digits // _TEN
        below, above = lower <= _FORTY * fewer, _FORTY * fewer + _FORTY <= upper
        if below != above:
            return fewer + (_ONE if above else _NONE), power + 1
    below, above = lower <= digits << _TWO, (digits << _TWO) + _FOUR <= upper
    if below != above:
        return digits + (_ONE if above else _NONE), power
    middle = (digits << _TWO) + _TWO
    up = value > middle or (value == middle and digits & _ONE != _NONE)
    return digits + (_ONE if up else _NONE), power


@nested
def _scaled(high, low, number):  # type: ignore[no-untyped-def]
    """The upper 64 bits of a 192-bit product, its last bit set where any below them is: rounded to odd."""
    carried, _ = product_of_words(low, number)
    upper, middle = product_of_words(high, number)
    total = middle + carried
    if total < middle:
        upper += _ONE
    return upper | (_ONE if total > _ONE else _NONE)


@nested
def _write_decimal(digits, power, out, i):  # type: ignore[no-untyped-def]
    """`digits` times 10^power as `repr` writes it: with an exponent below 1e-4 and from 1e16 on."""
    count, rest = 0, digits
    while rest != _NONE:
        rest //= _TEN
        count += 1
    point = count + power  # digits before the point
    if -4 < point <= 0:
        for k in range(2 - point):
            out[i + k] = _ZERO
        out[i + 1] = _POINT
        return _write_digits(digits, out, i + 2 - point, count)
    if 0 < point <= 16:
        if power >= 0:
            end = _write_digits(digits, out, i, count)
            for k in range(power):
                out[end + k] = _ZERO
            end += power
            out[end], out[end + 1] = _POINT, _ZERO
            return end + 2
        end = _write_digits(digits, out, i + 1, count)
        for k in range(point):
            out[i + k] = out[i + k + 1]
        out[i + point] = _POINT
        return end
    end = _write_digits(digits, out, i + 1, count)
    out[i] = out[i + 1]
    out[i + 1] = _POINT
    end = end if count > 1 else i + 1
    exponent = point - 1
    out[end], out[end + 1] = _E, _PLUS if exponent > 0 else _MINUS
    exponent = abs(exponent)
    return _write_digits(np.uint64(exponent), out, end + 2, 2 if exponent < 100 else 3)


@nested
def _write_digits(number, out, i, count):  # type: ignore[no-untyped-def]
    """`number` in `count` digits."""
    for k in range(count - 1, -1, -1):
        out[i + k] = _ZERO + np.int64(number % _TEN)
        number //= _TEN
    return i + count


@nested
def write_whole(number, out, i):  # type: ignore[no-untyped-def]
    """Kernel: write a whole number from 0 on at `out[i]`; the first byte behind it."""
    count, rest = 1, number // 10
    while rest:
        rest //= 10
        count += 1
    return _write_digits(np.uint64(number), out, i, count)
