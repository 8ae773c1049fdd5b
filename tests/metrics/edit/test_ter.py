"""TER against sacreBLEU, on random and nasty text."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER

from lasw.metrics import Corpus, References, metric

PEER = TER(normalized=False, no_punct=False, case_sensitive=True, asian_support=False)


def rows(spec: str, hypotheses: list[str], *references: list[str]) -> tuple[Any, Any]:
    """The metric, and its statistics of each hypothesis."""
    m = metric(spec)
    refs = References.from_lines(*references)
    corpus = Corpus.from_lines(hypotheses, refs.vocabulary)
    return m, m.statistics(corpus, m.prepare(refs), np.arange(len(hypotheses)))


def check(hypotheses: list[str], *references: list[str]) -> None:
    m, statistics = rows("TER", hypotheses, *references)
    peer = [PEER.sentence_score(e, list(r)) for e, *r in zip(hypotheses, *references, strict=True)]
    many = len(references)
    assert statistics[:, 0].tolist() == [many * score.num_edits for score in peer]
    assert statistics[:, 1].tolist() == [round(many * score.ref_length) for score in peer]
    np.testing.assert_allclose(m.sentence_scores(statistics), [1 - x.score / 100 for x in peer], rtol=0, atol=1e-12)
    corpus = PEER.corpus_score(hypotheses, [list(r) for r in references]).score
    assert m.corpus_score(statistics.sum(axis=0)) == pytest.approx(1 - corpus / 100, abs=1e-12)


SENTENCE = st.lists(st.sampled_from(list("abcdef")), max_size=14).map(" ".join)


@settings(max_examples=60)
@given(st.lists(st.tuples(SENTENCE, SENTENCE, SENTENCE), min_size=1, max_size=4))
def test_it_is_sacrebleu_s_on_short_sentences(texts: list[tuple[str, str, str]]) -> None:
    hypotheses, first, second = (list(x) for x in zip(*texts, strict=True))
    check(hypotheses, first)
    check(hypotheses, first, second)


def moved(words: list[str], chance: random.Random, blocks: int) -> list[str]:
    """Some blocks moved, some words lost, some replaced."""
    words = list(words)
    for _ in range(blocks):
        start, end = sorted(chance.sample(range(len(words) + 1), 2))
        block = words[start:end]
        del words[start:end]
        target = chance.randint(0, len(words))
        words[target:target] = block
    return [w if chance.random() > 0.1 else "x" for w in words if chance.random() > 0.05]


@pytest.mark.parametrize(("size", "words", "blocks", "texts"), [(20, 15, 3, 30), (45, 200, 4, 3), (40, 5, 3, 2)])
def test_it_is_sacrebleu_s_where_blocks_moved(size: int, words: int, blocks: int, texts: int) -> None:
    chance = random.Random(size)
    references = [[str(chance.randrange(words)) for _ in range(size)] for _ in range(texts)]
    hypotheses = [" ".join(moved(r, chance, blocks)) for r in references]
    check(hypotheses, [" ".join(r) for r in references])


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [
        (3, 200),  # the beam widens: more than 50 words of the reference a word of the hypothesis
        (1, 120),
        (150, 2),
        (30, 80),
        (60, 20),
        (45, 45),
    ],
)
def test_it_is_sacrebleu_s_where_the_beam_cuts(hypothesis: int, reference: int) -> None:
    chance = random.Random(hypothesis)
    text = [str(chance.randrange(60)) for _ in range(hypothesis)]
    check([" ".join(text)], [" ".join(str(chance.randrange(60)) for _ in range(reference))])
    far = [*(f"a{k}" for k in range(reference)), *text]
    check([" ".join(text)], [" ".join(far)])


def test_the_limit_on_looking_ends_the_search_as_in_sacrebleu() -> None:
    check(["a b " * 20 + "c"], ["c " + "b a " * 20])


@pytest.mark.parametrize(
    ("hypothesis", "references", "expected"),
    [
        ("", [""], 1.0),
        ("", ["a b"], 0.0),
        ("a", [""], 0.0),
        ("a", ["a"], 1.0),
        ("a", ["b"], 0.0),
        ("a b c d", ["a b c d"], 1.0),
        ("c d a b", ["a b c d"], 0.75),  # one shift
        ("x y z", ["a"], -2.0),
        ("a b", ["a b", "a b c d e f"], 1.0),
        ("a c", ["a b", "a b c d"], 1 - 1 / 3),  # least edits over the mean length
    ],
)
def test_worked_examples(hypothesis: str, references: list[str], expected: float) -> None:
    m, statistics = rows("TER", [hypothesis], *([r] for r in references))
    assert m.sentence_scores(statistics)[0] == pytest.approx(expected, abs=1e-15)
    check([hypothesis], *([r] for r in references))


def test_the_best_reference_s_own_length() -> None:
    m, statistics = rows("TER:reflen=best", ["a c x"], ["a b c"], ["a b c x y z"])
    # 2 edits of 3 words, or 3 edits of 6 words.
    assert statistics.tolist() == [[3, 6]]
    assert m.corpus_score(statistics[0]) == 0.5


def test_the_loss_is_one_minus_what_is_shown() -> None:
    m = metric("TER")
    assert str(m.signature()).startswith("1-TER|reflen:average|version:")
    assert str(m.displayed_signature()).startswith("TER|reflen:average|version:")
    assert (m.display.score(0.58), m.display.difference(0.02)) == (pytest.approx(42), pytest.approx(-2))
    assert m.display.ends(0.5, 0.75) == (25, 50)
    assert (m.display.better, m.display.arrow) == ("lower", "↓")


def test_owners_may_come_in_any_order_and_equal_texts_have_equal_rows() -> None:
    refs = References.from_lines(["a b c", "d e f"])
    texts = ["c a b", "d f", "c a b", "c a b", "a b c"]
    owner = np.array([1, 1, 0, 0, 0])
    m = metric("TER")
    corpus = Corpus.from_lines(texts, refs.vocabulary)
    assert m.statistics(corpus, m.prepare(refs), owner).tolist() == [[3, 3], [1, 3], [1, 3], [1, 3], [0, 3]]


def test_no_hypotheses() -> None:
    refs = References.from_lines(["a b c"])
    m = metric("TER")
    empty = Corpus.from_lines([], refs.vocabulary)
    assert m.statistics(empty, m.prepare(refs), np.empty(0, dtype=np.int32)).shape == (0, 2)
