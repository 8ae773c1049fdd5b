"""Every statistic against the WMT metrics task's own tool, against scipy, and against double loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from lasw.metrics import STATISTICS, UserError, asked_for
from lasw.metrics.agreement.statistics import AVERAGES, SEGMENTS, Asked, Rated, Values, rated_marks, rated_pairs
from lasw.metrics.agreement.statistics.counting import hybrid_counts
from lasw.metrics.agreement.statistics.linear import outliers
from lasw.metrics.agreement.statistics.swapping import bit_planes, kept_counts, mean_differences, swapped_moments

OF_MARKS = ("pearson", "spearman", "tau-b", "tau-c", "tau12", "tau13", "tau14", "darr", "accuracy", "acc-eq")

# What mt-metrics-eval (68a481a) says of `made()`: Correlation.Pearson, .Spearman, .Kendall (variants b and c),
# .KendallVariants (acc23), .KendallLike, and KendallWithTiesOpt (acc23, sample rate 1) with its threshold.
PUBLISHED = {
    ("pearson", "none"): 0.3649854332450245,
    ("spearman", "none"): 0.24406562700651363,
    ("tau-b", "none"): 0.18399444125859984,
    ("tau-c", "none"): 0.1967930029154519,
    ("accuracy", "none"): 0.461734693877551,
    ("darr", "none"): 0.20935412026726058,
    ("acc-eq", "none"): 0.46343537414965985,
    ("pearson", "item"): 0.2838076322380579,
    ("spearman", "item"): 0.36800166159318115,
    ("tau-b", "item"): 0.3421760548375452,
    ("tau-c", "item"): 0.3603472222222222,
    ("accuracy", "item"): 0.586111111111111,
    ("darr", "item"): 0.36363636363636365,
    ("acc-eq", "item"): 0.586111111111111,
    ("pearson", "system"): 0.3012062383614064,
    ("spearman", "system"): 0.2708065993754879,
    ("tau-b", "system"): 0.2014674777923265,
    ("tau-c", "system"): 0.20906710199639492,
    ("accuracy", "system"): 0.47757575757575754,
    ("darr", "system"): 0.25443786982248523,
    ("acc-eq", "system"): 0.4831313131313131,
}
EPSILONS = {"none": 0.0040000000000000036, "item": 0.0, "system": 0.0030000000000000027}


@dataclass
class Table:
    """Marks and scores (S, n), and which marks are missing."""

    people: np.ndarray
    metric: np.ndarray
    missing: np.ndarray

    @property
    def rated(self) -> Rated:
        system, item = np.nonzero(~self.missing)
        rows = [np.flatnonzero(system == s) for s in range(len(self.people))]
        return rated_marks(self.people[~self.missing], item, rows, self.people.shape[1])

    @property
    def values(self) -> Values:
        return Values(self.metric[~self.missing])

    def groups(self, average: str) -> Iterator[list[tuple[float, float]]]:
        """(mark, score) of every group."""
        rows = list(zip(self.people.tolist(), self.metric.tolist(), self.missing.tolist(), strict=True))
        by_system = [[(p, m) for p, m, gone in zip(*row, strict=True) if not gone] for row in rows]
        if average == "none":
            yield list(itertools.chain(*by_system))
        elif average == "system":
            yield from by_system
        else:
            for k in range(self.people.shape[1]):
                yield [(p[k], m[k]) for p, m, gone in rows if not gone[k]]


def made() -> Table:
    random = np.random.default_rng(17)
    people = np.round(random.random((5, 12)) * 4) * 25
    metric = np.round(people / 250 + random.normal(size=(5, 12)) / 4, 3)
    return Table(people, metric, random.random((5, 12)) < 0.15)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    shape = (draw(st.integers(2, 4)), draw(st.integers(2, 5)))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    people = random.integers(0, 4, shape) * 25.0
    metric = random.integers(0, draw(st.sampled_from([3, 8, 100])), shape) / 8
    return Table(people, metric, random.random(shape) < draw(st.sampled_from([0.0, 0.2])))


def found(name: str, table: Table, average: str) -> float | None:
    return STATISTICS.find(name)().find(table.values, table.rated, Asked(name, average)).correlation.value


@pytest.mark.parametrize(("name", "average"), PUBLISHED)
def test_the_numbers_of_the_metrics_task(name: str, average: str) -> None:
    finding = STATISTICS.find(name)().find(made().values, made().rated, Asked(name, average))
    assert finding.correlation.value == pytest.approx(PUBLISHED[name, average], abs=1e-12)
    if name == "acc-eq":
        assert finding.details == {"epsilon": EPSILONS[average]}


def of_systems(table: Table) -> tuple[Values, Rated]:
    rated = Rated(5, table.people.mean(axis=1), np.zeros(5, np.int64), 1, of_systems=True, segments=table.people)
    return Values(table.metric.mean(axis=1), table.metric), rated


@pytest.mark.parametrize(
    ("name", "value"),
    [("spa", 0.7898), ("pairwise-accuracy", 0.5), ("pearson", 0.5300545543157409), ("tau-b", 0.22360679774997894)],
)
def test_systems_of_the_metrics_task(name: str, value: float) -> None:
    """PairwiseConfidenceError, Agreement, Pearson and Kendall of the same tool, of the table without gaps."""
    finding = STATISTICS.find(name)().find(*of_systems(made()), Asked(name, "none"))
    assert finding.correlation.value == pytest.approx(value, abs=1e-12)


def counts(group: list[tuple[float, float]], points: float = 0, epsilon: float = 0) -> list[int]:
    """Pairs ordered alike, the other way, tied by the metric, by people, by both."""
    kinds = [0] * 5
    for (p, m), (q, k) in itertools.combinations(group, 2):
        if abs(p - q) < points:
            continue
        if abs(m - k) <= epsilon:
            kinds[4 if p == q else 2] += 1
        elif p == q:
            kinds[3] += 1
        else:
            kinds[0 if (p > q) == (m > k) else 1] += 1
    return kinds


def slow(name: str, table: Table, average: str, epsilon: float = 0) -> float | None:
    """As the papers define them, pair by pair."""
    if name == "acc-eq":
        differences = {0.0}
        for group in table.groups(average):
            differences |= {abs(a[1] - b[1]) for a, b in itertools.combinations(group, 2)}
        values = [slow("accuracy", table, average, one) for one in sorted(differences)]
        return max((value for value in values if value is not None), default=None)
    groups = [group for group in table.groups(average) if len(group) > 1]
    values = []
    if name == "darr":
        each = [counts(group, points=25) for group in groups]
        groups, pooled = [[]], [sum(column) for column in zip(*each, strict=True)] or [0] * 5
    for group in groups:
        people, metric = [p for p, _ in group], [m for _, m in group]
        c, d, of_metric, of_people, both = pooled if name == "darr" else counts(group, epsilon=epsilon)
        ordered = c + d + of_metric
        value: float | None = None
        if name in ("pearson", "spearman"):
            if len(group) > (1 if average != "none" else 2) and len(set(people)) > 1 and len(set(metric)) > 1:
                value = (pearsonr if name == "pearson" else spearmanr)(people, metric)[0]
        elif name in ("tau-b", "tau-c"):
            value = kendalltau(people, metric, variant=name[-1])[0]
        elif name == "accuracy":
            value = (c + both) / (ordered + of_people + both)
        elif ordered and not (name == "tau13" and c + d == 0):
            against = of_metric if name in ("tau12", "darr") else 0
            value = (c - d - against) / (c + d if name == "tau13" else ordered)
        if value is not None and not math.isnan(value):
            values.append(value)
    return float(np.mean(values)) if values else None


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", OF_MARKS)
@settings(max_examples=25, deadline=None)
@given(table=tables())
def test_as_by_double_loops(name: str, average: str, table: Table) -> None:
    value, expected = found(name, table, average), slow(name, table, average)
    assert (value is None) == (expected is None)
    if expected is not None:
        assert value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", [name for name in OF_MARKS if name != "acc-eq"])
def test_resampled_is_the_statistic_of_what_was_drawn(name: str, average: str) -> None:
    """A segment drawn twice stands there twice; two copies of one are no pair, and epsilon is not calibrated anew."""
    table = made()
    drawn = np.random.default_rng(2).integers(0, 3, size=(4, 12)).astype(float)
    statistic, asked = STATISTICS.find(name)(), Asked(name, average)
    values = statistic.resampled(table.values, table.rated, asked, drawn)
    ones = statistic.resampled(table.values, table.rated, asked, np.ones((1, 12)))
    assert ones[0] == pytest.approx(found(name, table, average), abs=1e-12)
    if average == "item":
        for row, value in zip(drawn, values, strict=True):
            picked = np.repeat(np.arange(12), row.astype(int))
            again = Table(table.people[:, picked], table.metric[:, picked], table.missing[:, picked])
            assert value == pytest.approx(found(name, again, average), abs=1e-12)
    else:
        assert len(set(values.tolist())) == 4


def test_preferences_are_pairs_of_their_segment() -> None:
    """Pairs (A, B) of two segments of three systems; the metric's scores are 3 2 2 and 1 5 4."""
    scores = np.array([[3.0, 1], [2, 5], [2, 4]]).ravel()
    first, second = np.array([0, 2, 0, 1, 3]), np.array([2, 4, 4, 3, 5])  # AB BC AC of segment 0, AB BC of 1
    sign = np.array([1, 1, 0, -1, -1], dtype=np.int8)
    rated = rated_pairs(first, second, sign, np.array([0, 1, 0, 1, 0, 1]), 2)
    expected = {
        ("tau13", "none"): 1 / 3,  # right, the metric ties, people tie, right, wrong
        ("tau12", "none"): 0.0,
        ("tau14", "none"): 0.25,
        ("accuracy", "none"): 2 / 5,
        ("acc-eq", "none"): 2 / 5,
        ("tau14", "item"): (1 / 2 + 0) / 2,
        ("accuracy", "item"): (1 / 3 + 1 / 2) / 2,
    }
    for (name, average), value in expected.items():
        finding = STATISTICS.find(name)().find(Values(scores), rated, Asked(name, average))
        assert finding.correlation.value == pytest.approx(value), (name, average)


def test_too_many_pairs_are_counted_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    table, expected = made(), {}
    for name in ("tau-b", "tau-c", "tau13", "darr", "accuracy"):
        expected[name] = found(name, table, "none")
    monkeypatch.setattr("lasw.metrics.agreement.statistics.rated.MOST_PAIRS", 100)
    assert {name: found(name, table, "none") for name in expected} == pytest.approx(expected, abs=1e-12)
    with pytest.raises(UserError, match="--average item"):
        found("acc-eq", table, "none")


def test_outliers_by_the_median_absolute_deviation() -> None:
    """Distances from the median 5 are 1 0 1 2 95, their median 1: all beyond 2.5 x 1.483 are out."""
    marks = np.array([4.0, 5, 6, 7, 100])
    assert outliers(marks).tolist() == [False] * 4 + [True]
    rated = Rated(5, marks, np.zeros(5, np.int64), 1, of_systems=True)
    metric = np.array([1.0, 3, 2, 4, -9])
    finding = STATISTICS.find("pearson-robust")().find(Values(metric), rated, Asked("pearson-robust", "none"))
    assert finding.correlation.value == pytest.approx(pearsonr(marks[:4], metric[:4])[0])
    assert (finding.correlation.n, finding.details) == (4, {"outliers": 1.0})
    assert not outliers(np.array([1.0, 1, 1, 9])).any()  # nothing deviates, by the median


def test_kept_moments_as_by_loops() -> None:
    random = np.random.default_rng(5)
    scores, marks, starts = random.normal(size=(3, 11)), random.normal(size=11), np.array([0, 4, 4, 11])
    kept = random.integers(0, 2, size=(6, 11), dtype=np.uint8)
    differences = mean_differences(*swapped_moments(scores, marks, starts, kept), np.diff(starts))
    for b, i, j in itertools.product(range(6), range(3), range(3)):
        one = np.where(kept[b], scores[i], scores[j])
        other = np.where(kept[b], scores[j], scores[i])
        parts = [slice(0, 4), slice(4, 11)]
        expected = np.mean([pearsonr(one[p], marks[p])[0] - pearsonr(other[p], marks[p])[0] for p in parts])
        assert differences[b, i, j] == pytest.approx(0 if i == j else expected, abs=1e-9)


def test_kept_counts_as_by_loops() -> None:
    random = np.random.default_rng(6)
    starts = np.array([0, 70, 70, 75])
    kinds = random.random((2, 3, 75)) < 0.4
    planes, words = bit_planes(kinds, starts)
    kept = random.integers(0, 1 << 64, size=(4, planes.shape[-1]), dtype=np.uint64)
    bits = np.unpackbits(kept.view(np.uint8), axis=-1).reshape(4, -1)
    places = [*range(70), *range(128, 133)]  # the second group begins in a word of its own
    expected = np.zeros((4, 3, 2, 3))
    for b, m, q in itertools.product(range(4), range(2), range(3)):
        for g, (begin, end) in enumerate(itertools.pairwise(starts)):
            expected[b, g, m, q] = sum(kinds[m, q, p] and bits[b, places[p]] for p in range(begin, end))
    assert (kept_counts(planes, words, kept) == expected).all()


def test_hybrids_of_systems_as_by_loops() -> None:
    random = np.random.default_rng(7)
    first, second, marks = (random.integers(0, 3, size=6).astype(float) for _ in range(3))
    kept = random.integers(0, 2, size=(5, 6), dtype=np.uint8)
    result = hybrid_counts(first, second, marks, kept)
    for b in range(5):
        for h, hybrid in enumerate((np.where(kept[b], first, second), np.where(kept[b], second, first))):
            assert result[b, h].tolist() == counts(list(zip(marks.tolist(), hybrid.tolist(), strict=True)))


@pytest.mark.parametrize(("name", "average"), [("pearson", "none"), ("pearson", "item"), ("spearman", "none")])
def test_exchanges_have_the_distribution_of_all_of_them(name: str, average: str) -> None:
    """Of 2^10 exchanges of 10 scores, which can be listed."""
    random = np.random.default_rng(8)
    table = Table(random.normal(size=(5, 2)), random.normal(size=(5, 2)), np.zeros((5, 2), np.bool_))
    other = random.normal(size=(5, 2))
    statistic, asked = STATISTICS.find(name)(), Asked(name, average)
    swaps = statistic.swaps([table.values, Values(other.ravel())], table.rated, asked)
    assert swaps is not None
    drawn = np.sort(swaps(4000, 3)[:, 0, 1])
    one, two = ((x - x.mean()) / x.std() for x in (table.metric.ravel(), other.ravel()))
    if name == "spearman":
        one, two = (x.argsort().argsort().astype(float) for x in (one, two))
    listed = []
    for kept in itertools.product([True, False], repeat=10):
        pair = []
        for hybrid in (np.where(kept, one, two), np.where(kept, two, one)):
            groups = [slice(None)] if average == "none" else [slice(0, 10, 2), slice(1, 10, 2)]
            pair.append(np.mean([pearsonr(hybrid[g], table.people.ravel()[g])[0] for g in groups]))
        listed.append(pair[0] - pair[1])
    for share in (0.1, 0.3, 0.5, 0.8):
        assert np.mean(drawn <= np.quantile(listed, share)) == pytest.approx(share, abs=0.04)


@pytest.mark.parametrize("name", [name for name in STATISTICS if name != "tau-c"])
def test_a_metric_without_sense_loses_to_one_with(name: str) -> None:
    """Every statistic has a permutation test, which finds what is plain and is the same for the same seed."""
    random = np.random.default_rng(9)
    people = random.normal(size=(9, 40)) * 30 + np.arange(9)[:, None] * 12
    good, bad = people + random.normal(size=(9, 40)) * 8, random.normal(size=(9, 40))
    table = Table(people, good, np.zeros((9, 40), np.bool_))
    statistic = STATISTICS.find(name)()
    asked = Asked(name, statistic.average if SEGMENTS in statistic.levels else "none")
    rated, several = table.rated, [Values(good.ravel()), Values(bad.ravel())]
    if SEGMENTS not in statistic.levels:
        rated = Rated(9, people.mean(axis=1), np.zeros(9, np.int64), 1, of_systems=True, segments=people)
        several = [Values(x.mean(axis=1), x) for x in (good, bad)]
    swaps = statistic.swaps(several, rated, asked)
    assert swaps is not None
    drawn = swaps(500, 1)
    values = [statistic.find(one, rated, asked).correlation.value or 0.0 for one in several]
    assert np.mean(drawn[:, 0, 1] >= values[0] - values[1]) < 0.05
    assert (drawn == swaps(500, 1)).all()
    assert (drawn[:, 1, 0] == -drawn[:, 0, 1]).all()


def test_names() -> None:
    assert [one.name for one in asked_for("tau-b, spa")] == ["tau-b", "spa"]
    with pytest.raises(UserError, match="statistic"):
        asked_for("tau-d")
    with pytest.raises(UserError, match="twice"):
        asked_for("spa,spa")


@pytest.mark.parametrize("name", ["tau13", "tau-b", "accuracy", "darr"])
def test_exchanged_pairs_as_by_loops(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the first metric keeps every second pair of a group, and the other has the rest."""
    table, other = made(), np.random.default_rng(10).integers(0, 4, 60).astype(float)[~made().missing.ravel()]
    statistic, asked = STATISTICS.find(name)(), Asked(name, "item")
    points = 25.0 if name == "darr" else 0.0
    pairs = table.rated.pairs("item", points)
    assert pairs is not None

    class EverySecond:
        def integers(self, low: int, high: int, size: tuple[int, int], dtype: type) -> np.ndarray:
            return np.packbits(np.tile([True, False], (*size, 32)).reshape(size[0], -1), axis=-1).view(np.uint64)

    monkeypatch.setattr(np.random, "default_rng", lambda seed: EverySecond())
    swaps = statistic.swaps([table.values, Values(other)], table.rated, asked)
    assert swaps is not None
    hybrids = []
    for swapped in (0, 1):
        groups, pooled = [], [0] * 5
        place = 0
        for begin, end in itertools.pairwise(pairs.starts):
            kinds = [0] * 5
            for p in range(begin, end):
                place = p if name == "darr" else p - begin  # whose pairs are one group
                scores = table.values.metric if place % 2 == swapped else other
                difference = scores[pairs.first[p]] - scores[pairs.second[p]]
                sign = pairs.sign[p]
                kind = (4 if sign == 0 else 2) if difference == 0 else 3 if sign == 0 else int(difference * sign < 0)
                kinds[kind] += 1
                pooled[kind] += 1
            groups.append(kinds)
        values = []
        for c, d, of_metric, of_people, both in [pooled] if name == "darr" else groups:
            formula = {
                "tau13": (c - d, c + d),
                "tau-b": (c - d, math.sqrt((c + d + of_people) * (c + d + of_metric))),
                "accuracy": (c + both, c + d + of_metric + of_people + both),
                "darr": (c - d - of_metric, c + d + of_metric),
            }[name]
            values += [formula[0] / formula[1]] if formula[1] else []
        hybrids.append(np.mean(values))
    assert swaps(1, 1)[0, 0, 1] == pytest.approx(hybrids[0] - hybrids[1], abs=1e-12)
