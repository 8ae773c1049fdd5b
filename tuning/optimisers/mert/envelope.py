"""Upper envelopes of lines, sentence by sentence: which candidate scores best at which point of a search line.

A candidate is the line intercept + position * slope. Most candidates are never the best one anywhere, and two looks at
each tell so: the best one at position 0 and those with the smallest and the largest slope are on the envelope, and
their two crossings bound what can rise above them. What is left, some ten lines, is walked from crossing to crossing.
"""

from __future__ import annotations

import numpy as np

from lasw.metrics import borrowing, nested

_BLOCK = 1024  # candidates that stay in the fastest memory


@borrowing
def project(features, vector, out):  # type: ignore[no-untyped-def]
    """`out` (n,) = `vector` (c,) times `features` (c, n), summed in the order of the columns.

    BLAS would sum a candidate differently by its position and by the number of threads, and equal ones would not tie.
    """
    for start in range(0, out.shape[0], _BLOCK):
        end = min(start + _BLOCK, out.shape[0])
        for i in range(start, end):
            out[i] = 0.0
        for j in range(vector.shape[0]):
            for i in range(start, end):
                out[i] += vector[j] * features[j, i]


@borrowing
def envelopes(starts, intercepts, slopes, statistics, rising, positions, changes, total, spreads):  # type: ignore[no-untyped-def]
    """Every point at which a sentence's best candidate, and with it the statistics, change.

    Of equal lines the earliest is the candidate, as in `pool.best`. Changes between candidates whose statistics are
    equal are left out, unless more than two lines meet there.

    Args:
        starts: (S + 1,) where each sentence's candidates begin; each has at least one.
        intercepts: (n,) scores at position 0.
        slopes: (n,).
        statistics: (n, k).
        rising: candidates, intercepts and slopes, as long as the longest list; overwritten.
        positions: the points, sentence by sentence, ascending within each.
        changes: (as many, k) how the statistics change there.
        total: (k,) sum of the statistics of the candidates that are best at minus infinity.
        spreads: (2,) sum over sentences of the range of intercepts, and of slopes.

    Returns:
        The number of points. If it is more than there is room for, those beyond are lost.
    """
    total[:] = 0.0
    spreads[:] = 0.0
    count = np.int64(0)
    for s in range(starts.shape[0] - 1):
        low, high, top, bottom = _extremes(starts[s], starts[s + 1], intercepts, slopes)
        spreads[0] += intercepts[top] - bottom
        spreads[1] += slopes[high] - slopes[low]
        for k in range(total.shape[0]):
            total[k] += statistics[low, k]
        if low != high:
            size = _above(starts[s], starts[s + 1], intercepts, slopes, low, high, top, rising)
            start = low, intercepts[low], slopes[low]
            count = _walk(start, rising, size, statistics, positions, changes, count)
    return count


@nested
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


@nested
def _above(first, last, intercepts, slopes, low, high, top, rising):  # type: ignore[no-untyped-def]
    """`rising` = the lines not below the envelope of `low`, `top` and `high` everywhere, and these, in order.

    A line above that envelope is above it where two of its parts meet: within a part both are straight.
    """
    candidates, its_intercept, its_slope = rising
    left = right = 0.0
    if slopes[low] < slopes[top]:
        left = (intercepts[low] - intercepts[top]) / (slopes[top] - slopes[low])
    if slopes[top] < slopes[high]:
        right = (intercepts[top] - intercepts[high]) / (slopes[high] - slopes[top])
    at_left = intercepts[top] + left * slopes[top]
    at_right = intercepts[top] + right * slopes[top]
    size = 0
    for i in range(first, last):  # without branches: nobody can predict them
        intercept, slope = intercepts[i], slopes[i]
        candidates[size], its_intercept[size], its_slope[size] = i, intercept, slope
        below = (intercept + left * slope < at_left) & (intercept + right * slope < at_right)
        size += (not below) | (i == top) | (i == high)
    return size


@nested
def _walk(start, rising, size, statistics, positions, changes, count):  # type: ignore[no-untyped-def]
    """From the line `start` to the one with the largest slope, always along the next line to be crossed."""
    candidates, its_intercept, its_slope = rising
    current, intercept, slope = start
    position = -np.inf
    while True:
        steeper = 0
        nearest, following, next_intercept, next_slope, shared = np.inf, current, intercept, slope, False
        for k in range(size):  # the order of slopes is random: no branch on it
            candidate, b, a = candidates[k], its_intercept[k], its_slope[k]
            candidates[steeper], its_intercept[steeper], its_slope[steeper] = candidate, b, a
            steeper += a > slope
            crossing = (intercept - b) / (a - slope if a > slope else 1.0) if a > slope else np.inf
            if crossing < nearest:
                nearest, following, next_intercept, next_slope, shared = crossing, candidate, b, a, False
            elif crossing == nearest and a > slope:
                # Of several lines through one point the steepest is on the envelope behind it.
                shared = True
                if a > next_slope or (a == next_slope and b > next_intercept):
                    following, next_intercept, next_slope = candidate, b, a
        if following == current:
            return count
        position = max(position, nearest)
        changed = shared  # there, if nowhere else, a third candidate may be the best one
        for k in range(statistics.shape[1]):
            changed |= statistics[current, k] != statistics[following, k]
        if changed:
            if count < positions.shape[0]:
                positions[count] = position
                for k in range(statistics.shape[1]):
                    changes[count, k] = statistics[following, k] - statistics[current, k]
            count += 1
        current, intercept, slope, size = following, next_intercept, next_slope, steeper


@borrowing
def intervals(order, positions, changes, total, shortest, farthest, unit, limit, totals, middles):  # type: ignore[no-untyped-def]
    """What lies between neighbouring points, intervals that are only rounding left out.

    Args:
        order: (m,) of the points, ascending.
        positions: of the points.
        changes: of the statistics.
        total: (k,) the statistics before the first point; overwritten.
        shortest: an interval is rounding if it is not longer than this times `unit` or the larger end.
        farthest: points farther out than this times `unit` are left out.
        unit: a length.
        limit: so are points farther out than this, and the middles of the outer intervals lie within it.
        totals: (m + 1, k) at least; the statistics in each interval.
        middles: (m + 1,) at least; a point in it.

    Returns:
        The number of intervals, at least 1.
    """
    first, end = 0, min(farthest * unit, limit)
    while first < order.shape[0] and positions[order[first]] < -end:
        _add(total, changes[order[first]])
        first += 1
    last = order.shape[0]
    while last > first and positions[order[last - 1]] > end:
        last -= 1
    count = np.int64(0)
    _copy(total, totals, count)
    middles[0] = 0.0
    if first == last:
        return 1
    left, right = positions[order[first]], positions[order[last - 1]]
    length = (right - left) / (last - first - 1) if right > left else unit
    middles[0] = max(left - max(length, 0.1 * abs(left)), 0.5 * (left - limit))
    count += 1
    for m in range(first, last):
        here = positions[order[m]]
        _add(total, changes[order[m]])
        after = positions[order[m + 1]] if m + 1 < last else np.inf
        if after - here > shortest * max(abs(here), unit):
            _copy(total, totals, count)
            outer = min(right + max(length, 0.1 * abs(right)), 0.5 * (right + limit))
            middles[count] = 0.5 * (here + after) if m + 1 < last else outer
            count += 1
    return count


@nested
def _add(total, change):  # type: ignore[no-untyped-def]
    for k in range(total.shape[0]):
        total[k] += change[k]


@nested
def _copy(total, totals, row):  # type: ignore[no-untyped-def]
    for k in range(total.shape[0]):
        totals[row, k] = total[k]
