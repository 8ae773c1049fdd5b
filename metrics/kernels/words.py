"""Eight bytes of text at once, from any place: what loops over single bytes are too slow for.

Words are read with the first byte lowest, on any machine. A test on all eight bytes sets the high bit of each byte that
passes; only the lowest one set is certain (borrows run upwards), which is the one that matters.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from lasw.metrics.kernels.compiling import nested

ONES = np.uint64(0x0101010101010101)
HIGH_BITS = np.uint64(0x8080808080808080)
_ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
_BITS = 64


def _load_word(typing_context: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        word = builder.load(builder.bitcast(place, ir.IntType(_BITS).as_pointer()), align=1)
        return word if sys.byteorder == "little" else builder.bswap(word)

    return types.uint64(data, types.intp), generate


def _lowest_bit(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.int64(types.uint64), generate


def _ones_in(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


load_word: Any = intrinsic(_load_word)
"""Kernel: `load_word(data, i)`, bytes i to i + 7 of an array of bytes as one number; bounds are not checked."""

lowest_bit: Any = intrinsic(_lowest_bit)
"""Kernel: `lowest_bit(word)`, the number of zero bits below the lowest bit set; 64 if there is none."""

ones_in: Any = intrinsic(_ones_in)
"""Kernel: `ones_in(word)`, how many bits of a word are set."""


@nested
def leading_bytes(data, i, size):  # type: ignore[no-untyped-def]
    """Kernel: bytes `i` to `i + size - 1` (at most 8) as a word with zeros above."""
    if size == 0:
        return np.uint64(0)
    if i + 8 <= data.shape[0]:
        return load_word(data, i) & (_ALL_BITS >> np.uint64(_BITS - 8 * size))
    word = np.uint64(0)
    for k in range(size - 1, -1, -1):
        word = (word << np.uint64(8)) | np.uint64(data[i + k])
    return word
