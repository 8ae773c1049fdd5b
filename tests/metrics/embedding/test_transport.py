"""The transport solver against POT's network simplex and SciPy's linear programs."""

from __future__ import annotations

import numpy as np
import ot
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from lasw.metrics.embedding.transport import transport


def solved(supply, demand, costs):
    """Work and flow of equal totals, by the kernel."""
    m, n = costs.shape
    k = max(m, n)
    flow = np.zeros((m, n))
    work = transport(
        np.ascontiguousarray(costs, dtype=float), m, n, supply.astype(float), demand.astype(float),
        np.full(m, -1), flow, np.empty((3, k)), np.empty((3, k), dtype=np.int64), np.empty(k, dtype=np.int64),
    )  # fmt: skip
    return work, flow


def partly_solved(supply, demand, costs):
    """The same of totals that differ: what is too much goes to a place that costs nothing."""
    surplus = supply.sum() - demand.sum()
    m, n = costs.shape
    if surplus > 1e-9:
        work, flow = solved(supply, np.append(demand, surplus), np.hstack([costs, np.zeros((m, 1))]))
    elif surplus < -1e-9:
        work, flow = solved(np.append(supply, -surplus), demand, np.vstack([costs, np.zeros((1, n))]))
    else:
        work, flow = solved(supply, demand, costs)
    return work, flow[:m, :n]


def by_network_simplex(supply, demand, costs):
    """The least work, by POT."""
    flow, log = ot.emd(supply, demand * (supply.sum() / demand.sum()), costs, numItermax=10_000_000, log=True)
    assert log["result_code"] == 1
    return (flow * costs).sum()


def by_linear_program(supply, demand, costs):
    """Equations 2 to 5 of Echizen'ya et al. (2019), word for word."""
    m, n = costs.shape
    rows = [np.repeat(np.eye(m)[i], n) for i in range(m)] + [np.tile(np.eye(n)[j], m) for j in range(n)]
    found = linprog(
        costs.ravel(),
        A_ub=np.array(rows),
        b_ub=np.concatenate([supply, demand]),
        A_eq=np.ones((1, m * n)),
        b_eq=[min(supply.sum(), demand.sum())],
    )
    assert found.status == 0
    return found.fun


def test_partial_transport_of_the_paper():
    """Echizen'ya et al. (2019), section 3.1.2: flow 2.4, total work 5.366."""
    p = np.array([(1, 5), (5, 5), (1, 1), (5, 1)], dtype=float)
    q = np.array([(2, 3), (4, 3), (3, 2)], dtype=float)
    costs = np.sqrt(((p[:, None] - q[None]) ** 2).sum(axis=2))
    work, flow = partly_solved(np.full(4, 0.6), np.full(3, 0.8), costs)
    assert work == pytest.approx(2.4 * np.sqrt(5))
    assert round(work, 2) == 5.37
    assert flow.sum() == pytest.approx(2.4)
    assert (flow.sum(axis=1) <= 0.6 + 1e-12).all()
    assert (flow.sum(axis=0) <= 0.8 + 1e-12).all()


@pytest.mark.parametrize("totals", [(1.0, 1.0), (1.0, 2.5), (3.0, 1.0)])
@pytest.mark.parametrize("size", [(1, 1), (1, 7), (6, 1), (4, 5), (9, 8)])
def test_unequal_totals_against_a_linear_program(size, totals):
    generator = np.random.default_rng(3)
    supply, demand = (generator.dirichlet(np.ones(k)) * total for k, total in zip(size, totals, strict=True))
    costs = generator.random(size)
    work, flow = partly_solved(supply, demand, costs)
    assert work == pytest.approx(by_linear_program(supply, demand, costs), abs=1e-9)
    assert flow.min() >= 0
    assert flow.sum() == pytest.approx(min(totals))


@settings(max_examples=150)
@given(st.data())
def test_whole_numbers_and_many_ties_against_pot(data):
    """Costs from few values, so that most problems have many cheapest flows; weights moved without rounding."""
    m, n = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    supply = np.array(data.draw(st.lists(st.integers(0, 6), min_size=m, max_size=m)), dtype=float)
    demand = np.array(data.draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)), dtype=float)
    assume(supply.any() and demand.any())
    supply, demand = supply * demand.sum(), demand * supply.sum()
    values = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])
    costs = np.array(data.draw(st.lists(values, min_size=m * n, max_size=m * n))).reshape(m, n)
    work, flow = solved(supply, demand, costs)
    assert np.array_equal(flow.sum(axis=1), supply)
    assert np.array_equal(flow.sum(axis=0), demand)
    assert work == pytest.approx(by_network_simplex(supply, demand, costs), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("size", [(25, 25), (60, 40), (1, 300), (300, 7)])
def test_real_weights_against_pot(size):
    generator = np.random.default_rng(4)
    for power in (1.0, 6.0):
        supply, demand = (generator.dirichlet(np.ones(k)) for k in size)
        costs = generator.random(size) ** power
        work, flow = solved(supply, demand, costs)
        assert work == pytest.approx(by_network_simplex(supply, demand, costs), rel=1e-9)
        assert np.allclose(flow.sum(axis=1), supply, atol=1e-11)
        assert np.allclose(flow.sum(axis=0), demand, atol=1e-11)


def test_direction_and_scale_do_not_matter():
    generator = np.random.default_rng(5)
    supply, demand, costs = generator.random(8), generator.random(11), generator.random((8, 11))
    there, _ = partly_solved(supply, demand, costs)
    back, _ = partly_solved(demand, supply, costs.T)
    assert there == pytest.approx(back, rel=1e-12)
    equal = demand * (supply.sum() / demand.sum())
    large, _ = solved(supply, equal, costs)
    small, _ = solved(supply * 1e-9, equal * 1e-9, costs)
    assert small == pytest.approx(large * 1e-9, rel=1e-9)


def test_totals_that_differ_by_rounding_are_equal():
    supply, demand = np.full(3, 1 / 3), np.full(7, 1 / 7)
    supply[0] += 1e-13
    work, _ = solved(supply, demand, np.ones((3, 7)))
    assert work == pytest.approx(1.0, abs=1e-9)


def test_supply_without_demand_is_no_solution():
    assert np.isnan(solved(np.array([1.0, 1.0]), np.array([1.0]), np.ones((2, 1)))[0])
