"""When a run ends: the rules on records, and the pool's gain against a bootstrap written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lasw.metrics import Corpus, References, metric
from lasw.tuning import FeatureNames, NBest, Pool, Weights
from lasw.tuning.loop.stopping import MAXIMUM, NO_NEW_CANDIDATES, SETTLED, WITHIN_NOISE, Stopping, pool_gain

NAMES = FeatureNames((("A", 1), ("B", 1)))


def record(**values: Any) -> dict[str, Any]:
    return {"new_candidates": 5, "moved": 0.1, **values}


def test_rules_on_records() -> None:
    rule = Stopping(noise=1.0)
    promising, idle = record(gain=0.02, gain_noise=0.01), record(gain=0.01, gain_noise=0.01)
    assert rule.reason([], 5, 0.0) is None
    assert rule.reason([promising], 5, 0.0) is None
    assert rule.reason([promising, idle], 5, 0.0) == WITHIN_NOISE
    assert rule.reason([idle, promising], 5, 0.0) is None
    assert rule.reason([promising, record(gain=-0.5, gain_noise=0.01)], 5, 0.0) == WITHIN_NOISE
    assert rule.reason([idle], 5, 0.0) is None  # the first round
    assert rule.reason([idle, idle], 5, 0.0) == WITHIN_NOISE
    assert Stopping(noise=0.9).reason([promising, idle], 5, 0.0) is None
    assert Stopping(noise=0.0).reason([record(gain=-1.0, gain_noise=0.1)], 5, 0.0) is None
    assert Stopping(noise=1.0, patience=2).reason([promising, idle], 5, 0.0) is None
    assert Stopping(noise=1.0, patience=2).reason([promising, idle, idle], 5, 0.0) == WITHIN_NOISE
    assert rule.reason([record()], 5, 0.0) is None  # made by a run that did not look at gains
    assert rule.reason([record(new_candidates=0)], 1, 1.0) == NO_NEW_CANDIDATES
    assert rule.reason([record(moved=1.0)], 1, 1.0) == SETTLED
    assert rule.reason([record()], 1, 0.0) == MAXIMUM
    assert rule.reason([record()] * 100, 0, 0.0) is None


@pytest.mark.parametrize("settings", [{"noise": -1.0}, {"noise": float("nan")}, {"patience": 0}])
def test_what_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        Stopping(**settings)


def made_pool(seed: int, sentences: int, skip: int = -1) -> Pool:
    draws = np.random.default_rng(seed)
    words = ["a", "b", "c", "d", "e", "f", "g", "h"]
    references = References.from_lines([" ".join(draws.choice(words, 9)) for _ in range(sentences)])
    texts, owner = [], []
    for s in range(sentences):
        for _ in range(0 if s == skip else 6):
            kept = draws.random(9) > 0.4
            reference = references.corpora[0].text(s).split()
            texts.append([w if keep else str(draws.choice(words)) for w, keep in zip(reference, kept, strict=True)])
            owner.append(s)
    corpus = Corpus.from_tokens(texts, references.vocabulary)
    dense = draws.normal(size=(len(owner), 2))
    pool = Pool(references)
    pool.add(NBest(NAMES, np.array(owner, dtype=np.int32), corpus, dense, np.zeros(len(owner))))
    return pool


@pytest.mark.parametrize("skip", [-1, 4])
def test_gain_and_noise_of_a_pool(skip: int) -> None:
    pool = made_pool(1, 30, skip)
    bleu = metric("PABC2")
    before, after = Weights(NAMES, np.array([1.0, 0.0])), Weights(NAMES, np.array([0.0, 1.0]))
    gain, noise = pool_gain(pool, bleu, before, after, 5)
    assert gain == pytest.approx(pool.corpus_score(bleu, after) - pool.corpus_score(bleu, before), abs=1e-12)
    assert pool_gain(pool, bleu, before, after, 5) == (gain, noise)
    statistics = pool.statistics(bleu)
    rows = [statistics[pool.best(weights)].astype(float) for weights in (before, after)]
    draws = np.random.default_rng(99)
    differences = []
    for _ in range(3000):
        sample = draws.integers(len(rows[0]), size=len(rows[0]))
        old, new = (bleu.corpus_score(part[sample].sum(axis=0)) for part in rows)
        differences.append(new - old)
    assert noise == pytest.approx(np.std(differences), rel=0.12)


def test_equal_choices_gain_nothing() -> None:
    pool = made_pool(2, 10)
    weights = Weights(NAMES, np.array([1.0, 0.5]))
    doubled = Weights(NAMES, np.array([2.0, 1.0]))
    assert pool_gain(pool, metric("BLEU"), weights, doubled, 1) == (0.0, 0.0)
