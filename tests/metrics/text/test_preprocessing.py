"""Tokenising long lines a part at a time gives what sacreBLEU gives of the whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from lasw.metrics.text import Preprocessing, preprocessing

LINE = st.text(alphabet="ab Z1.,-&;<>'\"$ \u00a0\u3002\u4e2d\u00e9\u0301\u2014\u20ac", max_size=60)


@pytest.mark.parametrize("name", ["none", "13a", "intl", "char", "zh"])
def test_a_long_line_is_tokenised_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preprocessing, "_AT_ONCE", 4)
    ours, theirs = Preprocessing(name).function(), BLEU(tokenize=name).tokenizer
    assert ours is not None

    @settings(max_examples=300, deadline=None)
    @given(st.lists(LINE, max_size=4))
    def check(some: list[str]) -> None:
        line = "a b".join(some)
        assert ours(line).split() == theirs(line.rstrip()).split()

    check()


def test_parts_end_where_no_pattern_reaches_across(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preprocessing, "_AT_ONCE", 4)
    assert list(preprocessing._parts("ab cd ef. gh ij")) == ["ab cd ", "ef. gh ", "ij"]
    assert list(preprocessing._parts("ab, 1 2 3 4")) == ["ab, 1 2 3 4"]
