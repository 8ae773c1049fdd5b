"""Damage to files: of single bytes, and of what they are made of (fields, numbers, brackets, lines), from a seed."""

# ruff: noqa: E501, RUF005 - tables
from __future__ import annotations

import bz2
import gzip
import lzma
import random
import re

NUMBERS = (
    b"0 -0 1 -1 2 007 1e5 1e-5 1e308 1e309 -1e309 1e-400 nan -nan NaN inf -inf Infinity 0x10 1_000 +1 .5 5. - . e 1e 1,5"
).split() + [
    b"9" * 20,
    b"9" * 400,
    b"9" * 5000,
    b"1" + b"0" * 30,
    "\u0661".encode(),
    b"2147483648",
    b"-9223372036854775809",
]
PIECES = (
    (
        b"||| | : = := ; , . # ## [ ] [weight] { } ({ }) ( ) \" ' \"\"\" ''' \\ \\u0000 \\ud800 / - -- _ $ % & null true [] {} NULL"
    ).split()
    + [
        b"",
        b" ",
        b"  ",
        b"\t",
        b"\r",
        b"\r\n",
        b"\n",
        b"\n\n",
        b"\0",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
    ]
    + [text.encode() for text in ("\u00a0", "\u2028", "\u200b", "\ufeff", "e\u0301", "\U0001f600", "\x85")]
)
_NUMBER = re.compile(rb"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
_FIELD = re.compile(rb"[^\s|:=,]+")
_MOST = 1 << 20


def mutated(random_: random.Random, seed: bytes, others: list[bytes]) -> bytes:
    """A damaged copy of `seed`; parts of `others` may come into it."""
    data = seed
    for _ in range(random_.choice((1, 1, 1, 2, 2, 3, 5, 9))):
        data = random_.choice(_KINDS)(random_, data, others)[:_MOST]
    if random_.random() < 0.04:
        packed = random_.choice((gzip.compress, bz2.compress, lzma.compress))(data)
        data = packed if random_.random() < 0.5 else _bytes(random_, packed, others)
    return data


def _place(random_: random.Random, data: bytes) -> int:
    return random_.randrange(len(data) + 1)


def _bytes(random_: random.Random, data: bytes, _: list[bytes]) -> bytes:
    out = bytearray(data)
    for _ in range(random_.choice((1, 1, 2, 8))):
        if out:
            place = random_.randrange(len(out))
            out[place] = random_.choice(
                (random_.randrange(256), out[place] ^ (1 << random_.randrange(8)), 0, 255, 10, 32)
            )
    return bytes(out)


def _cut(random_: random.Random, data: bytes, _: list[bytes]) -> bytes:
    a, b = sorted((_place(random_, data), _place(random_, data)))
    return random_.choice((data[:a], data[a:], data[:a] + data[b:], data[a:b]))


def _again(random_: random.Random, data: bytes, _: list[bytes]) -> bytes:
    a, b = sorted((_place(random_, data), _place(random_, data)))
    times = random_.choice((2, 2, 3, 50)) if b - a < 200 else 2
    return data[:a] + data[a:b] * times + data[b:]


def _inserted(random_: random.Random, data: bytes, _: list[bytes]) -> bytes:
    piece = random_.choice(PIECES if random_.random() < 0.7 else NUMBERS)
    place = _place(random_, data)
    return data[:place] + piece * random_.choice((1, 1, 1, 2, 300 if len(piece) < 9 else 1)) + data[place:]


def _replaced(pattern: re.Pattern[bytes], random_: random.Random, data: bytes, pieces: list[bytes]) -> bytes:
    found = list(pattern.finditer(data[:_MOST]))
    if not found:
        return data
    one = random_.choice(found)
    piece = random_.choice(found)[0] if random_.random() < 0.3 else random_.choice(pieces)
    return data[: one.start()] + piece + data[one.end() :]


def _number(random_: random.Random, data: bytes, _: list[bytes]) -> bytes:
    return _replaced(_NUMBER, random_, data, NUMBERS)


def _field(random_: random.Random, data: bytes, _: list[bytes]) -> bytes:
    return _replaced(_FIELD, random_, data, PIECES)


def _lines(random_: random.Random, data: bytes, others: list[bytes]) -> bytes:
    lines = data.split(b"\n")
    k, m = random_.randrange(len(lines)), random_.randrange(len(lines))
    way = random_.randrange(6)
    if way == 0:
        lines[k], lines[m] = lines[m], lines[k]
    elif way == 1:
        del lines[k]
    elif way == 2:
        lines.insert(m, lines[k])
    elif way == 3:
        lines.insert(m, random_.choice(random_.choice(others).split(b"\n")))
    elif way == 4:
        lines[k : k + 2] = [b"".join(lines[k : k + 2])]
    else:
        lines.insert(m, b"")
    return b"\n".join(lines)


def _nested(random_: random.Random, data: bytes, _: list[bytes]) -> bytes:
    opening, closing = random_.choice(((b"[", b"]"), (b"{", b"}"), (b'{"a":', b"}"), (b"(", b")"), (b"[[", b"]]")))
    place, depth = _place(random_, data), random_.choice((1, 3, 3000, 100_000))
    return data[:place] + opening * depth + random_.choice((b"", b"1")) + closing * depth + data[place:]


def _spliced(random_: random.Random, data: bytes, others: list[bytes]) -> bytes:
    other = random_.choice(others)
    return data[: _place(random_, data)] + other[_place(random_, other) :]


_KINDS = [
    _bytes,
    _bytes,
    _cut,
    _again,
    _inserted,
    _inserted,
    _number,
    _number,
    _field,
    _field,
    _lines,
    _lines,
    _nested,
    _spliced,
]
