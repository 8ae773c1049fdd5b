"""N-grams that match by word or by tag (ROSE, Song 2015, 3.1.2)."""

from __future__ import annotations

from lasw.metrics.kernels import borrowing

ORDERS = 4


@borrowing
def mixed_matches(words, tags, offsets, owner, other_words, other_tags, other_offsets, clip, taken, seen, path, out):  # type: ignore[no-untyped-def]
    """out[row, n - 1]: how many n-grams of a hypothesis match an n-gram of its reference, word or tag at each place.

    With `clip` each n-gram of the reference is used once, as many as can be (a largest bipartite matching, by
    augmenting paths); else every n-gram of the hypothesis counts that matches any.

    Scratch, as long as the longest reference: taken, the hypothesis' n-gram that uses an n-gram of the reference (-1:
    none); seen, the search that visited it last. path (longest reference + 2, 2): the path of a search, an n-gram of
    the hypothesis and the next of the reference to be tried.
    """
    for row in range(owner.shape[0]):
        start, end = offsets[row], offsets[row + 1]
        other_start, other_end = other_offsets[owner[row]], other_offsets[owner[row] + 1]
        for n in range(1, ORDERS + 1):
            grams = end - start - n + 1
            others = other_end - other_start - n + 1
            for j in range(max(others, 0)):
                taken[j] = -1
                seen[j] = -1
            for i in range(grams):
                if clip:
                    found = _augment(
                        words, tags, start, i, other_words, other_tags, other_start, others, n, taken, seen, path
                    )
                else:
                    found = False
                    for j in range(others):
                        if _alike(words, tags, start + i, other_words, other_tags, other_start + j, n):
                            found = True
                            break
                if found:
                    out[row, n - 1] += 1


@borrowing
def _augment(words, tags, start, first, other_words, other_tags, other_start, others, n, taken, seen, path):  # type: ignore[no-untyped-def]
    """Find the n-gram `first` a place, moving others to another place if need be; False if there is none."""
    depth = 0
    path[0, 0] = first
    path[0, 1] = 0
    while depth >= 0:
        i = path[depth, 0]
        j = path[depth, 1]
        while j < others and (
            seen[j] == first or not _alike(words, tags, start + i, other_words, other_tags, other_start + j, n)
        ):
            j += 1
        path[depth, 1] = j + 1
        if j >= others:
            depth -= 1
            continue
        seen[j] = first
        if taken[j] < 0:
            for k in range(depth + 1):
                taken[path[k, 1] - 1] = path[k, 0]
            return True
        depth += 1
        path[depth, 0] = taken[j]
        path[depth, 1] = 0
    return False


@borrowing
def _alike(words, tags, i, other_words, other_tags, j, n):  # type: ignore[no-untyped-def]
    k = 0
    while k < n and (words[i + k] == other_words[j + k] or tags[i + k] == other_tags[j + k]):
        k += 1
    return k == n
