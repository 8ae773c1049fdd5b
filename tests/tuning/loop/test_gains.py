"""Gains against a bootstrap written out, and against learning by hand without a part of the sentences."""

from __future__ import annotations

import numpy as np
import pytest

from lasw.metrics import Corpus, References, metric
from lasw.tuning import FeatureNames, Fit, NBest, Pool, Weights
from lasw.tuning.loop.fitting import Proposal
from lasw.tuning.loop.gains import KeptOut, gained, held_out, pool_gain

NAMES = FeatureNames((("A", 1), ("B", 1)))


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


def test_gain_on_sentences_that_were_kept_out() -> None:
    pool, bleu = made_pool(3, 30, skip=4), metric("PABC2")
    before = Weights(NAMES, np.array([1.0, 0.0]))
    seen: list[set[int]] = []

    def learnt(part: Pool) -> Weights:
        """Depends on what it was learnt from."""
        seen.append(set(part.owner.tolist()))
        return Weights(
            NAMES, np.array([float(part.dense[:, 0].mean()), float(part.sentence_scores(bleu).mean()) - 0.3])
        )

    gain, noise = gained(bleu, *held_out(pool, bleu, before, learnt, 4, 7), 7)
    everyone = set(range(30)) - {4}
    folds = [everyone - part for part in seen]
    assert sorted(s for fold in folds for s in fold) == sorted(everyone)  # each sentence is kept out once
    assert [len(fold) for fold in folds] in ([8, 7, 7, 7], [7, 7, 7, 8])
    statistics = pool.statistics(bleu)
    chosen = np.empty((29, statistics.shape[1]))
    for fold in folds:
        rows = np.flatnonzero(~np.isin(pool.owner, list(fold)))
        dense, scores = pool.dense[rows], pool.sentence_scores(bleu)[rows]
        weights = Weights(NAMES, np.array([float(dense[:, 0].mean()), float(scores.mean()) - 0.3]))
        for place, row in enumerate(pool.best(weights)):
            if pool.owner[row] in fold:
                chosen[place] = statistics[row]
    assert (gain, noise) == gained(bleu, statistics[pool.best(before)], chosen, 7)
    assert gain == pytest.approx(bleu.corpus_score(chosen.sum(axis=0)) - pool.corpus_score(bleu, before), abs=1e-12)
    assert gain != 0


def test_steps_of_any_length_on_sentences_kept_out() -> None:
    pool, bleu = made_pool(3, 30, skip=4), metric("PABC2")
    before = Weights(NAMES, np.array([1.0, 0.0]))

    def proposed(part: Pool) -> Proposal:
        after = np.array([float(part.dense[:, 0].mean()), float(part.sentence_scores(bleu).mean()) - 0.3])
        return Proposal(Fit(Weights(NAMES, after), 0.0, 1), before, part)

    kept_out = KeptOut(pool, bleu, before, proposed, 4, 7)
    for share in (0.3, 1.0, 0.5):

        def learnt(part: Pool, share: float = share) -> Weights:
            return proposed(part).at(share)

        assert kept_out.gain(share) == gained(bleu, *held_out(pool, bleu, before, learnt, 4, 7), 7)
    assert kept_out.gain(0.3) != kept_out.gain(1.0)
