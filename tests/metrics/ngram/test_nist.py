"""NIST against a slow reading of mteval's definition, and worked examples."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lasw.metrics import Corpus, References, metric

Sentence = list[str]


def rows(spec: str, hypotheses: list[str], *references: list[str]) -> tuple[Any, Any]:
    m = metric(spec)
    refs = References.from_lines(*references)
    corpus = Corpus.from_lines(hypotheses, refs.vocabulary)
    return m, m.statistics(corpus, m.prepare(refs), np.arange(len(hypotheses)))


def ngrams(sentence: Sentence, n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(sentence[i : i + n]) for i in range(len(sentence) - n + 1))


def slow_nist(
    hypotheses: list[Sentence], references: list[list[Sentence]], orders: int = 5
) -> tuple[list[float], float]:
    """Sentence scores and the corpus score; references by segment."""
    everything: Counter[tuple[str, ...]] = Counter()
    for segment in references:
        for r in segment:
            for n in range(orders + 1):
                everything.update(ngrams(r, n) if n else {(): len(r)})

    def score(chosen: range) -> float:
        total = 0.0
        words = sum(len(hypotheses[k]) for k in chosen)
        length = sum(sum(map(len, references[k])) / len(references[k]) for k in chosen)
        for n in range(1, orders + 1):
            information, count = 0.0, 0
            for k in chosen:
                ours = ngrams(hypotheses[k], n)
                count += ours.total()
                for g, c in ours.items():
                    both = min(c, max(ngrams(r, n)[g] for r in references[k]))
                    information += both * math.log2(everything[g[:-1]] / everything[g]) if both else 0.0
            total += information / count if count else 0.0
        if not words or not length:
            return total
        return total * math.exp(math.log(0.5) / math.log(1.5) ** 2 * math.log(min(1.0, words / length)) ** 2)

    return [score(range(k, k + 1)) for k in range(len(hypotheses))], score(range(len(hypotheses)))


SENTENCE = st.lists(st.sampled_from("abcd"), max_size=9)


@settings(max_examples=80)
@given(st.lists(st.tuples(SENTENCE, SENTENCE, SENTENCE), min_size=1, max_size=5))
def test_it_is_the_definition_s(texts: list[tuple[Sentence, Sentence, Sentence]]) -> None:
    lines = [[" ".join(x) for x in column] for column in zip(*texts, strict=True)]
    for many in (1, 2):
        m, statistics = rows("NIST", lines[0], *lines[1 : 1 + many])
        sentences, corpus = slow_nist([t[0] for t in texts], [list(t[1 : 1 + many]) for t in texts])
        np.testing.assert_allclose(m.sentence_scores(statistics), sentences, rtol=1e-12, atol=1e-12)
        assert m.corpus_score(statistics.sum(axis=0)) == pytest.approx(corpus, rel=1e-12, abs=1e-12)


def test_a_worked_example() -> None:
    # Eight reference words. a: 2 of 8, 2 bits; b: 1 of 8, 3 bits; a b: 1 of the 2 a's, 1 bit; c: 4 of 8, 1 bit.
    m, statistics = rows("NIST", ["a b", "c"], ["a b d", "c c c c a"])
    assert statistics[0].tolist() == [5.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0]
    # Two of three words: the penalty is one half.
    assert m.sentence_scores(statistics)[0] == pytest.approx(0.5 * (5 / 2 + 1), rel=1e-14)
    assert statistics[1].tolist() == [1.0, 1.0, *[0.0] * 8, 5.0]
    assert m.display_scale == 1.0


def test_longer_than_its_references_has_no_penalty() -> None:
    m, statistics = rows("NIST", ["a x y"], ["a b"])
    assert m.sentence_scores(statistics)[0] == pytest.approx(1 / 3, rel=1e-14)


def test_an_n_gram_counts_as_often_as_the_reference_that_has_it_most() -> None:
    _, statistics = rows("NIST:orders=1", ["a a a"], ["a b c d"], ["a a b c"])
    assert statistics.tolist() == [[2 * math.log2(8 / 3), 3.0, 4.0]]


@pytest.mark.parametrize(("hypothesis", "reference"), [("", ""), ("", "a b"), ("a", ""), ("x", "a b")])
def test_nothing_in_common_scores_nothing(hypothesis: str, reference: str) -> None:
    m, statistics = rows("NIST", [hypothesis], [reference])
    assert m.sentence_scores(statistics).tolist() == [0.0]
    assert m.corpus_score(statistics[0]) == 0.0


def test_a_perfect_text_is_not_beaten_and_segments_may_come_in_any_order() -> None:
    refs = References.from_lines(["a b c d e f", "c d e a b"])
    m = metric("NIST")
    texts = ["a b c d e", "c d e a b", "a b c d e f", "c d e a b"]
    owner = np.array([0, 1, 0, 1])
    statistics = m.statistics(Corpus.from_lines(texts, refs.vocabulary), m.prepare(refs), owner)
    scores = m.sentence_scores(statistics)
    assert scores[0] < scores[2]
    assert statistics[1].tolist() == statistics[3].tolist()
