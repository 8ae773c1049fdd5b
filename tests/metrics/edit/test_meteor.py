"""METEOR: the thesis' examples, matches as many as can be, chunks against the fewest there are."""

from __future__ import annotations

import itertools
import random
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


# Two forms of each of two words, and two words without forms: what Snowball makes of them is no question.
STEMS = {"dog": "dog", "dogs": "dog", "walk": "walk", "walked": "walk", "of": "of", "is": "is"}


def most_matches(e: Sentence, r: Sentence) -> int:
    exact = Counter(e) & Counter(r)
    left = [
        Counter({s: sum(c for w, c in (Counter(x) - exact).items() if STEMS[w] == s) for s in set(STEMS.values())})
        for x in (e, r)
    ]
    return exact.total() + (left[0] & left[1]).total()


def fewest_chunks(e: Sentence, r: Sentence) -> int:
    """Over all alignments that match most, equal words first."""
    exact = (Counter(e) & Counter(r)).total()
    most = most_matches(e, r)
    best = len(e)
    choices = [[None, *(j for j, w in enumerate(r) if STEMS[w] == STEMS[x])] for x in e]
    for places in itertools.product(*choices):
        used = [j for j in places if j is not None]
        if len(used) != most or len(set(used)) < most:
            continue
        if sum(e[i] == r[j] for i, j in enumerate(places) if j is not None) != exact:
            continue
        chunks = sum(
            j is not None and (i == 0 or places[i - 1] is None or places[i - 1] + 1 != j) for i, j in enumerate(places)
        )
        best = min(best, chunks)
    return best


SENTENCE = st.lists(st.sampled_from(sorted(STEMS)), max_size=5)


@settings(max_examples=40)
@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=4))
def test_matches_are_most_and_chunks_no_fewer_than_can_be(texts: list[tuple[Sentence, Sentence]]) -> None:
    _, statistics = rows("METEOR", *([" ".join(x) for x in column] for column in zip(*texts, strict=True)))
    for row, (e, r) in zip(statistics.tolist(), texts, strict=True):
        assert row[0] == most_matches(e, r)
        assert row[2:] == [len(e), len(r)]
        assert fewest_chunks(e, r) <= row[1] <= row[0]


def test_chunks_are_mostly_the_fewest() -> None:
    """Of sentences whose blocks moved, where an alignment has to choose between equal words."""
    chance = random.Random(5)
    texts = []
    for _ in range(80):
        r = [chance.choice(sorted(STEMS)) for _ in range(5)]
        start, end = sorted(chance.sample(range(6), 2))
        texts.append((r[end:] + r[start:end] + r[:start], r))
    _, statistics = rows("METEOR", *([" ".join(x) for x in column] for column in zip(*texts, strict=True)))
    fewest = sum(row[1] == fewest_chunks(e, r) for row, (e, r) in zip(statistics.tolist(), texts, strict=True))
    assert fewest >= 0.9 * len(texts)


REFERENCE = "torrential rain disaster kills 43 people in western india"


@pytest.mark.parametrize(
    ("hypothesis", "counts"),
    [
        ("torrential rain disaster", [3, 1, 3, 9]),  # Song (2015), figure 2.5
        ("rain torrential disaster", [3, 3, 3, 9]),
        ("torrential torrential torrential torrential rain disaster", [3, 1, 6, 9]),
        ("torrential rains disasters kill 43 people in western india", [9, 1, 9, 9]),  # stems
        ("Torrential RAIN disaster", [3, 1, 3, 9]),
        ("heavy rains plague western india leaving 43 dead", [4, 3, 8, 9]),
        ("", [0, 0, 0, 9]),
    ],
)
def test_worked_examples(hypothesis: str, counts: list[int]) -> None:
    for power in (3, 1):
        m, statistics = rows(f"METEOR:power={power}", [hypothesis], [REFERENCE])
        assert statistics.tolist() == [counts]
        matches, chunks, ours, theirs = counts
        expected = 0.0
        if matches:
            p, r = matches / ours, matches / theirs
            expected = 10 * p * r / (r + 9 * p) * (1 - 0.5 * (chunks / matches) ** power)
        assert m.sentence_scores(statistics)[0] == pytest.approx(expected, rel=1e-14)
        assert m.corpus_score(statistics[0]) == pytest.approx(expected, rel=1e-14)


def test_without_stems_equal_words_match_only() -> None:
    _, statistics = rows("METEOR:stem=none", ["Torrential rains disaster"], [REFERENCE])
    assert statistics.tolist() == [[1, 1, 3, 9]]


def test_another_language() -> None:
    _, statistics = rows("METEOR:stem=german", ["die Häuser"], ["den Hauses die Haus"])
    assert statistics[0, 0] == 2


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        ("", "", 0.0),
        ("", "a", 0.0),
        ("a", "", 0.0),
        ("a", "b", 0.0),
        ("a", "a", 0.5),
        ("a b c d", "a b c d", 1 - 0.5 / 64),
    ],
)
def test_empty_single_and_perfect(hypothesis: str, reference: str, expected: float) -> None:
    m, statistics = rows("METEOR", [hypothesis], [reference])
    assert m.sentence_scores(statistics).tolist() == [expected]


def test_the_best_reference_counts() -> None:
    _, statistics = rows("METEOR", ["a b c", "a b c"], ["x y z", "a b c"], ["a b", "c b a"])
    assert statistics.tolist() == [[2, 1, 3, 2], [3, 1, 3, 3]]


def test_a_stem_beside_what_is_aligned_joins_it() -> None:
    # "dogs" could match either "dog"; the one behind "big" makes a single chunk.
    _, statistics = rows("METEOR", ["big dogs bark"], ["dog x big dog bark"])
    assert statistics.tolist() == [[3, 1, 3, 5]]


def test_new_words_after_the_references_were_prepared() -> None:
    refs = References.from_lines(["the dog walked"])
    m = metric("METEOR")
    prepared = m.prepare(refs)
    first = m.statistics(Corpus.from_lines(["a dog"], refs.vocabulary), prepared, np.array([0]))
    second = m.statistics(Corpus.from_lines(["the dogs walking", "a dog"], refs.vocabulary), prepared, np.array([0, 0]))
    assert second.tolist() == [[3, 1, 3, 3], first[0].tolist()]
