"""Decimal numbers to the bit: against Python's own float."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lasw.tuning.formats.nbest.floats import read_matrix, read_number


def read(text: str) -> tuple[float, int, bool]:
    return read_number(np.frombuffer(text.encode() + b" \n", dtype=np.uint8), 0)


def same_bits(a: float, b: float) -> bool:
    return struct.pack("d", a) == struct.pack("d", b)


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=500, deadline=None)
def test_repr_of_any_float_is_read_to_its_bits_or_left_alone(value):
    got, end, exact = read(repr(value))
    if exact:
        assert same_bits(got, value)
        assert end == len(repr(value))
    else:  # only what is not normal, or rounds near a half in the 128th bit
        assert value != 0
        assert abs(value) < 1e-290 or abs(value) > 1e290


def test_random_spellings():
    rng = random.Random(5)
    exact_ones = 0
    for _ in range(20_000):
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 18)))
        point = rng.randint(0, len(digits))
        text = rng.choice(["", "-", "+"]) + digits[:point] + rng.choice([".", ""]) + digits[point:]
        text += rng.choice(["", f"e{rng.randint(-300, 280)}", f"E+{rng.randint(0, 30):02d}"])
        got, end, exact = read(text)
        exact_ones += exact
        if exact:
            assert same_bits(got, float(text)), text
            assert end == len(text)
    assert exact_ones > 19_000


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-05", 1e-5),
        ("1e+05", 1e5),
        ("-0", -0.0),
        ("5.", 5.0),
        (".5", 0.5),
        ("0.00012345678901234567", 0.00012345678901234567),
    ],
)
def test_spellings(text, value):
    got, end, exact = read(text)
    assert exact
    assert end == len(text)
    assert same_bits(got, value)


@pytest.mark.parametrize(
    "text", ["", "-", ".", "e5", "nan", "-inf", "1e", "1e+", "1e999999", "123456789012345678901", "1e400", "5e-324"]
)
def test_left_to_float(text):
    assert not read(text)[2]


def test_halves_round_to_even():
    for whole in (2**53 + 1, 2**53 + 3, 2**54 + 2, 2**54 + 6):
        got, _, exact = read(str(whole))
        assert exact
        assert same_bits(got, float(whole))


def test_matrix():
    out = np.empty((2, 2))
    assert read_matrix(np.frombuffer(b"1 2\n-3.5\t 4e1 \n", dtype=np.uint8), out)
    assert out.tolist() == [[1, 2], [-3.5, 40]]
    assert not read_matrix(np.frombuffer(b"1 2 3\n3 4\n", dtype=np.uint8), out)
    assert not read_matrix(np.frombuffer(b"1 2\n3\n4\n", dtype=np.uint8), out)
