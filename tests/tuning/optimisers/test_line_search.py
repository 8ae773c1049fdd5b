"""The line search finds the same maximum as a slow scan of all crossings of all pairs of candidates."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lasw.metrics import Corpus, Metric, References, Signature, metric
from lasw.tuning.optimisers.mert.envelope import envelopes
from lasw.tuning.optimisers.mert.line_search import LineSearch

Floats = NDArray[np.float64]


class MeanOfWeighted(Metric):
    """Statistics that are no whole numbers: a value and its weight; their ratio, 1 at 1, falls on both sides."""

    name = "mean"

    def signature(self) -> Signature:
        return Signature(self.name, ())

    def prepare(self, references: References) -> Any:
        return None

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        values = np.random.default_rng(len(owner)).random((len(owner), 2))
        return values.astype(np.float64)

    def corpus_scores(self, totals: NDArray[Any]) -> Floats:
        return np.asarray(1 - abs(1 - totals[:, 0] / totals[:, 1]))


METRICS = {spec: metric(spec) for spec in ("BLEU", "TER", "PABC4", "PABC4:alpha=1")} | {"mean": MeanOfWeighted()}


def pool_of(generator: np.random.Generator, loss: Metric) -> tuple[NDArray[np.int64], NDArray[Any], Floats, Floats]:
    """Starts, statistics, intercepts and slopes of a random small pool: often with equal and parallel lines."""
    sizes = generator.integers(1, 9, size=generator.integers(1, 6))
    n = int(sizes.sum())
    owner = np.repeat(np.arange(len(sizes)), sizes)
    words = ["a", "b", "c", "d", "e"]

    def line() -> str:
        return " ".join(generator.choice(words, size=generator.integers(1, 9)))

    references = References.from_lines([line() for _ in sizes])
    hypotheses = Corpus.from_lines([line() for _ in range(n)], references.vocabulary)
    statistics = loss.statistics(hypotheses, loss.prepare(references), owner)
    intercepts, slopes = generator.normal(size=n), generator.normal(size=n)
    if generator.random() < 0.5:  # few values: equal lines, parallel lines, many crossings in one point
        intercepts, slopes = np.round(intercepts), np.round(slopes)
    if generator.random() < 0.2:
        slopes[owner == 0] = 3.0
    intercepts, slopes = intercepts * 10.0 ** generator.integers(-3, 5), slopes * 10.0 ** generator.integers(-3, 5)
    return np.concatenate([[0], np.cumsum(sizes)]), statistics, intercepts, slopes


def best_at(position: float, starts: NDArray[np.int64], intercepts: Floats, slopes: Floats) -> list[int]:
    """The first of each sentence's best candidates."""
    scores = intercepts + position * slopes
    return [int(a + scores[a:b].argmax()) for a, b in pairwise(starts)]


def scan(
    starts: NDArray[np.int64], statistics: NDArray[Any], intercepts: Floats, slopes: Floats, loss: Metric
) -> dict[float, float]:
    """Score at the middle of any two neighbouring crossings, and outside all of them."""
    crossings = []
    for first, last in pairwise(starts):
        for i in range(first, last):
            for j in range(first, i):
                if slopes[i] != slopes[j]:
                    crossings.append((intercepts[j] - intercepts[i]) / (slopes[i] - slopes[j]))
    crossings.sort()
    if not crossings:
        points = [0.0]
    else:
        unit = max(map(abs, crossings)) or 1.0
        # Neighbours that differ by rounding are one crossing: no weights would be in between.
        middles = [(a + b) / 2 for a, b in pairwise(crossings) if b - a > 1e-10 * unit]
        points = [crossings[0] - unit, *middles, crossings[-1] + unit]
    return {
        point: loss.corpus_score(statistics[best_at(point, starts, intercepts, slopes)].sum(axis=0)) for point in points
    }


@pytest.mark.parametrize("name", METRICS)
def test_equal_to_a_scan_of_all_crossings(name: str) -> None:
    loss = METRICS[name]
    moved = 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        starts, statistics, intercepts, slopes = pool_of(generator, loss)
        found = LineSearch(starts, statistics, loss).search(intercepts, slopes)
        expected = max(scan(starts, statistics, intercepts, slopes, loss).values())
        assert found.score == pytest.approx(expected, abs=1e-12), seed
        # What it says is true of the point it gives.
        there = statistics[best_at(found.position, starts, intercepts, slopes)].sum(axis=0)
        assert loss.corpus_score(there) == pytest.approx(found.score, abs=1e-12), seed
        moved += found.position != 0
    assert moved > 150  # the pools are not all flat


def test_every_point_of_the_envelopes() -> None:
    """Few values, exact in binary: equal lines, parallel lines, several through one point, flat ones and steep ones."""
    for seed in range(300):
        draw = np.random.default_rng(seed)
        sizes = draw.integers(1, 8, size=3)
        starts, n = np.concatenate([[0], np.cumsum(sizes)]), int(sizes.sum())
        intercepts, slopes, statistics = (draw.integers(-3, 4, size=n) for _ in range(3))
        slopes = slopes / draw.choice([0.25, 1.0, 4.0])
        points, total, spreads = found_points(starts, intercepts, slopes, statistics)
        wanted, first = slow_points(starts, intercepts, slopes, statistics)
        assert (points, total) == (wanted, first), seed
        for k, values in enumerate((intercepts, slopes)):
            assert spreads[k] == sum(np.ptp(values[a:b]) for a, b in pairwise(starts)), seed


def found_points(
    starts: NDArray[np.int64], intercepts: NDArray[Any], slopes: NDArray[Any], statistics: NDArray[Any]
) -> tuple[dict[float, float], float, Floats]:
    """How much the sum of one statistic changes where, what it is before, and the spreads, by the kernel."""
    n = len(slopes)
    rising = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
    positions, changes, total, spreads = np.empty(n), np.empty((n, 1)), np.empty(1), np.empty(2)
    lines = intercepts.astype(float), slopes.astype(float), statistics[:, None].astype(float)
    count = int(envelopes(starts, *lines, rising, positions, changes, total, spreads))
    points: dict[float, float] = {}
    for place, change in zip(positions[:count].tolist(), changes[:count, 0].tolist(), strict=True):
        points[place] = points.get(place, 0.0) + change
    return {place: change for place, change in points.items() if change}, float(total[0]), spreads


def slow_points(
    starts: NDArray[np.int64], intercepts: NDArray[Any], slopes: NDArray[Any], statistics: NDArray[Any]
) -> tuple[dict[float, float], float]:
    """The same by looking between all crossings of all candidates of a sentence."""
    points: dict[Fraction, float] = {}
    total = 0.0
    for first, last in pairwise(starts.tolist()):
        lines = [
            (Fraction(int(intercepts[i])), Fraction(float(slopes[i])), float(statistics[i])) for i in range(first, last)
        ]
        crossings = {(b - d) / (c - a) for b, a, _ in lines for d, c, _ in lines if a != c}
        places = sorted(crossings) or [Fraction(0)]
        between = [places[0] - 1, *((a + b) / 2 for a, b in pairwise(places)), places[-1] + 1]
        best = [max(lines, key=lambda line: line[0] + line[1] * place)[2] for place in between]
        total += best[0]
        for place, (before, after) in zip(places, pairwise(best), strict=True):
            points[place] = points.get(place, 0.0) + after - before
    return {float(place): change for place, change in points.items() if change}, total


def search(intercepts: list[float], slopes: list[float], scores: list[float]) -> tuple[float, float]:
    """Position and score in one sentence whose candidates have these scores."""
    statistics = np.array([[score, 1.0] for score in scores])
    mean = metric("BLEU:corpus=mean")
    lines = LineSearch(np.array([0, len(scores)]), statistics, mean)
    found = lines.search(np.array(intercepts, dtype=np.float64), np.array(slopes, dtype=np.float64))
    return found.position, found.score


def test_the_middle_of_the_best_interval() -> None:
    # Crossings at -2 and 4.
    assert search([-2, 0, -4], [-1, 0, 1], [0.1, 0.3, 0.2]) == (1.0, 0.3)


def test_an_outer_interval_is_entered_by_a_mean_length() -> None:
    assert search([-2, 0, -4], [-1, 0, 1], [0.1, 0.2, 0.3]) == (10.0, 0.3)
    assert search([-2, 0, -4], [-1, 0, 1], [0.3, 0.2, 0.1]) == (-8.0, 0.3)
    # Crossings at -2, 0 and 4; then at -100 and -99, where a tenth of the position is more.
    assert search([-2, 0, 0, -4], [-2, -1, 0, 1], [0.1, 0.2, 0.15, 0.3]) == (7.0, 0.3)
    assert search([-2, 0, 0, -4], [-2, -1, 0, 1], [0.3, 0.2, 0.15, 0.1])[0] == -5.0
    assert search([-100, 0, 99], [-1, 0, 1], [0.3, 0.2, 0.1])[0] == -110.0


def test_no_farther_than_the_limit() -> None:
    def found(scores: list[float], limit: float) -> tuple[float, float]:
        lines = LineSearch(np.array([0, 3]), np.array([[score, 1.0] for score in scores]), metric("BLEU:corpus=mean"))
        point = lines.search(np.array([-2.0, 0.0, -4.0]), np.array([-1.0, 0.0, 1.0]), limit)
        return point.position, point.score

    # Crossings at -2 and 4. An outer interval ends at the limit; a crossing beyond it is not seen.
    assert found([0.1, 0.2, 0.3], 6.0) == (5.0, 0.3)
    assert found([0.3, 0.2, 0.1], 6.0) == (-4.0, 0.3)
    assert found([0.1, 0.2, 0.3], 100.0) == (10.0, 0.3)
    assert found([0.1, 0.2, 0.3], 3.0)[1] == 0.2
    assert found([0.3, 0.2, 0.1], 3.0) == (-2.5, 0.3)
    assert found([0.3, 0.2, 0.1], 1.0) == (0.0, 0.2)


def test_equal_to_a_scan_of_the_crossings_within_a_limit() -> None:
    loss = METRICS["BLEU"]
    for seed in range(60):
        generator = np.random.default_rng(seed)
        starts, statistics, intercepts, slopes = pool_of(generator, loss)
        limit = float(generator.choice([0.1, 0.5, 2.0]))
        found = LineSearch(starts, statistics, loss).search(intercepts, slopes, limit)
        assert abs(found.position) <= limit
        scores = intercepts[:, None] + slopes[:, None] * np.linspace(-limit, limit, 2001)[1:-1]
        chosen = np.stack([a + scores[a:b].argmax(axis=0) for a, b in pairwise(starts)])
        assert found.score >= loss.corpus_scores(statistics[chosen].sum(axis=0)).max() - 1e-12, seed
        there = statistics[best_at(found.position, starts, intercepts, slopes)].sum(axis=0)
        assert loss.corpus_score(there) == pytest.approx(found.score, abs=1e-12), seed


def test_of_equal_lines_the_earliest_counts() -> None:
    assert search([0, 0, 0], [1, 1, 1], [0.1, 0.9, 0.5]) == (0.0, 0.1)
    assert search([0, 0, 5], [1, 1, 0], [0.3, 0.9, 0.1])[1] == 0.3


def test_of_equal_scores_the_nearest_point_is_taken() -> None:
    position, score = search([-2, 0, -4], [-1, 0, 1], [0.3, 0.1, 0.3])
    assert (position, score) == (-8.0, 0.3)
    # Crossings at -4 and 2: the interval behind the last one is nearer than that before the first.
    assert search([-4, 0, -2], [-1, 0, 1], [0.3, 0.1, 0.3]) == (8.0, 0.3)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-6])
def test_what_only_rounding_separates_is_no_interval(scale: float) -> None:
    # Both sentences change at 0.3, but for rounding, and in between both would have their better candidate.
    first, second = 0.3 * scale, (0.1 + 0.2) * scale
    assert first < second < first * (1 + 1e-11)
    statistics = np.array([[0.1, 1.0], [0.9, 1.0], [0.9, 1.0], [0.2, 1.0]])
    lines = LineSearch(np.array([0, 2, 4]), statistics, metric("BLEU:corpus=mean"))
    intercepts, slopes = np.array([0.0, -first, 0.0, -second]), np.array([0.0, 1.0, 0.0, 1.0])
    best = lines.search(intercepts, slopes)
    assert (best.intervals, best.score) == (2, 0.55)
    assert best.position == pytest.approx(1.1 * second)


@pytest.mark.parametrize(
    ("slope", "width", "intervals"), [(1e-5, 1e-8, 3), (1e-5, 1e-6, 4), (1e3, 1e-8, 3), (1e3, 1e-3, 4)]
)
def test_rounding_is_measured_in_units_of_the_line(slope: float, width: float, intervals: int) -> None:
    # Changes at 0, `width` and 30000: whatever the slopes, the unit is about 10000 and its rounding 1e-7.
    statistics = np.array([[0.1, 1.0], [0.9, 1.0], [0.9, 1.0], [0.1, 1.0], [0.5, 1.0], [0.4, 1.0]])
    places = np.array([0.0, 0.0, 0.0, width, 0.0, 30000.0])
    slopes = slope * np.array([0.0, 1.0] * 3)
    lines = LineSearch(np.array([0, 2, 4, 6]), statistics, metric("BLEU:corpus=mean"))
    best = lines.search(-places * slopes, slopes)
    assert best.intervals == intervals
    assert best.score == pytest.approx(2.3 / 3 if intervals == 4 else 1.5 / 3)


def test_three_lines_through_one_point_have_no_interval_for_the_middle_one() -> None:
    position, score = search([0, 0, 0], [-1, 0, 1], [0.2, 0.9, 0.1])
    assert (position, score) == (-1.0, 0.2)  # all intercepts are 0: there is no unit but 1


def test_no_middle_falls_where_a_third_line_is_the_best_one_too() -> None:
    # Crossings at -4, 0 and 4. At 0 the first candidate, bad, is as high as the two good ones on either side.
    position, score = search([0, 0, 0, -4, -4], [0, -1, 1, -2, 2], [0.125, 0.875, 0.875, 0.25, 0.25])
    assert (abs(position), score) == (2.0, 0.875)


def test_a_change_that_changes_no_statistics_divides_no_interval() -> None:
    # Crossings at -2, 0 and 4, the one at 0 between two candidates alike.
    position, _ = search([-2, 0, 0, -4], [-2, -1, 0, 1], [0.1, 0.5, 0.5, 0.2])
    assert position == 1.0


def test_parallel_and_constant_lines_leave_the_position_alone() -> None:
    assert search([1, 3, 2], [7, 7, 7], [0.1, 0.2, 0.9]) == (0.0, 0.2)
    assert search([0, 0], [0, 0], [0.1, 0.2]) == (0.0, 0.1)


def test_nearly_parallel_lines_do_not_send_the_weights_to_infinity() -> None:
    position, score = search([1, 0, 0], [1, 1 + 1e-15, 0], [0.2, 0.9, 0.1])
    assert score == 0.2
    assert -1 < position < 1e9


def test_points_too_far_out_to_go_to_divide_nothing() -> None:
    # Sentences of two candidates, better behind their change: two far to the left, at -1 and 1, two far to the right.
    places = np.array([-4e12, -2e12, -1.0, 1.0, 2e12, 4e12])
    slopes = np.array([2.0**-40, 2.0**-40, 1.0, 1.0, 2.0**-40, 2.0**-40])
    intercepts = np.stack([np.zeros(6), -places * slopes], axis=1).ravel()
    statistics = np.array([[score, 1.0] for _ in range(6) for score in (0.0, 1.0)])
    lines = LineSearch(np.arange(0, 13, 2), statistics, metric("BLEU:corpus=mean"))
    found = lines.search(intercepts, np.stack([np.zeros(6), slopes], axis=1).ravel())
    # On the left both have changed, on the right none: the best is behind 1 by the length of the one interval between.
    assert found == type(found)(3.0, 4 / 6, 3)


def test_scores_that_are_no_number_never_win() -> None:
    class Undefined(MeanOfWeighted):
        def corpus_scores(self, totals: NDArray[Any]) -> Floats:
            return np.where(totals[:, 0] == 2, np.nan, totals[:, 0])

    statistics = np.array([[0.5, 1.0], [2.0, 1.0], [0.7, 1.0]])
    found = LineSearch(np.array([0, 3]), statistics, Undefined()).search(
        np.array([-2.0, 0, -4]), np.array([-1.0, 0, 1])
    )
    assert found.score == 0.7


def test_more_points_than_expected_at_first() -> None:
    # One sentence whose envelope has 500 parts: lines that touch a parabola.
    slopes = np.linspace(-1, 1, 500)
    statistics = np.stack([np.arange(500) / 500, np.ones(500)], axis=1)
    mean = metric("BLEU:corpus=mean")
    lines = LineSearch(np.array([0, 500]), statistics, mean)
    found = lines.search(-(slopes**2), slopes)
    assert found.intervals == 500
    assert found.score == pytest.approx(499 / 500)
    lines._make_room(499)  # as many as there are
    assert lines.search(-(slopes**2), slopes) == found


def test_slopes_so_close_that_their_crossing_overflows() -> None:
    position, score = search([1e10, 0, -5, 0], [0, 5e-324, 1, -1], [0.1, 0.2, 0.3, 0.4])
    assert score == 0.4
    assert np.isfinite(position)
