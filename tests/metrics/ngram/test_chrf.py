"""chrF and chrF++ against sacreBLEU, on random and nasty text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from lasw.metrics import Corpus, References, metric
from lasw.metrics.ngram.chrf import words_of

SPECS = {
    "CHRF": CHRF(),
    "CHRF:words=2": CHRF(word_order=2),
    "CHRF:chars=3:words=1:beta=1": CHRF(char_order=3, word_order=1, beta=1),
}


def rows(spec: str, hypotheses: list[str], *references: list[str]) -> tuple[Any, Any]:
    m = metric(spec)
    refs = References.from_lines(*references)
    corpus = Corpus.from_lines(hypotheses, refs.vocabulary)
    return m, m.statistics(corpus, m.prepare(refs), np.arange(len(hypotheses)))


def check(hypotheses: list[str], *references: list[str]) -> None:
    for spec, peer in SPECS.items():
        m, statistics = rows(spec, hypotheses, *references)
        theirs = [peer.sentence_score(e, list(r)).score for e, *r in zip(hypotheses, *references, strict=True)]
        np.testing.assert_allclose(100 * m.sentence_scores(statistics), theirs, rtol=0, atol=1e-11)
        corpus = peer.corpus_score(hypotheses, [list(r) for r in references]).score
        assert 100 * m.corpus_score(statistics.sum(axis=0)) == pytest.approx(corpus, abs=1e-11)


# Characters beyond the first plane, combining ones, punctuation, and white space that separates no tokens.
SENTENCE = st.text("aab(.,)é\u0301\U0001f600\u00a0\u2028\u3000\x1c\t   ", max_size=40)


@settings(max_examples=80)
@given(st.lists(st.tuples(SENTENCE, SENTENCE, SENTENCE), min_size=1, max_size=4))
def test_it_is_sacrebleu_s(texts: list[tuple[str, str, str]]) -> None:
    hypotheses, first, second = (list(x) for x in zip(*texts, strict=True))
    check(hypotheses, first)
    check(hypotheses, first, second)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), min_size=1, max_size=3))
def test_it_is_sacrebleu_s_on_any_characters(texts: list[tuple[str, str]]) -> None:
    lines = [
        [x.replace("\n", " ").encode("utf-8", "ignore").decode() for x in column] for column in zip(*texts, strict=True)
    ]
    check(*lines)


def test_long_and_short_together() -> None:
    check(["a b c " * 60, "", "a", "ab " * 100], ["a b c d " * 50, "a", "", "ba " * 90])


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        ("", "", 0.0),
        ("", "a", 0.0),
        ("a", "", 0.0),
        ("a", "a", 1.0),
        ("a", "b", 0.0),
        ("abc d", "a bcd", 1.0),  # white space is no character
        ("the same words", "the same words", 1.0),
        # 1-grams 2 of 2 and 2 of 3, 2-grams 1 of 1 and 1 of 2; P = 1, R = 7/12, F2 = 5PR / (4P + R)
        ("ab", "abc", 5 * (7 / 12) / (4 + 7 / 12)),
    ],
)
def test_worked_examples(hypothesis: str, reference: str, expected: float) -> None:
    m, statistics = rows("CHRF", [hypothesis], [reference])
    assert m.sentence_scores(statistics)[0] == pytest.approx(expected, abs=1e-15)
    assert m.corpus_score(statistics[0]) == pytest.approx(expected, abs=1e-15)


def test_words_lose_one_punctuation_mark() -> None:
    assert [words_of(x) for x in ("(hi)", "(hi", "hi", ".", "..", "a\u00a0b!")] == [
        ["(hi", ")"],
        ["(", "hi"],
        ["hi"],
        ["."],
        [".", "."],
        ["a", "b", "!"],
    ]


def test_new_words_after_the_references_were_prepared() -> None:
    refs = References.from_lines(["abc def", "x"])
    m = metric("CHRF:words=2")
    prepared = m.prepare(refs)
    first = m.statistics(Corpus.from_lines(["abc new"], refs.vocabulary), prepared, np.array([0]))
    second = m.statistics(Corpus.from_lines(["xx newer", "abc new"], refs.vocabulary), prepared, np.array([1, 0]))
    assert second[1].tolist() == first[0].tolist()
    with pytest.raises(TypeError, match="one vocabulary"):
        m.statistics(Corpus.from_lines(["abc"]), prepared, np.array([0]))
