"""`lasw decode` from the command line (with Thot: test_train.py)."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from lasw.scripts.main import main

PROGRAM = """\
import json, sys
weights, source, n = json.load(open(sys.argv[1]))["dense"], open(sys.argv[2]).read().split("\\n")[:-1], int(sys.argv[3])
for s, line in enumerate(source):
    options = [(line.upper(), [1, 0]), (line[::-1], [0, 1])]
    options.sort(key=lambda o: -(weights["F"][0] * o[1][0] + weights["G"][0] * o[1][1]))
    for text, h in options[:n]:
        if line.strip():
            print(f"{s} ||| {text} ||| F= {h[0]} G= {h[1]} ||| 1")
"""
COMMAND = "./program {weights} {source} {n}"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "program"
    program.write_text(f"#!{sys.executable}\n{PROGRAM}", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "start.json").write_text('{"dense": {"F": [1], "G": [0]}}', encoding="utf-8")
    (tmp_path / "other").write_text("G 2\nF 1\n", encoding="utf-8")
    (tmp_path / "in").write_text("ab c\n\nde\n", encoding="utf-8")
    return tmp_path


def decode(*more: str) -> int:
    return main(
        ["decode", "--decoder", "command", "--command", COMMAND, "--initial", "start.json", "--source", "in", *more]
    )


def test_translations_on_standard_output(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert decode() == 0
    said = capsys.readouterr()
    assert said.out == "AB C\n\nDE\n"
    assert "warning: no hypothesis for 1 of 3 sentences, the first is line 2" in said.err
    assert decode("--quiet") == 0
    assert capsys.readouterr().err == ""


def test_weights_of_a_file_count(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert decode("--weights", "other", "--quiet") == 0
    assert capsys.readouterr().out == "c ba\n\ned\n"


def test_lists_and_output_files(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert decode("--nbest", "2", "--output", "list") == 0
    lines = (place / "list").read_text(encoding="utf-8").splitlines()
    assert [[field.strip() for field in line.split("|||")[:2]] for line in lines] == [
        ["0", "AB C"],
        ["0", "c ba"],
        ["2", "DE"],
        ["2", "ed"],
    ]
    assert decode("--output", "text", "--quiet") == 0
    assert (place / "text").read_text(encoding="utf-8") == "AB C\n\nDE\n"
    assert capsys.readouterr().out == ""


def test_given_lists(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "list").write_text(
        "0 ||| a ||| F= 1 ||| 1\n0 ||| b ||| F= 2 ||| 0\n2 ||| c ||| F= 0 ||| 0\n", encoding="utf-8"
    )
    assert main(["decode", "--decoder", "fixed", "--lists", "list", "--source", "in", "--quiet"]) == 0
    assert capsys.readouterr().out == "b\n\nc\n"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--nbest", "2"], "--nbest without --output"),
        (["--model", "m"], "decoder command has no --model; expected command, initial"),
        (["--jobs", "x"], "--jobs is 'x'; expected a whole number"),
        (["--jobs", "0"], "0 jobs, expected at least 1"),
        (["--weights", "none"], "none: no such file"),
    ],
)
def test_mistakes(place: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str) -> None:
    assert decode(*more) == 1
    assert message in capsys.readouterr().err


def test_what_a_decoder_must_have(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decode", "--decoder", "thot", "--source", "in"]) == 1
    assert "no --model; expected folder of the system" in capsys.readouterr().err


def test_a_failing_program(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "start.json").write_text('{"dense": {"F": [1]}}', encoding="utf-8")
    assert decode() == 1
    error = capsys.readouterr().err
    assert error.startswith("lasw decode: ./program ended with code 1; its last lines:")
    assert error.endswith("KeyError: 'G'\n")
