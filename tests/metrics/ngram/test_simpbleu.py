"""The SIMPBLEU family against a slow reading of its definition, sacreBLEU, the thesis' examples and what users hit."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from lasw.metrics import (
    Corpus,
    Preprocessing,
    References,
    SimpBleu,
    UserError,
    Vocabulary,
    metric,
    parameters,
    read_corpus,
    read_lines,
)

NAMES = ["".join(letters) for letters in itertools.product("PR", "AG", ("B", ""), ("C", ""), "1234")]

Sentence = list[str]


# --- the slow reference: one hypothesis, one order, one reference at a time, with Counters ---


def ngrams(sentence: Sentence, n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(sentence[i : i + n]) for i in range(len(sentence) - n + 1))


def slow_counts(m: SimpBleu, e: Sentence, references: list[Sentence]) -> list[float]:
    """match1 total1 ... match4 total4, candidate length, reference length."""
    recall, clip = m.name[0] == "R", "C" in m.name
    row: list[float] = []
    for n in range(1, 5):
        ours = ngrams(e, n)
        if recall:
            best: tuple[Fraction, int, int] = (Fraction(-1), 0, 0)
            for r in references:
                theirs = ngrams(r, n)
                matches = sum(min(c, ours[g]) if clip else c for g, c in theirs.items() if g in ours)
                total = sum(theirs.values())
                if total and Fraction(matches, total) > best[0]:
                    best = (Fraction(matches, total), matches, total)
            row += best[1:]
        else:
            most = {g: max(ngrams(r, n)[g] for r in references) for g in ours}
            row.append(sum(min(c, most[g]) if clip else (c if most[g] else 0) for g, c in ours.items()))
            row.append(sum(ours.values()))
    lengths = sorted(len(r) for r in references)
    if m.reflen == "shortest":
        length: float = lengths[0]
    elif m.reflen == "average":
        length = sum(lengths) / len(lengths)
    else:
        length = min(lengths, key=lambda x: (abs(x - len(e)), x))
    return [*row, len(e), length]


def slow_score(m: SimpBleu, counts: list[float], alpha: float) -> float:
    c, r = counts[8:]
    n = int(m.name[-1])
    if c == 0 or counts[1] == 0:
        return 0.0
    values = []
    for order in range(n):
        match, total = counts[2 * order : 2 * order + 2]
        if m.orders == "effective" and total == 0:
            continue
        added = 0.0 if m.smoothing == "lin-och" and order == 0 else alpha
        values.append((match + added) / (total + added) if total + added else 0.0)
    mean = sum(values) / len(values) if m.name[1] == "A" else math.prod(values) ** (1 / len(values))
    if "B" in m.name:
        how = m.bp or ("plain" if m.smoothing == "lin-och" else "smoothed")
        if how == "reversed":
            return mean * (math.exp(min(0.0, 1 - c / r)) if r else 0.0)
        up = r + (alpha if how in ("smoothed", "reference") else 0)
        down = c + (alpha if how == "smoothed" else 0)
        mean *= math.exp(min(0.0, 1 - up / down))
    return mean


def slow_scores(m: SimpBleu, segments: list[tuple[Sentence, list[Sentence]]]) -> tuple[list[float], float]:
    """Sentence scores and the corpus score."""
    sentence_alpha, corpus_alpha = (1.0, 0.0) if m.alpha is None else (m.alpha, m.alpha)
    count = len(segments[0][1])
    groups = [[k] for k in range(count)] if m.refs == "each" else [list(range(count))]
    rows = [[slow_counts(m, e, [refs[k] for k in group]) for e, refs in segments] for group in groups]
    sentences = [
        sum(slow_score(m, rows[g][i], sentence_alpha) for g in range(len(groups))) / len(groups)
        for i in range(len(segments))
    ]
    if m.corpus == "mean":
        return sentences, sum(sentences) / len(sentences)
    sums = [[sum(column) for column in zip(*group, strict=True)] for group in rows]
    return sentences, sum(slow_score(m, total, corpus_alpha) for total in sums) / len(groups)


def scored(m: SimpBleu, segments: list[tuple[Sentence, list[Sentence]]]) -> tuple[list[float], float]:
    vocabulary = Vocabulary()
    columns = zip(*(refs for _, refs in segments), strict=True)
    references = References(tuple(Corpus.from_lines(map(" ".join, column), vocabulary) for column in columns))
    hypotheses = Corpus.from_lines(map(" ".join, [e for e, _ in segments]), vocabulary)
    statistics = m.statistics(hypotheses, m.prepare(references), np.arange(len(segments)))
    return m.sentence_scores(statistics).tolist(), m.corpus_score(statistics.sum(axis=0))


def one(spec: str, hypothesis: str, *references: str) -> tuple[float, float]:
    """Sentence score and corpus score of one segment."""
    m = metric(spec)
    assert isinstance(m, SimpBleu)
    sentences, corpus = scored(m, [(hypothesis.split(), [r.split() for r in references])])
    return sentences[0], corpus


@st.composite
def metrics(draw: st.DrawFn) -> SimpBleu:
    choices = {key: own.choices for key, own in parameters(SimpBleu).items() if own.choices}
    options: dict[str, Any] = {key: draw(st.sampled_from(values)) for key, values in choices.items()}
    options["bp"] = draw(st.sampled_from([None, *choices["bp"]]))
    return SimpBleu(draw(st.sampled_from(NAMES)), draw(st.sampled_from([None, 0.0, 0.5, 1.0, 3.0])), **options)


@st.composite
def segment_lists(draw: st.DrawFn) -> list[tuple[Sentence, list[Sentence]]]:
    sentence = st.lists(st.sampled_from("abc"), max_size=7)
    count = draw(st.integers(1, 3))
    one_segment = st.tuples(sentence, st.lists(sentence, min_size=count, max_size=count))
    return draw(st.lists(one_segment, min_size=1, max_size=4))


@settings(max_examples=300, deadline=None)
@given(metrics(), segment_lists())
def test_every_combination_equals_the_slow_reading(
    m: SimpBleu, segments: list[tuple[Sentence, list[Sentence]]]
) -> None:
    sentences, corpus = scored(m, segments)
    slow_sentences, slow_corpus = slow_scores(m, segments)
    assert sentences == pytest.approx(slow_sentences, abs=1e-12)
    assert corpus == pytest.approx(slow_corpus, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_on_one_corpus(name: str) -> None:
    random = np.random.default_rng(NAMES.index(name))
    words = list("abcd")
    segments = [
        (
            list(random.choice(words, random.integers(0, 9))),
            [list(random.choice(words, 6)), list(random.choice(words, 4))],
        )
        for _ in range(5)
    ]
    m = SimpBleu(name)
    sentences, corpus = scored(m, segments)
    slow_sentences, slow_corpus = slow_scores(m, segments)
    assert sentences == pytest.approx(slow_sentences, abs=1e-12)
    assert corpus == pytest.approx(slow_corpus, abs=1e-12)


# --- sacreBLEU ---


def random_lines(random: np.random.Generator, count: int) -> list[str]:
    """Short lines of few words, so that n-grams repeat and match; some empty."""
    lengths = random.choice([0, 1, 2, 3, 4, 5, 7, 11], size=count)
    return [" ".join("abc"[k] for k in random.integers(3, size=length)) for length in lengths]


@pytest.mark.parametrize(("references", "cases"), [(1, 4000), (2, 3500), (3, 2500)])
def test_bleu_equals_sacrebleu_on_random_corpora(references: int, cases: int) -> None:
    random = np.random.default_rng(references)
    sizes = random.integers(1, 4, size=cases)
    ends = np.cumsum(sizes)
    hypotheses = random_lines(random, int(ends[-1]))
    sets = [random_lines(random, len(hypotheses)) for _ in range(references)]
    for k in range(0, len(hypotheses), 5):
        hypotheses[k] = sets[0][k]  # chance alone makes few 4-gram matches
    m = metric("BLEU")
    refs = References.from_lines(*sets)
    statistics = m.statistics(
        Corpus.from_lines(hypotheses, refs.vocabulary), m.prepare(refs), np.arange(len(hypotheses))
    )
    ours = m.corpus_scores(np.add.reduceat(statistics, ends - sizes, axis=0))
    theirs = BLEU(tokenize="none", smooth_method="none", force=True)
    expected = [
        theirs.corpus_score(hypotheses[end - size : end], [lines[end - size : end] for lines in sets]).score / 100
        for size, end in zip(sizes.tolist(), ends.tolist(), strict=True)
    ]
    assert np.abs(ours - expected).max() < 1e-9
    assert np.count_nonzero(ours) > cases / 20  # not a comparison of zeros


@pytest.mark.parametrize("pair", ["cs-en", "de-en", "es-en"])
def test_bleu_equals_sacrebleu_on_real_text(shared_data: Path, pair: str) -> None:
    folder = shared_data / "wmt13" / pair
    system = sorted((folder / "hyp").iterdir())[0]
    preprocess = Preprocessing("none").function()  # sacreBLEU splits on no-break spaces too, and there are some
    references = References((read_corpus(folder / "ref.txt.gz", preprocess=preprocess),))
    hypotheses = read_corpus(system, references.vocabulary, preprocess=preprocess)
    m = metric("BLEU")
    total = m.statistics(hypotheses, m.prepare(references), np.arange(len(hypotheses))).sum(axis=0)
    lines, reference = read_lines(system), read_lines(folder / "ref.txt.gz")
    expected = BLEU(tokenize="none", smooth_method="none", force=True).corpus_score(lines, [reference]).score
    assert 100 * m.corpus_score(total) == pytest.approx(expected, abs=1e-9)


def test_lin_och_smoothing_equals_sacrebleus_add_k() -> None:
    random = np.random.default_rng(9)
    hypotheses, reference = random_lines(random, 300), random_lines(random, 300)
    theirs = BLEU(tokenize="none", smooth_method="add-k", smooth_value=1, force=True, effective_order=False)
    for e, r in zip(hypotheses, reference, strict=True):
        expected = theirs.corpus_score([e], [[r]]).score / 100
        assert one("BLEU:smoothing=lin-och", e, r)[0] == pytest.approx(expected, abs=1e-9)


# --- the thesis ---

REFERENCES = (
    "torrential rain disaster kills 43 people in western india",
    "heavy rains plague western india leaving 43 dead",
)
CANDIDATE_1 = "torrential rain disaster"
CANDIDATE_2 = "torrential torrential torrential torrential rain disaster"
CANDIDATE_7 = "torrential rains hit western india , 43 people dead"
CANDIDATE_8 = "torrential rain disaster kills file action count alignment each"


@pytest.mark.parametrize(
    ("candidate", "precisions", "smoothed"),
    [
        (CANDIDATE_7, ["7/9", "2/8", "0/7", "0/6"], 0.26),
        (CANDIDATE_8, ["4/9", "3/8", "2/7", "1/6"], 0.39),
    ],
)
def test_precisions_of_table_2_2(candidate: str, precisions: list[str], smoothed: float) -> None:
    references = References.from_lines(*([line] for line in REFERENCES))
    m = metric("PGC4")
    row = m.statistics(Corpus.from_lines([candidate], references.vocabulary), m.prepare(references), np.zeros(1, int))
    assert [f"{row[0, 2 * n]}/{row[0, 2 * n + 1]}" for n in range(4)] == precisions
    assert m.sentence_scores(row)[0] == pytest.approx(smoothed, abs=0.005)
    # Section 2.4.2 prints 0 and 0.29 without smoothing
    expected = 0.0 if candidate == CANDIDATE_7 else 0.29
    assert one("PGC4:alpha=0", candidate, *REFERENCES)[0] == pytest.approx(expected, abs=0.01)


def test_brevity_penalty_of_candidates_1_and_2() -> None:
    # Section 2.4.2 against reference 1: 0.135 is right, exp(1 - 9/3). The 0.698 printed for candidate 2 is a slip:
    # its clipped precisions are 3/6, 2/5, 1/4 and its penalty exp(1 - 9/6).
    assert one("PGBC3:alpha=0", CANDIDATE_1, REFERENCES[0])[0] == pytest.approx(math.exp(-2), abs=1e-12)
    by_hand = (3 / 6 * 2 / 5 * 1 / 4) ** (1 / 3) * math.exp(-0.5)
    assert one("PGBC3:alpha=0", CANDIDATE_2, REFERENCES[0])[0] == pytest.approx(by_hand, abs=1e-12)
    assert one("PA1:alpha=0", CANDIDATE_2, REFERENCES[0])[0] == 1.0  # unclipped: 6/6, as the text says
    assert one("PAC1:alpha=0", CANDIDATE_2, REFERENCES[0])[0] == 0.5  # clipped: 3/6


# --- smoothing and penalties by hand ---


def test_bleu_plus_one_as_moses_pro_computes_it() -> None:
    # matches 2/3, 1/2, 0/1, 0/0; lengths 3 and 5
    precision = (3 / 4 * 2 / 3 * 1 / 2 * 1 / 1) ** 0.25
    sentence, corpus = one("BLEU+1", "a b x", "a b c d e")
    assert sentence == pytest.approx(precision * math.exp(1 - 5 / 3), abs=1e-12)
    assert corpus == 0.0
    assert one("BLEU+1:bp=reference", "a b x", "a b c d e")[0] == pytest.approx(precision * math.exp(1 - 6 / 3))
    assert one("BLEU+1:bp=smoothed", "a b x", "a b c d e")[0] == pytest.approx(precision * math.exp(1 - 6 / 4))


def test_the_reversed_penalty_is_for_long_hypotheses() -> None:
    # What RABC2 of WMT14 was: clipped unigram recall times exp(min(0, 1 - c/r)).
    assert one("RABC1:bp=reversed:alpha=0", "a b x y z", "a b c")[1] == pytest.approx(2 / 3 * math.exp(1 - 5 / 3))
    assert one("RABC1:bp=reversed:alpha=0", "a b", "a b c")[1] == pytest.approx(2 / 3)
    assert one("RABC1:bp=reversed:alpha=0", "a b c", "a b c")[1] == 1.0
    assert one("PABC1:bp=reversed:alpha=1", "a b x", "a")[0] == pytest.approx(2 / 4 * math.exp(1 - 3))  # no alpha
    assert one("PABC1:bp=reversed:alpha=1", "a", "") == (0.0, 0.0)  # infinitely too long
    # The corpus' lengths count, not the segments': the short segment makes room for the long one.
    segments = [(["a", "b", "x", "y"], [["a", "b", "c"]]), (["d"], [["d", "e", "f"]])]
    m = metric("RABC1:bp=reversed:alpha=0")
    assert isinstance(m, SimpBleu)
    sentences, corpus = scored(m, segments)
    assert corpus == pytest.approx(3 / 6)
    assert sentences == pytest.approx([2 / 3 * math.exp(-1 / 3), 1 / 3])


def test_alpha_is_1_for_sentences_and_0_for_a_corpus_unless_given() -> None:
    assert one("PAC1", "a x", "a b") == (2 / 3, 1 / 2)
    assert one("PAC1:alpha=3", "a x", "a b") == (4 / 5, 4 / 5)


def test_without_clipping_each_side_counts_its_own_occurrences() -> None:
    assert one("PA1:alpha=0", "a a a x", "a b")[0] == 3 / 4
    assert one("RA1:alpha=0", "a x", "a a a b")[0] == 3 / 4
    assert one("PAC1:alpha=0", "a a a x", "a b")[0] == 1 / 4
    assert one("RAC1:alpha=0", "a x", "a a a b")[0] == 1 / 4


def test_several_references() -> None:
    # recall takes, per order, the reference with the largest recall
    assert one("RAC1:alpha=0", "a b", "a b c d", "a x y")[0] == 1 / 2
    assert one("RAC1:alpha=0:refs=each", "a b", "a b c d", "a x y")[0] == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert one("PAC1:alpha=0:refs=each", "a b", "a b c d", "a x y")[0] == pytest.approx((1 + 1 / 2) / 2)
    penalty = {"closest": 1 - 4 / 3, "shortest": 1 - 4 / 3, "average": 1 - 5 / 3}
    for reflen, exponent in penalty.items():
        got = one(f"PABC1:alpha=0:reflen={reflen}", "a b c", "a b c d", "a b c d e f")[0]
        assert got == pytest.approx(math.exp(exponent))
    assert one("PABC1:alpha=0:reflen=shortest", "a b c", "a b c d", "a b")[0] == 1.0
    assert one("PABC1:alpha=0:reflen=closest", "a b c", "a b c d", "a b")[0] == 1.0  # equally close: the shorter


def test_corpus_score_as_mean_of_sentence_scores_is_a_named_option() -> None:
    segments: list[tuple[Sentence, list[Sentence]]] = [(["a"], [["a"]]), (["x", "y"], [["a", "b"]])]
    assert scored(SimpBleu("PAC1", alpha=0.0), segments)[1] == 1 / 3
    assert scored(SimpBleu("PAC1", alpha=0.0, corpus="mean"), segments)[1] == 1 / 2


# --- what users hit ---


@pytest.mark.parametrize("name", NAMES)
def test_a_perfect_translation_scores_exactly_100(name: str) -> None:
    text = "a b c a b d e"
    for spec in (name, f"{name}:alpha=3", f"{name}:alpha=0.1", f"{name}:refs=each"):
        sentence, corpus = one(spec, text, text)
        assert (100 * sentence, 100 * corpus) == (100.0, 100.0)


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_hypothesis_scores_0(name: str) -> None:
    for alpha, orders, reference in itertools.product((0, 1, 3), ("all", "effective"), ("", "a b")):
        assert one(f"{name}:alpha={alpha}:orders={orders}", "", reference) == (0.0, 0.0)


@pytest.mark.parametrize("name", ["RAC4", "RGBC2", "RA1"])
def test_recall_of_an_empty_reference_is_0(name: str) -> None:
    assert one(name, "a b", "") == (0.0, 0.0)


def test_short_sentences() -> None:
    # one token: smoothing makes the orders that do not exist alpha/alpha
    assert one("BLEU", "a", "a") == (1.0, 0.0)
    assert one("BLEU+1", "a", "b")[0] == pytest.approx((1 / 2) ** 0.25)
    # `l r` against itself: sacreBLEU's corpus score is 0 as well
    expected = BLEU(tokenize="none", smooth_method="none", force=True).corpus_score(["l r"], [["l r"]]).score
    assert one("BLEU", "l r", "l r") == (1.0, expected)
    assert one("BLEU:orders=effective", "l r", "l r") == (1.0, 1.0)
    assert one("PABC4:alpha=0", "l r", "l r") == (0.5, 0.5)
    assert one("PABC4:alpha=0:orders=effective", "l r", "l r") == (1.0, 1.0)


def test_a_score_of_0_for_want_of_long_sentences_is_told() -> None:
    m = metric("BLEU")
    references = References.from_lines(["l r"])
    total = m.statistics(references.corpora[0], m.prepare(references), np.zeros(1, int)).sum(axis=0)
    assert m.remarks(total) == (
        "no hypothesis has 3 tokens, so that order counts as 0 in BLEU; 'orders=effective' leaves such orders out",
    )
    for spec in ("BLEU:orders=effective", "BLEU:alpha=0.5", "PGBC2"):
        assert metric(spec).remarks(total) == ()
    assert metric("BLEU:corpus=mean").remarks(np.array([0.0, 1.0])) == ()
    each = metric("RGC2:refs=each")
    references = References.from_lines(["a b c"], ["a"])
    total = each.statistics(references.corpora[0], each.prepare(references), np.zeros(1, int)).sum(axis=0)
    assert each.remarks(total) == (
        "no reference has 2 tokens, so that order counts as 0 in RGC2; 'orders=effective' leaves such orders out",
    )


def test_of_equal_precision_the_length_decides() -> None:
    reference = "a b c d e f g h"
    assert one("PABC4", "a b c d", reference)[0] < one("PABC4", reference, reference)[0]
    assert one("PAC4", "a b c d", reference)[0] == one("PAC4", reference, reference)[0]


def test_metrics_that_count_alike_share_their_statistics() -> None:
    keys = {metric(spec).statistics_key() for spec in ("BLEU", "BLEU+1", "PABC3:alpha=0", "PGC1", "PABC4:bp=plain")}
    assert len(keys) == 1
    others = ["PGB4", "RGBC4", "RGB4", "BLEU:reflen=shortest", "BLEU:refs=each", "BLEU:corpus=mean", "BLEU"]
    assert len({metric(spec).statistics_key() for spec in others}) == len(others)
    # Lists without text and the filter for similar sentences go by what a key says.
    assert metric("BLEU+1").statistics_key() == "ngrams:precision:clipped:closest:joint"
    assert metric("RG2:reflen=average:refs=each").statistics_key() == "ngrams:recall:unclipped:average:each"


def test_signature_says_every_setting() -> None:
    assert str(metric("PABC4:alpha=3").signature()).startswith(
        "PABC4|alpha:3|sentence-alpha:3|smoothing:add|bp:smoothed|reflen:closest|refs:joint|corpus:sum|orders:all|version:"
    )
    specs = ["BLEU", "BLEU+1", "PGBC4:alpha=2", "BLEU:bp=plain", "BLEU:smoothing=lin-och", "BLEU:orders=effective"]
    assert len({str(metric(spec).signature()) for spec in specs}) == len(specs)


def test_statistics_of_another_metric_are_refused() -> None:
    with pytest.raises(ValueError, match="statistics of shape"):
        metric("BLEU").sentence_scores(np.zeros((2, 10)))
    with pytest.raises(ValueError, match="statistics of shape"):
        metric("BLEU").sentence_scores(np.zeros((2, 18)))
    with pytest.raises(UserError, match="metric 'PXBC4'"):
        SimpBleu("PXBC4")


@pytest.mark.parametrize("spec", ["BLEU", "RABC2", "BLEU:refs=each", "BLEU:corpus=mean"])
def test_no_sentences_have_no_scores(spec: str) -> None:
    m = metric(spec)
    references = References.from_lines(["a b", "c"], ["a", "c d"])
    nothing = Corpus.from_lines([], references.vocabulary)
    found = m.statistics(nothing, m.prepare(references), np.empty(0, dtype=np.int32))
    assert found.shape[0] == 0
    assert m.sentence_scores(found).shape == m.corpus_scores(found).shape == (0,)
