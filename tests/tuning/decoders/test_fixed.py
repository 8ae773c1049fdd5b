"""Given lists as decoders: fixed ones, and those that follow the weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from build import texts

from lasw.metrics import UserError, Vocabulary
from lasw.tuning import NBest, Weights
from lasw.tuning.decoders.fixed import Fixed
from lasw.tuning.decoders.replay import Replay

FIRST = """\
0 ||| a b ||| F= 1 G= 0 S_a= 1 ||| 9
0 ||| a c ||| F= 2 G= 1 ||| 8
2 ||| d ||| F= 0 G= 0 S_b= 2 ||| 7
"""
SECOND = """\
0 ||| a d ||| F= 2 G= 1 ||| 5
1 ||| e ||| F= -1 G= 3 S_b= 1 ||| 4
"""
SOURCE = ["x", "y", "z"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "first").write_text(FIRST, encoding="utf-8")
    (tmp_path / "second").write_text(SECOND, encoding="utf-8")
    return tmp_path


def test_lists_are_put_together_best_first(place: Path) -> None:
    decoder = Fixed((str(place / "first"), str(place / "second")))
    names = decoder.start_weights().names
    assert decoder.start_weights().by_group() == {"F": [0.5], "G": [0.5]}
    vocabulary = Vocabulary()
    up = decoder.decode(SOURCE, Weights(names, np.array([1.0, 0.0])), 100, vocabulary)
    assert texts(up) == [(0, "a c"), (0, "a d"), (0, "a b"), (1, "e"), (2, "d")]
    assert up.dense.tolist() == [[2, 1], [2, 1], [1, 0], [-1, 3], [0, 0]]
    assert up.score.tolist() == [8, 5, 9, 4, 7]
    assert up.sparse is not None
    assert up.sparse.toarray().tolist() == [[0, 0], [0, 0], [1, 0], [0, 1], [0, 2]]
    down = decoder.decode(SOURCE, Weights(names, np.array([-1.0, 0.0])), 100, vocabulary)
    assert texts(down) == [(0, "a b"), (0, "a c"), (0, "a d"), (1, "e"), (2, "d")]
    best = decoder.decode(SOURCE, Weights(names, np.array([1.0, 0.0])), 1, vocabulary)
    assert texts(best) == [(0, "a c"), (1, "e"), (2, "d")]


def test_sparse_weights_count(place: Path) -> None:
    decoder = Fixed((str(place / "first"), str(place / "second")))
    weights = Weights(decoder.start_weights().names, np.array([1.0, 0.0]), {"S_a": 5.0})
    assert texts(decoder.decode(SOURCE, weights, 1, Vocabulary()))[0] == (0, "a b")


def test_initial_weights_and_more_features(place: Path) -> None:
    (place / "w").write_text("F 0.5\nG 0.25\nlm 3\n", encoding="utf-8")
    (place / "lm").write_text("1\n2\n3\n4\n5\n", encoding="utf-8")
    decoder = Fixed(
        (str(place / "first"), str(place / "second")), initial=place / "w", features=(f"lm={place / 'lm'}",)
    )
    start = decoder.start_weights()
    assert start.by_group() == {"F": [0.5], "G": [0.25], "lm": [3.0]}
    nbest = decoder.decode(SOURCE, start, 100, Vocabulary())
    assert texts(nbest)[0] == (0, "a d")
    assert nbest.dense[:, 2].tolist() == [4, 2, 1, 5, 3]
    assert {Path(p).name for p in decoder.input_files()} == {"first", "second", "w", "lm"}


def test_what_is_refused(place: Path) -> None:
    (place / "other").write_text("0 ||| a ||| F= 1 H= 2 ||| 1\n", encoding="utf-8")
    first = str(place / "first")
    with pytest.raises(ValueError, match="no lists"):
        Fixed(())
    with pytest.raises(UserError, match="no such file"):
        Fixed((str(place / "none"),))
    with pytest.raises(UserError, match="NAME=FILE"):
        Fixed((first,), features=("lm",))
    decoder = Fixed((first, str(place / "other")))
    with pytest.raises(UserError, match=r"other: features F H; expected those of .*first: F G"):
        decoder.decode(SOURCE, decoder.start_weights(), 10, Vocabulary())
    with pytest.raises(UserError, match="first:3: "):
        Fixed((first,)).decode(["x"], Fixed((first,)).start_weights(), 10, Vocabulary())
    (place / "w").write_text("F 1\n", encoding="utf-8")
    with pytest.raises(UserError, match="G"):
        Fixed((first,), initial=place / "w")


RECORDED = """\
0 ||| a c ||| F= 2 G= 1 ||| 5
0 ||| a d ||| F= 2 G= 1 ||| 5
1 ||| e ||| F= -1 G= 3 S_b= 1 ||| 4
2 ||| f ||| F= 3 G= -1 ||| 4
"""


@pytest.fixture
def decoder(place: Path) -> Replay:
    (place / "second").write_text(RECORDED, encoding="utf-8")
    return Replay((str(place / "first"), str(place / "second")))


def found(nbest: NBest) -> list[tuple[int, str, float]]:
    return [(*row, score) for row, score in zip(texts(nbest), nbest.score.tolist(), strict=True)]


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


def test_some_of_the_sentences_have_the_lists_of_their_places(decoder: Replay) -> None:
    up = Weights(decoder.start_weights().names, np.array([1.0, 0.0]))
    some = decoder.decode_some(SOURCE, np.array([0, 2]), up, 2, Vocabulary())
    assert found(some) == [(0, "a c", 2), (0, "a d", 2), (1, "f", 3), (1, "d", 0)]
