"""The features of a pair of sentences, straight from bytes: what runs for every pair of a pool of any size."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import borrowing, leading_bytes, load_word, nested, token_end
from lasw.selection.pool import EMPTY_SOURCE, EMPTY_TARGET, LENGTH, NO_POINTS, OK, OUT_OF_RANGE, READER

_WORD = 64  # source words a mask holds

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # as the hash of `lasw.metrics.text.corpus`
_SHIFT = np.uint64(32)
_ONE = np.uint64(1)
_NONE = np.uint64(0)


class WordTable(NamedTuple):
    """A fixed set of tokens. `slots` (power of two,) int64: number of a word plus 1, 0 is free; word k is
    `arena[starts[k]:starts[k + 1]]`; `longest` (1,) int64, bytes. `punctuation` (0x20000,) bool, by code point."""

    slots: NDArray[np.int64]
    starts: NDArray[np.int64]
    arena: NDArray[np.uint8]
    longest: NDArray[np.int64]
    punctuation: NDArray[np.bool_]


@nested
def _hash(data, start, end):  # type: ignore[no-untyped-def]
    h = np.uint64(end - start)
    while end - start > 8:
        h = (h ^ load_word(data, start)) * _FACTOR
        h ^= h >> _SHIFT
        start += 8
    h = (h ^ leading_bytes(data, start, end - start)) * _FACTOR
    return h ^ (h >> _SHIFT)


@borrowing
def fill_table(table):  # type: ignore[no-untyped-def]
    """Kernel: enter the words of the arena into the slots."""
    mask = np.uint64(table.slots.shape[0] - 1)
    for k in range(table.starts.shape[0] - 1):
        slot = _hash(table.arena, table.starts[k], table.starts[k + 1]) & mask
        while table.slots[slot] != 0:
            slot = (slot + _ONE) & mask
        table.slots[slot] = k + 1


@nested
def _is_word(table, data, start, end):  # type: ignore[no-untyped-def]
    size = end - start
    if size > table.longest[0]:
        return False
    mask = np.uint64(table.slots.shape[0] - 1)
    slot = _hash(data, start, end) & mask
    while table.slots[slot] != 0:
        k = table.slots[slot] - 1
        place = table.starts[k]
        if table.starts[k + 1] - place == size:
            same = 0
            while same < size and table.arena[place + same] == data[start + same]:
                same += 1
            if same == size:
                return True
        slot = (slot + _ONE) & mask
    return False


@nested
def _is_punctuation(table, data, start, end):  # type: ignore[no-untyped-def]
    """Whether every character of the token is punctuation or a symbol."""
    i = start
    while i < end:
        b = np.int64(data[i])
        if b < 0x80:
            code, size = b, 1
        elif b < 0xE0:
            code, size = ((b & 0x1F) << 6) | np.int64(data[i + 1] & 0x3F), 2
        elif b < 0xF0:
            code = ((b & 0x0F) << 12) | (np.int64(data[i + 1] & 0x3F) << 6) | np.int64(data[i + 2] & 0x3F)
            size = 3
        else:
            code = ((b & 0x07) << 18) | (np.int64(data[i + 1] & 0x3F) << 12)
            code |= (np.int64(data[i + 2] & 0x3F) << 6) | np.int64(data[i + 3] & 0x3F)
            size = 4
        if code >= table.punctuation.shape[0] or not table.punctuation[code]:
            return False
        i += size
    return True


@nested
def count_tokens(data, start, end):  # type: ignore[no-untyped-def]
    """Kernel: tokens of the line `data[start:end]`."""
    count = 0
    i = start
    while i < end:
        if data[i] == 32 or data[i] == 9:
            i += 1
        else:
            i = token_end(data, i)
            count += 1
    return count


@nested
def _count_function_words(table, data, start, end):  # type: ignore[no-untyped-def]
    count = 0
    i = start
    while i < end:
        if data[i] == 32 or data[i] == 9:
            i += 1
        else:
            stop = token_end(data, i)
            if _is_punctuation(table, data, i, stop) or _is_word(table, data, i, stop):
                count += 1
            i = stop
    return count


@nested
def _number(data, i, end):  # type: ignore[no-untyped-def]
    """The number at `i` and the place behind it; -1 if there is none or it is too large for a position."""
    value = np.int64(0)
    start = i
    while i < end and 48 <= data[i] <= 57:
        value = value * 10 + (data[i] - 48)
        i += 1
        if i - start > 9:
            return np.int64(-1), i
    if i == start:
        return np.int64(-1), i
    return value, i


@nested
def read_points(data, start, end, source, target, masks, width, keep):  # type: ignore[no-untyped-def]
    """Kernel: the points of one line, ``i-j``, ``i?j``, ``i-j:p``, into masks[j * width + i // 64] if `keep`.

    A possible point (``?``) is a point; a probability is read past. Returns OK, NO_POINTS or OUT_OF_RANGE.
    """
    i = start
    verdict = OK
    while i < end:
        if data[i] == 32 or data[i] == 9:
            i += 1
            continue
        row, i = _number(data, i, end)
        if row < 0 or i >= end or (data[i] != 45 and data[i] != 63):
            return NO_POINTS
        column, i = _number(data, i + 1, end)
        if column < 0:
            return NO_POINTS
        if i < end and data[i] == 58:
            begin = i + 1
            i = begin
            while i < end and data[i] != 32 and data[i] != 9:
                b = data[i]
                if not (48 <= b <= 57 or b == 46 or b == 45 or b == 43 or b == 101 or b == 69):
                    return NO_POINTS
                i += 1
            if i == begin:
                return NO_POINTS
        if i < end and data[i] != 32 and data[i] != 9:
            return NO_POINTS
        if row >= source or column >= target:
            verdict = OUT_OF_RANGE
        elif keep:
            masks[column * width + (row >> 6)] |= _ONE << np.uint64(row & 63)
    return verdict


@nested
def _bits(word):  # type: ignore[no-untyped-def]
    count = 0
    while word != _NONE:
        word &= word - _ONE
        count += 1
    return count


@nested
def alignment_features(masks, width, source, target, union, row):  # type: ignore[no-untyped-def]
    """Kernel: the ten features of table 4.1 that need the alignment, into row[:10]; negative ones with their sign."""
    for k in range(width):
        union[k] = _NONE
    aligned = run = gap = longest_run = longest_gap = 0
    first = second = third = 0
    for j in range(target):
        fertility = 0
        for k in range(width):
            word = masks[j * width + k]
            if word != _NONE:
                union[k] |= word
                fertility += _bits(word)
        if fertility > 0:
            aligned += 1
            run, gap = run + 1, 0
            longest_run = max(longest_run, run)
        else:
            run, gap = 0, gap + 1
            longest_gap = max(longest_gap, gap)
        if fertility > first:
            first, second, third = fertility, first, second
        elif fertility > second:
            second, third = fertility, second
        elif fertility > third:
            third = fertility
    source_aligned = run = gap = source_run = source_gap = 0
    for i in range(source):
        if (union[i >> 6] >> np.uint64(i & 63)) & _ONE:
            source_aligned += 1
            run, gap = run + 1, 0
            source_run = max(source_run, run)
        else:
            run, gap = 0, gap + 1
            source_gap = max(source_gap, gap)
    row[0] = source_aligned / source
    row[1] = aligned / target
    row[2] = (source_aligned + aligned) / (source + target)
    row[3] = -first / source
    row[4] = -second / source
    row[5] = -third / source
    row[6] = source_run / source
    row[7] = longest_run / target
    row[8] = -source_gap / source
    row[9] = -longest_gap / target


@borrowing
def pair_features(source, target, alignment, reader, low, high, table, sign, masks, union, out, verdicts, lengths):  # type: ignore[no-untyped-def]
    """Kernel: features and verdicts of n pairs.

    Args:
        source, target, alignment: LineArrays; an alignment without lines: its ten features stay 0.
        reader: (n,) uint8, the reader's verdicts.
        low, high: a pair counts if low < source tokens < high.
        table: WordTable of the target's function words and of punctuation.
        sign: of the function-word term.
        masks, union: scratch, uint64.
        out: (n, 12) float64; verdicts (n,) uint8; lengths (n, 2) int64: tokens of both sides.
    """
    with_points = alignment.starts.shape[0] > 0
    for k in range(reader.shape[0]):
        if reader[k] != 0:
            verdicts[k] = READER + reader[k]
            continue
        n = count_tokens(source.data, source.starts[k], source.ends[k])
        m = count_tokens(target.data, target.starts[k], target.ends[k])
        lengths[k, 0], lengths[k, 1] = n, m
        if n == 0 or m == 0:
            verdicts[k] = EMPTY_SOURCE if n == 0 else EMPTY_TARGET
            continue
        inside = low < n < high
        width = (n + _WORD - 1) // _WORD
        if with_points:
            if inside:
                for i in range(m * width):
                    masks[i] = _NONE
            verdict = read_points(alignment.data, alignment.starts[k], alignment.ends[k], n, m, masks, width, inside)
            if verdict != OK:
                verdicts[k] = verdict
                continue
        if not inside:
            verdicts[k] = LENGTH
            continue
        if with_points:
            alignment_features(masks, width, n, m, union, out[k])
        out[k, 10] = min(n, m) / max(n, m)
        words = _count_function_words(table, target.data, target.starts[k], target.ends[k])
        out[k, 11] = sign * np.exp(-words / m)
        verdicts[k] = OK
