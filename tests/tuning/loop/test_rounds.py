"""What a round decodes with, and between which weights it ends."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lasw.tuning import FeatureNames, RunSettings, Weights
from lasw.tuning.loop.fitting import between
from lasw.tuning.loop.rounds import BEST, PERTURBED, asked, other_weights, perturbed
from lasw.tuning.pool.columns import Columns

NAMES = FeatureNames((("A", 1), ("B", 2)))
WEIGHTS = [Weights(NAMES, np.array([k + 1.0, -2.0, 0.0])) for k in range(4)]
COLUMNS = Columns(
    order=np.arange(1),
    starts=np.array([0, 1]),
    dense=np.zeros((1, 3)),
    sparse=None,
    sparse_names=(),
    varies=np.array([True, False, True]),
    scale=np.array([10.0, 1.0, 0.1]),
)


def settings(**values: Any) -> RunSettings:
    return RunSettings(Path("run"), **values)


@pytest.mark.parametrize(
    ("values", "rounds", "wanted"),
    [
        ({}, (1, 2, 9), [100, 100, 100]),
        ({"first_nbest": 500}, (1, 2, 3), [500, 100, 100]),
        ({"nbest_growth": 0.5}, (1, 2, 3, 9), [100, 50, 25, 1]),
        ({"nbest_growth": 1e300}, (1, 2, 3, 999), [100, *[2**31 - 1] * 3]),
        ({"nbest_growth": 1e-300}, (999,), [1]),
        ({"nbest": 50, "first_nbest": 30, "nbest_growth": 2.0}, (1, 2, 3), [30, 100, 200]),
    ],
)
def test_how_many_hypotheses(values: dict[str, float], rounds: tuple[int, ...], wanted: list[int]) -> None:
    assert [asked(settings(**values), k) for k in rounds] == wanted


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"first_nbest": -1}, "at least 0"),
        ({"perturbation": 1e7}, "at most 1e+06"),
        ({"nbest_growth": 0.0}, "nbest_growth is 0.0"),
        ({"nbest_growth": float("nan")}, "nbest_growth is nan"),
        ({"perturbation": 0.0}, "perturbation is 0.0"),
        ({"perturbed": -1}, "at least 0"),
        ({"interpolation": 0.0}, "interpolation is 0.0"),
        ({"interpolation": 1.5}, "interpolation is 1.5"),
        ({"interpolation": float("nan")}, "interpolation is nan"),
        ({"interpolation_from": 0}, "interpolation_from is 0"),
        ({"noise": -1.0}, "noise is -1.0"),
        ({"noise": float("nan")}, "noise is nan"),
        ({"patience": 0}, "patience is 0"),
    ],
)
def test_what_is_refused(values: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        settings(**values)


def others(
    run: RunSettings, iteration: int, scores: list[float], *, in_pool: bool = False
) -> list[tuple[str, list[float]]]:
    found = other_weights(run, iteration, scores, WEIGHTS.__getitem__, lambda: COLUMNS, 7, in_pool=lambda _: in_pool)
    return [(one.kind, one.weights.dense.tolist()) for one in found]


def test_the_best_so_far_is_decoded_with_where_the_pool_lacks_its_list() -> None:
    best = settings(decode_best=True)
    assert others(best, 3, [0.1, 0.5, 0.3]) == [(BEST, [2.0, -2.0, 0.0])]
    assert others(best, 3, [0.1, 0.5, 0.3], in_pool=True) == []
    assert others(best, 3, [0.1, 0.3, 0.5]) == []  # it is the current one
    assert others(settings(), 3, [0.1, 0.5, 0.3]) == []


def test_perturbed_weights_are_drawn_for_the_round_alone() -> None:
    two = others(settings(perturbed=2), 2, [0.1, 0.2])
    assert [kind for kind, _ in two] == [PERTURBED, PERTURBED]
    assert two[0] != two[1]
    assert others(settings(perturbed=2), 2, [0.1, 0.2]) == two
    assert others(settings(perturbed=1), 2, [0.1, 0.2]) == two[:1]
    assert others(settings(perturbed=2, perturbed_rounds=1), 2, [0.1, 0.2]) == []
    assert len(others(settings(perturbed=2, perturbed_rounds=2), 2, [0.1, 0.2])) == 2


def test_the_size_of_a_perturbation() -> None:
    draws = np.random.default_rng(3)
    centre = Weights(NAMES, np.array([3.0, -2.0, 0.0]), {"s": 1.0})
    drawn = [perturbed(centre, COLUMNS, 0.5, draws) for _ in range(4000)]
    assert all(one.sparse == {"s": 1.0} for one in drawn)
    moved = np.array([one.dense for one in drawn]) - centre.dense
    assert (moved[:, 1] == 0).all()  # the column that does not vary
    # The effects of the two others are 30 and 0, their root mean square 30 / sqrt(2).
    expected = 0.5 * 30 / np.sqrt(2) / COLUMNS.scale[[0, 2]]
    assert moved[:, [0, 2]].std(axis=0) == pytest.approx(expected, rel=0.05)
    assert moved[:, [0, 2]].mean(axis=0) == pytest.approx([0, 0], abs=0.05 * expected.max())


@pytest.mark.parametrize("varying", [[0, 2], [0]])
def test_what_is_drawn_depends_on_the_seed_of_the_round_alone(varying: list[int]) -> None:
    columns = dataclasses.replace(COLUMNS, varies=np.isin(np.arange(3), varying))
    run = settings(perturbed=2, perturbation=0.5)
    found = other_weights(run, 2, [0.1, 0.2], WEIGHTS.__getitem__, lambda: columns, 7, in_pool=lambda _: False)
    numbers = np.random.default_rng(np.random.SeedSequence([7, 1])).standard_normal((2, 3))
    typical = 2.0 * 10 / np.sqrt(len(varying))  # what the first column contributes; the third weight is 0
    for other, normal in zip(found, numbers, strict=True):
        expected = WEIGHTS[1].dense.copy()
        expected[varying] += (0.5 * typical * normal / COLUMNS.scale)[varying]
        assert other.weights.dense == pytest.approx(expected, rel=1e-12)


def test_between_two_weights_at_one_norm() -> None:
    before = Weights(NAMES, np.array([8.0, 7.0, -2.0]), {"s": 4.0})
    after = Weights(NAMES, np.array([0.2, 5.0, 0.8]), {"s": 1.0})
    # At the norm of `after` over the columns that vary, `before` is (0.8, -0.2).
    middle = between(before, after, 0.5, COLUMNS)
    assert middle.dense.tolist() == pytest.approx([0.5 / 0.8, 5.0, 0.3 / 0.8])
    assert middle.sparse == {"s": 1.0}
    assert between(before, after, 1.0, COLUMNS).dense.tolist() == pytest.approx([0.2, 5.0, 0.8])
    nearly = between(before, after, 0.25, COLUMNS)
    assert nearly.dense.tolist() == pytest.approx([0.65 / 0.7, 5.0, 0.05 / 0.7])


def test_sparse_weights_are_mixed_at_the_same_norm() -> None:
    import scipy

    columns = dataclasses.replace(
        COLUMNS,
        sparse=scipy.sparse.csr_array(np.zeros((1, 2))),
        sparse_names=("s", "t"),
        varies=np.array([True, False, True, True, False]),
        scale=np.ones(5),
    )
    before = Weights(NAMES, np.array([8.0, 7.0, -2.0]), {"s": 4.0, "t": 5.0})
    after = Weights(NAMES, np.array([0.2, 5.0, 0.8]), {"t": 3.0})
    middle = between(before, after, 0.5, columns)
    assert middle.dense.tolist() == pytest.approx([0.625, 5.0, 0.375])
    assert middle.sparse == pytest.approx({"s": 0.2 / 0.8, "t": 3.0})
