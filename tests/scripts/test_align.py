"""`lasw align` from the command line."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from lasw.scripts.main import main

pytest.importorskip("thot", reason="sil-thot is not installed")

SOURCE = ["das haus", "das buch", "ein haus", "", "ein buch", "das haus ist alt"] * 6
TARGET = ["the house", "the book", "a house", "nothing", "a book", "the house is old"] * 6


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s").write_text("".join(line + "\n" for line in SOURCE), encoding="utf-8")
    (tmp_path / "t").write_text("".join(line + "\n" for line in TARGET), encoding="utf-8")
    return tmp_path


def align(*more: str) -> int:
    return main(["align", "--source", "s", "--target", "t", "--output", "out", *more])


def test_a_line_a_pair_and_an_empty_one_for_an_empty_side(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert align() == 0
    lines = (place / "out").read_text(encoding="utf-8").split("\n")
    assert len(lines) == len(SOURCE) + 1
    assert lines[:6] == ["0-0 1-1", "0-0 1-1", "0-0 1-1", "", "0-0 1-1", "0-0 1-1 2-2 3-3"]
    said = capsys.readouterr()
    assert said.out == ""
    assert "lasw align: warning: 6 of 36 sentence pairs are not aligned" in said.err
    assert "the first is line 4" in said.err


def test_compressed_output_and_quiet(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert align("--quiet") == 0
    plain = (place / "out").read_bytes()
    assert main(["align", "--source", "s", "--target", "t", "--output", "out.gz", "--quiet", "--jobs", "1"]) == 0
    assert gzip.decompress((place / "out.gz").read_bytes()) == plain
    assert capsys.readouterr().err == ""


def test_symmetrisations_are_nested(place: Path) -> None:
    points = {}
    for heuristic in ("intersection", "grow-diag-final-and", "union", "forward", "backward"):
        assert align("--quiet", "--symmetrise", heuristic, "--model", "ibm1", "--iterations", "2") == 0
        lines = (place / "out").read_text(encoding="utf-8").split("\n")
        points[heuristic] = {(k, point) for k, line in enumerate(lines) for point in line.split()}
    assert points["intersection"] == points["forward"] & points["backward"]
    assert points["union"] == points["forward"] | points["backward"]
    assert points["intersection"] <= points["grow-diag-final-and"] <= points["union"]


def test_models_can_be_kept(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "kept").mkdir()
    assert align("--save", "kept/m", "--quiet") == 0
    names = {path.name for path in (place / "kept").iterdir()}
    assert {"m_swm.bestal", "m_invswm.bestal", "m_swm.svcb", "m_invswm.fa_lexnd"} <= names
    first = (place / "kept/m_invswm.bestal").read_text(encoding="utf-8").split("\n")[:3]
    assert first == ["# 1", "the house", "NULL ({  }) das ({ 1 }) haus ({ 2 })"]
    first = (place / "kept/m_swm.bestal").read_text(encoding="utf-8").split("\n")[:3]
    assert first == ["# 1", "das haus", "NULL ({  }) the ({ 1 }) house ({ 2 })"]
    listed = [line.split("  ") for line in (place / "kept/m.sha256").read_text(encoding="ascii").splitlines()]
    assert {name for _, name in listed} == {n for n in names if not n.endswith(".bestal")} - {"m.sha256"}
    assert all(hashlib.sha256((place / "kept" / name).read_bytes()).hexdigest() == digest for digest, name in listed)
    for option in ("--save", "--output"):
        capsys.readouterr()
        assert align(option, "none/m") == 1
        assert capsys.readouterr().err == "lasw align: none: no such folder; make it first\n"


def test_sides_of_different_length(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "t").write_text("a\nb\n", encoding="utf-8")
    assert align() == 1
    assert capsys.readouterr().err == "lasw align: t: 2 lines; expected 36, as many as s has\n"
    assert not (place / "out").exists()


def test_the_text_is_never_overwritten(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (place / "t").read_bytes()
    assert align("--output", "./t") == 1
    assert capsys.readouterr().err == "lasw align: t: the output would overwrite what is read; give another --output\n"
    assert (place / "t").read_bytes() == before


@pytest.mark.parametrize("seed", ["-1", "4294967296", "1.5"])
def test_seeds_that_no_generator_takes(place: Path, capsys: pytest.CaptureFixture[str], seed: str) -> None:
    with pytest.raises(SystemExit):
        align("--model", "eflomal", f"--seed={seed}")
    assert f"{seed!r} is no whole number from 0 to 4294967295" in capsys.readouterr().err


def test_unknown_model(place: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        align("--model", "giza")
    assert caught.value.code == 2
