"""Kernels of the pool: merging equal candidates, scores that depend on nothing but the row."""

from __future__ import annotations

import numpy as np

from lasw.metrics import borrowing, nested

# Multiplier and shift of a 64-bit multiplicative hash (the fractional part of the golden ratio, odd).
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@nested
def _mix(h, value):  # type: ignore[no-untyped-def]
    h = (h ^ value) * _GOLDEN
    return h ^ (h >> _SHIFT)


@nested
def _row_hash(owner, ids, start, end, bits, row, columns, values, first, last):  # type: ignore[no-untyped-def]
    h = _mix(np.uint64(owner), np.uint64(end - start))
    for i in range(start, end):
        h = _mix(h, np.uint64(ids[i]))
    for j in range(bits.shape[1]):
        h = _mix(h, bits[row, j])
    for i in range(first, last):
        h = _mix(_mix(h, np.uint64(columns[i])), values[i])
    return h


@borrowing
def merge(new, pool, table, hashes, count):  # type: ignore[no-untyped-def]
    """Append to the pool the rows of `new` that it does not have yet.

    `new` and `pool` are (owner, ids, offsets, dense bits, sparse starts, sparse columns, sparse bits), and the pool's
    arrays have room for all of `new`. `table` (power of two) holds rows of the pool, -1 is free.

    Returns:
        The number of candidates in the pool, `count` before.
    """
    owner, ids, offsets, bits, starts, columns, values = new
    all_owner, all_ids, all_offsets, all_bits, all_starts, all_columns, all_values = pool
    mask = np.uint64(table.shape[0] - 1)
    n = count
    for row in range(owner.shape[0]):
        start, end = offsets[row], offsets[row + 1]
        first, last = starts[row], starts[row + 1]
        h = _row_hash(owner[row], ids, start, end, bits, row, columns, values, first, last)
        slot = h & mask
        found = False
        while table[slot] >= 0:
            other = table[slot]
            if hashes[other] == h and all_owner[other] == owner[row]:
                place, size = all_offsets[other], end - start
                sparse_place, entries = all_starts[other], last - first
                found = all_offsets[other + 1] - place == size and all_starts[other + 1] - sparse_place == entries
                if found:
                    for i in range(size):
                        found &= all_ids[place + i] == ids[start + i]
                    for j in range(bits.shape[1]):
                        found &= all_bits[other, j] == bits[row, j]
                    for i in range(entries):
                        found &= all_columns[sparse_place + i] == columns[first + i]
                        found &= all_values[sparse_place + i] == values[first + i]
                if found:
                    break
            slot = (slot + np.uint64(1)) & mask
        if found:
            continue
        table[slot] = n
        hashes[n] = h
        all_owner[n] = owner[row]
        place = all_offsets[n]
        for i in range(end - start):
            all_ids[place + i] = ids[start + i]
        all_offsets[n + 1] = place + end - start
        for j in range(bits.shape[1]):
            all_bits[n, j] = bits[row, j]
        place = all_starts[n]
        for i in range(last - first):
            all_columns[place + i] = columns[first + i]
            all_values[place + i] = values[first + i]
        all_starts[n + 1] = place + last - first
        n += 1
    return n


@borrowing
def rehash(table, hashes, count):  # type: ignore[no-untyped-def]
    """Fill an empty `table` with rows 0 to `count` - 1."""
    mask = np.uint64(table.shape[0] - 1)
    for row in range(count):
        slot = hashes[row] & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = row


@nested
def row_score(features, dense_weights, sparse_weights, i):  # type: ignore[no-untyped-def]
    """The dot product of row i with the weights, summed from left to right.

    BLAS would sum a row differently by its position and by the number of threads, and equal rows would not tie.
    `features` is (dense (n, d), indptr (n + 1,), indices, values), the last three as in CSR.
    """
    dense, indptr, indices, values = features
    score = 0.0
    for j in range(dense.shape[1]):
        score += dense[i, j] * dense_weights[j]
    for k in range(indptr[i], indptr[i + 1]):
        score += values[k] * sparse_weights[indices[k]]
    return score


@borrowing
def model_scores(features, dense_weights, sparse_weights, first, out):  # type: ignore[no-untyped-def]
    """`out[i]` = `row_score` of row `first` + i."""
    for i in range(out.shape[0]):
        out[i] = row_score(features, dense_weights, sparse_weights, first + i)


@borrowing
def best_rows(owner, scores, best):  # type: ignore[no-untyped-def]
    """`best[s]` (S,) = the first row of sentence s among those that score highest, -1 if it has none."""
    best[:] = -1
    for i in range(owner.shape[0]):
        s = owner[i]
        if best[s] < 0 or scores[i] > scores[best[s]]:
            best[s] = i


@borrowing
def count_sentences(order, starts, row_starts, columns, seen, counts):  # type: ignore[no-untyped-def]
    """Add to `counts` (p,) in how many sentences each sparse feature is not zero; `seen` (p,) is -1 before."""
    for s in range(starts.shape[0] - 1):
        for i in range(starts[s], starts[s + 1]):
            row = order[i]
            for k in range(row_starts[row], row_starts[row + 1]):
                if seen[columns[k]] != s:
                    seen[columns[k]] = s
                    counts[columns[k]] += 1
