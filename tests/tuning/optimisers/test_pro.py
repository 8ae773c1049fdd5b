"""PRO on small pools whose best weights are known, on a real run, and under every option."""

import numpy as np
import pytest
from build import ones, some_pool

from lasw.metrics import Corpus, References, UserError, Vocabulary, metric
from lasw.tuning import FeatureNames, NBest, Pool, Weights, make_optimiser
from lasw.tuning.optimisers.pairs.pro import PRO
from lasw.tuning.optimisers.pairs.wro import WRO


@pytest.mark.parametrize("optimiser", [PRO(), WRO(), PRO(loss="linear"), WRO(loss="linear"), PRO(metric="RABC2")])
def test_what_knows_the_quality_gets_the_weight(optimiser):
    pool = some_pool()
    fit = optimiser.fit(pool, ones(pool))
    bleu = metric("BLEU")
    good = fit.weights.by_group()["good"][0]
    assert good > 2 * np.abs(fit.weights.by_group()["noise"]).max()
    assert pool.corpus_score(bleu, fit.weights) > pool.corpus_score(bleu, ones(pool)) + 0.05
    assert fit.warnings == ()
    assert fit.iterations > 0


def test_the_feature_that_never_differs_within_a_sentence_keeps_its_weight_and_stays_out_of_the_norm():
    pool = some_pool(constant=True)
    start = Weights(pool.names, np.array([1.0, 1.0, 0.75, -3.0]))
    weights = PRO().fit(pool, start).weights
    assert weights.by_group()["noise"][1] == 0.75
    assert weights.by_group()["length"] == [-3.0]
    assert np.abs(weights.dense[:2]).sum() == pytest.approx(1)


def test_same_seed_same_bytes_other_seed_others():
    pool = some_pool()
    first, again = (PRO(seed=4).fit(some_pool(), ones(pool)).weights for _ in range(2))
    assert first.dense.tobytes() == again.dense.tobytes()
    assert PRO(seed=5).fit(pool, ones(pool)).weights.dense.tobytes() != first.dense.tobytes()


def test_the_order_of_sentences_in_the_lists_does_not_matter():
    pool = some_pool()
    shuffled = Pool(pool.references)
    rows = np.argsort(np.random.default_rng(0).permutation(12)[pool.owner], kind="stable")
    corpus, dense = pool.hypotheses.take(rows), pool.dense[rows]
    shuffled.add(NBest(pool.names, pool.owner[rows], corpus, dense, np.zeros(len(rows))))
    one, other = (PRO().fit(p, ones(p)).weights.dense for p in (pool, shuffled))
    assert one.tobytes() == other.tobytes()


def test_psi_mixes_new_and_previous_weights_at_one_norm():
    pool = some_pool()
    start = Weights(pool.names, np.array([5.0, -5.0, 10.0, 2.0]))
    new = PRO().fit(pool, start).weights.dense
    mixed = PRO(psi=0.1).fit(pool, start).weights.dense
    learnt = [0, 1, 2]  # the length is the same for all candidates of a sentence
    expected = 0.1 * new[learnt] + 0.9 * start.dense[learnt] / 20
    assert mixed[learnt] == pytest.approx(expected / np.abs(expected).sum())
    raw_new = PRO(norm="none").fit(pool, start).weights.dense
    raw = PRO(norm="none", psi=0.1).fit(pool, start).weights.dense
    assert raw[learnt] == pytest.approx(0.1 * raw_new[learnt] + 0.9 * start.dense[learnt])
    assert raw_new[learnt] / np.abs(raw_new[learnt]).sum() == pytest.approx(new[learnt])


def test_sparse_weights_are_learnt_beside_dense_ones():
    pool = some_pool(sparse=True)
    start = Weights(pool.names, np.ones(4), {"S_1": 0.5, "unseen": 0.25})
    fit = PRO().fit(pool, start)
    assert set(fit.weights.sparse) == {f"S_{k}" for k in range(6)} | {"unseen"}
    assert fit.weights.sparse["unseen"] == 0.25
    assert np.abs(fit.weights.dense[:3]).sum() == pytest.approx(1)
    dense_only = some_pool()
    same = PRO().fit(dense_only, ones(dense_only)).weights
    assert fit.weights.by_group()["good"][0] == pytest.approx(same.by_group()["good"][0], abs=0.1)


@pytest.mark.parametrize("optimiser", [PRO(), WRO(), PRO(psi=0.5)])
def test_no_pair_passes_the_threshold(optimiser):
    vocabulary = Vocabulary()
    pool = Pool(References.from_lines(["ein roter Bus", ""], vocabulary=vocabulary))
    names = FeatureNames((("a", 1),))
    corpus = Corpus.from_lines(["ein roter Bus", "ein roter Bus", "", ""], vocabulary)
    dense = np.arange(4.0)[:, None]
    pool.add(NBest(names, np.array([0, 0, 1, 1], np.int32), corpus, dense, np.zeros(4)))
    start = Weights(names, np.array([7.0]))
    fit = optimiser.fit(pool, start)
    assert fit.weights is start
    assert len(fit.warnings) == 1
    assert "0.05" in fit.warnings[0]


def test_sentence_weights_from_outside():
    pool = some_pool()
    samples = PRO().sample(pool)
    twice = PRO().fit_samples(samples, ones(pool), sentence_weights=np.full(12, 2.0)).weights.dense
    stronger_penalty = PRO(l2=0.5).fit(pool, ones(pool)).weights.dense
    assert twice == pytest.approx(stronger_penalty)
    with pytest.raises(ValueError, match="weights"):
        PRO().fit_samples(samples, ones(pool), sentence_weights=np.ones(11))
    with pytest.raises(ValueError, match="negative"):
        PRO().fit_samples(samples, ones(pool), sentence_weights=np.full(12, -1.0))


def test_one_monster_in_every_list_does_not_turn_the_length_around():
    # Nakov et al. 2013: hypotheses of hundreds of tokens, easy to tell from good ones, must not decide the weights.
    rng = np.random.default_rng(2)
    pool = some_pool(sentences=20)
    vocabulary = pool.references.vocabulary
    monsters = Corpus.from_lines(map(" ".join, [["falsch"] * 300] * 20), vocabulary)
    dense = np.column_stack([np.full(20, -5.0), rng.normal(size=(20, 2)), np.full(20, -300.0)])
    pool.add(NBest(pool.names, np.arange(20, dtype=np.int32), monsters, dense, np.zeros(20)))
    fit = PRO().fit(pool, ones(pool))
    best = pool.best(fit.weights)
    assert pool.hypotheses.lengths[best].max() < 20
    assert pool.corpus_score(metric("BLEU"), fit.weights) > 0.6


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"psi": 0.0}, ValueError),
        ({"psi": 1.5}, ValueError),
        ({"l2": 0.0}, ValueError),
        ({"draws": 0}, ValueError),
        ({"loss": "logistc"}, UserError),
        ({"norm": "l2"}, UserError),
        ({"metric": "PABD4"}, UserError),
    ],
)
def test_hyper_parameters_that_make_no_sense(wrong, error):
    with pytest.raises(error):
        PRO(**wrong)


def test_optimisers_by_name():
    assert make_optimiser("pro", {"psi": "0.1", "draws": "100"}, metric="PABC4", seed=3) == PRO(
        metric="PABC4", psi=0.1, draws=100, seed=3
    )
    assert make_optimiser("wro", {"oracle_sampling": "off", "global_weight": False}) == WRO(
        oracle_sampling=False, global_weight=False
    )


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("prо", {}, ["unknown optimiser"]),
        ("wor", {}, ["did you mean 'wro'"]),
        ("pro", {"spi": "1"}, ["unknown option of pro 'spi'", "did you mean 'psi'"]),
        ("pro", {"oracle_share": "0.1"}, ["unknown option of pro"]),
        ("pro", {"psi": "half"}, ["psi is 'half'", "a number"]),
        ("pro", {"draws": "1.5"}, ["draws", "whole number"]),
        ("wro", {"global_weight": "maybe"}, ["global_weight", "true or false"]),
        ("pro", {"psi": "2"}, ["optimiser pro: psi is 2.0"]),
        ("pro", {"seed": "2"}, ["seed is given twice"]),
    ],
)
def test_wrong_names_and_values(name, options, words):
    with pytest.raises(UserError) as error:
        make_optimiser(name, options, seed=1)
    assert all(word in str(error.value) for word in words)


def test_the_signature_has_everything_that_matters():
    text = str(PRO(metric="PABC4:alpha=3", psi=0.1, seed=7).signature())
    assert text.startswith("PRO|metric:PABC4|")
    assert all(part in text for part in ("alpha:3", "psi:0.1", "|seed:7|", "draws:5000", "loss:logistic"))
    others = [PRO(draws=1), PRO(pairs=1), PRO(threshold=0.1), PRO(loss="linear"), PRO(l2=2.0), PRO(norm="none")]
    assert len({str(optimiser.signature()) for optimiser in [PRO(), *others]}) == 7
