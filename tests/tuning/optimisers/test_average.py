"""The mean of several optimisers: by hand from what each finds alone."""

import numpy as np
import pytest
from build import made_pool, start_of

from lasw.metrics import UserError, metric
from lasw.tuning import Fit, make_optimiser
from lasw.tuning.optimisers.expected import Expected
from lasw.tuning.optimisers.pairs.wro import WRO


def at_norm_1(weights):
    """Dense weights of `good` and `noise`, and sparse ones, where the dense have absolute sum 1."""
    size = np.abs(weights.dense[:2]).sum()
    return weights.dense[:2] / size, {name: value / size for name, value in weights.sparse.items()}


@pytest.mark.parametrize("of", ["expected,wro", "pro,expected,mira"])
def test_it_is_the_mean_at_norm_1(of):
    pool = made_pool(sparse=True)
    start = start_of(pool)
    parts = [at_norm_1(make_optimiser(name).fit(pool, start).weights) for name in of.split(",")]
    dense = np.mean([part for part, _ in parts], axis=0)
    size = np.abs(dense).sum()
    sparse = {key: np.mean([part.get(key, 0.0) for _, part in parts]) / size for key in ("S_0", "S_1")}
    found = make_optimiser("average", {"of": of, "all_pairs": 0}).fit(pool, start)
    assert found.weights.dense[:2] == pytest.approx(dense / size)
    assert found.weights.dense[2] == start.dense[2]
    assert {key: found.weights.sparse.get(key, 0.0) for key in sparse} == pytest.approx(sparse)
    assert found.objective == pool.corpus_score(metric("BLEU+1" if of.startswith("pro") else "BLEU"), found.weights)


def test_without_a_norm_it_is_as_large_as_the_first():
    pool = made_pool()
    start = start_of(pool)
    first, second = (make_optimiser(name, {"norm": "none"}).fit(pool, start).weights for name in ("mira", "expected"))
    size = np.abs(first.dense[:2]).sum()
    mean = (at_norm_1(first)[0] + at_norm_1(second)[0]) / 2
    found = make_optimiser("average", {"of": "mira,expected", "norm": "none"}).fit(pool, start).weights
    assert found.dense[:2] == pytest.approx(size * mean)


def test_a_name_twice_counts_twice():
    pool = made_pool()
    start = start_of(pool)
    pro, expected = (make_optimiser(name).fit(pool, start).weights.dense[:2] for name in ("pro", "expected"))
    found = make_optimiser("average", {"of": "pro, expected,pro", "all_pairs": 0}).fit(pool, start).weights.dense[:2]
    mean = (2 * pro + expected) / 3
    assert found == pytest.approx(mean / np.abs(mean).sum())


def test_the_loss_and_the_seed_are_those_of_all():
    average = make_optimiser("average", {"of": "wro,expected,pro"}, metric="CHRF", seed=7)
    assert [one.measure.signature().name for one in average.optimisers] == ["CHRF"] * 3
    assert [getattr(one, "seed", None) for one in average.optimisers] == [7, None, 7]
    own = make_optimiser("average").optimisers
    assert [one.metric for one in own] == ["BLEU", "PABC4"]
    assert own == (make_optimiser("expected"), make_optimiser("wro"))


def test_the_signature_has_those_of_its_parts():
    signature = str(make_optimiser("average", {"of": "expected,pro"}).signature())
    assert signature.startswith("AVERAGE|metric:default|of:expected,pro|expected.metric:BLEU|")
    assert "|expected.l2:0.1|" in signature
    assert "|pro.pairs:50|" in signature
    assert signature.count("norm:") == signature.count("seed:") == 1


def test_what_has_nothing_to_learn_does_not_count(monkeypatch):
    pool = made_pool()
    start = start_of(pool)
    alone = make_optimiser("wro").fit(pool, start)
    monkeypatch.setattr(Expected, "learn", lambda *_: None)
    left = make_optimiser("average", {"all_pairs": 0}).fit(pool, start)
    assert left.weights.dense == pytest.approx(alone.weights.dense)
    monkeypatch.setattr(WRO, "learn", lambda *_: None)
    fit = make_optimiser("average").fit(pool, start)
    assert fit.weights == start
    assert [line for line in fit.warnings if "stay as they are" in line] == list(fit.warnings) != []


def test_warnings_say_whose_they_are(monkeypatch):
    pool = made_pool()
    start = start_of(pool)
    monkeypatch.setattr(WRO, "learn", lambda *_: Fit(start, 0.5, 3, ("few pairs",)))
    fit = make_optimiser("average", {"of": "wro,expected"}).fit(pool, start)
    assert fit.warnings == ("wro: few pairs",)
    assert fit.iterations == 3 + make_optimiser("expected").fit(pool, start).iterations


@pytest.mark.parametrize(("all_pairs", "times"), [(0, 1), (999, 1), (30 * 150, 3), (30 * 199, 3)])
def test_few_sentences_are_drawn_from_as_often_as_many(all_pairs, times):
    pool = made_pool(sentences=30)
    start = start_of(pool)
    drawn = make_optimiser("wro", {"draws": 5000 * times, "pairs": 50 * times}).fit(pool, start).weights.dense[:2]
    found = make_optimiser("average", {"of": "wro,mle", "all_pairs": all_pairs}).fit(pool, start).weights.dense[:2]
    other = make_optimiser("mle").fit(pool, start).weights.dense[:2]
    mean = drawn / np.abs(drawn).sum() + other / np.abs(other).sum()
    assert found == pytest.approx(mean / np.abs(mean).sum(), rel=1e-12)


def test_pairs_of_another_number_are_the_same_share_of_the_draws():
    wro = make_optimiser("wro", {"draws": 60, "pairs": 20})
    drawn = [(one.draws, one.pairs) for one in map(wro.with_pairs, (0, 39, 40, 100))]
    assert drawn == [(60, 20), (60, 20), (120, 40), (300, 100)]
    expected = make_optimiser("expected")
    assert expected.with_pairs(100) is expected
    folds = make_optimiser("average").for_folds()
    assert folds.all_pairs == 0
    with pytest.raises(UserError, match="all_pairs is -1"):
        make_optimiser("average", {"all_pairs": -1})


@pytest.mark.parametrize("of", ["", "expected,", "wor,pro", "average,pro"])
def test_names_that_are_no_optimisers(of):
    with pytest.raises(UserError):
        make_optimiser("average", {"of": of})


def test_names_in_any_capitals_and_folds():
    one, other = (make_optimiser("average", {"of": of}) for of in ("Expected, MERT", "expected,mert"))
    assert one.signature() == other.signature()
    with pytest.raises(UserError, match="other optimisers"):
        make_optimiser("average", {"of": "Average,wro"}).signature()
    assert [part.restarts for part in other.for_folds().optimisers[1:]] == [4]
    assert other.optimisers[1].restarts == 20
