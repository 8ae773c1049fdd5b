"""Resampled correlations against data sets that are really drawn; Williams' test against its definition and chance."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_text import write_judgements
from numpy.typing import NDArray
from scipy import stats

from lasw.metrics import SEGMENTS, Agreement, agreement_significance, metric, read_direct_assessment, read_judgements
from lasw.metrics.agreement.correlation import pearson, resampled_pearson, resampled_spearman, spearman
from lasw.metrics.agreement.panels import SYSTEMS, Measure, agreement_of
from lasw.metrics.agreement.significance import BOOTSTRAP, WILLIAMS, williams
from lasw.metrics.significance import resampled_counts


def value(x: float | None) -> float:
    return math.nan if x is None else x


ITEMS = st.lists(
    st.tuples(
        st.one_of(st.integers(-2, 2).map(float), st.floats(-10, 10)), st.integers(-2, 2).map(float), st.integers(0, 3)
    ),
    min_size=1,
    max_size=9,
)


@settings(max_examples=200)
@given(ITEMS)
def test_counts_equal_copies(items: list[tuple[float, float, int]]) -> None:
    x, y, times = (np.array(column, dtype=np.float64) for column in zip(*items, strict=True))
    copies = times.astype(np.int64)
    drawn = np.repeat(x, copies), np.repeat(y, copies)
    expected_r, expected_rho = value(pearson(*drawn).value), value(spearman(*drawn).value)
    counts = np.stack([times, np.ones_like(times)])
    own = np.stack([x, x[::-1]])  # the same where each data set has values of its own
    rows = np.stack([y, y])
    for a, b in ((x, y), (own, rows)):
        assert resampled_pearson(a, b, counts)[0] == pytest.approx(expected_r, abs=1e-9, nan_ok=True)
        assert resampled_spearman(a, b, counts)[0] == pytest.approx(expected_rho, abs=1e-9, nan_ok=True)


def test_nothing_drawn_and_one_drawn_have_no_correlation() -> None:
    x = np.array([1.0, 2.0, 3.0])
    counts = np.array([[0.0, 0.0, 0.0], [0.0, 3.0, 0.0], [1.0, 1.0, 1.0]])
    for resampled in (resampled_pearson, resampled_spearman):
        assert np.isnan(resampled(x, x, counts)).tolist() == [True, True, False]


# --- the whole agreement of data sets that are drawn and written to files ---

SENTENCES = ["the cat sat here", "a dog ran away", "birds sing", "it rains a lot", "we all eat fish"]
WORDS = ["the", "cat", "dog", "a", "birds", "fish", "sat", "ran", "lot", "it"]
COUNTS = [[1, 1, 1, 1, 1], [2, 0, 1, 1, 1], [0, 0, 3, 0, 2], [5, 0, 0, 0, 0]]


def noisy(random: np.random.Generator, sentence: str, rate: float) -> str:
    return " ".join(str(random.choice(WORDS)) if random.random() < rate else word for word in sentence.split())


@pytest.fixture
def preferences() -> tuple[dict[str, list[str]], list[tuple[int, str, str, str]]]:
    random = np.random.default_rng(3)
    systems = {name: [noisy(random, s, rate) for s in SENTENCES] for name, rate in (("p", 0.2), ("q", 0.5), ("r", 0.8))}
    pairs = [
        (k, a, b, str(random.choice(["<", "<", ">"])))
        for k in range(len(SENTENCES))
        for a, b in (("p", "q"), ("p", "r"), ("q", "r"))
    ]
    return systems, pairs


@pytest.mark.parametrize("tau", [12, 13, 14])
def test_resampled_preferences_equal_drawn_folders(
    tmp_path: Path, preferences: tuple[dict[str, list[str]], list[tuple[int, str, str, str]]], tau: int
) -> None:
    systems, pairs = preferences
    m = metric("PAC1")
    rows = [f"{k + 1}\t{a}\t{b}\t{rel}\n" for k, a, b, rel in pairs]
    result = agreement_of(m, read_judgements(write_judgements(tmp_path / "all", SENTENCES, systems, rows)), tau=tau)
    for number, counts in enumerate(COUNTS):
        drawn = [k for k, times in enumerate(counts) for _ in range(times)]
        rows = [f"{place + 1}\t{a}\t{b}\t{rel}\n" for place, k in enumerate(drawn) for i, a, b, rel in pairs if i == k]
        texts = {name: [lines[k] for k in drawn] for name, lines in systems.items()}
        folder = write_judgements(tmp_path / str(number), [SENTENCES[k] for k in drawn], texts, rows)
        check_against(result, agreement_of(m, read_judgements(folder), tau=tau), counts)


@pytest.mark.parametrize("spec", ["PAC1", "CHRF"])
def test_resampled_marks_equal_drawn_tables(tmp_path: Path, spec: str) -> None:
    random = np.random.default_rng(5)
    rows = [
        (k, name, f"{random.normal():.3f}", noisy(random, s, 0.5), s)
        for k, s in enumerate(SENTENCES)
        for name in ("p", "q", "r")
        if (k, name) != (0, "q")
    ]
    header = "seg1\tsystem\thuman\thyp\tref\n"
    path = tmp_path / "all.tsv"
    path.write_text(header + "".join("\t".join([str(k + 1), *rest]) + "\n" for k, *rest in rows))
    result = agreement_of(metric(spec), read_direct_assessment(path))
    assert result.units == len(SENTENCES)
    for counts in COUNTS:
        drawn = [k for k, times in enumerate(counts) for _ in range(times)]
        lines = ["\t".join([str(place + 1), *rest]) for place, k in enumerate(drawn) for i, *rest in rows if i == k]
        path.write_text(header + "\n".join(lines) + "\n")
        check_against(result, agreement_of(metric(spec), read_direct_assessment(path)), counts)


def check_against(result: Agreement, drawn: Agreement, counts: list[int]) -> None:
    for key, measure in result.measures.items():
        found = measure.resample(np.array([counts], dtype=np.float64))
        assert found.tolist() == pytest.approx([value(drawn[key].value)], abs=1e-9, nan_ok=True), key


def test_draws_are_many_and_the_same_every_time() -> None:
    def drawn(seed: int) -> NDArray[np.float64]:
        return np.concatenate([counts for _, counts in resampled_counts(300_000, 5, seed)])

    first, second = (drawn(7) for _ in range(2))  # in several blocks
    assert first.shape == (5, 300_000)
    assert (first.sum(axis=1) == 300_000).all()
    assert np.array_equal(first, second)
    assert not np.array_equal(first, drawn(8))


# --- significance ---


def made(x: NDArray[np.float64], y: NDArray[np.float64]) -> Agreement:
    def resampled(correlate):  # type: ignore[no-untyped-def]
        return lambda counts: correlate(x, y, counts)

    measures = {
        (SEGMENTS, "pearson"): Measure(pearson(x, y), resampled(resampled_pearson), x),
        (SEGMENTS, "spearman"): Measure(spearman(x, y), resampled(resampled_spearman)),
    }
    return Agreement(measures, len(x))


def test_better_equal_and_constant_metrics() -> None:
    random = np.random.default_rng(1)
    human = random.normal(size=200)
    good, poor = human + random.normal(size=200), human + 4 * random.normal(size=200)
    scores = [good, poor, 2 * good + 1, np.ones(200)]
    found = agreement_significance([made(x, human) for x in scores], samples=400, seed=1)
    for key, test in (((SEGMENTS, "pearson"), WILLIAMS), ((SEGMENTS, "spearman"), BOOTSTRAP)):
        result = found[key]
        assert result.test == test
        assert result.p_values[0, 1] < 0.01
        assert result.p_values[1, 0] > 0.99
        assert np.isnan(result.p_values[0, 2])  # the same metric on another scale
        assert np.isnan(result.p_values[:, 3]).all()
        assert np.isnan(result.p_values[3]).all()
        assert np.isnan(np.diag(result.p_values)).all()
        assert result.intervals[3] is None
        interval = result.intervals[0]
        assert interval is not None
        # Fisher's approximation; the bootstrap of 400 samples is as rough
        r = made(good, human)[key].value
        assert r is not None
        low, high = np.tanh(np.arctanh(r) + np.array([-1.96, 1.96]) / math.sqrt(197))
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.04)
    again = agreement_significance([made(x, human) for x in scores], samples=400, seed=1)
    for key, result in found.items():
        assert np.array_equal(result.p_values, again[key].p_values, equal_nan=True)
        assert result.intervals == again[key].intervals


def slow_williams(r12: float, r13: float, r23: float, n: int) -> float:
    determinant = np.linalg.det(np.array([[1, r12, r13], [r12, 1, r23], [r13, r23, 1]]))
    mean = (r12 + r13) / 2
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / (2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r23) ** 3))
    return float(stats.t.sf(t, n - 3))


@given(st.integers(4, 500), st.integers(0, 10_000))
def test_williams_as_it_is_defined(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    r = np.corrcoef(random.normal(size=(3, 3)) @ random.normal(size=(3, 12)))
    p = williams(r[0, 1], r[0, 2], r[1, 2], n)
    assert p is not None
    assert p == pytest.approx(slow_williams(r[0, 1], r[0, 2], r[1, 2], n), abs=1e-9)
    other = williams(r[0, 2], r[0, 1], r[1, 2], n)
    assert other is not None
    assert p + other == pytest.approx(1.0)


def test_williams_p_values_of_equal_metrics_are_uniform() -> None:
    random = np.random.default_rng(2)
    p_values = []
    for _ in range(800):
        human = random.normal(size=40)
        shared = random.normal(size=40)
        first, second = (human + shared + random.normal(size=40) for _ in range(2))
        r = np.corrcoef([human, first, second])
        p_values.append(williams(r[0, 1], r[0, 2], r[1, 2], 40))
    assert stats.kstest(p_values, "uniform").pvalue > 0.01
    assert np.mean(np.array(p_values) < 0.05) == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize("arguments", [(0.9, 0.5, 0.6, 3), (0.5, 0.5, 1.0, 30), (0.5, 0.5, 1 - 1e-14, 30)])
def test_williams_that_does_not_exist(arguments: tuple[float, float, float, int]) -> None:
    assert williams(*arguments) is None


def test_corpora_of_no_more_than_the_judged_systems(
    tmp_path: Path, preferences: tuple[dict[str, list[str]], list[tuple[int, str, str, str]]]
) -> None:
    systems, pairs = preferences
    systems = {**systems, "idle": ["x"] * len(SENTENCES)}
    rows = [f"{k + 1}\t{a}\t{b}\t{rel}\n" for k, a, b, rel in pairs]
    judgements = read_judgements(write_judgements(tmp_path / "all", SENTENCES, systems, rows))
    results = [agreement_of(metric(spec), judgements) for spec in ("PAC1", "CHRF")]
    assert results[0][SYSTEMS, "pearson"].n == 3
    found = agreement_significance(results, samples=50, seed=1)
    assert np.isnan(found[SYSTEMS, "pearson"].p_values).all()  # three systems are too few for Williams' test
    assert not np.isnan(found[SEGMENTS, "kendall"].p_values[0, 1])


def test_what_many_judges_say_of_one_segment_is_drawn_together(
    tmp_path: Path, preferences: tuple[dict[str, list[str]], list[tuple[int, str, str, str]]]
) -> None:
    systems, pairs = preferences
    rows = [f"{k + 1}\t{a}\t{b}\t{rel}\n" for k, a, b, rel in pairs]
    once = read_judgements(write_judgements(tmp_path / "once", SENTENCES, systems, rows))
    often = read_judgements(write_judgements(tmp_path / "often", SENTENCES, systems, 10 * rows))
    made = ([agreement_of(metric("PAC1"), judgements)] for judgements in (once, often))
    first, second = (agreement_significance(one, samples=30, seed=1) for one in made)
    # ten judges who agree are no ten segments: the interval is as wide
    assert first[SEGMENTS, "kendall"].intervals == second[SEGMENTS, "kendall"].intervals
    assert first[SEGMENTS, "kendall"].intervals[0] is not None
