"""WRO-local: the fast form against the exact one, the exact one against a separate optimisation, the stored samples."""

import contextlib
import dataclasses

import numpy as np
import pytest
import scipy
from build import ones, some_pool
from hypothesis import given, settings
from hypothesis import strategies as st

from lasw.metrics import UserError, metric
from lasw.tuning import (
    LocalWeigher,
    Setting,
    Weights,
    fast_form_error,
    grid,
    leave_one_out,
    local_samples,
    make_similarity,
    read_samples,
    write_samples,
)
from lasw.tuning.local.left_out import _corrected, _ends
from lasw.tuning.optimisers.pairs.pro import PRO
from lasw.tuning.optimisers.pairs.wro import WRO
from lasw.tuning.pool.columns import at_norm

SENTENCES = 12
SOURCE = tuple(f"satz {k % 3} nummer {k}" for k in range(SENTENCES))


POOL = some_pool(noise=2.0)


def stored(optimiser=None, pool=None, start=None):
    pool = some_pool(noise=2.0) if pool is None else pool
    optimiser = WRO(metric="BLEU+1", reachable=0.9) if optimiser is None else optimiser
    return local_samples(optimiser, pool, start or ones(pool), SOURCE)


def separately(samples, k, pull, centre):
    """The minimum of F_t, written out and found by another method, from 0."""
    c = 2 * k[samples.sentence]
    scale2 = (c @ samples.x**2) / (c @ (samples.x != 0))

    def value(b):
        z = samples.x @ b + samples.offset
        away = b - centre
        if samples.loss == "logistic":
            losses, slopes = np.log1p(np.exp(-z)), -1 / (1 + np.exp(z))
        else:
            losses, slopes = 0.5 * (z - samples.labels) ** 2, z - samples.labels
        total = c @ losses + samples.l2 / 2 * scale2 @ b**2 + pull / 2 * away @ away
        return total, samples.x.T @ (c * slopes) + samples.l2 * scale2 * b + pull * away

    options = {"gtol": 1e-11, "ftol": 1e-16, "maxiter": 2000}
    return scipy.optimize.minimize(value, np.zeros(samples.x.shape[1]), jac=True, method="L-BFGS-B", options=options).x


def similarities(seed=1):
    return np.random.default_rng(seed).random(SENTENCES) ** 3


@pytest.mark.parametrize("loss", ["logistic", "linear"])
@pytest.mark.parametrize("text", ["bleu", "bleu:power=2:prior=0.3", "words:beta=4:prior=0.05:alphas=0,3"])
def test_the_exact_form_is_a_separate_optimisation(loss, text):
    samples = stored(WRO(metric="BLEU+1", loss=loss))
    weigher = LocalWeigher(samples, Setting.parse(text))
    near = similarities()
    found = weigher.weights(near, exact=True).dense
    k = weigher.setting.instance_weights(near, samples.instance)
    b = separately(samples, k, weigher.pull, samples.solution)
    raw = b / samples.scale
    assert found[samples.columns] == pytest.approx(raw / np.abs(raw).sum(), abs=1e-6)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    loss=st.sampled_from(["logistic", "linear"]),
    psi=st.sampled_from([1.0, 0.4]),
    norm=st.sampled_from(["l1", "none"]),
    zeros=st.booleans(),
)
def test_without_prior_the_exact_form_is_the_optimiser_with_these_sentence_weights(seed, loss, psi, norm, zeros):
    pool = POOL
    optimiser = WRO(metric="BLEU+1", loss=loss, psi=psi, norm=norm)
    drawn = optimiser.sample(pool)
    samples = local_samples(optimiser, pool, ones(pool), SOURCE)
    weigher = LocalWeigher(samples, Setting(alpha1=0 if zeros else 1))
    near = similarities(seed)
    if zeros:
        near[near < 0.1] = 0
        near[0] = 0.5
    k = weigher.setting.instance_weights(near, samples.instance)
    right = optimiser.fit_samples(drawn, ones(pool), sentence_weights=k).weights.dense
    assert weigher.weights(near, exact=True).dense == pytest.approx(right, abs=1e-6)


def test_a_sentence_like_none_and_a_column_that_no_similar_one_has():
    samples = stored()
    weigher = LocalWeigher(samples, Setting(alpha1=0))
    plain = weigher.global_weights.dense
    for exact in (False, True):
        assert weigher.weights(np.zeros(SENTENCES), exact=exact).dense == pytest.approx(plain)
    pool = some_pool(noise=2.0)
    pool.dense[pool.owner < 6, 2] = 0.0  # differs in the second half only
    samples = stored(pool=pool)
    weigher = LocalWeigher(samples, Setting(alpha1=0, prior=0.01))
    near = np.where(np.arange(SENTENCES) < 6, 0.5, 0.0)
    column = samples.columns.tolist().index(2)
    b = weigher.steps(weigher.setting.instance_weights(near, samples.instance)[None])[0]
    assert b[column] == pytest.approx(samples.solution[column])
    assert abs(b[0] - samples.solution[0]) > 1e-3


def test_the_linear_loss_needs_one_step():
    samples = stored(WRO(metric="BLEU+1", loss="linear"))
    assert fast_form_error(LocalWeigher(samples, Setting(power=None, beta=9)), similarities()[None]) < 1e-9


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), prior=st.sampled_from([0.0, 0.1, 2.0]))
def test_one_step_is_newtons(seed, prior):
    samples = stored()
    weigher = LocalWeigher(samples, Setting(prior=prior))
    k = np.random.default_rng(seed).random(SENTENCES)
    loses = 1 / (1 + np.exp(samples.x @ samples.solution))
    c = 2 * k[samples.sentence]
    penalty = samples.l2 * (c @ samples.x**2) / (c @ (samples.x != 0))
    gradient = -(c * loses) @ samples.x + penalty * samples.solution
    hessian = (samples.x.T * (c * loses * (1 - loses))) @ samples.x + np.diag(penalty + weigher.pull)
    assert weigher.steps(k[None])[0] == pytest.approx(samples.solution - np.linalg.solve(hessian, gradient), abs=1e-9)


def test_close_to_the_global_weights_the_fast_form_is_the_optimum():
    weigher = LocalWeigher(stored(), Setting(prior=0.5))
    assert fast_form_error(weigher, np.stack([similarities(seed) for seed in range(5)])) < 0.01


@pytest.mark.parametrize("text", ["bleu:beta=10", "bleu:power=4:alphas=0,1", "words:beta=12:prior=0.1"])
def test_where_one_step_is_not_enough_the_pairs_are_asked(text):
    samples = stored(pool=some_pool(noise=6.0))
    weigher = LocalWeigher(samples, Setting.parse(text))
    near = np.stack([similarities(seed) for seed in range(12)])
    k = weigher.setting.instance_weights(near, samples.instance)
    one_step = [weigher._sized(b).dense for b in weigher.steps(k)]
    exact = [weigher.weights(row, exact=True).dense for row in near]
    errors = [np.abs(a - b).sum() / np.abs(b).sum() for a, b in zip(one_step, exact, strict=True)]
    assert max(errors) > 0.02  # so there is something to do
    assert fast_form_error(weigher, near) < 0.01


def test_global_instance_weights_give_the_global_weights():
    pool = some_pool(noise=2.0)
    optimiser = WRO(metric="BLEU+1", reachable=0.9)
    samples = stored(optimiser, pool)
    right = optimiser.fit(pool, ones(pool)).weights.dense
    assert LocalWeigher(samples, None).weights(similarities()).dense == pytest.approx(right, abs=1e-12)
    alone = Setting(alpha1=1, alpha2=0)
    assert LocalWeigher(samples, alone).weights(similarities()).dense == pytest.approx(right, abs=1e-6)
    pulled = Setting(prior=1e9)
    assert LocalWeigher(samples, pulled).weights(similarities()).dense == pytest.approx(right, abs=1e-6)


def test_the_sharpest_setting_stays_finite():
    weigher = LocalWeigher(stored(), Setting(power=None, beta=25))
    near = np.where(np.arange(SENTENCES) == 3, 1.0, 0.0)
    for exact in (False, True):
        weights = weigher.weights(near, exact=exact).dense
        assert np.isfinite(weights).all()
        assert np.abs(weights[weigher.samples.columns]).sum() == pytest.approx(1)


def test_equation_5_4():
    setting = Setting.parse("bleu:alphas=1,10")
    k = setting.instance_weights(np.array([0.0, 0.5]), np.array([0.8, 1.0]))
    assert k == pytest.approx([0.8 / 11, (1 + 5) / 11])
    assert Setting(power=2).sharpened(np.array([0.5])) == pytest.approx([0.25])
    assert Setting(power=None, beta=2).sharpened(np.array([0.5])) == pytest.approx([np.e])


def test_what_was_not_learnt_stays_and_psi_and_norm_are_the_optimisers():
    pool = some_pool(noise=2.0, constant=True)
    start = Weights(pool.names, np.array([1.0, 1.0, 0.75, -3.0]))
    optimiser = WRO(metric="BLEU+1", psi=0.3)
    samples = stored(optimiser, pool, start)
    weights = LocalWeigher(samples, Setting()).weights(similarities())
    assert weights.by_group()["noise"][1] == 0.75
    assert weights.by_group()["length"] == [-3.0]
    whole = dataclasses.replace(samples, header={**samples.header, "psi": 1.0})
    new = LocalWeigher(whole, Setting()).weights(similarities()).dense[:2]
    right = at_norm(0.3 * new + 0.7 * np.array([0.5, 0.5]), np.array([True, True]), "l1")
    assert weights.dense[:2] == pytest.approx(right)
    free = dataclasses.replace(samples, header={**samples.header, "psi": 1.0, "norm": "none"})
    unsized = LocalWeigher(free, Setting()).weights(similarities()).dense[:2]
    assert unsized / np.abs(unsized).sum() == pytest.approx(new)
    assert abs(np.abs(unsized).sum() - 1) > 0.1


def test_sparse_features_keep_their_global_effect():
    pool = some_pool(noise=2.0, sparse=True)
    optimiser = PRO()
    samples = stored(optimiser, pool)
    fit = optimiser.fit(pool, ones(pool)).weights
    plain = LocalWeigher(samples, None).global_weights
    assert plain.dense == pytest.approx(fit.dense)
    assert plain.sparse == pytest.approx(dict(fit.sparse))
    local = LocalWeigher(samples, Setting()).weights(similarities())
    ratios = {local.sparse[name] / value for name, value in plain.sparse.items()}
    assert max(ratios) == pytest.approx(min(ratios))  # one factor: the norm of the dense weights
    assert not np.allclose(local.dense, plain.dense, atol=1e-3)


def test_nothing_to_learn_from():
    pool = some_pool()
    with pytest.raises(UserError, match="nothing to learn"):
        stored(PRO(threshold=1.5), pool)
    with pytest.raises(ValueError, match="11 source sentences for 12"):
        local_samples(PRO(), pool, ones(pool), SOURCE[:-1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("blue", "did you mean 'bleu'"),
        ("bleu:power=0", "power of a local setting is 0"),
        ("bleu:power=1:beta=2", "power or beta"),
        ("bleu:beta=nan", "beta"),
        ("bleu:beta=1000", "0 to 25"),
        ("bleu:prior=-1", "prior"),
        ("bleu:prior", "'prior'"),
        ("bleu:alphas=1", "two for alphas"),
        ("bleu:alphas=0,0", "both alphas"),
        ("bleu:power=x", "'x'"),
        ("bleu:power=1:power=2", "twice"),
        ("bleu:alphas=1,2:alphas=1,2", "twice"),
    ],
)
def test_settings_that_are_none(text, message):
    with pytest.raises(UserError, match=message):
        Setting.parse(text)


def test_a_setting_reads_what_it_writes():
    for setting in (Setting(), *grid(["words", "bleu"]), Setting("characters", alpha1=0.5, alpha2=3)):
        assert Setting.parse(str(setting)) == setting


def test_stored_samples_come_back_bit_for_bit_and_damage_is_found(tmp_path):
    samples = stored()
    write_samples(tmp_path / "a", samples)
    write_samples(tmp_path / "b", stored())
    data = (tmp_path / "a").read_bytes()
    assert data == (tmp_path / "b").read_bytes()
    back = read_samples(tmp_path / "a")
    for field in dataclasses.fields(samples):
        one, other = getattr(samples, field.name), getattr(back, field.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()
        else:
            assert one == other
    rng = np.random.default_rng(3)
    for place in (*rng.integers(len(data), size=40).tolist(), len(data) - 1):
        changed = bytearray(data)
        changed[place] ^= 0x10
        (tmp_path / "c").write_bytes(changed)
        # Either it is noticed, or it is where a zip does not look.
        with contextlib.suppress(UserError):
            again = read_samples(tmp_path / "c")
            assert again.x.tobytes() == samples.x.tobytes()
            assert again.source == samples.source
    (tmp_path / "c").write_bytes(data[: len(data) // 2])
    with pytest.raises(UserError, match="damaged"):
        read_samples(tmp_path / "c")
    (tmp_path / "c").write_bytes(data.replace(b'"version": 2', b'"version": 1'))
    with pytest.raises(UserError):
        read_samples(tmp_path / "c")


def reranked_alone(pool, samples, setting, matrix, s):
    """Row of the best candidate of sentence s, under weights from the other sentences, found anew."""
    weigher = LocalWeigher(samples, setting)
    k = samples.instance.copy()
    k[s] = 0
    b = centre = weigher.steps(k[None])[0] if setting is None else LocalWeigher(samples, None).steps(k[None])[0]
    if setting is not None:
        k = setting.instance_weights(matrix[s], samples.instance)
        k[s] = 0
        b = weigher.steps(k[None], centre[None])[0]
    weights = weigher._sized(b)
    scores = pool.model_scores(weights)
    return max(np.flatnonzero(pool.owner == s), key=lambda row: (scores[row], -row))


@pytest.mark.parametrize(("names", "sparse", "psi"), [(["words"], False, 1.0), (["bleu", "characters"], True, 0.4)])
def test_leaving_one_out_is_what_it_says(names, sparse, psi):
    pool = some_pool(noise=4.0, sparse=sparse)
    samples = stored(WRO(metric="BLEU+1", reachable=0.9, psi=psi), pool)
    matrices = {name: make_similarity(name, SOURCE).matrix(SOURCE) for name in names}
    bleu = metric("BLEU")
    curve = leave_one_out(pool, samples, matrices, grid(names), bleu, resamples=50)
    statistics = pool.statistics(bleu)

    def alone(setting, matrix):
        rows = [reranked_alone(pool, samples, setting, matrix, s) for s in range(SENTENCES)]
        return bleu.corpus_score(statistics[rows].sum(axis=0))

    assert curve.global_score == pytest.approx(alone(None, None))
    for point in curve.points:
        assert point.score == pytest.approx(alone(point.setting, matrices[point.setting.similarity]))
        assert point.lead == pytest.approx(point.score - curve.global_score)
        assert point.low <= point.high
    assert curve.best.score == max(point.score for point in curve.points)


def test_corrected_p_values_are_a_maximum_over_settings():
    rng = np.random.default_rng(2)
    observed = np.array([0.3, 0.01, 0.0, -2.0])
    resampled = observed[:, None] + np.array([0.1, 0.02, 0.0, 5.0])[:, None] * rng.normal(size=(4, 400))
    found = _corrected(observed, resampled)
    for i, lead in enumerate(observed):
        beyond = 0
        for b in range(400):
            spread = [resampled[j].std() for j in (0, 1, 3)]
            top = max((resampled[j, b] - observed[j]) / s for j, s in zip((0, 1, 3), spread, strict=True))
            own = resampled[i].std()
            beyond += max(top, 0.0) >= (lead / own if own else 0.0)
        assert found[i] == pytest.approx((beyond + 1) / 401)
    assert found[0] < 0.02  # three standard errors, beside one that scatters much
    assert found[3] > 0.5


def test_ends_of_leads_exclude_0_where_their_p_values_are_below_5_percent():
    rng = np.random.default_rng(4)
    said = set()
    for _ in range(30):
        observed = rng.normal(0.5, 1, size=5)
        observed[2] = 0.0  # of a setting that changes nothing
        resampled = observed[:, None] + np.array([0.5, 1, 0, 0.2, 0.3])[:, None] * rng.normal(size=(5, 99))
        p_values, (low, high) = _corrected(observed, resampled), _ends(observed, resampled)
        assert [p < 0.05 for p in p_values] == [end > 0 for end in low]
        said |= {p < 0.05 for p in p_values}
        assert all(a <= o <= b for a, o, b in zip(low, observed, high, strict=True))
    assert said == {True, False}


def test_its_own_samples_have_no_part_in_a_sentences_weights():
    samples = stored()
    weigher = LocalWeigher(samples, Setting(prior=0.3))
    k = np.ones((1, SENTENCES))
    k[0, 4] = 0
    gradient, hessian = samples.gradient.copy(), samples.hessian.copy()
    squares, counts = samples.squares.copy(), samples.counts.copy()
    gradient[4], hessian[4], squares[4], counts[4] = 99.0, 0.0, 9.0, 1.0
    other = dataclasses.replace(samples, gradient=gradient, hessian=hessian, squares=squares, counts=counts)
    without = LocalWeigher(other, Setting(prior=0.3))
    assert without.pull != weigher.pull  # the mean curvature is of all
    plain, blind = LocalWeigher(samples, None), LocalWeigher(other, None)
    assert blind.steps(k) == pytest.approx(plain.steps(k))


def test_locality_that_pays_is_chosen_and_chance_is_not():
    """Two kinds of sentences that want opposite weights of `noise`; or none."""
    for kinds in (2, 1):
        pool = some_pool(seed=3, sentences=80, candidates=15, noise=3.0)
        quality = pool.sentence_scores(metric("BLEU+1"))
        kind = pool.owner % kinds
        if kinds == 2:
            pool.dense[:, 1] = np.where(kind == 0, 1, -1) * (quality - quality.mean()) * 8 + 0.3 * pool.dense[:, 1]
        source = tuple(("rot " * 4 if s % 2 else "blau " * 4) + f"{s}" for s in range(80))
        optimiser = PRO()
        samples = local_samples(optimiser, pool, ones(pool), source)
        matrix = make_similarity("words", source).matrix(source)
        curve = leave_one_out(pool, samples, {"words": matrix}, grid(["words"]), metric("BLEU"), resamples=300)
        if kinds == 2:
            assert curve.chosen is not None
            assert curve.best.lead > 0.02
            assert curve.best.p_value < 0.01
        else:
            assert curve.chosen is None
