"""WRO-global: its switches, the global weight, and its place beside PRO."""

import math

import numpy as np
import pytest
from build import ones, some_pool

from lasw.metrics import Corpus, References, Vocabulary, metric
from lasw.tuning import FeatureNames, NBest, Pool
from lasw.tuning.optimisers.pairs.pro import PRO
from lasw.tuning.optimisers.pairs.wro import WRO


def test_without_its_switches_it_is_pro():
    pool = some_pool()
    off = WRO(metric="BLEU+1", oracle_sampling=False, global_weight=False).fit(pool, ones(pool))
    assert off.weights.dense.tobytes() == PRO().fit(pool, ones(pool)).weights.dense.tobytes()


def test_every_switch_changes_something():
    pool = some_pool(noise=3.0, unreachable=True)
    fits = {
        WRO(metric="BLEU+1", oracle_sampling=oracle, global_weight=weight, reachable=0.9)
        .fit(pool, ones(pool))
        .weights.dense.tobytes()
        for oracle in (True, False)
        for weight in (True, False)
    }
    assert len(fits) == 4


def test_oracles_are_the_best_tenth():
    pool = some_pool()
    pairs = WRO().sample(pool).pairs
    scores = pool.sentence_scores(metric("PABC4"))
    for s in range(12):
        mine = pool.order[pool.starts[s] : pool.starts[s + 1]]
        best = mine[np.argsort(-scores[mine], kind="stable")[:3]]  # of 30 candidates
        assert set(pairs.better[pairs.sentence == s]) <= set(best)
    assert (scores[pairs.better] - scores[pairs.worse] >= 0.05).all()


def test_the_global_weight_is_equation_5_3():
    vocabulary = Vocabulary()
    lines = ["der rote Bus faehrt heute", "die alte Bruecke am Fluss", "ein Haus"]
    pool = Pool(References.from_lines(lines, vocabulary=vocabulary))
    hypotheses = ["der rote Bus faehrt heute", "falsch", "die neue Strasse am See", "falsch"]
    names = FeatureNames((("a", 1),))
    owner = np.array([0, 0, 1, 1], np.int32)
    dense = np.arange(4.0)[:, None]
    pool.add(NBest(names, owner, Corpus.from_lines(hypotheses, vocabulary), dense, np.zeros(4)))
    # BLEU+1 of the third: precisions (2+1)/(5+1), (0+1)/(4+1), 1/4, 1/3, no penalty.
    top = (3 / 6 * 1 / 5 * 1 / 4 * 1 / 3) ** 0.25
    weights = WRO().sample(pool).sentence_weights
    assert weights == pytest.approx([1.0, math.exp(top - 0.4), 1.0])  # no candidates: its weight never counts
    assert WRO(reachable=top).sample(pool).sentence_weights.tolist() == [1.0, 1.0, 1.0]
    assert WRO(global_weight=False).sample(pool).sentence_weights.tolist() == [1.0, 1.0, 1.0]
    other = WRO(reach_metric="PAC1", reachable=0.9).sample(pool).sentence_weights
    assert other[1] == pytest.approx(math.exp(3 / 6 - 0.9))


def test_samples_drawn_once_are_fitted_under_many_weights():
    pool = some_pool()
    wro = WRO()
    samples = wro.sample(pool)
    assert (
        wro.fit_samples(samples, ones(pool)).weights.dense.tobytes()
        == wro.fit(pool, ones(pool)).weights.dense.tobytes()
    )
    some = np.zeros(12)
    some[:3] = 1.0
    local = wro.fit_samples(samples, ones(pool), sentence_weights=some).weights.dense
    first_three = Pool(pool.references)
    rows = np.flatnonzero(pool.owner < 3)
    corpus = pool.hypotheses.take(rows)
    first_three.add(NBest(pool.names, pool.owner[rows], corpus, pool.dense[rows], np.zeros(len(rows))))
    alone = WRO(global_weight=False).fit(first_three, ones(pool)).weights.dense
    assert local == pytest.approx(alone)


def test_an_empty_hypothesis_is_never_an_oracle():
    vocabulary = Vocabulary()
    pool = Pool(References.from_lines(["ja", "nein danke"], vocabulary=vocabulary))
    corpus = Corpus.from_lines(["", "ja", "falsch", "", "nein"], vocabulary)
    names = FeatureNames((("a", 1),))
    owner = np.array([0, 0, 0, 1, 1], np.int32)
    pool.add(NBest(names, owner, corpus, np.arange(5.0)[:, None], np.zeros(5)))
    for spec in ("BLEU+1", "PABC4:alpha=3", "PA4"):
        pairs = WRO(metric=spec, threshold=0.0).sample(pool).pairs
        assert len(pairs) > 0
        assert not set(pairs.better.tolist()) & {0, 3}


@pytest.mark.parametrize("wrong", [{"oracle_share": 0.0}, {"reachable": math.nan}])
def test_hyper_parameters_out_of_range(wrong):
    with pytest.raises(ValueError, match="expected"):
        WRO(**wrong)


def test_the_signature_names_the_switches():
    assert "oracle-share:0.1|global-weight:BLEU+1<0.4" in str(WRO().signature())
    assert "oracle-share:off|global-weight:off" in str(WRO(oracle_sampling=False, global_weight=False).signature())
