"""The regressions against scikit-learn and the closed form, and what must hold for any pairs."""

import numpy as np
import pytest
import scipy
from scipy import sparse as sp
from sklearn.linear_model import LogisticRegression, Ridge

from lasw.metrics import UserError
from lasw.tuning.optimisers.pairs import ranking, solving
from lasw.tuning.optimisers.pairs.ranking import fit_ranking


def some_pairs(seed=0, m=400, q=5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, q)) @ rng.normal(size=(q, q)) + rng.normal(size=q)
    return x, rng.random(m) + 0.05, rng.random(m) * 2


def scale_of(x, c):
    return np.sqrt((c @ x**2) / (c @ (x != 0)))


def with_mirror_images(x, y, c):
    return np.vstack([x, -x]), np.concatenate([y, -y]), np.concatenate([c, c])


@pytest.mark.parametrize("l2", [0.1, 1.0, 30.0])
def test_logistic_regression_equals_scikit_learn_on_both_mirror_images(l2):
    x, y, c = some_pairs()
    scale = scale_of(x, c)
    both, labels, weights = with_mirror_images(x / scale, y, c)
    peer = LogisticRegression(C=1 / l2, fit_intercept=False, tol=1e-12, max_iter=10_000)
    peer.fit(both, labels > 0, sample_weight=weights)
    found = fit_ranking(x, y, c, np.zeros(5), l2=l2)
    assert found.weights == pytest.approx(peer.coef_[0] / scale, rel=1e-5)
    assert found.warnings == ()
    z = both @ (found.weights * scale) * np.sign(labels)
    objective = weights @ np.log1p(np.exp(-z)) + l2 / 2 * np.sum((found.weights * scale) ** 2)
    assert found.objective == pytest.approx(objective, rel=1e-12)


@pytest.mark.parametrize(
    ("x", "c", "l2"),
    [
        ([[8, 2, 7], [-3, 2, 13], [-1, 52, 1], [-1, -5, -10]], [75.5, 7.2, 0.2, 77.5], 0.01),
        ([[2, 18, -1], [0, -2, 1], [-3, 2, 0], [-1, -2, 0]], [0.5, 0.2, 14.4, 56.9], 0.01),
        ([[2, -2], [-6, -3], [-3, 1], [0, -1]], [0.8, 13.5, 0.2, 14.0], 0.001),
    ],
)
def test_pairs_on_which_whole_newton_steps_go_too_far(x, c, l2):
    x, c = np.array(x, dtype=float), np.array(c)
    scaled = x / scale_of(x, c)

    def value_and_gradient(b):
        loses = scipy.special.expit(-scaled @ b)
        value = 2 * c @ np.logaddexp(0, -scaled @ b) + l2 / 2 * b @ b
        return value, -2 * (c * loses) @ scaled + l2 * b

    peer = scipy.optimize.minimize(value_and_gradient, np.zeros(x.shape[1]), jac=True, tol=1e-12)
    fit = fit_ranking(x, np.ones(len(x)), c, np.zeros(x.shape[1]), l2=l2)
    assert fit.weights * scale_of(x, c) == pytest.approx(peer.x, rel=1e-4)
    assert fit.objective == pytest.approx(peer.fun, rel=1e-9)
    assert fit.steps < 15
    assert fit.warnings == ()
    # The way down is never up: one step of the whole length would have raised the loss somewhere.
    assert whole_steps_rise(scaled, c, l2)


def whole_steps_rise(x, c, l2):
    b, values = np.zeros(x.shape[1]), []
    for _ in range(15):
        values.append(2 * c @ np.logaddexp(0, -x @ b) + l2 / 2 * b @ b)
        loses = scipy.special.expit(-x @ b)
        hessian = (x * (2 * c * loses * (1 - loses))[:, None]).T @ x + l2 * np.eye(len(b))
        b = b - np.linalg.solve(hessian, l2 * b - 2 * (c * loses) @ x)
    return max(np.diff(values)) > 0.1


@pytest.mark.parametrize("l2", [0.1, 30.0])
def test_linear_regression_equals_ridge_on_both_mirror_images(l2):
    x, y, c = some_pairs(1)
    scale = scale_of(x, c)
    both, labels, weights = with_mirror_images(x / scale, y, c)
    peer = Ridge(alpha=l2, fit_intercept=False).fit(both, labels, sample_weight=weights)
    found = fit_ranking(x, y, c, np.zeros(5), loss="linear", l2=l2)
    assert found.weights == pytest.approx(peer.coef_ / scale, rel=1e-9)
    assert found.steps == 1


@pytest.mark.parametrize("loss", ["logistic", "linear"])
def test_sparse_columns_give_what_dense_ones_give(loss):
    x, y, c = some_pairs(2, q=8)
    x[np.random.default_rng(5).random(x.shape) < 0.6] = 0.0
    dense = fit_ranking(x, y, c, np.zeros(8), loss=loss)
    sparse = fit_ranking(sp.csr_array(x), y, c, np.zeros(8), loss=loss)
    assert sparse.weights == pytest.approx(dense.weights, rel=1e-4, abs=1e-6)
    assert sparse.objective == pytest.approx(dense.objective, rel=1e-9)


def test_stored_zeros_are_no_differences():
    x = np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, -1.0, 0.0], [1.0, 1.0, 0.0]])
    stored = sp.csr_array((x.ravel(), np.tile(np.arange(3), 4), np.arange(0, 13, 3)), shape=x.shape)
    c = np.array([0.5, 2.0, 1.0, 3.0])
    dense, sparse = (fit_ranking(matrix, np.ones(4), c, np.zeros(3)) for matrix in (x, stored))
    assert sparse.scale.tolist() == dense.scale.tolist() == [*scale_of(x[:, :2], c), 0.0]
    assert sparse.moved.tolist() == dense.moved.tolist() == [True, True, False]
    assert sparse.weights == pytest.approx(dense.weights, rel=1e-4)


def test_many_dense_columns_give_the_same(monkeypatch):
    x, y, c = some_pairs(3)
    newton = fit_ranking(x, y, c, np.zeros(5))
    monkeypatch.setattr(ranking, "NEWTON_COLUMNS", 2)
    assert fit_ranking(x, y, c, np.zeros(5)).weights == pytest.approx(newton.weights, rel=1e-4)


@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("loss", ["logistic", "linear"])
def test_weight_k_equals_k_copies_and_weight_0_absence(matrix, loss):
    x, y, _ = some_pairs(4, m=60)
    copies = np.random.default_rng(4).integers(0, 4, 60)
    weighted = fit_ranking(matrix(x), y, copies.astype(float), np.zeros(5), loss=loss)
    repeated = np.repeat(np.arange(60), copies)
    copied = fit_ranking(matrix(x[repeated]), y[repeated], np.ones(len(repeated)), np.zeros(5), loss=loss)
    assert weighted.weights == pytest.approx(copied.weights, rel=1e-5)


def test_turning_all_pairs_around_turns_the_weights_around():
    x, y, c = some_pairs(5)
    assert fit_ranking(-x, y, c, np.zeros(5)).weights == pytest.approx(-fit_ranking(x, y, c, np.zeros(5)).weights)


@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array])
def test_units_do_not_matter(matrix):
    x, y, c = some_pairs(6)
    units = np.array([1e-3, 1e4, 1.0, -10.0, 1e-6])
    plain = fit_ranking(matrix(x), y, c, np.zeros(5))
    scaled = fit_ranking(matrix(x * units), y, c, np.zeros(5))
    assert scaled.weights * units == pytest.approx(plain.weights, rel=1e-4)
    assert scaled.warnings == ()


@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array])
def test_a_feature_that_does_not_differ_keeps_its_start_weight(matrix):
    x, y, c = some_pairs(7)
    x[:, 1] = 0.0
    x[:, 3] = np.where(np.arange(400) % 2, 1e-4, -1e-4)  # values near 1000 with 6 digits: rounding
    start = np.array([9.0, 0.25, 9.0, -0.5, 9.0])
    found = fit_ranking(matrix(x), y, c, start, magnitude=np.array([5, 1, 5, 1000.0, 5]))
    assert found.moved.tolist() == [True, False, True, False, True]
    assert found.weights[[1, 3]].tolist() == [0.25, -0.5]
    others = fit_ranking(matrix(x[:, [0, 2, 4]]), y, c, np.zeros(3))
    assert found.weights[[0, 2, 4]] == pytest.approx(others.weights)


def test_a_feature_that_seldom_differs_is_penalised_as_it_would_be_alone():
    x, y, c = some_pairs(8)
    rare = np.zeros((400, 1))
    rare[:3] = 1.0
    found = fit_ranking(np.hstack([x, rare]), y, np.ones_like(c), np.zeros(6))
    assert abs(found.weights[5]) < 3  # three pairs for it; divided by its tiny standard deviation it would go past 8


def test_no_feature_differs():
    found = fit_ranking(np.zeros((4, 2)), np.ones(4), np.ones(4), np.array([0.5, -1.0]))
    assert found.weights.tolist() == [0.5, -1.0]
    assert "no feature differs" in found.warnings[0]
    assert (found.objective, found.steps) == (0.0, 0)


@pytest.mark.parametrize(("matrix", "most"), [(np.asarray, 1), (sp.csr_array, 0)])
def test_too_few_steps_are_reported(monkeypatch, matrix, most):
    x, y, c = some_pairs(9)
    monkeypatch.setattr(solving, "MAX_STEPS", most)
    assert any("did not converge" in warning for warning in fit_ranking(matrix(x), y, c, np.zeros(5)).warnings)


def test_degenerate_weights_are_reported():
    x = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [1.0, -1.0]])
    one = fit_ranking(x, np.ones(4), np.ones(4), np.zeros(2), names=("LM0", "w"))
    assert any("LM0 alone decides" in warning for warning in one.warnings)
    none = fit_ranking(np.array([[1.0, 2.0], [-1.0, -2.0]]), np.ones(2), np.ones(2), np.zeros(2))
    assert none.weights.tolist() == [0.0, 0.0]
    assert any("all learnt weights are 0" in warning for warning in none.warnings)


def test_separable_pairs_and_huge_values_stay_finite():
    x = np.array([[1.0, 0.5], [2.0, 0.1]]) * 1e4
    found = fit_ranking(x, np.ones(2), np.ones(2), np.zeros(2), l2=1e-9)
    assert np.isfinite(found.weights).all()
    assert (x @ found.weights > 0).all()


@pytest.mark.parametrize("c", [[-1.0, 1.0], [np.nan, 1.0], [np.inf, 1.0], [1.0]])
def test_instance_weights_that_make_no_sense(c):
    with pytest.raises(ValueError, match="weights"):
        fit_ranking(np.ones((2, 1)), np.ones(2), np.array(c), np.zeros(1))


@pytest.mark.parametrize("l2", [0.0, -1.0, np.nan])
def test_the_penalty_must_be_above_zero(l2):
    with pytest.raises(ValueError, match="l2"):
        fit_ranking(np.ones((2, 1)), np.ones(2), np.ones(2), np.zeros(1), l2=l2)


def test_all_weights_zero_is_as_no_pair():
    found = fit_ranking(np.ones((2, 1)), np.ones(2), np.zeros(2), np.array([0.5]))
    assert found.weights.tolist() == [0.5]


def test_differences_whose_squares_overflow_are_refused():
    x, y, c = some_pairs()
    x[:, 1] *= 1e200
    with pytest.raises(UserError, match=r"feature b differs so much .* expected differences below 1e150"):
        fit_ranking(x, y, c, np.zeros(5), names=("a", "b", "c", "d", "e"))
