"""Statistics of all pairs of a list: bit for bit those of the metric one by one; aggregated ones by counters."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lasw.metrics import CandidatePairs, Corpus, Metric, UserError, Vocabulary, metric
from lasw.metrics.ngram import candidate_ngrams

SPECS = [
    *("BLEU", "PABC4:alpha=3", "PAB3", "PG2", "RGC2:refs=each:reflen=average", "RAB3", "RGBC4:reflen=shortest", "RG4"),
    *("PABC4:corpus=mean", "PGBC4:smoothing=lin-och:orders=effective", "BLEU:reflen=average", "CHRF", "CHRF:words=2"),
    *("CHRF:chars=2:words=1:beta=1", "TER", "MIX:BLEU:refs=each=1:PAB4=0.5:CHRF=-0.01"),
]
WORDS = ["a", "b", "cc", "d.", "(e", "ff", "a\u00a0b", "ü"]

texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), min_size=1, max_size=6)
sentences = st.lists(st.tuples(texts, texts), min_size=1, max_size=3)


def pairs_of(sentences, *, alone=False):
    vocabulary = Vocabulary()
    ours = Corpus.from_lines([line for lines, _ in sentences for line in lines], vocabulary)
    theirs = ours if alone else Corpus.from_lines([line for _, lines in sentences for line in lines], vocabulary)
    sizes = [(len(a), len(a) if alone else len(b)) for a, b in sentences]
    return CandidatePairs(ours, theirs, np.array(sizes, dtype=np.int64))


def counted(spec, pairs):
    m = metric(spec)
    return m.pair_statistics(pairs, m.prepare_pairs(pairs.hypotheses.vocabulary))


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=25, deadline=None)
@given(sentences=sentences, alone=st.booleans())
def test_the_same_bits_as_one_by_one(spec, sentences, alone):
    pairs = pairs_of(sentences, alone=alone)
    statistics, slow = counted(spec, pairs), Metric.pair_statistics(metric(spec), pairs, None)
    assert statistics.dtype == slow.dtype
    np.testing.assert_array_equal(statistics, slow)


def test_more_ngrams_than_the_first_table_has_room_for(monkeypatch):
    draw = np.random.default_rng(1)
    lines = [" ".join(draw.choice(list("abcdefghijklmnopqrstuvwxyz"), 40)) for _ in range(40)]
    pairs = pairs_of([(lines[:30], lines), (lines[:3], lines[1:2])])
    monkeypatch.setattr(candidate_ngrams, "_FIRST_SLOTS", 1 << 12)
    for spec in ("BLEU", "CHRF:words=2"):  # 6 x 40 x 40 n-grams and more, in 4096 slots at first
        np.testing.assert_array_equal(counted(spec, pairs), Metric.pair_statistics(metric(spec), pairs, None))


def test_matches_by_hand():
    pairs = pairs_of([(["a a a b", "", "a b"], ["a a", "a b c"])])
    # match and total of one to four words, then the reference's length
    assert counted("BLEU", pairs).tolist() == [
        [2, 4, 1, 3, 0, 2, 0, 1, 2],
        [2, 4, 1, 3, 0, 2, 0, 1, 3],
        [0, 0, 0, 0, 0, 0, 0, 0, 2],
        [0, 0, 0, 0, 0, 0, 0, 0, 3],
        [1, 2, 0, 1, 0, 0, 0, 0, 2],
        [2, 2, 1, 1, 0, 0, 0, 0, 3],
    ]
    assert counted("PA1", pairs)[:, 0].tolist() == [3, 4, 0, 0, 1, 2]  # not clipped: every a, and the b
    assert counted("RA1", pairs)[:, 0].tolist() == [2, 2, 0, 0, 2, 2]  # every word of the reference that is there


def ngrams(symbols, n):
    return Counter(tuple(symbols[k : k + n]) for k in range(len(symbols) - n + 1))


def averaged(texts, shares, n):
    total = Counter()
    for symbols, share in zip(texts, shares, strict=True):
        for ngram, count in ngrams(symbols, n).items():
            total[ngram] += share * count
    return total


def words(line):
    return [word for word in line.split(" ") if word]


def characters(line):
    return "".join(line.split())


@settings(max_examples=40, deadline=None)
@given(lines=sentences, seed=st.integers(0, 99))
def test_aggregated_statistics_are_those_of_averaged_counters(lines, seed):
    pairs, draw = pairs_of(lines), np.random.default_rng(seed)
    weights, bleu, chrf = [], [], []
    for ours, theirs in lines:
        shares = draw.random(len(theirs)) + 0.01
        shares /= shares.sum()
        weights += shares.tolist()
        for line in ours:
            bleu.append([])
            for n in range(1, 5):
                mine, mean = ngrams(words(line), n), averaged(map(words, theirs), shares, n)
                bleu[-1] += [sum(min(count, mean[x]) for x, count in mine.items()), mine.total()]
            bleu[-1].append(sum(share * len(words(x)) for x, share in zip(theirs, shares, strict=True)))
            chrf.append([])
            for n in range(1, 7):
                mine, mean = ngrams(characters(line), n), averaged(map(characters, theirs), shares, n)
                both = sum(min(count, mean[x]) for x, count in mine.items())
                chrf[-1] += [mine.total() if mean else 0, mean.total(), both]
    for spec, rows in (("BLEU", bleu), ("CHRF", chrf)):
        m = metric(spec)
        got = m.aggregated_statistics(pairs, np.array(weights), m.prepare_pairs(pairs.hypotheses.vocabulary))
        np.testing.assert_allclose(got, rows, atol=1e-12)


@pytest.mark.parametrize("spec", ["PA4", "RA4", "RAC2"])
def test_aggregated_statistics_that_are_linear_are_means_over_pairs(spec):
    """Without clipping matches add up, and with one reference of each n-gram at most clipping changes nothing."""
    lines = [(["a b c", "b a", ""], ["a c b", "b", "c a b"])]
    pairs, m = pairs_of(lines), metric(spec)
    p = np.array([0.5, 0.2, 0.3])
    got = m.aggregated_statistics(pairs, p, None)
    means = (counted(spec, pairs).reshape(3, 3, -1) * p[:, None]).sum(axis=1)
    np.testing.assert_allclose(got, means, atol=1e-15)


def test_against_one_reference_aggregation_changes_nothing():
    pairs = pairs_of([(["a b b", "", "cc a"], ["b a b"]), (["ff"], [""])])
    for spec in (*SPECS[:-2], "MIX:BLEU=1:CHRF=2"):
        m = metric(spec)
        kept = m.prepare_pairs(pairs.hypotheses.vocabulary)
        got = m.aggregated_statistics(pairs, np.ones(2), kept)
        np.testing.assert_array_equal(got, m.pair_statistics(pairs, kept))


def test_metrics_without_ngrams_have_no_aggregated_references():
    pairs = pairs_of([(["a"], ["b"])])
    with pytest.raises(UserError, match="TER has no aggregated references"):
        metric("TER").aggregated_statistics(pairs, np.ones(1), None)
