"""Mixed n-grams of words and tags, which match where at every place the word or the tag agrees (Song 2015, 3.1.2)."""

from __future__ import annotations

import numpy as np

from lasw.metrics.kernels import borrowing, lowest_bit, nested
from lasw.metrics.ngram import ORDERS

BITS = 64
_ONE = np.uint64(1)
_NONE = np.uint64(0)
_BITS = np.uint64(BITS)


@borrowing
def mixed_matches(  # type: ignore[no-untyped-def]
    words, tags, offsets, owner, other_words, other_tags, other_offsets, clip, single, alike, sets, taken, path, out
):
    """out[row, n - 1]: how many n-grams of a hypothesis match an n-gram of its reference, word or tag at each place.

    With `clip` each n-gram of the reference is used once, as many as can be (a largest bipartite matching, by
    augmenting paths); else every n-gram of the hypothesis counts that matches any.

    Which n-grams of the reference an n-gram of the hypothesis matches is a set of bits, a bit a place; those of n words
    are those of n - 1 words and, moved by n - 1 places, those of the last word.

    Scratch: single, alike (longest hypothesis, blocks) uint64, matches of words and of n-grams, for blocks of `BITS`
    places of the longest reference; sets (2, blocks) uint64, places that are used and that a search has visited; taken
    (longest reference,), the hypothesis' n-gram at each used place; path (longest reference + 1, 2), the path of a
    search: an n-gram of the hypothesis, the place it takes.
    """
    for row in range(owner.shape[0]):
        start, length = offsets[row], offsets[row + 1] - offsets[row]
        other_start = other_offsets[owner[row]]
        other_length = other_offsets[owner[row] + 1] - other_start
        blocks = (other_length + BITS - 1) // BITS
        for i in range(length):
            for b in range(blocks):
                found = _NONE
                first = other_start + BITS * b
                for k in range(min(BITS, other_length - BITS * b)):
                    same = words[start + i] == other_words[first + k] or tags[start + i] == other_tags[first + k]
                    found |= np.uint64(same) << np.uint64(k)
                single[i, b] = found
                alike[i, b] = found
        for n in range(1, ORDERS + 1):
            if n > 1:
                _extend(single, alike, length - n + 1, blocks, n - 1)
            out[row, n - 1] = _count(alike, length - n + 1, blocks, clip, sets, taken, path)


@nested
def _extend(single, alike, grams, blocks, k):  # type: ignore[no-untyped-def]
    """From n-grams of `k` words to those of one more."""
    shift = np.uint64(k)
    for i in range(grams):
        for b in range(blocks):
            moved = single[i + k, b] >> shift
            if b + 1 < blocks:
                moved |= single[i + k, b + 1] << (_BITS - shift)
            alike[i, b] &= moved


@nested
def _count(alike, grams, blocks, clip, sets, taken, path):  # type: ignore[no-untyped-def]
    count = 0
    for b in range(blocks):
        sets[0, b] = _NONE
    for i in range(grams):
        if clip:
            for b in range(blocks):
                sets[1, b] = _NONE
            count += _augment(alike, i, blocks, sets, taken, path)
        else:
            some = _NONE
            for b in range(blocks):
                some |= alike[i, b]
            count += some != _NONE
    return count


@nested
def _augment(alike, first, blocks, sets, taken, path):  # type: ignore[no-untyped-def]
    """Find the n-gram `first` a place, moving others to another place if need be; False if there is none."""
    used, visited = sets[0], sets[1]
    depth = 0
    path[0, 0] = first
    while depth >= 0:
        i = path[depth, 0]
        free = np.int64(-1)
        next_used = np.int64(-1)
        for b in range(blocks):
            open_places = alike[i, b] & ~visited[b]
            if open_places & ~used[b] != _NONE:
                free = BITS * b + lowest_bit(open_places & ~used[b])
                break
            if next_used < 0 and open_places != _NONE:
                next_used = BITS * b + lowest_bit(open_places)
        if free >= 0:
            used[free // BITS] |= _ONE << np.uint64(free % BITS)
            path[depth, 1] = free
            for k in range(depth + 1):
                taken[path[k, 1]] = path[k, 0]
            return True
        if next_used < 0:
            depth -= 1
            continue
        visited[next_used // BITS] |= _ONE << np.uint64(next_used % BITS)
        path[depth, 1] = next_used
        depth += 1
        path[depth, 0] = taken[next_used]
    return False
