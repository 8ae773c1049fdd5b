"""Tables of marks: what is read, what is refused, and correlations with them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lasw.metrics import SEGMENTS, UserError, agreement_of, metric, read_direct_assessment
from lasw.metrics.agreement.panels import SYSTEMS
from lasw.scripts.main import main

TABLE = """\
seg1\tsystem\thuman\thyp\tref
1\tA\t0.5\tthe cat sat\tthe cat sat
1\tB\t-1.25\ta dog\tthe cat sat
3\tA+B\t0.25\tthe dog runs\tthe dog ran
7\tx+y\t1e-1\tthe cow\tthe cow ran
"""


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "seg_da.tsv"
    path.write_text(text)
    return path


def test_table_and_agreement_by_hand(tmp_path: Path) -> None:
    data = read_direct_assessment(table(tmp_path, TABLE))
    assert data.name == "seg_da"
    assert data.systems == ("A", "B", "x+y")  # x and y stand nowhere alone, so the + is part of a name
    assert data.gave.tolist() == [[1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]]
    assert data.segments.tolist() == [0, 0, 2, 6]
    assert data.marks.tolist() == [0.5, -1.25, 0.25, 0.1]
    result = agreement_of(metric("PAC1:alpha=0"), data)
    scores = [1.0, 0.0, 2 / 3, 1.0]  # unigram precision
    assert result[SEGMENTS, "pearson"].value == pytest.approx(stats.pearsonr(scores, data.marks).statistic)
    assert result[SEGMENTS, "spearman"].value == pytest.approx(stats.spearmanr(scores, data.marks).statistic)
    systems, marks = [5 / 6, 2 / 5, 1.0], [0.375, -0.5, 0.1]  # of summed counts; of mean marks
    assert result[SYSTEMS, "pearson"].value == pytest.approx(stats.pearsonr(systems, marks).statistic)
    assert result[SYSTEMS, "spearman"].value == pytest.approx(stats.spearmanr(systems, marks).statistic)
    assert (result[SEGMENTS, "pearson"].n, result[SYSTEMS, "pearson"].n, result.units, result.ties) == (4, 3, 3, None)


def test_least_table_has_no_systems(tmp_path: Path) -> None:
    data = read_direct_assessment(
        table(tmp_path, "ref1\thuman\thyp\tref0\na b\t1\ta b\tx\nc d\t0\ta b\tx\nc d\t0\ta b\tx\n")
    )
    assert data.systems == ()
    assert len(data.evaluation.references.corpora) == 2
    result = agreement_of(metric("PAC1"), data)
    assert set(result.measures) == {(SEGMENTS, "pearson"), (SEGMENTS, "spearman")}
    assert result[SEGMENTS, "pearson"].value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"seg_da.tsv:1: no column 'human'"),
        ("human\thyp\n", r":1: no column 'ref'"),
        ("human\thyp\tref\thyp\n", r":1: two columns 'hyp'; expected each once"),
        ("human\thyp\tref\n", r"no marks; expected a line a translation"),
        ("human\thyp\tref\n1\ta\n", r":2: 2 columns; expected 3"),
        ("human\thyp\tref\n1\ta\tb\n\n", r":3: one extra blank last line; remove it"),
        ("human\thyp\tref\nnan\ta\tb\n", r":2: mark 'nan'; expected a finite number"),
        ("human\thyp\tref\n1\ta\tb\nx\ta\tb\n", r":3: mark 'x'"),
        ("human\thyp\tref\n1e200\ta\tb\n", r":2: mark '1e200'; expected a finite number"),
        ("human\thyp\tref\n1_0\ta\tb\n", r":2: mark '1_0'"),
        ("seg1\thuman\thyp\tref\n0\t1\ta\tb\n", r":2: segment '0'; expected a number from 1 to 9999999"),
        (f"seg1\thuman\thyp\tref\n{'9' * 5000}\t1\ta\tb\n", r"expected a number from 1 to 9999999"),
        ("system\thuman\thyp\tref\nA\t1\ta\tb\n\t1\ta\tb\n", r":3: a system without a name; expected a name"),
        (
            TABLE + "3\tB\t0\ta\tb\n",
            r":6: segment 3 of system B again; expected one mark for each; line 4 has one too",
        ),
    ],
)
def test_wrong_tables_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_direct_assessment(table(tmp_path, text))


def test_rows_can_be_taken(tmp_path: Path) -> None:
    data = read_direct_assessment(table(tmp_path, TABLE)).take(np.array([2, 0]))
    assert [data.hypotheses.text(k) for k in (0, 1)] == ["the dog runs", "the cat sat"]
    assert data.marks.tolist() == [0.25, 0.5]
    assert data.gave.tolist() == [[1, 1], [1, 0], [0, 0]]
    assert data.segments.tolist() == [2, 0]


def test_sentence_bleu_on_wmt17(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = [str(shared_data / "wmt17" / pair / "seg_da.tsv.gz") for pair in ("cs-en", "de-en", "fi-en", "lv-en")]
    assert main(["agree", "-m", "BLEU+1", "--tokenize", "13a", "--json", "--quiet", "--da", *tables]) == 0
    sets = json.loads(capsys.readouterr().out)["metrics"][0]["sets"]
    assert [x["set"] for x in sets] == ["cs-en", "de-en", "fi-en", "lv-en"]
    assert [x["segments"]["pearson"]["n"] for x in sets] == [560] * 4
    values = [x["segments"]["pearson"]["value"] for x in sets]
    assert values == pytest.approx([0.43, 0.42, 0.57, 0.39], abs=0.02)
    assert [x["systems"]["pearson"]["n"] for x in sets] == [4, 11, 6, 9]
