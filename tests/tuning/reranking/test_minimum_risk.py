"""Expected utilities and choices: those of a double loop over sentence scores, whatever the metric and the lists."""

import math

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from lasw.metrics import Corpus, Metric, References, UserError, Vocabulary, metric
from lasw.tuning import FeatureNames, MinimumRisk, NBest, Samples, list_totals, one_per_sentence
from lasw.tuning.reranking import utility

NAMES = FeatureNames((("f", 1),))
WORDS = ["the", "red", "old", "bus", "drives", "by.", "(a", "river", "red"]
SPECS = [
    *("BLEU+1", "BLEU+1:smoothing=lin-och", "PABC4", "PABC4:alpha=3", "PAB3", "RGC2", "PGBC4:corpus=mean", "CHRF"),
    *("CHRF:words=2", "TER", "WER", "METEOR", "NIST", "WMD:vectors=vectors.txt", "MIX:NIST=0.1:CHRF=1"),
]


def some_list(vocabulary, sizes, seed=0, total=None):
    """Texts by sentence and the list; sizes by sentence id, some texts empty, some twice."""
    draw = np.random.default_rng(seed)
    texts = {s: [" ".join(draw.choice(WORDS, draw.integers(0, 8))) for _ in range(n)] for s, n in sizes.items()}
    for lines in texts.values():
        lines[len(lines) // 2] = lines[0]
    return texts, nbest_of(vocabulary, texts, total)


def nbest_of(vocabulary, texts, total=None):
    flat = [line for lines in texts.values() for line in lines]
    owner = np.repeat(list(texts), [len(lines) for lines in texts.values()]).astype(np.int32)
    score = np.zeros(len(flat)) if total is None else np.array(total)
    return NBest(NAMES, owner, Corpus.from_lines(flat, vocabulary), np.zeros((len(flat), 1)), score)


def double_loop(m, hypotheses, references, weights=None):
    """Expected utility of each of one sentence's hypotheses; metrics of whole corpora see the distinct references."""
    distinct = list(dict.fromkeys(references))
    refs = References.from_lines(distinct)
    prepared = m.prepare(refs)
    weights = [1.0] * len(references) if weights is None else weights
    found = []
    for text in hypotheses:
        one = Corpus.from_lines([text], refs.vocabulary)
        total = 0.0
        for reference, weight in zip(references, weights, strict=True):
            owner = np.array([distinct.index(reference)])
            total += weight * m.sentence_scores(m.statistics(one, prepared, owner))[0]
        found.append(total / sum(weights))
    return found


def in_order(reranker, nbest):
    """The list sorted, which comes in blocks."""
    return NBest.joined(list(reranker.sort([nbest])))


def first_best(values):
    return next(k for k, value in enumerate(values) if value >= max(values) - 1e-12)


@pytest.fixture(autouse=True)
def _vectors(tmp_path, monkeypatch):
    draw = np.random.default_rng(5)
    rows = [f"{word} {' '.join(f'{x:.3f}' for x in draw.normal(size=4))}\n" for word in sorted(set(WORDS[:-3]))]
    (tmp_path / "vectors.txt").write_text("".join(rows))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("pairs", [1, 20, 1 << 15])  # at once: less than a sentence has, a few sentences, all
@pytest.mark.parametrize("spec", SPECS)
def test_utilities_and_choices_of_a_double_loop(spec, pairs, monkeypatch):
    monkeypatch.setattr(utility, "_PAIRS", pairs)
    vocabulary, m = Vocabulary(), metric(spec)
    texts, nbest = some_list(vocabulary, {0: 5, 1: 1, 4: 7, 5: 2, 9: 4})
    slow = {s: double_loop(m, lines, lines) for s, lines in texts.items()}
    reranker = MinimumRisk(m, vocabulary)
    np.testing.assert_allclose(reranker.scores(nbest), np.concatenate(list(slow.values())), rtol=1e-12, atol=1e-15)
    ordered = in_order(reranker, nbest)
    chosen = {s: texts[s][first_best(values)] for s, values in slow.items()}
    assert dict(one_per_sentence(ordered)) == chosen


@pytest.mark.parametrize("spec", ["BLEU+1", "CHRF:words=2", "TER", "NIST", "WMD:vectors=vectors.txt"])
def test_samples_of_other_sizes_and_probabilities(spec, monkeypatch):
    monkeypatch.setattr(utility, "_PAIRS", 10)
    vocabulary, m = Vocabulary(), metric(spec)
    texts, nbest = some_list(vocabulary, {1: 4, 3: 2, 6: 3})
    total = np.random.default_rng(3).normal(size=16) * 3 - 700  # whose exponentials are too small for a softmax
    others, samples = some_list(vocabulary, {0: 3, 1: 2, 3: 6, 6: 1, 8: 4}, seed=1, total=total)
    starts = dict(zip(others, [0, 3, 5, 11, 12], strict=True))
    blocks = [samples.take(np.arange(a, b)) for a, b in ((0, 4), (4, 9), (9, 16))]  # which cut sentences
    reranker = MinimumRisk(m, vocabulary, samples=Samples(blocks, "s"), probability=list_totals, scale=0.5)
    slow = []
    for s, lines in texts.items():
        scores = total[starts[s] : starts[s] + len(others[s])]
        slow += double_loop(m, lines, others[s], np.exp(0.5 * (scores - scores.max())))
    got = np.concatenate([reranker.scores(nbest.take(np.arange(a, b))) for a, b in ((0, 4), (4, 9))])
    np.testing.assert_allclose(got, slow, rtol=1e-12, atol=1e-15)
    assert reranker.warnings() == ("s: 2 sentences have samples and no hypotheses",)


def test_utilities_are_sacrebleus():
    vocabulary = Vocabulary()
    texts, nbest = some_list(vocabulary, {0: 8, 1: 6}, seed=4)
    bleu = BLEU(tokenize="none", smooth_method="add-k", smooth_value=1, effective_order=False, force=True)
    peers = {
        "CHRF": CHRF(),
        "CHRF:words=2": CHRF(word_order=2),
        "BLEU+1:smoothing=lin-och": bleu,  # as sacreBLEU's add-k leaves single words unsmoothed
    }
    for spec, peer in peers.items():
        slow = [
            np.mean([peer.sentence_score(x, [y]).score / 100 for y in lines]) for lines in texts.values() for x in lines
        ]
        np.testing.assert_allclose(MinimumRisk(metric(spec), vocabulary).scores(nbest), slow, atol=1e-9)


@pytest.mark.parametrize("spec", ["BLEU+1", "PAB4", "RGC3", "CHRF", "CHRF:words=1", "MIX:BLEU+1=0.5:CHRF=0.5"])
def test_aggregated_references(spec):
    """One at a time, and equal to all pairs where all references are the same."""
    vocabulary, m = Vocabulary(), metric(spec)
    texts, nbest = some_list(vocabulary, {0: 5, 2: 1, 3: 6})
    got = MinimumRisk(m, vocabulary, aggregated=True).scores(nbest)
    for s in texts:
        rows = np.flatnonzero(nbest.owner == s)
        alone = MinimumRisk(m, vocabulary, aggregated=True).scores(nbest.take(rows))
        np.testing.assert_array_equal(got[rows], alone)
    same = {s: ["the red red bus"] * 3 for s in texts}
    exact = MinimumRisk(m, vocabulary, samples=Samples([nbest_of(vocabulary, same)], "s"))
    approximate = MinimumRisk(m, vocabulary, samples=Samples([nbest_of(vocabulary, same)], "s"), aggregated=True)
    np.testing.assert_allclose(approximate.scores(nbest), exact.scores(nbest), atol=1e-12)


def test_an_aggregated_reference_by_hand():
    vocabulary = Vocabulary()
    nbest = nbest_of(vocabulary, {0: ["a a b", "a c"]})
    # a 1.5, b 0.5, c 0.5 on average: 2.5 words; "a a b" matches 1.5 + 0.5 of 3, "a c" 1 + 0.5 of 2
    got = MinimumRisk(metric("PAC1:alpha=0"), vocabulary, aggregated=True).scores(nbest)
    np.testing.assert_allclose(got, [2 / 3, 1.5 / 2])
    got = MinimumRisk(metric("RAC1:alpha=0"), vocabulary, aggregated=True).scores(nbest)
    np.testing.assert_allclose(got, [2 / 2.5, 1.5 / 2.5])
    got = MinimumRisk(metric("PABC1:alpha=0:bp=plain"), vocabulary, aggregated=True).scores(nbest)
    np.testing.assert_allclose(got, [2 / 3, 0.75 * math.exp(1 - 2.5 / 2)])


def test_repetitions_count_as_often_as_they_are_there():
    vocabulary = Vocabulary()
    nbest = nbest_of(vocabulary, {0: ["a", "b", "b"], 1: ["a", "b"]})
    got = MinimumRisk(metric("PA1:alpha=0"), vocabulary).scores(nbest)
    np.testing.assert_allclose(got, [1 / 3, 2 / 3, 2 / 3, 1 / 2, 1 / 2])


def test_of_equals_the_first_wins_whatever_rounding_does():
    """Each text is to the others what the next is to others: sums of the same numbers in another order."""
    vocabulary = Vocabulary()
    words = [f"w{k}" for k in range(7)]
    lines = [" ".join((words + words)[k : k + 4]) for k in range(7)]
    for _ in range(7):
        lines = [*lines[1:], lines[0]]
        reranker = MinimumRisk(metric("CHRF"), vocabulary)
        ordered = in_order(reranker, nbest_of(vocabulary, {0: lines, 1: ["x", *lines]}))
        assert [text for _, text in one_per_sentence(ordered)] == [lines[0], lines[0]]
        assert [ordered.hypotheses.text(k) for k in range(15)] == [*lines, *lines, "x"]


def test_empty_hypotheses_and_single_ones():
    vocabulary = Vocabulary()
    nbest = nbest_of(vocabulary, {0: [""], 1: ["", ""], 2: ["", "a b"], 3: ["a b c d"]})
    for spec in ("BLEU+1", "CHRF", "TER", "METEOR"):
        ordered = in_order(MinimumRisk(metric(spec), vocabulary), nbest)
        assert np.isfinite(ordered.score).all()
    assert MinimumRisk(metric("CHRF"), vocabulary).scores(nbest).tolist() == [0, 0, 0, 0, 0.5, 1]


def test_a_list_in_any_order(monkeypatch):
    monkeypatch.setattr(utility, "_PAIRS", 10)
    vocabulary = Vocabulary()
    _, nbest = some_list(vocabulary, {0: 5, 1: 3, 2: 4})
    shuffle = np.random.default_rng(0).permutation(12)
    sorted_scores = MinimumRisk(metric("CHRF"), vocabulary).scores(nbest)
    np.testing.assert_allclose(
        MinimumRisk(metric("CHRF"), vocabulary).scores(nbest.take(shuffle)), sorted_scores[shuffle]
    )


def test_what_a_list_says_does_not_depend_on_what_came_before():
    """NIST weighs n-grams by how rare they are among all references, here those of the sentence."""
    texts = {0: ["the red bus", "the bus"], 1: ["old river river", "old"]}
    for spec in ("NIST", "WMD:vectors=vectors.txt:unknown=random", "CHRF"):
        vocabulary, apart = Vocabulary(), Vocabulary()
        whole = MinimumRisk(metric(spec), vocabulary).scores(nbest_of(vocabulary, texts))
        alone = MinimumRisk(metric(spec), apart).scores(nbest_of(apart, {1: texts[1]}))
        np.testing.assert_array_equal(whole[2:], alone)


def test_preprocessing_changes_what_is_compared():
    vocabulary = Vocabulary()
    nbest = nbest_of(vocabulary, {0: ["A b", "a B", "c"]})
    ordered = in_order(MinimumRisk(metric("PA1:alpha=0"), vocabulary, preprocess=str.lower), nbest)
    np.testing.assert_allclose(ordered.score, [2 / 3, 2 / 3, 1 / 3])
    assert ordered.hypotheses.text(0) == "A b"


def test_wrong_samples_and_lists_without_totals():
    vocabulary = Vocabulary()
    nbest = nbest_of(vocabulary, {0: ["a"], 2: ["b"]})
    with pytest.raises(UserError, match="s: no samples for sentence 2"):
        MinimumRisk(metric("CHRF"), vocabulary, samples=Samples([nbest_of(vocabulary, {0: ["a"]})], "s")).scores(nbest)
    with pytest.raises(UserError, match="s: no samples for sentence 0"):
        MinimumRisk(metric("CHRF"), vocabulary, samples=Samples([nbest_of(vocabulary, {2: ["a"]})], "s")).scores(nbest)
    with pytest.raises(UserError, match="no totals"):
        MinimumRisk(metric("CHRF"), vocabulary, probability=list_totals).scores(nbest)
    with pytest.raises(UserError, match="TER has no aggregated references"):
        MinimumRisk(metric("TER"), vocabulary, aggregated=True).scores(nbest)


def test_the_generic_statistics_are_those_of_a_metric_that_overrides_nothing():
    assert type(metric("TER")).pair_statistics is Metric.pair_statistics
    assert type(metric("CHRF")).pair_statistics is not Metric.pair_statistics
