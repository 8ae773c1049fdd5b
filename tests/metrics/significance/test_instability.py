from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lasw.metrics import Corpus, MeanMetric, References, Signature, differences, spread
from lasw.metrics.significance.instability import randomisation_p_value, resampled_means


class Mean(MeanMetric):
    """The mean of one number a segment, so that variances are known."""

    name = "mean"

    def signature(self) -> Signature:
        return Signature(self.name, ())

    def prepare(self, references: References) -> Any:
        return None

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        raise NotImplementedError


def runs(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Statistics (R, n, 2) of values (R, n)."""
    return np.stack([values, np.ones_like(values)], axis=2)


def experiment(draw: np.random.Generator, count: int, n: int, of_runs: float) -> NDArray[np.float64]:
    """Runs that differ by noise of their own on all segments, and segments of different difficulty."""
    return draw.normal(0, of_runs, size=(count, 1)) + draw.normal(0, 0.1, size=(count, n))


def test_spread_is_the_sample_standard_deviation_of_three_runs_or_more() -> None:
    values = np.array([[1.0, 3.0], [2.0, 4.0], [6.0, 6.0]])
    found = spread(Mean(), runs(values))
    assert found.scores == (2.0, 3.0, 6.0)
    assert found.mean == pytest.approx(11 / 3)
    assert found.deviation == pytest.approx(np.sqrt(((2 - 11 / 3) ** 2 + (3 - 11 / 3) ** 2 + (6 - 11 / 3) ** 2) / 2))
    assert spread(Mean(), runs(values[:2])).deviation is None


def test_resampled_means_vary_as_segments_and_runs_do() -> None:
    draw = np.random.default_rng(3)
    values = draw.normal(size=(1, 200)) + draw.normal(0, 0.1, size=(4, 1)) + draw.normal(0, 0.3, size=(4, 200))
    drawn = resampled_means(Mean(), runs(values), samples=4000, seed=1, system=0)
    of_segments = values.mean(axis=0).var() / 200
    of_runs = values.mean(axis=1).var(ddof=1) / 4
    # A run's own part of a segment's score varies with the segments drawn and again with the run drawn.
    of_both = (values - values.mean(axis=0) - values.mean(axis=1)[:, None] + values.mean()).var() * (4 / 3) / 200 / 4
    assert drawn.mean() == pytest.approx(values.mean(), abs=4 * drawn.std() / np.sqrt(4000))
    assert drawn.var() == pytest.approx(of_segments + of_runs + of_both, rel=0.08)


@pytest.mark.parametrize(("first", "second"), [(2, 2), (1, 3)])
def test_randomisation_converges_to_the_exact_test(first: int, second: int) -> None:
    draw = np.random.default_rng(5)
    a, b = runs(draw.normal(size=(first, 3))), runs(draw.normal(0.6, size=(second, 3)))
    pooled = np.concatenate([a, b])
    metric = Mean()
    observed = abs(metric.corpus_score(b.sum(axis=(0, 1))) - metric.corpus_score(a.sum(axis=(0, 1))))
    hits = total = 0
    for deal in itertools.product(itertools.combinations(range(first + second), first), repeat=3):
        mine = sum(pooled[run, segment] for segment, chosen in enumerate(deal) for run in chosen)
        total += 1
        difference = metric.corpus_score(pooled.sum(axis=(0, 1)) - mine) - metric.corpus_score(mine)
        hits += abs(difference) >= observed - 1e-12
    found = randomisation_p_value(metric, a, b, samples=20000, seed=2)
    assert found == pytest.approx(hits / total, abs=0.012)


def test_the_bootstrap_allows_for_the_optimiser_and_randomisation_does_not() -> None:
    """Systems that are alike, runs that are not: how often each test says at 5 % that they differ."""
    draw = np.random.default_rng(7)
    said = {"bootstrap": 0, "randomisation": 0}
    for k in range(60):
        pair = [runs(experiment(draw, 5, 40, of_runs=0.1)) for _ in range(2)]
        for test in said:
            found = differences(Mean(), pair, test=test, samples=200, seed=k)[1]
            assert found is not None
            assert found.p_value is not None
            said[test] += found.p_value < 0.05
    assert said["bootstrap"] <= 9
    assert said["randomisation"] >= 25


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_a_clear_difference_is_found_and_nothing_is_certain(test: str) -> None:
    draw = np.random.default_rng(9)
    pair = [runs(experiment(draw, 3, 50, 0.01) + shift) for shift in (0.0, 0.5)]
    found = differences(Mean(), pair, test=test, samples=100)[1]
    assert found is not None
    assert found.p_value == pytest.approx(1 / 101)
    assert found.value == pytest.approx(0.5, abs=0.1)
    if test == "bootstrap":
        assert found.low is not None
        assert found.high is not None
        assert found.low < found.value < found.high


def test_what_has_no_p_value() -> None:
    draw = np.random.default_rng(11)
    three, other = runs(experiment(draw, 3, 10, 0.1)), runs(experiment(draw, 3, 10, 0.1))
    found = differences(Mean(), [three, three.copy(), other[:2]])
    assert found[0] is None
    assert found[1] is not None
    assert (found[1].identical, found[1].p_value, found[1].value) == (True, None, 0.0)
    assert found[2] is not None
    assert (found[2].identical, found[2].p_value) == (False, None)
    assert found[2].value == pytest.approx(other[:2, :, 0].mean() - three[:, :, 0].mean())


def test_another_system_in_the_list_changes_nothing() -> None:
    draw = np.random.default_rng(13)
    a, b, c = (runs(experiment(draw, 3, 20, 0.1)) for _ in range(3))
    assert differences(Mean(), [a, b, c])[2] == differences(Mean(), [a, c])[1]
    with pytest.raises(ValueError, match="bootstrap, randomisation"):
        differences(Mean(), [a, b], test="t-test")


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_equal_means_have_a_p_value_of_1_and_few_segments_none(test: str) -> None:
    draw = np.random.default_rng(17)
    values = draw.normal(size=(3, 6))
    first, second = runs(values), runs(values[::-1])  # the same runs in another order, and so another rounding
    found = differences(Mean(), [first, second], test=test, samples=99)[1]
    assert found is not None
    assert (found.value, found.p_value, found.identical) == (0.0, 1.0, False)
    if test == "bootstrap":
        assert found.low is not None
        assert found.high is not None
        assert found.low <= 0 <= found.high
    other = runs(values + draw.normal(1, 0.1, size=(3, 6)))
    for n, has_one in ((4, False), (5, True)):
        few = differences(Mean(), [first[:, :n], other[:, :n]], test=test, samples=99)[1]
        assert few is not None
        assert (few.p_value is not None) == has_one
        assert (few.low is not None) == (has_one and test == "bootstrap")


def test_an_interval_excludes_0_where_p_is_below_5_percent() -> None:
    draw = np.random.default_rng(19)
    said = set()
    for k in range(40):
        pair = [runs(experiment(draw, 3, 20, 0.05) + shift) for shift in (0.0, 0.1)]
        found = differences(Mean(), pair, samples=59, seed=k)[1]
        assert found is not None
        assert found.p_value is not None
        assert found.low is not None
        assert found.high is not None
        assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0)
        assert found.value == pytest.approx((found.low + found.high) / 2)
        said.add(found.p_value < 0.05)
    assert said == {True, False}
    too_few = differences(Mean(), pair, samples=19)[1]
    assert too_few is not None
    assert too_few.p_value is not None
    assert (too_few.low, too_few.p_value >= 0.05) == (None, True)
