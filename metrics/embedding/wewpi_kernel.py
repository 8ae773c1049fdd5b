"""Scores of WE and WE_WPI: one loop over all hypotheses, segment by segment.

Cosines are computed once for two words of a segment, always in the same order of operations, so that a score has the
same bits in any company.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.embedding.transport import transport
from lasw.metrics.embedding.wmd_kernel import scratch, word_kinds
from lasw.metrics.kernels import borrowing, nested
from lasw.metrics.ngram import Pairs
from lasw.metrics.vectors import EmbeddingArrays, inner


def score_pairs(
    pairs: Pairs,
    embedding: EmbeddingArrays,
    idf: NDArray[np.float64],
    *,
    aligned: bool,
) -> NDArray[np.float64]:
    """(R, m) scores of m hypotheses against their R references.

    Args:
        pairs: m hypotheses, R references of each.
        embedding: of all words, at length 1.
        idf: (2, V), of words in hypotheses and in references.
        aligned: WE_WPI; else WE.
    """
    out: NDArray[np.float64] = np.zeros((pairs.references.lengths.shape[1], len(pairs.rows)))
    if not len(pairs.rows):
        return out
    words = len(embedding.place)
    settings = idf, np.zeros(words, dtype=np.bool_), aligned
    _score(*pairs.arrays, embedding.place, embedding.vectors, *settings, *scratch(pairs, words), out)
    if np.isnan(out).any():
        raise RuntimeError("a transport problem was not solved")
    return out


@borrowing
def _score(  # type: ignore[no-untyped-def]
    ids, offsets, owner, rows, reference_ids, reference_offsets, place, vectors, idf, left_out, aligned,
    numbers, table, tabled, kinds, weights, square, prices, trace, reached, out
):  # fmt: skip
    """Fill `out`.

    Scratch: numbers (3, V), all -1 between segments: a word's kind in the reference, its row of `table`, its kind in
    the hypothesis; table, cosines of words of the segment's hypotheses (`tabled`) and kinds of the reference; kinds,
    see `word_kinds`, 0 to 2 of the reference, 3 to 5 of the hypothesis, 6 to 8 see `align`; weights, 0 and 1 of
    hypothesis and reference, 2 and 3 see `align`; square, costs and flow. `left_out` (V,) is all False.
    """
    for r in range(reference_offsets.shape[0]):
        k = 0
        while k < rows.shape[0]:
            s = owner[rows[k]]
            first, last = reference_offsets[r, s], reference_offsets[r, s + 1]
            n = last - first
            _, columns = word_kinds(reference_ids, first, last, left_out, numbers[0], kinds[0], kinds[1], kinds[2])
            in_table = 0
            while k < rows.shape[0] and owner[rows[k]] == s:
                start, end = offsets[rows[k]], offsets[rows[k] + 1]
                m = end - start
                _, lines = word_kinds(ids, start, end, left_out, numbers[2], kinds[3], kinds[4], kinds[5])
                for i in range(lines):
                    word = kinds[3, i]
                    if numbers[1, word] < 0:
                        for j in range(columns):
                            other = kinds[0, j]
                            table[in_table, j] = 1.0
                            if other != word:
                                cosine = inner(vectors, place[word], place[other])
                                table[in_table, j] = min(max(cosine, 0.0), 1.0)
                        numbers[1, word] = in_table
                        tabled[in_table] = word
                        in_table += 1
                if m == 0 or n == 0:
                    out[r, k] = 1.0 if m == n else 0.0
                elif aligned:
                    _token_weights(kinds[3], kinds[4], kinds[5], m, idf[0], weights[0])
                    _token_weights(kinds[0], kinds[1], kinds[2], n, idf[1], weights[1])
                    for p in range(m):
                        kinds[8, p] = numbers[1, kinds[3, kinds[5, p]]]
                    align(table, kinds[8], m, kinds[2], n, kinds[6], kinds[7], weights[2], weights[3])
                    score = 0.0
                    for p in range(m):
                        if kinds[6, p] >= 0:
                            score += weights[2, p] * min(weights[0, p], weights[1, kinds[6, p]])
                    out[r, k] = min(score, 1.0)
                else:
                    _kind_weights(kinds[3], kinds[4], lines, idf[0], weights[0])
                    _kind_weights(kinds[0], kinds[1], columns, idf[1], weights[1])
                    for i in range(lines):
                        kinds[6, i] = numbers[0, kinds[3, i]]
                        row = numbers[1, kinds[3, i]]
                        for j in range(columns):
                            square[0, i, j] = 1.0 - table[row, j]
                    work = transport(
                        square[0], lines, columns, weights[0], weights[1], kinds[6], square[1], prices, trace, reached
                    )
                    out[r, k] = max(1.0 - work, 0.0)
                for i in range(lines):
                    numbers[2, kinds[3, i]] = -1
                k += 1
            for j in range(columns):
                numbers[0, kinds[0, j]] = -1
            for i in range(in_table):
                numbers[1, tabled[i]] = -1


@nested
def align(cosines, rows, m, columns, n, aligned, taker, similarity, best):  # type: ignore[no-untyped-def]
    """Kernel: which word of the reference each of the hypothesis is aligned to (eq. 7, 8).

    Args:
        cosines: float64, of different words.
        rows: (m,) in which row of it each word of the hypothesis is.
        columns: (n,) the same of the reference.
        aligned: filled, (m,) int64: the aligned column, -1 if there is none.
        taker: scratch, (n,) int64.
        similarity: filled, (m,): cos * exp(-pos_inf) of aligned words.
        best: scratch, (n,) float64.
    """
    for j in range(n):
        taker[j] = -1
        best[j] = 0.0
    for i in range(m):
        aligned[i] = -1
        chosen, highest = -1, 0.0
        for j in range(n):
            # A fraction of whole numbers: places that are equally far away are so to the last digit, and tie.
            score = cosines[rows[i], columns[j]] * (1.0 - abs((i + 1) * n - (j + 1) * m) / (m * n))
            if score > highest:
                chosen, highest = j, score
        if chosen >= 0 and highest > best[chosen]:
            if taker[chosen] >= 0:
                aligned[taker[chosen]] = -1
            taker[chosen] = i
            best[chosen] = highest
            aligned[i] = chosen
            apart = abs((i + 1) * n - (chosen + 1) * m) / (m * n)
            similarity[i] = cosines[rows[i], columns[chosen]] * np.exp(-apart)


@nested
def _kind_weights(words, counts, many, idf, weights):  # type: ignore[no-untyped-def]
    """A word that stands there tf times weighs tf each time."""
    total = 0.0
    for i in range(many):
        weights[i] = counts[i] * counts[i] * idf[words[i]]
        total += weights[i]
    for i in range(many):
        weights[i] /= total


@nested
def _token_weights(words, counts, places, size, idf, weights):  # type: ignore[no-untyped-def]
    total = 0.0
    for p in range(size):
        weights[p] = counts[places[p]] * idf[words[places[p]]]
        total += weights[p]
    for p in range(size):
        weights[p] /= total
