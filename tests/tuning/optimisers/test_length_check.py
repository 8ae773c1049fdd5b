"""Weights that prefer short translations are told."""

import numpy as np

from lasw.metrics import Corpus, References
from lasw.tuning import FeatureNames, NBest, Pool, Weights
from lasw.tuning.optimisers.pairs.length import ENOUGH, shortness

NAMES = FeatureNames((("Length", 1),))


def pool_of(sentences):
    """Each sentence has a candidate of 9 and one of 10 tokens; references have 10. The feature is the length."""
    ten = " ".join(f"w{k}" for k in range(10))
    references = References.from_lines([ten] * sentences)
    texts = Corpus.from_lines([ten.rsplit(" ", 1)[0], ten] * sentences, references.vocabulary)
    lengths = np.array([[9.0], [10.0]] * sentences)
    pool = Pool(references)
    owner = np.repeat(np.arange(sentences, dtype=np.int32), 2)
    pool.add(NBest(NAMES, owner, texts, lengths, np.zeros(2 * sentences)))
    return pool


def test_short_translations_are_told_with_their_length():
    pool = pool_of(ENOUGH)
    assert shortness(pool, Weights(NAMES, np.array([1.0]))) == ()
    (warning,) = shortness(pool, Weights(NAMES, np.array([-1.0])))
    assert warning == (
        "the translations that these weights prefer have 0.900 times the length of the references; lists of more "
        "rounds or fit_length or a loss with bp=reference may keep them longer"
    )


def test_what_was_done_already_is_no_advice():
    pool, weights = pool_of(ENOUGH), Weights(NAMES, np.array([-1.0]))
    (warning,) = shortness(pool, weights, fit_length=True, loss="BLEU+1|bp:reference|version:1")
    assert warning.endswith("references; lists of more rounds may keep them longer")


def test_few_sentences_say_nothing():
    assert shortness(pool_of(ENOUGH - 1), Weights(NAMES, np.array([-1.0]))) == ()
