"""When a run ends: the rules on records, and the pool's gain against a bootstrap written out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lasw.metrics import Corpus, References, metric
from lasw.tuning import FeatureNames, NBest, Pool, RunSettings, Weights
from lasw.tuning.loop.stopping import (
    MAXIMUM,
    NO_NEW_CANDIDATES,
    SETTLED,
    WITHIN_NOISE,
    pool_gain,
    reason_to_stop,
)

NAMES = FeatureNames((("A", 1), ("B", 1)))


def record(**values: Any) -> dict[str, Any]:
    return {"new_candidates": 5, "moved": 0.1, **values}


def reason(records: list[dict[str, Any]], **settings: Any) -> str | None:
    return reason_to_stop(
        RunSettings(Path("run"), **{"iterations": 5, "tolerance": 0.0, "noise": 1.0, **settings}), records
    )


def test_rules_on_records() -> None:
    promising, idle = record(gain=0.02, gain_noise=0.01), record(gain=0.01, gain_noise=0.01)
    assert reason([]) is None
    assert reason([promising]) is None
    assert reason([promising, idle]) == WITHIN_NOISE
    assert reason([idle, promising]) is None
    assert reason([promising, record(gain=-0.5, gain_noise=0.01)]) == WITHIN_NOISE
    assert reason([idle]) is None  # the first round
    assert reason([idle, idle]) == WITHIN_NOISE
    assert reason([promising, idle], noise=0.9) is None
    assert reason([record(gain=-1.0, gain_noise=0.1)] * 2, noise=0.0) is None
    assert reason([promising, idle], patience=2) is None
    assert reason([promising, idle, idle], patience=2) == WITHIN_NOISE
    assert reason([record()] * 2) is None  # made by a run that did not look at gains
    assert reason([record(new_candidates=0)], iterations=1, tolerance=1.0) == NO_NEW_CANDIDATES
    assert reason([record(moved=1.0)], iterations=1, tolerance=1.0) == SETTLED
    assert reason([record()], iterations=1) == MAXIMUM
    assert reason([record()] * 100, iterations=0) is None


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
    corpus = Corpus.from_lines(map(" ".join, texts), references.vocabulary)
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
