"""The scripts of examples/ run, and print what is right."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def ran(name: str, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, object], str]:
    names = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    return names, capsys.readouterr().out


def test_every_example_is_run_here() -> None:
    assert {path.stem for path in EXAMPLES.iterdir() if path.suffix == ".py"} == {
        "rerank_a_neural_list",
        "compare_metrics",
        "select_data",
    }


def test_rerank_a_neural_list(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ran("rerank_a_neural_list", capsys)
    assert "weights {'model': " in out
    assert out.endswith("chosen  he reads the newspaper\n")


def test_compare_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    names, out = ran("compare_metrics", capsys)
    references = [[corpus.text(k) for k in range(len(corpus))] for corpus in names["references"].corpora]  # type: ignore[attr-defined]
    for name, peer in (("BLEU", BLEU(tokenize="none")), ("CHRF", CHRF()), ("TER", TER())):
        scores = re.search(rf"^{name} +([\d.]+) +([\d.]+) ", out, re.M)
        assert scores
        expected = [peer.corpus_score(lines, references).score for lines in names["systems"].values()]  # type: ignore[attr-defined]
        assert [float(score) for score in scores.groups()] == pytest.approx(expected, abs=0.005)
    assert out.count("p = 0.0") == 4


def test_select_data(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = ran("select_data", capsys)
    lines = [int(number) for number in re.findall(r"^line (\d):", out, re.M)]
    assert set(lines) <= {1, 4, 5, 7}  # none of: the repetition, what is no translation, what is too short
    assert "rejected: {'similar': 1}" in out
    assert "dev.de dev.en" in out
