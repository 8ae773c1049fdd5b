"""Soft matches of n-grams: what semantic BLEU adds to BLEU's counts.

Only places where a hypothesis' word is a neighbour of a reference's word can be part of a soft match, and they are few:
each is extended to the n-grams around it whose other words are equal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.kernels import borrowing, nested
from lasw.metrics.ngram import ORDERS, Pairs

_NO_WORD = -1  # stands behind each reference, so that no n-gram reaches into the next
_ROOM = 1 << 16  # similar words of one hypothesis, to begin with


def match_softly(
    pairs: Pairs,
    found: NDArray[np.int64],
    near: NDArray[np.int64],
    cosines: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(m, 4) summed cosines of the soft matches of each order.

    Args:
        pairs: m hypotheses, R references of each.
        found: (V,) row of each word in the file of vectors, -1 for none.
        near: (v, k) rows of the neighbours of the first v words, which all of the references are among.
        cosines: (v, k) with them.
    """
    out: NDArray[np.float64] = np.zeros((len(pairs.rows), ORDERS))
    if not len(pairs.rows):
        return out
    places = int(pairs.references.lengths.sum(axis=1).max(initial=0)) + pairs.references.lengths.shape[1] + ORDERS
    words = int(pairs.hypotheses.lengths[pairs.rows].max()) + 1
    scratch = (
        np.full(places, _NO_WORD, dtype=np.int32), np.empty(places, dtype=np.int32),
        np.empty((3, ORDERS, places), dtype=np.int32), np.empty(words, dtype=np.int32),
    )  # fmt: skip
    done, room = 0, _ROOM
    while done < len(pairs.rows):
        similar = np.empty((2, room), dtype=np.int32), np.empty(room)
        done, room = _match(*pairs.arrays, found, near, cosines, *scratch, *similar, out, done)
    return out


@borrowing
def _match(  # type: ignore[no-untyped-def]
    ids, offsets, owner, rows, reference_ids, reference_offsets, found, near, cosines,
    words, reference, kinds, free, pairs, similar, out, k
):  # fmt: skip
    """Fill `out` from row k on; which row is the first whose similar words have no room, and how much they need.

    Scratch: words, those of all references of a segment, and which `reference` each place is of; kinds, for each order
    and place: 0, the first place with the same n-gram; 1, its limit; 2, what is left of that; free, for each place of
    the hypothesis whether its n-gram is not matched yet; pairs and `similar`, places of a hypothesis and of the
    references with similar words, and their cosines.
    """
    while k < rows.shape[0]:
        s = owner[rows[k]]
        size = 0
        for r in range(reference_offsets.shape[0]):
            for p in range(reference_offsets[r, s], reference_offsets[r, s + 1]):
                words[size] = reference_ids[p]
                reference[size] = r
                size += 1
            words[size] = _NO_WORD
            reference[size] = r
            size += 1
        indexed = False
        while k < rows.shape[0] and owner[rows[k]] == s:
            start, end = offsets[rows[k]], offsets[rows[k] + 1]
            many = _similar(ids, start, end, words, size, found, near, cosines, pairs, similar)
            if many > similar.shape[0]:
                return k, many
            if many > 0:
                if not indexed:
                    _limits(words, size, reference, kinds)
                    indexed = True
                for order in range(min(ORDERS, end - start)):
                    _exact(ids, start, end, words, size, order, kinds, free)
                    out[k, order] = _soft(ids, start, end, words, size, order, kinds, free, pairs, similar, many)
            k += 1
    return k, 0


@nested
def _similar(ids, start, end, words, size, found, near, cosines, pairs, similar):  # type: ignore[no-untyped-def]
    """Places where the hypothesis' word is another one than the reference's and a neighbour of it; how many.

    Those that there is no room for are counted, too.
    """
    many = 0
    for p in range(end - start):
        row = found[ids[start + p]]
        if row < 0:
            continue
        for q in range(size):
            if words[q] >= 0 and words[q] != ids[start + p]:
                for n in range(near.shape[1]):
                    if near[words[q], n] == row and cosines[words[q], n] > 0.0:
                        if many < similar.shape[0]:
                            pairs[0, many] = p
                            pairs[1, many] = q
                            similar[many] = cosines[words[q], n]
                        many += 1
    return many


@nested
def _limits(words, size, reference, kinds):  # type: ignore[no-untyped-def]
    """First places and limits of the references' n-grams; places without one have first place -1."""
    for order in range(ORDERS):
        for q in range(size):
            kinds[0, order, q] = -1
            kinds[1, order, q] = 0
            if not _whole(words, size, q, order):
                continue
            for other in range(q + 1):
                if kinds[0, order, other] == other or other == q:
                    t = 0
                    while t <= order and words[other + t] == words[q + t]:
                        t += 1
                    if t > order:
                        kinds[0, order, q] = other
                        break
        for q in range(size):
            if kinds[0, order, q] == q:  # the largest number of its places in one reference
                count, of = 0, -1
                for other in range(q, size):
                    if kinds[0, order, other] == q:
                        count = count + 1 if reference[other] == of else 1
                        of = reference[other]
                        kinds[1, order, q] = max(kinds[1, order, q], count)


@nested
def _whole(words, size, q, order):  # type: ignore[no-untyped-def]
    """Whether an n-gram starts at place q: the places up to its last one are words of one reference."""
    inside = q + order < size
    t = 0
    while inside and t <= order:
        inside = words[q + t] >= 0
        t += 1
    return inside


@nested
def _exact(ids, start, end, words, size, order, kinds, free):  # type: ignore[no-untyped-def]
    """Exact matches, from left to right: what they leave, of the references' n-grams and of the hypothesis'."""
    for q in range(size):
        kinds[2, order, q] = kinds[1, order, q]
    for p in range(end - start - order):
        free[p] = 1
        for q in range(size):
            if kinds[0, order, q] == q:
                t = 0
                while t <= order and words[q + t] == ids[start + p + t]:
                    t += 1
                if t > order:
                    if kinds[2, order, q] > 0:
                        kinds[2, order, q] -= 1
                        free[p] = 0
                    break


@nested
def _soft(ids, start, end, words, size, order, kinds, free, pairs, similar, many):  # type: ignore[no-untyped-def]
    """The sum of the cosines of soft matches, the largest ones taken first."""
    total = 0.0
    while True:
        best, best_p, best_q = 0.0, -1, -1
        for n in range(many):
            for t in range(order + 1):
                p, q = pairs[0, n] - t, pairs[1, n] - t
                if p < 0 or q < 0 or p + order >= end - start or free[p] == 0 or similar[n] < best:
                    continue
                first = kinds[0, order, q]
                if first < 0 or kinds[2, order, first] == 0:
                    continue
                if similar[n] == best and (p > best_p or (p == best_p and q >= best_q)):
                    continue
                equal = True
                for other in range(order + 1):
                    if other != t and words[q + other] != ids[start + p + other]:
                        equal = False
                        break
                if equal:
                    best, best_p, best_q = similar[n], p, q
        if best_p < 0:
            return total
        total += min(best, 1.0)
        free[best_p] = 0
        kinds[2, order, kinds[0, order, best_q]] -= 1
