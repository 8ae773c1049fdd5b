"""The earth mover's distance, exact: the cheapest way to move one heap of weights onto another.

A transportation problem: minimise sum f_ij c_ij subject to f >= 0, row sums at most the supplies, column sums at most
the demands, and as much moved as the lighter side has (Rubner et al. 2000; Echizen'ya et al. 2019, eq. 1-5). Solved by
shortest augmenting paths with dual prices, as the assignment problem is (Jonker & Volgenant 1987), with amounts in the
place of single units: sentences are so short that this takes a fraction of the time of a call of a general solver.
Every path moves more than what is taken for nothing, so that there is an end.

Weights that are whole numbers are moved exactly. The same problem always gives the same flow, of several cheapest ones
the one that leaves in place what can stay.
"""

from __future__ import annotations

import numpy as np

from lasw.metrics.kernels import nested

_NOTHING = 1e-13  # of the whole weight: less than that is what rounding left
_ROUNDING = 1e-9  # of the whole weight: may stay behind where sums differ by rounding


@nested
def transport(cost, m, n, supply, demand, same, flow, prices, trace, order):  # type: ignore[no-untyped-def]
    """Kernel: fill `flow[:m, :n]`, which moves all of `supply` to `demand` (equal totals; both are used up).

    Args:
        cost: float64, its first m rows and n columns count.
        same: (m,) int64, the column whose cost is 0 because it is the same thing, or -1: served first.
        prices, trace, order: scratch of (3, k) float64, (3, k) and (k,) int64, k at least m and n.

    Returns:
        The least work, the sum of flow times costs; NaN if more supply than rounding explains finds no demand.
    """
    u, v, distance = prices[0], prices[1], prices[2]
    total = 0.0
    for i in range(m):
        total += supply[i]
        for j in range(n):
            flow[i, j] = 0.0
    nothing = _NOTHING * total
    # Prices that leave no cost negative and at least one of each row and column at 0.
    for j in range(n):
        v[j] = cost[0, j]
        for i in range(1, m):
            v[j] = min(v[j], cost[i, j])
    for i in range(m):
        u[i] = cost[i, 0] - v[0]
        for j in range(1, n):
            u[i] = min(u[i], cost[i, j] - v[j])
    for i in range(m):
        j = same[i]
        if j >= 0 and cost[i, j] - v[j] - u[i] <= 0.0:
            moved = min(supply[i], demand[j])
            flow[i, j] = moved
            supply[i] -= moved
            demand[j] -= moved
    for i in range(m):
        if supply[i] > nothing:
            for j in range(n):
                if demand[j] > nothing and cost[i, j] - v[j] - u[i] <= 0.0:
                    moved = min(supply[i], demand[j])
                    flow[i, j] += moved
                    supply[i] -= moved
                    demand[j] -= moved
    for i in range(m):
        while supply[i] > nothing:
            end = _shortest_path(cost, m, n, i, demand, nothing, flow, u, v, distance, trace, order)
            if end < 0:
                if supply[i] > _ROUNDING * total:
                    return np.nan
                break
            _augment(i, end, supply, demand, nothing, flow, trace)
    work = 0.0
    for i in range(m):
        for j in range(n):
            work += flow[i, j] * cost[i, j]
    return work


@nested
def _shortest_path(cost, m, n, source, demand, nothing, flow, u, v, distance, trace, order):  # type: ignore[no-untyped-def]
    """The nearest column with demand left, -1 if there is none; prices are changed so that its path costs nothing.

    trace: 0, the row a column is reached from; 1, the column a row is reached from (-1 at the source, -2 not reached);
    2, the columns not settled, the others behind them. order: rows reached.
    """
    for i in range(m):
        trace[1, i] = -2
    trace[1, source] = -1
    order[0] = source
    reached = 1
    open_columns = n
    for j in range(n):
        distance[j] = cost[source, j] - u[source] - v[j]
        trace[0, j] = source
        trace[2, j] = j
    while open_columns > 0:
        best = 0
        for k in range(1, open_columns):
            if distance[trace[2, k]] < distance[trace[2, best]]:
                best = k
        j = trace[2, best]
        at = distance[j]
        open_columns -= 1
        trace[2, best] = trace[2, open_columns]
        trace[2, open_columns] = j
        if demand[j] > nothing:
            for k in range(reached):
                i = order[k]
                from_column = trace[1, i]
                u[i] += at if from_column < 0 else at - distance[from_column]
            for k in range(open_columns + 1, n):
                v[trace[2, k]] -= at - distance[trace[2, k]]
            return j
        for i in range(m):
            if trace[1, i] == -2 and flow[i, j] > nothing:
                trace[1, i] = j
                order[reached] = i
                reached += 1
                for k in range(open_columns):
                    other = trace[2, k]
                    # Rounding must not make what is free cheaper than free.
                    there = at + max(cost[i, other] - u[i] - v[other], 0.0)
                    if there < distance[other]:
                        distance[other] = there
                        trace[0, other] = i
    return -1


@nested
def _augment(source, end, supply, demand, nothing, flow, trace):  # type: ignore[no-untyped-def]
    """Move as much as can be along the path that ends in column `end`."""
    moved = min(supply[source], demand[end])
    j = end
    while True:
        i = trace[0, j]
        if trace[1, i] < 0:
            break
        j = trace[1, i]
        moved = min(moved, flow[i, j])
    j = end
    while True:
        i = trace[0, j]
        flow[i, j] += moved
        if trace[1, i] < 0:
            break
        j = trace[1, i]
        flow[i, j] -= moved
        if flow[i, j] <= nothing:
            flow[i, j] = 0.0
    supply[source] -= moved
    demand[end] -= moved
