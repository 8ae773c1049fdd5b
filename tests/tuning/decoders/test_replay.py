"""Recorded lists as a decoder that follows the weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lasw.metrics import Vocabulary
from lasw.tuning import NBest, Weights
from lasw.tuning.decoders.replay import Replay

FIRST = """\
0 ||| a b ||| F= 1 G= 0 S_a= 1 ||| 9
0 ||| a c ||| F= 2 G= 1 ||| 8
2 ||| d ||| F= 0 G= 0 S_b= 2 ||| 7
"""
SECOND = """\
0 ||| a c ||| F= 2 G= 1 ||| 5
0 ||| a d ||| F= 2 G= 1 ||| 5
1 ||| e ||| F= -1 G= 3 S_b= 1 ||| 4
2 ||| f ||| F= 3 G= -1 ||| 4
"""
SOURCE = ["x", "y", "z"]


@pytest.fixture
def decoder(tmp_path: Path) -> Replay:
    (tmp_path / "first").write_text(FIRST, encoding="utf-8")
    (tmp_path / "second").write_text(SECOND, encoding="utf-8")
    return Replay((str(tmp_path / "first"), str(tmp_path / "second")))


def found(nbest: NBest) -> list[tuple[int, str, float]]:
    texts = [nbest.hypotheses.text(k) for k in range(len(nbest))]
    return list(zip(nbest.owner.tolist(), texts, nbest.score.tolist(), strict=True))


def test_the_best_of_all_lists_under_the_weights(decoder: Replay) -> None:
    names = decoder.start_weights().names
    up = Weights(names, np.array([1.0, 0.0]))
    vocabulary = Vocabulary()
    two = decoder.decode(SOURCE, up, 2, vocabulary)
    assert found(two) == [(0, "a c", 2), (0, "a d", 2), (1, "e", -1), (2, "f", 3), (2, "d", 0)]
    one = decoder.decode(SOURCE, Weights(names, np.array([-1.0, 0.0])), 1, vocabulary)
    assert found(one) == [(0, "a b", -1), (1, "e", 1), (2, "d", 0)]
    everything = decoder.decode(SOURCE, up, 100, vocabulary)
    assert len(everything) == 6  # `a c` is there twice
    assert everything.sparse is not None
    assert everything.sparse.toarray().tolist() == [[0, 0], [0, 0], [1, 0], [0, 1], [0, 0], [0, 2]]
    assert decoder.follows_weights


def test_sparse_weights_count_and_another_vocabulary_is_no_trouble(decoder: Replay) -> None:
    weights = Weights(decoder.start_weights().names, np.array([1.0, 0.0]), {"S_b": 9.0})
    for _ in range(2):
        assert found(decoder.decode(SOURCE, weights, 1, Vocabulary())) == [(0, "a c", 2), (1, "e", 8), (2, "d", 18)]
