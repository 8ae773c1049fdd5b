"""N-grams as a trie: nodes numbered from 0, the empty n-gram, found by open addressing among keys of their edges."""

from __future__ import annotations

import numpy as np

from lasw.metrics.kernels import nested

FREE = np.int64(0)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, odd
_SHIFT = np.uint64(32)


@nested
def child_key(node, symbol):  # type: ignore[no-untyped-def]
    """Kernel: what stands in a slot for the edge from `node` by `symbol`."""
    return (np.int64(node) << 32) + symbol + 1


@nested
def child_slot(node, symbol, keys, mask):  # type: ignore[no-untyped-def]
    """Kernel: where the child of `node` by `symbol` stands among `keys`, or the free slot for it.

    Args:
        keys: int64, a power of two of which are in use.
        mask: one less than that number.
    """
    key = child_key(node, symbol)
    h = np.uint64(key) * _FACTOR
    slot = np.int64((h ^ (h >> _SHIFT)) & np.uint64(mask))
    while keys[slot] != FREE and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot
