"""N-gram matches of hypotheses with references: the counting kernels behind every n-gram metric.

The n-grams of a segment's references form a trie: a node is an n-gram, its key is (parent node, word). All nodes of a
segment lie in one small open-addressing table, so that the candidates of one sentence stay in the processor's first
cache, and a position of a hypothesis stops at its first order that does not match. A node is named by its slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lasw.metrics.base import References
from lasw.metrics.text import Corpus, Vocabulary

ORDERS = 4  # largest n-gram; every metric of the family reads what it needs from the same counts
COLUMNS = 2 * ORDERS + 1

CLIPPED = 0  # an n-gram of the hypothesis counts at most as often as some reference has it
UNCLIPPED = 1  # every occurrence in the hypothesis of an n-gram that a reference has
UNCLIPPED_RECALL = 2  # every occurrence in the reference of an n-gram that the hypothesis has

CLOSEST, SHORTEST = 0, 1

# Fibonacci hashing: 2^64 over the golden ratio, odd (Knuth, The Art of Computer Programming 3, 6.4).
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_ROOT = np.uint64(0)
_FREE = np.uint64(0xFFFFFFFFFFFFFFFF)
_SLOTS_PER_NODE = 1.75


@dataclass(frozen=True)
class Tries:
    """The n-grams of n segments, n-grams of all references of a segment together.

    Attributes:
        starts: (n + 1,) int64; the table of segment s is `keys[starts[s]:starts[s + 1]]`.
        keys: uint64, slot of the parent + 1 (0: the root) above the word's id; all ones: free.
        limits: int32, the largest count of the n-gram in one reference.
        lengths: (n, R) int64, tokens of each reference.
        vocabulary: that hypotheses must share.
    """

    starts: NDArray[np.int64]
    keys: NDArray[np.uint64]
    limits: NDArray[np.int32]
    lengths: NDArray[np.int64]
    vocabulary: Vocabulary

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of(cls, references: References) -> Tries:
        """One trie a segment, over all its references."""
        return cls._built(references.corpora)

    @classmethod
    def of_each(cls, references: References) -> tuple[Tries, ...]:
        """One trie for each reference of each segment: R objects of n segments."""
        return tuple(cls._built([corpus]) for corpus in references.corpora)

    @classmethod
    def _built(cls, corpora: Sequence[Corpus]) -> Tries:
        ids = corpora[0].ids if len(corpora) == 1 else np.concatenate([corpus.ids for corpus in corpora])
        shifts = np.cumsum([0] + [len(corpus.ids) for corpus in corpora[:-1]])
        offsets = np.stack([corpus.offsets + shift for corpus, shift in zip(corpora, shifts, strict=True)])
        lengths = np.ascontiguousarray(np.diff(offsets, axis=1).T)
        nodes = sum(np.maximum(lengths - n, 0).sum(axis=1) for n in range(ORDERS))
        if len(corpora) > 1:
            # References repeat each other, so the bound is loose: build each in one scratch table to count.
            largest = int(_sizes(nodes).max(initial=1))
            scratch = np.empty(largest, dtype=np.uint64), np.empty(largest, dtype=np.int32)
            places = np.stack([np.zeros(len(nodes), dtype=np.int64), _sizes(nodes)])
            _build(ids, offsets, places, *scratch, np.empty(largest, dtype=np.int64), nodes)
        starts = np.zeros(len(nodes) + 1, dtype=np.int64)
        sizes = _sizes(nodes)
        np.cumsum(sizes, out=starts[1:])
        keys = np.empty(starts[-1], dtype=np.uint64)
        limits = np.empty(starts[-1], dtype=np.int32)
        counts = np.empty(sizes.max(initial=1), dtype=np.int64)
        _build(ids, offsets, np.stack([starts[:-1], sizes]), keys, limits, counts, nodes)
        return cls(starts, keys, limits, lengths, corpora[0].vocabulary)

    def statistics(
        self,
        hypotheses: Corpus,
        owner: NDArray[np.integer],
        *,
        counting: int = CLIPPED,
        reference_length: int = CLOSEST,
    ) -> NDArray[np.int32]:
        """Matches, candidate n-grams and reference length of each hypothesis, in the layout of Moses' extractor.

        Args:
            hypotheses: n sentences over the references' vocabulary.
            owner: (n,) segment of each hypothesis; fastest if those of one segment follow each other.
            counting: `CLIPPED`, `UNCLIPPED` or `UNCLIPPED_RECALL`.
            reference_length: `CLOSEST` (of two equally close ones the shorter) or `SHORTEST`.

        Returns:
            (n, 9) int32: match1 total1 ... match4 total4 reflen.

        Raises:
            TypeError: the hypotheses have another vocabulary.
            ValueError: `owner` has another length or points outside the segments.
        """
        if hypotheses.vocabulary is not self.vocabulary:
            raise TypeError("hypotheses and references must share one vocabulary")
        owner = np.ascontiguousarray(owner, dtype=np.int32)
        if owner.shape != (len(hypotheses),):
            raise ValueError(f"owner has shape {owner.shape} for {len(hypotheses)} hypotheses")
        if len(owner) and not (owner.min() >= 0 and owner.max() < len(self)):
            raise ValueError(f"owner points outside the {len(self)} segments")
        out = np.zeros((len(owner), COLUMNS), dtype=np.int32)
        counts = np.zeros(int(np.diff(self.starts).max(initial=1)), dtype=np.int64)
        _match(
            hypotheses.ids,
            hypotheses.offsets,
            owner,
            self.starts,
            self.keys,
            self.limits,
            self.lengths,
            counting,
            reference_length,
            counts,
            out,
        )
        return out


def _sizes(nodes: NDArray[Any]) -> NDArray[np.int64]:
    """Slots for so many nodes; at least one stays free, where the search for what is not there ends."""
    return np.ceil(_SLOTS_PER_NODE * nodes).astype(np.int64) + 1


@njit(cache=True, nogil=True)
def _find(keys, first, size, key):  # type: ignore[no-untyped-def]
    """Slot, counted from `first`, of `key` or of the free place where it belongs."""
    slot = (((key * _GOLDEN) >> _HALF) * size) >> _HALF
    while True:
        found = keys[first + slot]
        if found == key or found == _FREE:  # noqa: SIM109 - a tuple costs in a kernel
            return slot
        slot += _ONE
        if slot == size:
            slot = _ROOT


@njit(cache=True, nogil=True)
def _build(ids, offsets, places, keys, limits, counts, nodes):  # type: ignore[no-untyped-def]
    """Fill the tables at places[0] of places[1] slots; `counts` is scratch, `nodes` receives the nodes of each."""
    for s in range(places.shape[1]):
        first = np.uint64(places[0, s])
        size = np.uint64(places[1, s])
        for j in range(size):
            keys[first + j] = _FREE
            counts[j] = 0
        filled = 0
        base = 0  # counts[slot] - base is the count in the reference at hand; what is below is of an earlier one
        for r in range(offsets.shape[0]):
            end = offsets[r, s + 1]
            for p in range(offsets[r, s], end):
                parent = _ROOT
                for q in range(p, min(p + ORDERS, end)):
                    key = (parent << _HALF) | np.uint64(ids[q])
                    slot = _find(keys, first, size, key)
                    if keys[first + slot] == _FREE:
                        keys[first + slot] = key
                        limits[first + slot] = 0
                        filled += 1
                    count = max(counts[slot], base) + 1
                    counts[slot] = count
                    limits[first + slot] = max(limits[first + slot], count - base)
                    parent = slot + _ONE
            base += end - offsets[r, s]
        nodes[s] = filled


@njit(cache=True, nogil=True)
def _match(ids, offsets, owner, starts, keys, limits, lengths, counting, reference_length, counts, out):  # type: ignore[no-untyped-def]
    base = 0  # counts[slot] - base is the count in the hypothesis at hand
    for i in range(owner.shape[0]):
        s = owner[i]
        first = np.uint64(starts[s])
        size = np.uint64(starts[s + 1] - starts[s])
        end = offsets[i + 1]
        length = end - offsets[i]
        for p in range(offsets[i], end):
            parent = _ROOT
            for q in range(p, min(p + ORDERS, end)):
                key = (parent << _HALF) | np.uint64(ids[q])
                slot = _find(keys, first, size, key)
                if keys[first + slot] == _FREE:
                    break
                count = max(counts[slot], base)
                counts[slot] = count + 1
                if counting == CLIPPED:
                    gain = np.int64(count - base < limits[first + slot])
                elif counting == UNCLIPPED:
                    gain = np.int64(1)
                else:
                    gain = np.int64(limits[first + slot]) if count == base else np.int64(0)
                out[i, 2 * (q - p)] += gain
                parent = slot + _ONE
        base += length
        for n in range(ORDERS):
            out[i, 2 * n + 1] = max(length - n, 0)
        chosen = lengths[s, 0]
        for r in range(1, lengths.shape[1]):
            other = lengths[s, r]
            if reference_length == SHORTEST:
                chosen = min(chosen, other)
            else:
                closer = abs(other - length) - abs(chosen - length)
                if closer < 0 or (closer == 0 and other < chosen):
                    chosen = other
        out[i, 2 * ORDERS] = chosen
