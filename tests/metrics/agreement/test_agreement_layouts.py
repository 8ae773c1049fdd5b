"""Judgements as they are published, read and counted as the metrics task's own tool counts them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_text import write_judgements, write_mtme

from lasw.metrics import UserError, read_marks, read_mtme
from lasw.metrics.agreement.layouts import official
from lasw.scripts.main import main

# What mt-metrics-eval (68a481a) says of `write_mtme(..., gaps=True)`, read by its EvalSet with refA and mqm, over
# GetCorrelations: Pearson, Kendall, KendallVariants (acc23), KendallWithTiesOpt (acc23, rate 1) and its threshold.
SEGMENTS = {
    ("good", "none"): (0.6903571340832422, 0.5097533568780934, 0.6523809523809524, 0.6523809523809524, 0.0),
    ("good", "item"): (0.5491991353351918, 0.3556038601690776, 0.6166666666666667, 0.6166666666666667, 0.0),
    ("good", "system"): (0.6468228793718227, 0.5053906677917077, 0.6626984126984127, 0.6626984126984127, 0.0),
    ("free-src", "none"): (0.5116131075622617, 0.38175118763846827, 0.5952380952380952, 0.5952380952380952, 0.0),
    ("free-src", "item"): (0.6171959433196813, 0.5705868515951834, 0.7166666666666667, 0.7166666666666667, 0.0),
    ("free-src", "system"): (
        0.661520998722967,
        0.5056725533711778,
        0.6674603174603174,
        0.6797619047619046,
        0.06999999999999999,
    ),
}
# Of systems: Pearson, Kendall, Agreement; PairwiseConfidenceError over the 7 segments that all systems have marks for.
SYSTEMS = {
    "good": (0.9964623730330925, 1.0, 1.0, 0.9356666666666666),
    "free-src": (0.5174986872126458, 0.0, 0.5, 0.7515000000000001),
}


def agree(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """What `--json` says of each metric's first set."""
    assert main(["agree", "--quiet", "--json", *arguments]) == 0
    return {x["metric"]: x["sets"][0] for x in json.loads(capsys.readouterr().out)["metrics"]}


@pytest.mark.parametrize("average", ["none", "item", "system"])
def test_numbers_of_the_metrics_task(average: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = f"{write_mtme(tmp_path / 'made', 'xx-yy', gaps=True)}:xx-yy"
    names = ("pearson", "tau-b", "accuracy", "acc-eq", "pairwise-accuracy", "spa")
    sets = agree(capsys, "--mtme", place, "--statistics", ",".join(names), "--average", average)
    assert list(sets) == ["free-src", "good", "only"]
    for name, (pearson, tau_b, accuracy, pairs_spa) in SYSTEMS.items():
        segments, systems = sets[name]["segments"], sets[name]["systems"]
        expected = SEGMENTS[name, average]
        assert [segments[x]["value"] for x in names[:4]] == pytest.approx(expected[:4], abs=1e-9)
        assert segments["acc-eq"]["epsilon"] == expected[4]
        assert [systems[x]["value"] for x in ("pearson", "tau-b", "accuracy", "pairwise-accuracy")] == pytest.approx(
            [pearson, tau_b, accuracy, accuracy], abs=1e-9
        )
        assert systems["spa"] == {"value": pytest.approx(pairs_spa, abs=1e-9), "n": 7}
    assert sets["only"]["segments"]["pearson"]["value"] is None
    assert sets["only"]["systems"]["spa"]["undefined"] == "a score is no number"


def test_what_is_read(tmp_path: Path) -> None:
    folder = write_mtme(tmp_path / "made", "xx-yy")
    data = read_mtme(f"{folder}:xx-yy")
    assert data.systems == ("one", "refB", "three", "two")
    assert data.marks.shape == (4, 12)
    assert np.isnan(data.marks[:, 10:]).all()
    assert not np.isnan(data.marks[:, :10]).any()
    assert [one.name for one in data.stored] == ["free-src", "good-refA", "only-refA"]
    assert data.notes == ("marks of mqm, reference refA", "left out, of other references: good-refB")
    other = read_mtme(f"{folder}:xx-yy", human="wmt", reference="refB")
    assert other.systems == ("one", "three", "two")
    assert not np.isnan(other.marks).any()
    assert other.given is None
    # `good-refB` has no score of refA, which nobody marked; `free` has scores of all.
    assert [one.name for one in other.stored] == ["free-src", "good-refB"]


def test_metrics_of_ours_beside_those_in_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """More words wrong, lower in BLEU; another reference gives other scores."""
    folder = write_mtme(tmp_path / "made", "xx-yy")
    arguments = ["-m", "BLEU", "--statistics", "pearson", "--human", "wmt", "--mtme", f"{folder}:xx-yy"]
    first = agree(capsys, *arguments)
    assert list(first) == ["BLEU", "free-src", "good", "only"]
    assert first["BLEU"]["segments"]["pearson"]["n"] == 48
    second = agree(capsys, *arguments, "--mtme-reference", "refB")
    assert second["BLEU"]["segments"]["pearson"]["n"] == 36


def test_intervals_of_stored_metrics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`good` has means as system scores, and so an interval there; `only` has none."""
    folder = write_mtme(tmp_path / "made", "xx-yy")
    arguments = ["--statistics", "pearson", "--significance", "--paired-bs-n", "100", "--mtme", f"{folder}:xx-yy"]
    sets = agree(capsys, *arguments)
    assert set(sets["good"]["systems"]["pearson"]) == {"value", "n", "low", "high"}
    assert set(sets["only"]["systems"]["pearson"]) == {"value", "n"}


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("human-scores/xx-yy.mqm.seg.score", "one 1\n", "1 scores of system one; expected 12"),
        ("human-scores/xx-yy.mqm.seg.score", "one\n", ":1: 1 words; expected a system and a score"),
        ("human-scores/xx-yy.mqm.sys.score", "one nan\n", ":1: score 'nan'; expected a finite number or None"),
        ("metric-scores/xx-yy/good-refA.seg.score", "one None\n", "score 'None'; expected a finite number"),
        ("documents/xx-yy.docs", "news doc\n", "1 lines; expected 12"),
        ("system-outputs/xx-yy/one.txt", "a\n", "one.txt: 1 lines; expected 12, as many as xx-yy.refA.txt has"),
    ],
)
def test_what_is_refused(path: str, text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_mtme(tmp_path / "made", "xx-yy")
    (folder / path).write_text(text)
    assert main(["agree", "--quiet", "--mtme", f"{folder}:xx-yy"]) == 1
    captured = capsys.readouterr()
    assert told in captured.err
    assert len(captured.err.splitlines()) == 1
    assert not captured.out


def test_a_metric_without_a_marked_system_is_left_out(tmp_path: Path) -> None:
    folder = write_mtme(tmp_path / "made", "xx-yy")
    (folder / "metric-scores/xx-yy/only-refA.sys.score").write_text("one 1\ntwo 2\n")
    data = read_mtme(f"{folder}:xx-yy")
    assert "only-refA left out: no score of refB, which people marked" in data.notes
    assert [one.name for one in data.stored] == ["free-src", "good-refA"]


def test_places_that_are_none(tmp_path: Path) -> None:
    folder = write_mtme(tmp_path / "made", "xx-yy")
    for place, told in (
        ("made", "expected FOLDER:LP"),
        (f"{folder}:zz-yy", "other layouts: FOLDER, ref.txt"),
        (f"{tmp_path}:xx-yy", "nothing of xx-yy"),
    ):
        with pytest.raises(UserError, match=told):
            read_mtme(place)
    with pytest.raises(UserError, match="unknown protocol 'esa'"):
        read_mtme(f"{folder}:xx-yy", human="esa")
    with pytest.raises(UserError, match="unknown reference 'refC'"):
        read_mtme(f"{folder}:xx-yy", reference="refC")


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return write_judgements(
        tmp_path / "xx-yy", ["a b c", "d e f", "g"], {"A": ["a b", "d e f", "g"], "B": ["a", "x", "y"]}, []
    )


MARKS = [
    ("ann", "A", 1, 90),
    ("ann", "B", 1, 50),
    ("ann", "A", 2, 70),
    ("bob", "A", 1, 60),
    ("bob", "B", 2, 40),
    ("cid", "B", 3, 7),
]


def test_marks_as_csv(texts: Path, tmp_path: Path) -> None:
    """The two of A's first segment are averaged; what tests a judge is no mark; Appraise's files have no names."""
    named = tmp_path / "named.csv"
    named.write_text(
        "Judge,System,segmentId,Score,itemType\n"
        + "".join(f"{j},{s},{k},{x},TGT\n" for j, s, k, x in MARKS)
        + "ann,B,1,1,BAD\n"
    )
    appraise = tmp_path / "appraise.csv"
    appraise.write_text("".join(f"{j},{s},{k},TGT,xxx,yyy,{x},doc,False\n" for j, s, k, x in MARKS))
    for path in (named, appraise):
        marks = read_marks(path, texts).marks
        assert np.array_equal(marks, [[75, 70, np.nan], [50, 40, 7]], equal_nan=True)
    data = read_marks(named, texts, standardise=True)
    # ann: mean 70, deviation 20; bob: mean 50, deviation sqrt(200); cid gave one mark.
    expected = [[(1 + 10 / 200**0.5) / 2, 0, np.nan], [-1, -10 / 200**0.5, np.nan]]
    assert data.marks == pytest.approx(np.array(expected), nan_ok=True)
    assert data.notes == ("marks standardised by judge; 1 of judges who gave one mark only left out",)


def test_marks_that_nobody_can_be_told_by(texts: Path, tmp_path: Path) -> None:
    path = tmp_path / "marks.csv"
    for judge in ("", "-"):
        path.write_text(f"judge,system,segment,score\nann,A,1,1\n{judge},B,1,2\n")
        with pytest.raises(UserError, match="marks without a judge"):
            read_marks(path, texts, standardise=True)
    # The deviation of ann's is too small for a number.
    path.write_text("judge,system,segment,score\nann,A,1,1e-320\nann,B,1,0\nbob,A,2,1\nbob,B,2,3\n")
    assert np.isnan(read_marks(path, texts, standardise=True).marks[:, 0]).all()


def test_scores_of_systems_alone_and_a_permutation_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_mtme(tmp_path / "made", "xx-yy")
    for path in (folder / "human-scores").glob("*.seg.score"):
        path.unlink()
    arguments = ["--statistics", "pearson,pairwise-accuracy", "--test", "perm-both", "--significance"]
    sets = agree(capsys, *arguments, "--mtme", f"{folder}:xx-yy")
    assert sets["good"]["segments"]["pearson"]["value"] is None
    assert sets["good"]["systems"]["pearson"]["value"] is not None


def test_numbers_of_the_metrics_task_from_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same marks of the same texts, once in each layout, give a metric the same numbers."""
    folder = write_mtme(tmp_path / "made", "xx-yy", gaps=True)
    data = read_mtme(f"{folder}:xx-yy")
    (folder / "human-scores/xx-yy.mqm.sys.score").unlink()
    hypotheses = {name: (folder / f"system-outputs/xx-yy/{name}.txt").read_text().splitlines() for name in data.systems}
    texts = write_judgements(
        tmp_path / "texts", (folder / "references/xx-yy.refA.txt").read_text().splitlines(), hypotheses, []
    )
    lines = [
        f"{data.systems[s]},{k + 1},{data.marks[s, k]}\n"
        for s, k in zip(*np.nonzero(~np.isnan(data.marks)), strict=True)
    ]
    (tmp_path / "marks.csv").write_text("system,segment,score\n" + "".join(lines))
    names = ["-m", "CHRF", "--statistics", "pearson,tau-b,accuracy,acc-eq,pairwise-accuracy,spa"]
    published = agree(capsys, *names, "--mtme", f"{folder}:xx-yy")["CHRF"]
    ours = agree(capsys, *names, "--marks", str(tmp_path / "marks.csv"), str(texts))["CHRF"]
    assert {**ours, "set": ""} == {**published, "set": ""}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("system,score\nA,1\n", "no column 'segment'"),
        ("system,segment,score\nA,4,1\n", ":2: segment '4'; expected a number from 1 to 3"),
        ("system,segment,score\nA,1,much\n", ":2: mark 'much'"),
        ("system,segment,score\nD,1,1\n", ":2: unknown system 'D'"),
        ("system,segment,score\n", "no marks"),
        ('system,segment,score,note\nA,1,1,"good\nA,2,2,bad\n', "no CSV"),
    ],
)
def test_marks_that_are_refused(text: str, told: str, texts: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong.csv").write_text(text)
    with pytest.raises(UserError) as error:
        read_marks(tmp_path / "wrong.csv", texts)
    assert told in str(error.value)


def test_references_and_outliers_of_the_metrics_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = f"{write_mtme(tmp_path / 'wmt24', 'en-de')}:en-de"
    assert "marks of mqm, reference refB" in read_mtme(place).notes
    assert "marks of mqm, reference refA" in read_mtme(place, reference="refA").notes
    monkeypatch.setitem(official.OUTLIERS, "wmt24", {"en-de": ("two", "nobody")})
    whole, without = read_mtme(place), read_mtme(place, official=True)
    assert set(whole.systems) - set(without.systems) == {"two"}
    assert "left out, as the metrics task did: two" in without.notes
    kept = [whole.systems.index(name) for name in without.systems]
    assert np.array_equal(whole.marks[kept], without.marks, equal_nan=True)
    assert read_mtme(f"{write_mtme(tmp_path / 'made', 'en-de')}:en-de", official=True).systems == (
        *("one", "refB", "three", "two"),
    )
