"""Bootstrap resampling against sacreBLEU's and against drawing one corpus at a time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from lasw.metrics import (
    Corpus,
    References,
    bootstrap_scores,
    confidence,
    metric,
    paired_bootstrap,
    percentile_p_value,
)
from lasw.metrics.significance import bootstrap as significance
from lasw.metrics.significance.bootstrap import paired_p_value


def lines(seed: int, count: int = 60) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join("abc"[k] for k in random.integers(3, size=random.integers(5, 12))) for _ in range(count)]


def mixed(first: list[str], second: list[str], share: float, seed: int) -> list[str]:
    keep = np.random.default_rng(seed).random(len(first)) < share
    return [a if k else b for k, a, b in zip(keep, first, second, strict=True)]


REFERENCE = lines(1)
SYSTEMS = [mixed(REFERENCE, lines(2), 0.2, 3), mixed(REFERENCE, lines(4), 0.35, 5), mixed(REFERENCE, lines(6), 0.2, 7)]


def statistics(spec: str, *systems: list[str]) -> list[NDArray[np.int32]]:
    references = References.from_lines(REFERENCE)
    m = metric(spec)
    prepared, owner = m.prepare(references), np.arange(len(REFERENCE))
    return [m.statistics(Corpus.from_lines(s, references.vocabulary), prepared, owner) for s in systems]


def test_equals_sacrebleu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    test = PairedTest(
        [(f"s{k}", s) for k, s in enumerate(SYSTEMS)],
        {"BLEU": BLEU(tokenize="none", smooth_method="none", force=True)},
        [REFERENCE],
        test_type="bs",
        n_samples=300,
    )
    theirs = test()[1]["BLEU"]
    ours = paired_bootstrap(metric("BLEU"), statistics("BLEU", *SYSTEMS), samples=300, seed=12345)
    for mine, other in zip(ours, theirs, strict=True):
        assert not isinstance(other, str)
        assert mine.interval is not None
        assert 100 * mine.score == pytest.approx(other.score, abs=1e-9)
        assert 100 * mine.interval.mean == pytest.approx(other.mean, abs=1e-5)  # float32 there
        assert 100 * mine.interval.radius == pytest.approx(other.ci, abs=1e-5)
        assert mine.p_value == other.p_value


@pytest.mark.parametrize("spec", ["PABC4:alpha=3", "RGB2", "BLEU:corpus=mean"])
def test_equals_drawing_one_corpus_at_a_time(spec: str) -> None:
    (rows,) = statistics(spec, SYSTEMS[0])
    m = metric(spec)
    draws = np.random.default_rng(8).integers(len(rows), size=(50, len(rows)))
    expected = [m.corpus_score(sum(rows[k] for k in draw)) for draw in draws]
    assert bootstrap_scores(m, rows, samples=50, seed=8) == pytest.approx(expected, abs=1e-12)


def test_blocks_do_not_change_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    (rows,) = statistics("BLEU", SYSTEMS[0])
    whole = bootstrap_scores(metric("BLEU"), rows, samples=40)
    monkeypatch.setattr(significance, "_COUNTS_AT_ONCE", 3 * len(rows))
    assert bootstrap_scores(metric("BLEU"), rows, samples=40).tolist() == whole.tolist()


def test_a_system_against_itself_is_identical() -> None:
    rows = statistics("BLEU", SYSTEMS[0], SYSTEMS[0], SYSTEMS[1])
    first, same, other = paired_bootstrap(metric("BLEU"), rows, samples=50)
    assert (first.p_value, first.identical) == (None, False)
    assert (same.p_value, same.identical) == (None, True)
    assert other.p_value is not None
    assert not other.identical


def test_one_segment_has_no_interval() -> None:
    (rows,) = statistics("BLEU", SYSTEMS[0])
    assert paired_bootstrap(metric("BLEU"), [rows[:1]], samples=10)[0].interval is None


def test_interval_cuts_one_in_forty_at_either_end() -> None:
    interval = confidence(np.arange(1000.0)[::-1])
    assert (interval.mean, interval.low, interval.high, interval.radius) == (499.5, 25.0, 974.0, 474.5)


def test_p_value_by_hand() -> None:
    first, second = np.zeros(4), np.array([1.0, 2.0, 3.0, 6.0])
    # differences centred on their mean 3: -2, -1, 0, 3; one of them is beyond 2.5
    assert paired_p_value(2.5, first, second) == 2 / 5
    assert paired_p_value(-2.5, first, second) == 2 / 5
    assert paired_p_value(100.0, first, second) == 1 / 5  # never 0
    assert paired_p_value(3.0, first, second) == 2 / 5  # as far as the one observed: a tie is no evidence
    assert paired_p_value(3.0 + 1e-14, first, second) == 2 / 5


def test_no_difference_has_a_p_value_of_1() -> None:
    draw = np.random.default_rng(1)
    scores = draw.normal(30, 1, size=200)
    assert paired_p_value(0.0, scores, scores + draw.normal(size=200)) == 1
    assert paired_p_value(0.1 + 0.2 - 0.3, scores, scores + draw.normal(size=200)) == 1  # but for rounding
    assert paired_p_value(0.0, np.zeros(9), np.zeros(9)) == 1


def test_systems_that_are_wrong_in_every_sample_are_equal() -> None:
    """BLEU is 0 without a single 4-gram, whatever else is right."""
    references = References.from_lines([f"a{k} b{k} c{k} d{k} e{k}" for k in range(9)])
    worse, better = ([f"a{k} b{k} {third} x y" for k in range(9)] for third in ("x", "c0"))
    m = metric("BLEU")
    prepared, owner = m.prepare(references), np.arange(9)
    rows = [m.statistics(Corpus.from_lines(s, references.vocabulary), prepared, owner) for s in (worse, better)]
    (_, second) = paired_bootstrap(m, rows, samples=100)
    assert (second.score, second.p_value, second.identical) == (0.0, 1.0, False)


@pytest.mark.parametrize("n", [1, 4, 5])
def test_few_segments_have_no_p_value(n: int) -> None:
    rows = [x[:n] for x in statistics("WER", REFERENCE, SYSTEMS[1])]
    (_, second) = paired_bootstrap(metric("WER"), rows, samples=100)
    assert (second.p_value is None) == (n < 5)
    swapped = np.array([[1, 4], [0, 4]])
    (_, equal) = paired_bootstrap(metric("WER"), [swapped, swapped[::-1]], samples=100)
    assert equal.p_value == 1  # nothing differs, of however few


def test_p_value_of_percentiles_is_below_5_percent_where_the_interval_excludes_0() -> None:
    draw = np.random.default_rng(3)
    said = set()
    for m in (20, 39, 40, 79, 80, 100):
        for _ in range(60):
            differences = np.round(draw.normal(draw.choice([0, 1, 2, 3]), 1, size=m), 1)  # 0 is among them
            interval, p = confidence(differences), percentile_p_value(differences)
            assert (p < 0.05) == (interval.low > 0 or interval.high < 0)
            said.add(p < 0.05)
    assert said == {True, False}
    assert percentile_p_value(np.array([-1.0, 1, 2, 3])) == 2 / 5
    assert percentile_p_value(np.zeros(9)) == 1
