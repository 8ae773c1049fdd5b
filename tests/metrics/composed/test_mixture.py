"""Weighted sums of metrics: the grammar, and that every part is the metric's own number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lasw.metrics import Corpus, Metric, References, metric
from lasw.metrics.composed.mixture import Mixture

HYPOTHESES = ["the cat sat on a mat", "dogs", "", "a b c d e f g h", "x y"]
FIRST = ["the cat sat on the mat", "the dogs bark", "", "a b c d g h e f", ""]
SECOND = ["a cat was on the mat", "dogs bark", "z", "a b c d e f g h", "y x"]


def rows(spec: str, *references: list[str]) -> tuple[Any, Any]:
    m = metric(spec)
    refs = References.from_lines(*references)
    corpus = Corpus.from_lines(HYPOTHESES, refs.vocabulary)
    return m, m.statistics(corpus, m.prepare(refs), np.arange(len(HYPOTHESES)))


@pytest.mark.parametrize("references", [(FIRST,), (FIRST, SECOND), (SECOND, FIRST, SECOND)])
@pytest.mark.parametrize(
    "terms",
    [
        {"BLEU": 0.5, "TER": 0.5},
        {"PABC4:alpha=3:bp=plain": 0.7, "WER:reflen=best": 0.3},
        {"BLEU:refs=each": 0.25, "TER": -1.5, "RGC2:refs=each": 1e-3},
        {"BLEU:corpus=mean": 1.0, "PGB2": 2.0},
        {"BLEU+1": 1.0},
    ],
)
def test_scores_are_the_weighted_sums(terms: dict[str, float], references: tuple[list[str], ...]) -> None:
    spec = "MIX:" + ":".join(f"{inner}={weight!r}" for inner, weight in terms.items())
    m, statistics = rows(spec, *references)
    assert statistics.dtype == np.float64
    sentences, corpora = np.zeros(len(HYPOTHESES)), 0.0
    for inner, weight in terms.items():
        part, counts = rows(inner, *references)
        sentences += weight * part.sentence_scores(counts)
        corpora += weight * part.corpus_score(counts.sum(axis=0))
    np.testing.assert_allclose(m.sentence_scores(statistics), sentences, rtol=0, atol=1e-12)
    assert m.corpus_score(statistics.sum(axis=0)) == pytest.approx(corpora, abs=1e-12)
    totals = np.stack([statistics.sum(axis=0), statistics[:2].sum(axis=0)])
    assert m.corpus_scores(totals).tolist() == [m.corpus_score(total) for total in totals]


@pytest.mark.parametrize("spec", ["WER", "CDER:reflen=best", "MIX:TER=0.3:PABC4=2:WER=-1"])
def test_derivatives_are_those_that_differences_give(spec: str) -> None:
    m, statistics = rows(spec, FIRST, SECOND)
    total = statistics.sum(axis=0).astype(np.float64)
    np.testing.assert_allclose(m.score_gradient(total), Metric.score_gradient(m, total), rtol=1e-6, atol=1e-9)
    assert not metric("TER").score_gradient(np.zeros(2)).any()


def test_the_grammar() -> None:
    assert metric("MIX:BLEU=0.5:TER=0.5") == Mixture((metric("BLEU"), metric("TER")), (0.5, 0.5))
    assert metric("MIX:PABC4:alpha=3=1:BLEU+1=-.25:BLEU:reflen=shortest:orders=effective=2e-1") == Mixture(
        (metric("PABC4:alpha=3"), metric("BLEU+1"), metric("BLEU:reflen=shortest:orders=effective")), (1.0, -0.25, 0.2)
    )


def test_the_signature_has_everything_but_the_statistics_do_not_depend_on_weights() -> None:
    m = metric("MIX:TER=0.3:WER:reflen=best=0.7")
    assert str(m.signature()).startswith("MIX|0.3:1-TER|reflen:average|0.7:1-WER|reflen:best|version:")
    assert m.statistics_key() == metric("MIX:TER=1:WER:reflen=best=2").statistics_key()
    assert m.statistics_key() != metric("MIX:TER=1:WER=2").statistics_key()


def test_equal_statistics_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    m = metric("MIX:BLEU=1:PABC4=1:PGB2:alpha=3=1")
    assert isinstance(m, Mixture)
    calls: list[str] = []
    kind = type(m.metrics[0])
    compute = kind.statistics

    def counted(self: Any, *arguments: Any) -> Any:
        calls.append(self.name)
        return compute(self, *arguments)

    monkeypatch.setattr(kind, "statistics", counted)
    refs = References.from_lines(["a b"])
    m.statistics(Corpus.from_lines(["a b"], refs.vocabulary), m.prepare(refs), np.zeros(1, dtype=np.int32))
    assert calls == ["BLEU", "PGB2"]  # clipped for the first two, unclipped for the third


def test_remarks_of_the_parts_are_passed_on() -> None:
    m, statistics = rows("MIX:TER=0.5:BLEU=0.5", FIRST)
    assert m.remarks(statistics[1]) == metric("BLEU").remarks(statistics[1, 2:])
    assert m.remarks(statistics[1]) != ()
