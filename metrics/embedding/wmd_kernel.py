"""Moving the words of hypotheses onto those of their references: one loop over all of them, segment by segment.

What two words cost is computed once a segment, however many hypotheses have them, in an order of operations that does
not depend on what else is computed: the same pair of sentences has the same distance to the last bit in any company.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.embedding.transport import transport
from lasw.metrics.kernels import borrowing, nested
from lasw.metrics.ngram import Pairs
from lasw.metrics.vectors import EmbeddingArrays, inner, squared

COLUMNS = 7
DISTANCE, CHUNKS, MATCHED, ORDER, MISSING, EMPTY, LATE = range(COLUMNS)
"""Columns of what `move_words` measures: distance; chunks; words matched; word-order penalty; share of unknown words in
the hypothesis; 1 where one side alone is empty; 1 where the first match is not at the hypothesis' beginning."""


def move_words(
    pairs: Pairs,
    embedding: EmbeddingArrays,
    stop: NDArray[np.bool_] | None,
    *,
    euclidean: bool,
    order: bool,
) -> NDArray[np.float64]:
    """Distances and what word order is judged by.

    Args:
        pairs: m hypotheses, R references of each.
        embedding: of all words.
        stop: (V,) words left out, if any.
        euclidean: the distance of words; else one minus the inner product.
        order: fill `ORDER`.

    Returns:
        (R, m, 7), see `COLUMNS`.
    """
    many = pairs.references.lengths.shape[1]
    out: NDArray[np.float64] = np.zeros((many, len(pairs.rows), COLUMNS))
    if not len(pairs.rows):
        return out
    words = len(embedding.place)
    left_out = np.zeros(words, dtype=np.bool_) if stop is None else stop
    settings = left_out, euclidean, order
    _move(*pairs.arrays, embedding.place, embedding.vectors, embedding.known, *settings, *scratch(pairs, words), out)
    if np.isnan(out).any():
        raise RuntimeError("a transport problem was not solved")
    return out


def scratch(pairs: Pairs, words: int) -> tuple[NDArray[Any], ...]:
    """What the kernels of WMD and of WE and WE_WPI work in, from `numbers` to `reached`.

    Args:
        pairs: at least one hypothesis.
        words: of the vocabulary, V.
    """
    lengths = pairs.hypotheses.lengths[pairs.rows]
    columns = max(1, int(pairs.references.lengths.max(initial=0)))
    longest = max(columns, int(lengths.max()))
    tokens = np.bincount(pairs.owner[pairs.rows], weights=lengths)
    most = max(1, min(int(tokens.max()), words))
    kinds = max(1, min(longest, words))  # a line of millions of tokens has no more different words than there are
    return (
        np.full((3, words), -1, dtype=np.int32), np.empty((most, min(columns, kinds))), np.empty(most, dtype=np.int32),
        np.empty((9, longest), dtype=np.int64), np.empty((4, longest)), np.empty((2, kinds, kinds)),
        np.empty((3, kinds)), np.empty((3, kinds), dtype=np.int64), np.empty(kinds, dtype=np.int64),
    )  # fmt: skip


@borrowing
def _move(  # type: ignore[no-untyped-def]
    ids, offsets, owner, rows, reference_ids, reference_offsets, place, vectors, known, left_out, euclidean, order,
    numbers, table, tabled, kinds, weights, square, prices, trace, reached, out
):  # fmt: skip
    """Fill `out`.

    Scratch: numbers (3, V), all -1 between segments: a word's kind in the reference, its row of `table`, its kind in
    the hypothesis; table, costs of words of the segment's hypotheses (`tabled`) and kinds of the reference; kinds, see
    `word_kinds`, 0 to 2 of the reference, 3 to 5 of the hypothesis, 6 the column that is the same word; square, costs
    and flow.
    """
    supply, demand = weights[0], weights[1]
    cost, flow = square[0], square[1]
    for r in range(reference_offsets.shape[0]):
        k = 0
        while k < rows.shape[0]:
            s = owner[rows[k]]
            first, last = reference_offsets[r, s], reference_offsets[r, s + 1]
            n, columns = word_kinds(reference_ids, first, last, left_out, numbers[0], kinds[0], kinds[1], kinds[2])
            in_table = 0
            while k < rows.shape[0] and owner[rows[k]] == s:
                start, end = offsets[rows[k]], offsets[rows[k] + 1]
                m, lines = word_kinds(ids, start, end, left_out, numbers[2], kinds[3], kinds[4], kinds[5])
                unknown = 0
                for q in range(start, end):
                    unknown += not known[ids[q]]
                if end > start:
                    out[r, k, MISSING] = unknown / (end - start)
                elif last > first:
                    out[r, k, MISSING] = 1.0
                if (m == 0) != (n == 0):
                    out[r, k, EMPTY] = 1.0
                    out[r, k, DISTANCE] = 1.0
                    if euclidean:
                        side = 0 if m == 0 else 3
                        work = 0.0
                        for j in range(columns if m == 0 else lines):
                            work += kinds[side + 1, j] * np.sqrt(squared(vectors, place[kinds[side, j]], 0))
                        out[r, k, DISTANCE] = work / max(m, n)
                elif m > 0:
                    for i in range(lines):
                        word = kinds[3, i]
                        if numbers[1, word] < 0:
                            _fill_row(table, in_table, word, kinds[0], columns, place, vectors, euclidean)
                            numbers[1, word] = in_table
                            tabled[in_table] = word
                            in_table += 1
                        row = numbers[1, word]
                        kinds[6, i] = numbers[0, word]
                        for j in range(columns):
                            cost[i, j] = table[row, j]
                        supply[i] = kinds[4, i] * n
                    for j in range(columns):
                        demand[j] = kinds[1, j] * m
                    work = transport(cost, lines, columns, supply, demand, kinds[6], flow, prices, trace, reached)
                    out[r, k, DISTANCE] = work / (m * n)
                    _chunks(flow, lines, kinds[2], n, kinds[5], m, out[r, k])
                    if order:
                        out[r, k, ORDER] = _shifts(flow, lines, kinds[1], kinds[2], n, kinds[5], m)
                for i in range(lines):
                    numbers[2, kinds[3, i]] = -1
                k += 1
            for j in range(columns):
                numbers[0, kinds[0, j]] = -1
            for i in range(in_table):
                numbers[1, tabled[i]] = -1


@nested
def word_kinds(ids, start, end, left_out, number, words, counts, places):  # type: ignore[no-untyped-def]
    """The different words of a sentence (`words`, `counts`, `number` of each word) and the kind at each place.

    Returns how many places and how many kinds.
    """
    size, many = 0, 0
    for p in range(start, end):
        word = ids[p]
        if left_out[word]:
            continue
        if number[word] < 0:
            number[word] = many
            words[many] = word
            counts[many] = 0
            many += 1
        counts[number[word]] += 1
        places[size] = number[word]
        size += 1
    return size, many


@nested
def _fill_row(table, row, word, others, columns, place, vectors, euclidean):  # type: ignore[no-untyped-def]
    for j in range(columns):
        other = others[j]
        if other == word:
            table[row, j] = 0.0
        elif euclidean:
            table[row, j] = np.sqrt(squared(vectors, place[word], place[other]))
        else:
            table[row, j] = max(1.0 - inner(vectors, place[word], place[other]), 0.0)


@nested
def _chunks(flow, lines, reference, n, hypothesis, m, out):  # type: ignore[no-untyped-def]
    """Fill `CHUNKS`, `MATCHED` and `LATE` of one pair; `reference` and `hypothesis` have the kind at each place.

    Of several places with the largest flow the one nearest to the current place is meant, of two the first.
    """
    current = -1
    for p in range(n):
        j = reference[p]
        largest = flow[0, j]
        for i in range(1, lines):
            largest = max(largest, flow[i, j])
        best = -1
        for q in range(m):
            if flow[hypothesis[q], j] == largest and (best < 0 or abs(q - current) < abs(best - current)):
                best = q
        if p == 0 and best != 0:
            out[LATE] = 1.0
        if p == 0 or best != current + 1:
            out[CHUNKS] += 1.0
        current = best
    out[MATCHED] = n


@nested
def _shifts(flow, lines, counts, reference, n, hypothesis, m):  # type: ignore[no-untyped-def]
    """Each reference word's distance to the nearest place of the words that flow into it, by their shares (3.6)."""
    total = 0.0
    for p in range(n):
        j = reference[p]
        here = p / (n - 1) if n > 1 else 0.5
        for i in range(lines):
            if flow[i, j] > 0.0:
                nearest = 2.0
                for q in range(m):
                    if hypothesis[q] == i:
                        nearest = min(nearest, abs(here - (q / (m - 1) if m > 1 else 0.5)))
                total += nearest * flow[i, j] / (counts[j] * m)
    return total
