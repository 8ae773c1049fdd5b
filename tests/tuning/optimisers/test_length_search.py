"""The length search: along which way it goes, and that no point of it has a better corpus score."""

import numpy as np
import pytest

from lasw.metrics import Corpus, References, metric
from lasw.tuning import FeatureNames, NBest, Pool, Weights
from lasw.tuning.optimisers.pairs.length import ENOUGH, length_ratio, lengthening, longer
from lasw.tuning.optimisers.pairs.pro import PRO
from lasw.tuning.optimisers.pairs.wro import WRO
from lasw.tuning.pool.columns import Columns

NAMES = FeatureNames((("Good", 1), ("WordPenalty", 1), ("Noise", 1), ("Constant", 1)))
BLEU = metric("BLEU+1")
RECALL = metric("RAC1")  # nothing is ever too long


def pool_of(sentences, seed=1, longest=14):
    """Candidates of 6 to `longest` words, the first ones of them right; references have 10."""
    draw = np.random.default_rng(seed)
    right = [[f"w{s}.{k}" for k in range(14)] for s in range(sentences)]
    references = References.from_lines([" ".join(words[:10]) for words in right])
    owner = np.repeat(np.arange(sentences, dtype=np.int32), 12)
    sizes, wrong = draw.integers(6, longest + 1, len(owner)), draw.integers(0, 6, len(owner))
    lines = [" ".join(right[s][: size - bad] + ["x"] * bad) for s, size, bad in zip(owner, sizes, wrong, strict=True)]
    texts = Corpus.from_lines(lines, references.vocabulary)
    good = -wrong + draw.normal(0, 2, len(owner))
    dense = np.column_stack([good, -sizes, draw.normal(0, 1, len(owner)), np.ones(len(owner))]).astype(float)
    pool = Pool(references)
    pool.add(NBest(NAMES, owner, texts, dense, np.zeros(len(owner))))
    return pool


def score(pool, vector, metric=BLEU):
    return pool.corpus_score(metric, Weights(NAMES, np.asarray(vector)))


def test_the_way_is_the_word_penalty_where_there_is_one():
    columns = Columns.of(pool_of(ENOUGH))
    way = longer(columns, -columns.dense[:, 1])
    assert way == pytest.approx([0, -1, 0, 0], abs=1e-4)


def test_the_way_is_the_least_squares_fit_of_the_lengths_within_sentences():
    pool = pool_of(ENOUGH)
    pool.dense[:, 1] += np.random.default_rng(3).normal(0, 1, len(pool))
    columns = Columns.of(pool)
    lengths = pool.lengths[columns.order].astype(float)
    sentence = np.repeat(np.arange(ENOUGH), np.diff(columns.starts))
    dummies = np.eye(ENOUGH)[sentence]  # an intercept a sentence is the same as taking off the means
    right = np.linalg.lstsq(np.column_stack([columns.dense[:, :3], dummies]), lengths, rcond=None)[0][:3]
    assert longer(columns, lengths)[:3] == pytest.approx(right, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("spec", ["BLEU+1", "TER", "CHRF:beta=0.5"])
def test_no_point_along_the_way_is_better(spec):
    pool = pool_of(ENOUGH)
    vector = np.array([1.0, 0.9, 0.1, 0.0])  # far too short
    loss = metric(spec)
    added = lengthening(pool, vector, loss)
    assert added[1] < 0
    assert added[3] == 0
    found = score(pool, vector + added, loss)
    tried = [score(pool, vector + t * added, loss) for t in np.linspace(-1, 3, 401)]
    assert found >= max(tried)
    assert found > score(pool, vector, loss)


def test_the_best_length_is_not_left_and_few_sentences_tell_nothing():
    pool = pool_of(ENOUGH)
    vector = np.array([1.0, 0.9, 0.1, 0.0])
    there = vector + lengthening(pool, vector, BLEU)
    assert score(pool, there + lengthening(pool, there, BLEU)) == pytest.approx(score(pool, there), abs=1e-9)
    few = pool_of(ENOUGH - 1)
    assert not lengthening(few, vector, BLEU).any()


def test_lists_that_end_before_the_best_length_do_not_tell_it():
    """By recall the longest candidates are best, so all sentences end there; they are longer than the references."""
    pool = pool_of(ENOUGH)
    vector = np.array([1.0, 0.9, 0.1, 0.0])
    lengths = pool.lengths.astype(float)
    longest = np.maximum.reduceat(lengths[pool.order], pool.starts[:-1])
    assert not lengthening(pool, vector, RECALL).any()
    best = pool.best(Weights(NAMES, np.array([0.0, -1.0, 0.0, 0.0])))
    assert (lengths[best] == longest).all()
    assert pool.corpus_score(RECALL, Weights(NAMES, np.array([0.0, -1.0, 0.0, 0.0]))) > score(pool, vector, RECALL)


def test_what_the_fit_leaves_between_candidates_of_one_length_decides_nothing():
    """The second feature is the length and a trace of what is wrong; most sentences have candidates of one length."""
    draw = np.random.default_rng(1)
    right = [[f"w{s}.{k}" for k in range(10)] for s in range(ENOUGH)]
    references = References.from_lines([" ".join(words) for words in right])
    owner = np.repeat(np.arange(ENOUGH, dtype=np.int32), 12)
    sizes, wrong = np.where(owner % 3 > 0, 10, draw.integers(9, 11, len(owner))), draw.integers(0, 6, len(owner))
    lines = [" ".join(right[s][: size - bad] + ["x"] * bad) for s, size, bad in zip(owner, sizes, wrong, strict=True)]
    good = wrong + draw.normal(0, 1, len(owner))
    dense = np.column_stack([good, -sizes - 1e-7 * wrong, draw.normal(0, 1, len(owner)), np.ones(len(owner))])
    pool = Pool(references)
    texts = Corpus.from_lines(lines, references.vocabulary)
    pool.add(NBest(NAMES, owner, texts, dense, np.zeros(len(owner))))
    vector = np.array([1.0, -1.0, 0.1, 0.0])
    added = lengthening(pool, vector, BLEU)
    columns = Columns.of(pool)
    assert 0 < columns.spread(columns.scores(added)) <= 3 * columns.spread(columns.scores(vector))
    assert score(pool, vector + added) > score(pool, vector)
    assert score(pool, vector - 1e9 * added) > 0.8  # what there is to be had from the trace


def test_an_end_at_the_length_of_the_references_is_no_end():
    vector = np.array([0.0, 2.0, 0.3, 0.0])
    pool = pool_of(ENOUGH, longest=10)
    found = vector + lengthening(pool, vector, RECALL)
    best = pool.best(Weights(NAMES, found))
    longest = np.maximum.reduceat(pool.lengths[pool.order], pool.starts[:-1])
    assert (pool.lengths[best] == longest).mean() > 2 / 3
    assert length_ratio(pool, best) == pytest.approx(pool.lengths[best].sum() / (10 * ENOUGH))
    assert length_ratio(pool, best) > 0.98
    assert found[1] < vector[1]
    short = pool_of(ENOUGH, longest=9)
    assert not lengthening(short, vector, RECALL).any()


@pytest.mark.parametrize("optimiser", [PRO, WRO])
def test_an_optimiser_of_pairs_ends_at_its_best_length(optimiser):
    pool = pool_of(2 * ENOUGH)
    start = Weights.constant(NAMES, 1.0)
    without, fitted = (
        optimiser(metric="BLEU+1", fit_length=choice, norm="none").fit(pool, start).weights.dense
        for choice in (False, True)
    )
    assert fitted - without == pytest.approx(lengthening(pool, without, BLEU))
    assert score(pool, fitted) > score(pool, without)
    assert fitted[3] == 1.0  # never differs, keeps its weight
    sized = optimiser(metric="BLEU+1").fit(pool, start).weights.dense[:3]
    assert sized == pytest.approx(fitted[:3] / np.abs(fitted[:3]).sum())


def test_the_signature_says_it():
    assert "fit-length:no" in str(WRO(fit_length=False).signature())
    assert "fit-length:yes" in str(WRO().signature())
