"""Upper envelopes of lines, sentence by sentence: which candidate scores best at which point of a search line.

A candidate is the line intercept + position * slope. Most candidates are never the best one anywhere, and two looks at
each tell so: the best one at position 0 and those with the smallest and the largest slope are on the envelope, and
their two crossings bound what can rise above them. What is left, some ten lines, is walked from crossing to crossing.
"""

from __future__ import annotations

import numpy as np

from lasw.metrics.kernels import borrowing


@borrowing
def envelopes(starts, intercepts, slopes, statistics, kept, positions, before, after, total, spreads):  # type: ignore[no-untyped-def]
    """Every point at which a sentence's best candidate, and with it the statistics, change.

    Of equal lines the earliest is the candidate, as in `pool.best`. Changes between candidates whose statistics are
    equal are left out.

    Args:
        starts: (S + 1,) where each sentence's candidates begin; each has at least one.
        intercepts: (n,) scores at position 0.
        slopes: (n,).
        statistics: (n, k).
        kept: as long as the longest list; overwritten.
        positions: (n - S,) at least; the points, sentence by sentence, ascending within each.
        before: the candidate that is the best one before each point.
        after: the one behind it.
        total: (k,) sum of the statistics of the candidates that are best at minus infinity.
        spreads: (2,) sum over sentences of the range of intercepts, and of slopes.

    Returns:
        The number of points.
    """
    total[:] = 0.0
    spreads[:] = 0.0
    count = 0
    for s in range(starts.shape[0] - 1):
        low, high, top, bottom = _extremes(starts[s], starts[s + 1], intercepts, slopes)
        spreads[0] += intercepts[top] - bottom
        spreads[1] += slopes[high] - slopes[low]
        for k in range(total.shape[0]):
            total[k] += statistics[low, k]
        if low != high:
            size = _rising(starts[s], starts[s + 1], intercepts, slopes, low, high, top, kept)
            count = _walk(intercepts, slopes, statistics, low, kept, size, positions, before, after, count)
    return count


@borrowing
def _extremes(first, last, intercepts, slopes):  # type: ignore[no-untyped-def]
    """The lines with the smallest and the largest slope, the best one at 0, and the lowest intercept.

    If the first two are one line, it is above all others everywhere.
    """
    low = high = top = first
    smallest = largest = slopes[first]
    at_smallest = at_largest = highest = bottom = intercepts[first]
    for i in range(first + 1, last):
        intercept, slope = intercepts[i], slopes[i]
        if slope <= smallest and (slope < smallest or intercept > at_smallest):
            low, smallest, at_smallest = i, slope, intercept
        if slope >= largest and (slope > largest or intercept > at_largest):
            high, largest, at_largest = i, slope, intercept
        if intercept > highest:
            top, highest = i, intercept
        bottom = min(bottom, intercept)
    return low, high, top, bottom


@borrowing
def _rising(first, last, intercepts, slopes, low, high, top, kept):  # type: ignore[no-untyped-def]
    """`kept` = the lines above the envelope of `low`, `top` and `high` somewhere, those two last ones, in order.

    A line above that envelope is above it where two of its parts meet: within a part both are straight.
    """
    left = right = 0.0
    if slopes[low] < slopes[top]:
        left = (intercepts[low] - intercepts[top]) / (slopes[top] - slopes[low])
    if slopes[top] < slopes[high]:
        right = (intercepts[top] - intercepts[high]) / (slopes[high] - slopes[top])
    at_left = intercepts[top] + left * slopes[top]
    at_right = intercepts[top] + right * slopes[top]
    size = 0
    for i in range(first, last):
        above = (intercepts[i] + left * slopes[i] > at_left) | (intercepts[i] + right * slopes[i] > at_right)
        kept[size] = i
        size += above | (i == top) | (i == high)
    return size


@borrowing
def _walk(intercepts, slopes, statistics, low, kept, size, positions, before, after, count):  # type: ignore[no-untyped-def]
    """From `low` to the line with the largest slope, always along the next line to be crossed."""
    current, position = low, -np.inf
    while True:
        steeper = 0
        nearest, following = np.inf, current
        for k in range(size):
            i = kept[k]
            if slopes[i] > slopes[current]:
                kept[steeper] = i
                steeper += 1
                crossing = (intercepts[current] - intercepts[i]) / (slopes[i] - slopes[current])
                if crossing <= nearest and (
                    crossing < nearest
                    or following == current
                    or slopes[i] > slopes[following]
                    or (slopes[i] == slopes[following] and intercepts[i] > intercepts[following])
                ):
                    nearest, following = crossing, i
        if following == current:
            return count
        position = max(position, nearest)
        different = False
        for k in range(statistics.shape[1]):
            different |= statistics[current, k] != statistics[following, k]
        if different:
            positions[count], before[count], after[count] = position, current, following
            count += 1
        current, size = following, steeper


@borrowing
def accumulate(statistics, order, before, after, totals):  # type: ignore[no-untyped-def]
    """`totals[m + 1]` = `totals[m]` with the change of point `order[m]`; `totals[0]` is given."""
    for m in range(order.shape[0]):
        old, new = before[order[m]], after[order[m]]
        for k in range(totals.shape[1]):
            totals[m + 1, k] = totals[m, k] + (statistics[new, k] - statistics[old, k])
