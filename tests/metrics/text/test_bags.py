"""Texts as bags of words, against counts by hand and a slow reading of the definitions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lasw.metrics import Bag, Corpus, Vocabulary

Lines = list[list[str]]


def bags(*texts: Lines) -> list[Bag]:
    vocabulary = Vocabulary()
    return [Bag.of(Corpus.from_lines([" ".join(line) for line in text], vocabulary)) for text in texts]


def test_by_hand() -> None:
    text, test = bags([["a", "b", "a"], [], ["c"]], [["a", "c", "d", "d"]])
    assert (text.sentences, text.tokens, text.words) == (3, 4, 3)
    overlap = text.overlap(test)
    assert overlap.similarity == 1 / 4 + 1 / 4  # a: 2/4 and 1/4, c: 1/4 and 1/4
    assert overlap.common_words == 2 / 4
    assert overlap.covered == 2 / 4
    assert test.overlap(text).covered == 3 / 4


def test_a_text_is_itself_however_often() -> None:
    text, twice, nothing = bags([["a", "b"]], [["b", "a"]] * 2, [[]])
    assert vars(text.overlap(twice)) == {"similarity": 1.0, "common_words": 1.0, "covered": 1.0}
    assert vars(text.overlap(nothing)) == vars(nothing.overlap(text)) == dict.fromkeys(vars(text.overlap(twice)), 0.0)


sentences = st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), min_size=1, max_size=5)


@given(sentences, sentences)
def test_equals_the_slow_reading(one: Lines, other: Lines) -> None:
    p, q = (Counter(word for line in text for word in line) for text in (one, other))
    first, second = bags(one, other)
    found = first.overlap(second)
    if not (p and q):
        assert vars(found) == {"similarity": 0.0, "common_words": 0.0, "covered": 0.0}
        return
    smaller = [min(Fraction(p[w], p.total()), Fraction(q[w], q.total())) for w in p]
    assert found.similarity == pytest.approx(float(sum(smaller)), abs=1e-12)
    assert found.common_words == pytest.approx(len(p.keys() & q.keys()) / len(p.keys() | q.keys()))
    assert found.covered == pytest.approx(sum(q[w] for w in p) / q.total())
