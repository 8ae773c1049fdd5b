"""`lasw train` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lasw.scripts.main import main
from lasw.scripts.parallel_text.train import MODELS
from lasw.tuning.decoders.thot import training as thot_training

pytest.importorskip("thot", reason="sil-thot is not installed")

SOURCE = ["das haus", "das buch", "ein haus", "ein buch", "das haus ist alt", "", "ein buch ist neu"] * 8
TARGET = ["the house", "the book", "a house", "a book", "the house is old", "x", "a book is new"] * 8


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s").write_text("".join(line + "\n" for line in SOURCE), encoding="utf-8")
    (tmp_path / "t").write_text("".join(line + "\n" for line in TARGET), encoding="utf-8")
    return tmp_path


def train(*more: str) -> int:
    return main(["train", "--source", "s", "--target", "t", "--output", "model", *more])


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def translated(capsys: pytest.CaptureFixture[str], line: str) -> str:
    Path("in").write_text(line + "\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["decode", "--decoder", "thot", "--model", "model", "--source", "in"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("model", MODELS)
def test_a_system_that_translates(place: Path, capsys: pytest.CaptureFixture[str], model: str) -> None:
    assert train("--model", model) == 0
    said = capsys.readouterr()
    assert "phrase pairs from 56 sentences" in said.out
    assert "warning: 8 of 56 sentence pairs are not aligned" in said.err
    assert "the first is line 6" in said.err
    assert translated(capsys, "das buch ist alt") == "the book is old\n"


def test_same_text_same_bytes_and_a_description(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train("--json", "--quiet", "--jobs", "1", "--phrase-length", "4", "--order", "2", "--held-out", "3") == 0
    said = capsys.readouterr()
    assert said.err == ""
    described = json.loads(said.out)
    assert described == json.loads((place / "model/system.json").read_text(encoding="utf-8"))
    assert {k: described[k] for k in ("sentences", "phrase_length", "order", "held_out", "alignment_model")} == {
        "sentences": 56,
        "phrase_length": 4,
        "order": 2,
        "held_out": 3,
        "alignment_model": "fast_align",
    }
    first = files(place / "model")
    assert train("--quiet", "--jobs", "2", "--phrase-length", "4", "--order", "2", "--held-out", "3") == 0
    assert files(place / "model") == first


def test_what_fails_leaves_nothing_that_looks_complete(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> int:
        raise KeyError("killed here")

    assert train("--quiet") == 0
    (place / "t").write_text("".join(f"{line} |||\n" for line in TARGET), encoding="utf-8")
    assert train("--quiet") == 1
    assert "t:1: the token '|||' means something else in Thot's files; replace it" in capsys.readouterr().err
    assert (place / "model/system.json").exists(), "nothing was begun, so the old system stays"
    (place / "t").write_text("".join(line + "\n" for line in TARGET), encoding="utf-8")
    monkeypatch.setattr(thot_training, "write_phrase_table", killed)
    with pytest.raises(KeyError):
        train("--quiet")
    assert not (place / "model/system.json").exists()
    assert main(["decode", "--decoder", "thot", "--model", "model", "--source", "s"]) == 1
    assert "no Thot system here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("a\nb\n", "x\n", r"t: 1 lines; expected 2, as many as s has"),
        ("", "", r"s: the file is empty"),
        ("\n", "x\n", r"no sentence pair to align"),
    ],
)
def test_text_that_does_not_fit(
    place: Path, capsys: pytest.CaptureFixture[str], source: str, target: str, message: str
) -> None:
    (place / "s").write_text(source, encoding="utf-8")
    (place / "t").write_text(target, encoding="utf-8")
    assert train() == 1
    assert message in capsys.readouterr().err


def test_more_held_out_than_there_is(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train("--held-out", "56") == 1
    assert "56 sentences held out of 56" in capsys.readouterr().err
