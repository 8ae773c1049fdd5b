"""N-grams of long texts: against slow counting, and the same numbers as where texts are short."""

from __future__ import annotations

import time
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lasw.metrics import Corpus, References, metric
from lasw.metrics.ngram import chrf, counts, long_texts, nist
from lasw.metrics.ngram.long_texts import common_ngrams, ngram_names

TEXT = st.lists(st.integers(0, 3), max_size=30)


def ngrams(text: list[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1))


def array(text: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(text, dtype=np.int32)


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=3), TEXT)
def test_what_texts_have_in_common(references: list[list[int]], text: list[int]) -> None:
    """With a table that has to grow often, and blocks that end everywhere."""
    with patch.object(long_texts, "_FIRST_SLOTS", 4), patch.object(long_texts, "_BLOCK", 7):
        found = list(common_ngrams([array(r) for r in references], array(text), 5))
    for n, common in enumerate(found, 1):
        theirs = Counter[tuple[int, ...]]()
        for reference in references:
            theirs |= ngrams(reference, n)
        assert common.clipped == (ngrams(text, n) & theirs).total()
        assert len(common.limits) == len(theirs)
        assert sorted(common.limits) == sorted(theirs.values())
        assert common.counts.sum() == sum(count for gram, count in ngrams(text, n).items() if gram in theirs)
        inside = [tuple(r[i : i + n]) if i + n <= len(r) else None for r in references for i in range(len(r))]
        assert [name >= 0 for name in common.names] == [gram is not None for gram in inside]
        assert [common.limits[name] for name in common.names if name >= 0] == [theirs[gram] for gram in inside if gram]


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXT, max_size=4))
def test_names_are_equal_where_ngrams_are(texts: list[list[int]]) -> None:
    flat = array([symbol for text in texts for symbol in text])
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    with patch.object(long_texts, "_FIRST_SLOTS", 4), patch.object(long_texts, "_BLOCK", 7):
        for n, names in enumerate(ngram_names(flat, offsets, 4), 1):
            grams = [tuple(t[i : i + n]) if i + n <= len(t) else None for t in texts for i in range(len(t))]
            assert [name >= 0 for name in names] == [gram is not None for gram in grams]
            assert len({*zip(names.tolist(), grams, strict=True)}) == len({*names.tolist()}) == len({*grams})


@pytest.mark.parametrize(
    "name", ["BLEU", "PABC2", "PA4", "RGC4", "RA3", "BLEU:reflen=shortest", "NIST", "NIST:orders=9", "CHRF:words=2"]
)
@pytest.mark.parametrize("most", [0, 300])
def test_the_same_numbers_as_of_short_texts(name: str, most: int) -> None:
    draw = np.random.default_rng(1)
    hypotheses, *references = [
        [" ".join(draw.choice(list("aabbcd,"), draw.integers(0, 60))) for _ in range(20)] for _ in range(4)
    ]
    prepared_for = References.from_lines(*references)
    texts = Corpus.from_lines(hypotheses, prepared_for.vocabulary)
    owner, m = draw.permutation(20), metric(name)
    expected = m.statistics(texts, m.prepare(prepared_for), owner)
    assert expected.any()
    with (
        patch.object(counts, "_MOST_WALKED", most * 10),
        patch.object(chrf, "MOST_NODES", most),
        patch.object(nist, "MOST_NODES", most),
        patch.object(long_texts, "_BLOCK", 7),
    ):
        found = m.statistics(texts, m.prepare(prepared_for), owner)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["BLEU", "NIST", "CHRF"])
def test_time_grows_with_the_length(name: str) -> None:
    """Of two texts of a million words, ten that differ, a walk through all places of a word takes hours."""
    draw = np.random.default_rng(1)
    lines = [" ".join(draw.choice(list("abcdefghij"), 1_000_000)) for _ in range(2)]
    references = References.from_lines(lines[:1])
    texts, m = Corpus.from_lines(lines[1:], references.vocabulary), metric(name)
    began = time.process_time()
    score = m.corpus_scores(m.statistics(texts, m.prepare(references), np.zeros(1, dtype=np.int32)))
    assert time.process_time() - began < 30
    assert score[0] > 0
