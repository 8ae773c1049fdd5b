"""Pair sampling against the same draws made slowly, and what must hold for any draws."""

import numpy as np
import pytest

from lasw.tuning.optimisers.pairs.sampling import PairSampler
from lasw.tuning.optimisers.pairs.wro import WRO

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mixed(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def slowly(sampler, scores, order, starts, lengths):
    """The definition, drawn one by one and sorted whole."""
    better, worse, differences, sentences = [], [], [], []
    for s in range(len(starts) - 1):
        mine = order[starts[s] : starts[s + 1]].tolist()
        first = mine
        if sampler.oracle_share is not None:
            by_score = sorted((c for c in mine if lengths[c] > 0), key=lambda c: -scores[c])  # stable
            first = by_score[: max(1, int(sampler.oracle_share * len(mine) + 1e-9))]
        if len(mine) < 2 or not first:
            continue
        key = mixed((mixed((sampler.seed + GOLDEN) & MASK) + s * GOLDEN) & MASK)
        drawn = []
        for k in range(sampler.draws):
            random = mixed((key + (k + 1) * GOLDEN) & MASK)
            i, j = first[((random >> 32) * len(first)) >> 32], mine[((random & 0xFFFFFFFF) * len(mine)) >> 32]
            difference = float(scores[i] - scores[j])
            if sampler.oracle_share is None and difference < 0:
                i, j, difference = j, i, -difference
            if difference >= sampler.threshold and difference > 0:
                drawn.append((-difference, k, i, j))
        for difference, _, i, j in sorted(drawn)[: sampler.pairs]:
            better.append(i)
            worse.append(j)
            differences.append(-difference)
            sentences.append(s)
    return better, worse, differences, sentences


def candidates(rng, sizes, *, levels=None):
    """Random scores (of few levels: many ties) of candidates that came in mixed order."""
    n = sum(sizes)
    owner = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    order = np.argsort(owner, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(sizes)))])
    scores = rng.random(n) if levels is None else rng.integers(0, levels, n) / levels
    return scores, order, starts, rng.integers(0, 4, n)


@pytest.mark.parametrize("oracle_share", [None, 0.1, 0.29, 1.0])
@pytest.mark.parametrize("levels", [None, 3])
def test_the_same_pairs_as_drawn_slowly(oracle_share, levels):
    rng = np.random.default_rng(3)
    data = candidates(rng, [7, 0, 1, 30, 2, 100], levels=levels)
    for pairs, threshold, seed in ((5, 0.05, 1), (50, 0.4, 2), (1, 0.0, -3)):
        sampler = PairSampler(300, pairs, threshold, oracle_share, seed)
        found = sampler.sample(*data)
        better, worse, differences, sentences = slowly(sampler, *data)
        assert len(better) > 0
        assert found.better.tolist() == better
        assert found.worse.tolist() == worse
        assert found.difference.tolist() == differences
        assert found.sentence.tolist() == sentences


def test_a_sentence_is_drawn_alike_whatever_stands_beside_it():
    scores = np.random.default_rng(0).random(40)
    alone = PairSampler().sample(scores[:20], np.arange(20), np.array([0, 20]), np.ones(20, int))
    beside = PairSampler().sample(scores, np.arange(40), np.array([0, 20, 40]), np.ones(40, int))
    assert beside.better[beside.sentence == 0].tolist() == alone.better.tolist()
    assert beside.worse[beside.sentence == 0].tolist() == alone.worse.tolist()


def test_seeds_and_sentences_have_different_draws():
    scores = np.tile(np.random.default_rng(0).random(500), 2)
    data = scores, np.arange(1000), np.array([0, 500, 1000]), np.ones(1000, int)
    one, two = PairSampler(draws=100, seed=1).sample(*data), PairSampler(draws=100, seed=2).sample(*data)
    assert one.better.tolist() != two.better.tolist()
    assert (one.better[one.sentence == 0] + 500).tolist() != one.better[one.sentence == 1].tolist()


def test_draws_are_uniform():
    # Both candidates of a PRO pair are uniform: with n scores 0, 1, ..., n-1 the mean difference of n^2 equally likely
    # pairs is (n^2 - 1) / (3 n); equal ones are not kept.
    n = 50
    sampler = PairSampler(draws=200_000, pairs=200_000, threshold=0.0)
    pairs = sampler.sample(np.arange(n, dtype=float), np.arange(n), np.array([0, n]), np.ones(n, int))
    assert len(pairs) / 200_000 == pytest.approx(1 - 1 / n, abs=0.002)
    assert pairs.difference.sum() / 200_000 == pytest.approx((n**2 - 1) / (3 * n), rel=0.01)
    counts = np.bincount(np.concatenate([pairs.better, pairs.worse]), minlength=n)
    assert counts.min() > 0.93 * counts.mean()
    assert counts.max() < 1.07 * counts.mean()


def test_an_empty_hypothesis_is_never_an_oracle():
    scores, lengths = np.array([0.9, 0.2, 0.5, 0.0]), np.array([0, 3, 3, 3])
    data = scores, np.arange(4), np.array([0, 4]), lengths
    assert set(PairSampler(oracle_share=0.1).sample(*data).better.tolist()) == {2}
    assert len(PairSampler(oracle_share=0.1).sample(scores, np.arange(4), np.array([0, 4]), np.zeros(4, int))) == 0


def test_at_least_one_oracle_and_one_is_enough():
    scores = np.array([0.1, 0.7, 0.7, 0.3])
    pairs = PairSampler(oracle_share=0.01).sample(scores, np.arange(4), np.array([0, 4]), np.ones(4, int))
    assert set(pairs.better.tolist()) == {1}  # of equal ones the first
    assert set(pairs.worse.tolist()) == {0}  # the 50 largest differences are all with it


def test_numbers_of_the_papers_and_the_smallest_there_are():
    sampler = PairSampler()
    assert (sampler.draws, sampler.pairs, sampler.threshold, WRO().oracle_share) == (5000, 50, 0.05, 0.1)
    pairs = PairSampler(draws=1, pairs=1, threshold=0.0).sample(
        np.arange(9.0), np.arange(9), np.array([0, 9]), np.ones(9, int)
    )
    assert len(pairs) <= 1


def test_nothing_to_learn_from():
    equal = PairSampler(threshold=0.0).sample(np.ones(9), np.arange(9), np.array([0, 9]), np.ones(9, int))
    assert len(equal) == 0
    near = PairSampler().sample(np.array([0.0, 0.049]), np.arange(2), np.array([0, 2]), np.ones(2, int))
    assert len(near) == 0
    exact = PairSampler().sample(np.array([0.0, 0.05]), np.arange(2), np.array([0, 2]), np.ones(2, int))
    assert len(exact) == 50  # drawn about 2500 times: duplicates are kept
    assert len(PairSampler().sample(np.empty(0), np.empty(0, int), np.zeros(1, int), np.empty(0, int))) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"draws": 0},
        {"pairs": 0},
        {"threshold": -0.1},
        {"threshold": float("nan")},
        {"oracle_share": 0.0},
        {"oracle_share": 1.1},
    ],
)
def test_hyper_parameters_out_of_range(wrong):
    with pytest.raises(ValueError, match="expected"):
        PairSampler(**wrong)
