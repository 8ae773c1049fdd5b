"""The quickstart on a small made-up text, and what the shell script around it refuses."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from made_text import parallel_text

from lasw.metrics import Corpus, References, metric
from lasw.scripts.main import main
from lasw.tuning import read_weights

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "quickstart"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with text in which the quickstart ran to its end."""
    pytest.importorskip("thot", reason="sil-thot is not installed")
    folder = tmp_path_factory.mktemp("quickstart")
    for side, lines in zip(("source", "target"), parallel_text(1500), strict=True):
        (folder / side).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    assert quickstart(folder) == 0
    return folder


def quickstart(folder: Path, *words: str) -> int:
    given = ["--source", str(folder / "source"), "--target", str(folder / "target"), "--run", str(folder / "run")]
    return main(["quickstart", *given, "--dev", "40", "--test", "60", "--iterations", "2", "--jobs", "1", *words])


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_parts_of_the_text(finished: Path) -> None:
    text = finished / "run" / "text"
    assert [len(lines(text / f"{part}.source")) for part in ("dev", "test")] == [40, 60]
    for side in ("source", "target"):
        held_out = {*lines(text / f"dev.{side}"), *lines(text / f"test.{side}")}
        assert not held_out & set(lines(text / f"train.{side}"))


def test_numbers_are_those_of_the_translations(finished: Path) -> None:
    run = finished / "run"
    rows = json.loads((run / "results.json").read_text())
    assert [row["weights"] for row in rows] == ["all-ones", "default", "average", "wro"]
    references = References.from_lines(lines(run / "text/test.target"))
    bleu = metric("BLEU")
    prepared = bleu.prepare(references)
    for row in rows:
        output = Corpus.from_lines(lines(run / "test" / f"{row['weights']}.txt"), references.vocabulary)
        total = bleu.statistics(output, prepared, np.arange(60, dtype=np.int32)).sum(axis=0)
        assert row["bleu"] == pytest.approx(bleu.corpus_score(total), abs=1e-12)
        assert row["low"] <= row["bleu"] <= row["high"]
        assert row["gain"] == row["bleu"] - rows[0]["bleu"]
        assert row["gain_low"] <= row["gain"] <= row["gain_high"]
    assert rows[0]["bleu"] > 0.2  # a system that translates


def test_what_is_left_to_use(finished: Path) -> None:
    run = finished / "run"
    assert (run / "weights.json").read_bytes() == (run / "average/weights.json").read_bytes()
    written = next(line for line in lines(run / "thot.cfg") if line.startswith("-tmw "))
    assert [float(word) for word in written.split()[1:]] == read_weights(run / "weights.json").dense.tolist()
    report = (run / "report.html").read_text()
    assert "Run average" in report
    assert "Run wro" in report
    for row in json.loads((run / "results.json").read_text()):
        assert f'<data value="{100 * row["bleu"]!r}">' in report


def test_a_second_run_does_nothing_and_says_the_same(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = finished / "run"
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert quickstart(finished) == 0
    out = capsys.readouterr().out
    for row in json.loads((run / "results.json").read_text()):
        assert f"  {row['weights']:10}{100 * row['bleu']:6.2f}  [" in out
    assert "translating" not in out
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == {**before}


def test_goes_on_where_it_stopped(finished: Path, tmp_path: Path) -> None:
    run = finished / "run"
    before = {path: path.read_bytes() for path in run.rglob("*.*") if path.name in ("weights.json", "results.json")}
    kept = {path: path.read_bytes() for path in (run / "test").iterdir()}
    for gone in (run / "results.json", run / "wro/result.json", run / "average/weights.json", *kept):
        gone.unlink()
    assert quickstart(finished) == 0
    assert {path: path.read_bytes() for path in before} == before
    assert {path: path.read_bytes() for path in kept} == kept


def test_other_text_or_settings_in_the_same_folder(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert quickstart(finished, "--seed", "2") == 1
    assert "this run was made with seed = 1 (now 2)" in capsys.readouterr().err
    given = ["--source", str(finished / "target"), "--target", str(finished / "source"), "--run", str(finished / "run")]
    assert main(["quickstart", *given, "--dev", "40", "--test", "60", "--iterations", "2"]) == 1
    assert "source = " in capsys.readouterr().err


def test_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("thot", reason="sil-thot is not installed")
    for words in ([], ["--source", "a"], ["--source", "a", "--target", "b", "--help-pages", "c"]):
        assert main(["quickstart", "--run", str(tmp_path / "run"), *words]) == 1
        assert "expected --help-pages, or --source and --target" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sorce", "x"], "unknown argument --sorce"),
        (["--source"], "--source needs a value"),
        (["--source", "x"], "--source and --target come together"),
        (["--target=x"], "--source and --target come together"),
    ],
)
def test_the_script_refuses_what_it_does_not_know(words: list[str], message: str) -> None:
    done = subprocess.run([str(SCRIPT), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in done.stderr


def test_settings_are_refused_before_the_training(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a\n")
    words = ["--source", str(tmp_path / "text"), "--target", str(tmp_path / "text"), "--run", str(tmp_path / "run")]
    with pytest.raises(SystemExit):
        main(["quickstart", *words, "--seed", "-1"])
    assert not (tmp_path / "run").exists()
