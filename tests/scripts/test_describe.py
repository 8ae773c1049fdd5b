"""`lasw describe`: sizes and different words of texts, and what they have in common with a test set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lasw.scripts.main import main


@pytest.fixture(autouse=True)
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dev").write_text("a b A\na\n")
    Path("other").write_text("x\n")
    Path("test").write_text("a c d d\n")


def test_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "dev", "other", "--test", "test"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        ["text", "sentences", "tokens", "words", "length", "similarity", "common", "covered"],
        ["dev", "2", "4", "3", "2.00", "0.2500", "0.2000", "0.2500"],
        ["other", "1", "1", "1", "1.00", "0.0000", "0.0000", "0.0000"],
    ]
    assert main(["describe", "dev"]) == 0
    assert capsys.readouterr().out.split()[5:] == ["dev", "2", "4", "3", "2.00"]


def test_json_in_lower_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "dev", "--test", "test", "--lowercase", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (dev,) = found["texts"]
    assert found["test"] == "test"
    assert (dev["words"], dev["length"], dev["similarity"], dev["common"]) == (2, 2.0, 0.25, 0.25)


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "none"]) == 1
    assert capsys.readouterr().err == "lasw describe: none: no such file\n"
