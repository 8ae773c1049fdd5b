"""N-grams that the texts of a list have in common, every pair of them: what utilities of BLEU and chrF are made of.

A sentence's texts are taken apart once. An n-gram that two or more of them have gets as many bits as a text has it at
most, and a text with c of it has the first c of them set, so that the bits which two texts share are its clipped
matches, min(c, d). All matches of a pair are then a few words of bits: `and`, and count. An n-gram that a single text
has can match in that text alone, where the matches are known: all there are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.kernels import borrowing, nested, ones_in
from lasw.metrics.ngram.counts import CLIPPED, UNCLIPPED, UNCLIPPED_RECALL
from lasw.metrics.ngram.trie import FREE, child_key, child_slot
from lasw.metrics.text import Corpus, SharedTexts

_FIRST_SLOTS = 1 << 12
_WORD_BITS = 64


def pair_matches(texts: Corpus, shared: SharedTexts, orders: int, counting: int = CLIPPED) -> NDArray[np.int32]:
    """Matches of every hypothesis with every reference of its sentence.

    Args:
        texts: those of `shared`, as words or spelt in any way.
        shared: which of them are a sentence's hypotheses and references.
        orders: largest n-gram.
        counting: `CLIPPED`, `UNCLIPPED` or `UNCLIPPED_RECALL`, see `lasw.metrics.ngram.counts`.

    Returns:
        (P, orders) int32, in the order of `CandidatePairs`.
    """
    sizes = np.diff(shared.ends, axis=0)
    starts = np.concatenate([[0], np.cumsum(sizes[:, 0] * sizes[:, 1])])
    out = np.empty((starts[-1], orders), dtype=np.int32)
    lengths = texts.lengths
    for s, ngrams in enumerate(_sentences(texts, shared, orders)):
        words = ngrams.allocate()
        theirs = ngrams.bits(words, whole=counting == UNCLIPPED)
        ours = ngrams.bits(words, whole=True) if counting == UNCLIPPED_RECALL else theirs
        if counting == UNCLIPPED:
            ours = ngrams.bits(words, whole=False)
        _cross(
            ours,
            theirs,
            words,
            shared.hypothesis[shared.ends[s, 0] : shared.ends[s + 1, 0]] - shared.offsets[s],
            shared.reference[shared.ends[s, 1] : shared.ends[s + 1, 1]] - shared.offsets[s],
            lengths[shared.offsets[s] : shared.offsets[s + 1]],
            out[starts[s] : starts[s + 1]],
        )
    return out


def expected_matches(
    texts: Corpus, shared: SharedTexts, weights: NDArray[np.float64], orders: int, counting: int = CLIPPED
) -> NDArray[np.float64]:
    """Matches of every hypothesis with the aggregated reference of its sentence.

    An n-gram stands in that one as often as in the references on average (`weights`); where matches are not clipped,
    the average is of the matches themselves.

    Args:
        texts, shared, orders, counting: as of `pair_matches`.
        weights: (m,) of the references, 1 in sum for each sentence.

    Returns:
        (n, orders) float64.
    """
    out = np.zeros((len(shared.hypothesis), orders))
    for s, ngrams in enumerate(_sentences(texts, shared, orders)):
        references = slice(shared.ends[s, 1], shared.ends[s + 1, 1])
        of_texts = np.zeros(shared.offsets[s + 1] - shared.offsets[s])
        np.add.at(of_texts, shared.reference[references] - shared.offsets[s], weights[references])
        matches = np.zeros((len(of_texts), orders))
        ngrams.expect(of_texts, counting, matches)
        hypotheses = slice(shared.ends[s, 0], shared.ends[s + 1, 0])
        out[hypotheses] = matches[shared.hypothesis[hypotheses] - shared.offsets[s]]
    return out


class _Ngrams:
    """The n-grams of one sentence's texts. Scratch of all sentences, filled for one after the other.

    Args:
        tokens: of the sentence that has the most.
        texts: of the sentence that has the most.
        orders: largest n-gram.
    """

    def __init__(self, tokens: int, texts: int, orders: int) -> None:
        most = orders * tokens + 1
        slots = max(_FIRST_SLOTS, 1 << (2 * most).bit_length())
        self.orders = orders
        self._table = np.empty(slots, dtype=np.int64), np.empty(slots, dtype=np.int32), np.empty(most, dtype=np.int64)
        # Of n-grams: order, in how many texts, how often in one at most, where the last text's entry is, first bit.
        self._nodes = np.empty((5, most), dtype=np.int32)
        self._entries = np.empty((2, most), dtype=np.int32)  # n-gram, how often; those of a text together
        self._ends = np.empty(texts + 1, dtype=np.int64)
        self._size = np.zeros(2, dtype=np.int64)  # texts, n-grams

    def read(self, texts: Corpus, first: int, last: int) -> None:
        """Take texts `first` to `last` - 1 apart."""
        self._size[0] = last - first
        self._size[1] = _count(
            texts.ids, texts.offsets, first, last, self.orders, *self._table, self._nodes, self._entries, self._ends
        )

    def allocate(self) -> NDArray[np.int64]:
        """Give bits to n-grams; (orders + 1,) which words of bits are an order's."""
        words = np.zeros(self.orders + 1, dtype=np.int64)
        _allocate(self._nodes, self._size[1], words)
        return words

    def bits(self, words: NDArray[np.int64], *, whole: bool) -> NDArray[np.uint64]:
        """(texts, words) the first bits of an n-gram, as many as a text has of it; `whole`: all if it has any."""
        out = np.zeros((self._size[0], words[-1]), dtype=np.uint64)
        _fill(self._nodes, self._entries, self._ends, whole, words, out)
        return out

    def expect(self, weights: NDArray[np.float64], counting: int, out: NDArray[np.float64]) -> None:
        """Matches of each text with all, weighted; see `expected_matches`."""
        means = np.zeros(self._size[1])
        _expect(self._nodes, self._entries, self._ends, weights, counting, means, out)


def _sentences(texts: Corpus, shared: SharedTexts, orders: int) -> Iterator[_Ngrams]:
    ends = texts.offsets[shared.offsets]
    ngrams = _Ngrams(int(np.diff(ends).max(initial=0)), int(np.diff(shared.offsets).max(initial=0)), orders)
    for first, last in zip(shared.offsets[:-1].tolist(), shared.offsets[1:].tolist(), strict=True):
        ngrams.read(texts, first, last)
        yield ngrams


_ORDER, _TEXTS, _MOST, _ENTRY, _BIT = range(5)


@borrowing
def _count(ids, offsets, first, last, orders, keys, children, edges, nodes, entries, ends):  # type: ignore[no-untyped-def]
    """Fill `nodes` but for the bits, `entries` and `ends`; how many nodes there are, node 0 being none.

    Scratch: edges as in `child_slot`, in a table that grows with the nodes; the key of the edge to each node.
    """
    mask = np.int64(_FIRST_SLOTS - 1)
    for i in range(_FIRST_SLOTS):
        keys[i] = FREE
    many = np.int64(1)
    entry = np.int64(0)
    for text in range(first, last):
        start = entry
        ends[text - first] = entry
        end = offsets[text + 1]
        for i in range(offsets[text], end):
            node = np.int64(0)
            for k in range(min(orders, end - i)):
                slot = child_slot(node, ids[i + k], keys, mask)
                if keys[slot] == FREE:
                    if 2 * many > mask:
                        mask = _grown(keys, children, edges, many, mask)
                        slot = child_slot(node, ids[i + k], keys, mask)
                    edges[many] = keys[slot] = child_key(node, ids[i + k])
                    children[slot] = many
                    nodes[_ORDER, many] = k
                    nodes[_TEXTS, many] = 0
                    nodes[_MOST, many] = 0
                    nodes[_ENTRY, many] = -1
                    many += 1
                node = np.int64(children[slot])
                if nodes[_ENTRY, node] < start:
                    nodes[_ENTRY, node] = entry
                    nodes[_TEXTS, node] += 1
                    entries[0, entry] = node
                    entries[1, entry] = 0
                    entry += 1
                at = nodes[_ENTRY, node]
                entries[1, at] += 1
                nodes[_MOST, node] = max(nodes[_MOST, node], entries[1, at])
    ends[last - first] = entry
    return many


@nested
def _grown(keys, children, edges, many, mask):  # type: ignore[no-untyped-def]
    """Twice as many slots; the new mask."""
    mask = 2 * mask + 1
    for i in range(mask + 1):
        keys[i] = FREE
    for node in range(1, many):
        key = edges[node]
        slot = child_slot(key >> 32, (key & 0xFFFFFFFF) - 1, keys, mask)
        keys[slot] = key
        children[slot] = node
    return mask


@borrowing
def _allocate(nodes, many, words):  # type: ignore[no-untyped-def]
    """Bits of the n-grams that several texts have, from the first of their order on; `words` as of `allocate`."""
    for node in range(1, many):
        if nodes[_TEXTS, node] > 1:
            k = nodes[_ORDER, node] + 1
            nodes[_BIT, node] = words[k]
            words[k] += nodes[_MOST, node]
    for k in range(1, words.shape[0]):
        words[k] = words[k - 1] + (words[k] + _WORD_BITS - 1) // _WORD_BITS


@borrowing
def _fill(nodes, entries, ends, whole, words, out):  # type: ignore[no-untyped-def]
    for text in range(out.shape[0]):
        for entry in range(ends[text], ends[text + 1]):
            node = entries[0, entry]
            if nodes[_TEXTS, node] < 2:
                continue
            bit = _WORD_BITS * words[nodes[_ORDER, node]] + nodes[_BIT, node]
            for place in range(bit, bit + (nodes[_MOST, node] if whole else entries[1, entry])):
                out[text, place >> 6] |= np.uint64(1) << np.uint64(place & 63)


@borrowing
def _cross(ours, theirs, words, hypotheses, references, lengths, out):  # type: ignore[no-untyped-def]
    """out[pair, k]: what hypotheses and references have in common."""
    pair = 0
    for i in hypotheses:
        for j in references:
            for k in range(words.shape[0] - 1):
                matches = np.int64(0)
                if i == j:
                    matches = max(lengths[i] - k, np.int64(0))
                else:
                    for word in range(words[k], words[k + 1]):
                        matches += ones_in(ours[i, word] & theirs[j, word])
                out[pair, k] = matches
            pair += 1


@borrowing
def _expect(nodes, entries, ends, weights, counting, means, out):  # type: ignore[no-untyped-def]
    """`means` (n-grams,), all 0: how often each stands in a text on average, or what share of the texts has it."""
    for text in range(weights.shape[0]):
        for entry in range(ends[text], ends[text + 1]):
            means[entries[0, entry]] += weights[text] * (1 if counting == UNCLIPPED else entries[1, entry])
    for text in range(weights.shape[0]):
        for entry in range(ends[text], ends[text + 1]):
            node, count = entries[0, entry], np.float64(entries[1, entry])
            gain = means[node]
            if counting == CLIPPED:
                gain = min(count, gain)
            elif counting == UNCLIPPED:
                gain *= count
            out[text, nodes[_ORDER, node]] += gain
