"""The fast way through N-best lists: one pass over the bytes of whole lines that are made as the first line is.

A line that is not, in whatever way, stops the kernel, and `lasw.tuning.formats.nbest.pattern` looks at it. Kernels see
the list's pattern as `lasw.tuning.formats.nbest.layout.LayoutArrays`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import HIGH_BITS, ONES, borrowing, intern_token, leading_bytes, load_word, lowest_bit, nested
from lasw.tuning.formats.nbest.floats import read_number
from lasw.tuning.formats.nbest.repeats import find_line, remember_line

DONE, CAREFUL, WORDS_FULL, NAMES_FULL = 0, 1, 2, 3
BYTE, ROW, TOKENS, ENTRIES, LINE, ZEROS, REORDERED, FIRST_LINE = range(8)  # places in `Rows.state`
_TAB, _LF, _SPACE, _BAR = 9, 10, 32, 124
_MOST_ID_DIGITS = 9  # certainly below 2^31
_BARS = np.uint64(0x7C7C7C7C7C7C7C7C)
_LFS = np.uint64(0x0A0A0A0A0A0A0A0A)
_ABOVE_SPACES = np.uint64(0x2121212121212121)
_NONE = np.uint64(0)


class Rows(NamedTuple):
    """What a block of at most n lines is read into.

    `owner` (n,) int32, `offsets` (n + 1,) int64, `ids` int32, `dense` (n, d), `score` (n,), `starts` (n + 1,) int64
    of the sparse `columns` int32 and `values`; `line_owner` (n,) int32 of all lines, also those that are skipped as
    repeated. `seen`: the last line on which each dense group stood, `stamps`: the same of each sparse feature.
    `state`: byte, row, tokens, sparse entries, lines; counts of zeros left out and of lines in another order; number
    of the block's first line.
    """

    owner: NDArray[np.int32]
    offsets: NDArray[np.int64]
    ids: NDArray[np.int32]
    dense: NDArray[np.float64]
    score: NDArray[np.float64]
    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    line_owner: NDArray[np.int32]
    seen: NDArray[np.int64]
    stamps: NDArray[np.int64]
    state: NDArray[np.int64]


@borrowing
def read_rows(data, layout, words, names, repeats, out):  # type: ignore[no-untyped-def]
    """Read lines of `data` from `out.state[BYTE]` on, until the end (DONE) or something else must be done first."""
    state = out.state
    features_at, score_at, fields = layout.facts[2], layout.facts[3], layout.facts[4]
    skipping = 0 <= features_at < score_at == fields - 1 and repeats.keys.shape[0] > 0
    while state[BYTE] < data.shape[0]:
        row, count = state[ROW], state[TOKENS]
        i, owner = _id(data, state[BYTE])
        if owner < 0:
            return CAREFUL
        slot, first, second = np.uint64(0), np.uint64(0), np.uint64(0)
        if skipping:
            end = _line_end(data, i)
            bars = _last_bars(data, i, end)
            slot, there, first, second = find_line(repeats, data, state[BYTE], bars)
            if there and _total(data, bars + 3)[0] == end:
                out.line_owner[state[LINE]] = owner
                state[LINE] += 1
                state[BYTE] = end + 1
                repeats.used[1] += 1
                continue
        while True:  # the hypothesis
            i = _blanks(data, i)
            if data[i] == _LF:
                return CAREFUL
            if _bar(data, i):
                i += 3
                break
            end = _token_end(data, i + 1)
            index = intern_token(words, data, i, end)
            if index < 0:
                return WORDS_FULL
            out.ids[count] = index
            count += 1
            i = end
        entries, zeros, reordered = state[ENTRIES], 0, 0
        out.score[row] = 0.0
        field = 2
        while True:
            read = True
            if field == features_at:
                if layout.facts[5]:
                    i = _numbers(data, i, out.dense, row, np.int64(0), layout.facts[5])
                else:
                    i, entries, zeros, reordered = _features(data, i, layout, names, out)
                    if i == -NAMES_FULL:
                        return NAMES_FULL
            elif field == score_at:
                i, out.score[row] = _total(data, i)
            else:
                read = False
                i = _ignored(data, i, layout, field < features_at)
            if i < 0:
                return CAREFUL
            while data[i] != _LF and not _bar(data, i):
                if read and data[i] != _SPACE and data[i] != _TAB:
                    return CAREFUL
                i += 1
            field += 1
            if data[i] == _LF:
                break
            i += 3
        if field != fields:
            return CAREFUL
        if features_at < 0:
            out.dense[row, 0] = out.score[row]
        out.owner[row] = owner
        out.line_owner[state[LINE]] = owner
        out.offsets[row + 1] = count
        out.starts[row + 1] = entries
        state[BYTE], state[ROW], state[TOKENS], state[ENTRIES] = i + 1, row + 1, count, entries
        state[LINE] += 1
        state[ZEROS] += zeros
        state[REORDERED] += reordered
        if skipping:
            remember_line(repeats, slot, first, second)
    return DONE


@nested
def _line_end(data, i):  # type: ignore[no-untyped-def]
    """The LF that ends the line at `i`."""
    while i + 8 <= data.shape[0]:
        ends = load_word(data, i) ^ _LFS
        found = (ends - ONES) & ~ends & HIGH_BITS
        if found != _NONE:
            return i + (lowest_bit(found) >> 3)
        i += 8
    while data[i] != _LF:
        i += 1
    return i


@nested
def _last_bars(data, start, end):  # type: ignore[no-untyped-def]
    """Where the last ``|||`` of a line begins."""
    i = end - 3
    while i > start and not _bar(data, i):
        i -= 1
    return i


@nested
def _bar(data, i):  # type: ignore[no-untyped-def]
    return data[i] == _BAR and data[i + 1] == _BAR and data[i + 2] == _BAR


@nested
def _token_ends(data, i):  # type: ignore[no-untyped-def]
    b = data[i]
    return b == _SPACE or _TAB <= b <= _LF or (b == _BAR and _bar(data, i))


@nested
def _token_end(data, i):  # type: ignore[no-untyped-def]
    """The first byte from `i` on that ends a token."""
    while i + 8 <= data.shape[0]:
        word = load_word(data, i)
        bars = word ^ _BARS
        stops = (((word - _ABOVE_SPACES) & ~word) | ((bars - ONES) & ~bars)) & HIGH_BITS  # bytes up to a space, bars
        if stops == _NONE:
            i += 8
            continue
        i += lowest_bit(stops) >> 3
        if _token_ends(data, i):
            return i
        i += 1
    while not _token_ends(data, i):
        i += 1
    return i


@nested
def _blanks(data, i):  # type: ignore[no-untyped-def]
    while data[i] == _SPACE or data[i] == _TAB:
        i += 1
    return i


@nested
def _id(data, i):  # type: ignore[no-untyped-def]
    """First byte behind the first ``|||`` and the sentence id; -1 if it is none."""
    i = _blanks(data, i)
    start = i
    owner = 0
    while 48 <= data[i] <= 57:
        owner = 10 * owner + np.int64(data[i]) - 48
        i += 1
        if i - start > _MOST_ID_DIGITS:
            return i, -1
    if i == start:
        return i, -1
    i = _blanks(data, i)
    return (i + 3, owner) if _bar(data, i) else (i, -1)


@nested
def _numbers(data, i, dense, row, column, size):  # type: ignore[no-untyped-def]
    """Read `size` numbers into `dense[row, column:]`; the byte behind them, -1 if they are no numbers."""
    for k in range(column, column + size):
        i = _blanks(data, i)
        dense[row, k], i, exact = read_number(data, i)
        if not exact or not _token_ends(data, i):
            return -1
    return i


@nested
def _total(data, i):  # type: ignore[no-untyped-def]
    i = _blanks(data, i)
    value, i, exact = read_number(data, i)
    return (i, value) if exact else (-1, 0.0)


@nested
def _ignored(data, i, layout, before):  # type: ignore[no-untyped-def]
    """The start of a field that is surely nothing to be read, by its first token; -1 if it must be looked at.

    That is an alignment, segmentation, a tree behind the features or named numbers before them.
    """
    i = _blanks(data, i)
    if data[i] == _LF or _bar(data, i):
        return i
    if layout.facts[2] < 0:
        return -1
    end = _token_end(data, i)
    if 48 <= data[i] <= 57:
        _value, j, _exact = read_number(data, i)
        if j == end:
            return -1
        for k in range(i + 1, end):
            # Digits and the marks of alignments, as in `MosesLayout`.
            if not (43 <= data[k] <= 61 or data[k] == 63) or data[k] == 47 or data[k] == 60:
                return -1
        return i
    if before:
        return i if data[end - 1] == 61 or data[end - 1] == 58 else -1  # = or :
    return i if data[i] == 40 else -1  # (


@nested
def _is_label(data, i, labels, start, end):  # type: ignore[no-untyped-def]
    if i + end - start > data.shape[0]:
        return False
    while end - start > 8:
        if load_word(data, i) != load_word(labels, start):
            return False
        i += 8
        start += 8
    return leading_bytes(data, i, end - start) == leading_bytes(labels, start, end - start)


@nested
def _features(data, i, layout, names, out):  # type: ignore[no-untyped-def]
    """Read a field of named features.

    Returns:
        The byte behind it or minus what must be done first, the sparse entries so far, the number of zeros left out,
        and whether the order is another.
    """
    groups = layout.sizes.shape[0]
    row = out.state[ROW]
    line = out.state[FIRST_LINE] + out.state[LINE]
    entry = out.state[ENTRIES]
    due, filled, reordered = 0, 0, 0
    while True:
        i = _blanks(data, i)
        if data[i] == _LF or _bar(data, i):
            break
        g = -1
        if due < groups and _is_label(data, i, layout.labels, layout.starts[due], layout.starts[due + 1]):
            g = due
            i += layout.starts[due + 1] - layout.starts[due]
        else:
            end, separator = i, -1
            while not _token_ends(data, end):
                if data[end] == layout.facts[0]:
                    separator = end
                end += 1
            if separator <= i:
                return -CAREFUL, 0, 0, 0
            size = separator + 1 - i
            for k in range(groups):
                start = layout.starts[k]
                if layout.starts[k + 1] - start == size and _is_label(data, i, layout.labels, start, start + size):
                    g = k
                    reordered = max(reordered, np.int64(g < due))
                    break
            if g < 0:
                c = intern_token(names, data, i, separator)
                if c < 0:
                    return -NAMES_FULL, 0, 0, 0
                i = _blanks(data, separator + 1)
                value, i, exact = read_number(data, i)
                if not exact or not _token_ends(data, i) or out.stamps[c] == line:
                    return -CAREFUL, 0, 0, 0
                out.stamps[c] = line
                if value != 0.0:
                    out.columns[entry] = c
                    out.values[entry] = value
                    entry += 1
                continue
            i += size
        if out.seen[g] == line:
            return -CAREFUL, 0, 0, 0
        out.seen[g] = line
        i = _numbers(data, i, out.dense, row, layout.columns[g], layout.sizes[g])
        if i < 0:
            return -CAREFUL, 0, 0, 0
        filled += 1
        due = g + 1
    if filled < groups:
        if not layout.facts[1] or filled == 0:
            return -CAREFUL, 0, 0, 0
        for k in range(groups):
            if out.seen[k] != line:
                out.dense[row, layout.columns[k] : layout.columns[k] + layout.sizes[k]] = 0.0
    return i, entry, groups - filled, reordered
