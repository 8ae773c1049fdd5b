"""Completion, manual page and doctor: they know all commands and options, and say what is wrong."""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import subprocess
import sys
from collections import namedtuple
from importlib import metadata
from pathlib import Path

import pytest

from lasw.scripts.command_line import coloured
from lasw.scripts.installation import doctor
from lasw.scripts.installation.completion import FILES
from lasw.scripts.main import COMMANDS, main, parsers
from lasw.scripts.mert_moses import OURS, REFUSED, THEIRS

Captured = pytest.CaptureFixture[str]
SHOWN = {
    words: [
        option for action in parser._actions if action.help != argparse.SUPPRESS for option in action.option_strings
    ]
    for words, parser in parsers()
}


def printed(capsys: Captured, *words: str) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


def needs(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    return path


def completed(script: Path, *words: str) -> list[str]:
    """What bash proposes for the last word."""
    code = f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _lasw 2>/dev/null; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run([needs("bash"), "-c", code, "bash", *words], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_completes_commands_options_and_names(tmp_path: Path, capsys: Captured) -> None:
    script = tmp_path / "lasw.bash"
    script.write_text(printed(capsys, "completion", "bash"))
    assert completed(script, "lasw", "") == list(COMMANDS)
    assert completed(script, "lasw", "sco") == ["score"]
    assert completed(script, "lasw", "train-m") == ["train-metric"]
    assert completed(script, "lasw", "score", "--paired-b") == ["--paired-bs", "--paired-bs-n"]
    assert completed(script, "lasw", "score", "-m", "BL") == ["BLEU", "BLEU+1"]
    assert completed(script, "lasw", "score", "-m", "BLEU", "-r", "ref", "hyp", "--sent") == ["--sentence"]
    assert completed(script, "lasw", "score", "--width", "") == []
    assert completed(script, "lasw", "tune", "--optimiser", "w") == ["wro"]
    assert completed(script, "lasw", "tune", "--decoder", "m") == ["moses"]
    assert completed(script, "lasw", "vectors", "tr") == ["train"]
    assert completed(script, "lasw", "vectors", "train", "--model", "f") == ["fasttext"]
    assert completed(script, "lasw", "train", "--model", "f") == ["fast_align"]
    assert completed(script, "lasw", "train", "--source", str(tmp_path / "la")) == [str(script)]
    for words, options in SHOWN.items():
        assert completed(script, "lasw", *words.split(), "-") == options, words


def test_bash_completes_the_command_line_of_moses(tmp_path: Path, capsys: Captured) -> None:
    script = tmp_path / "lasw.bash"
    script.write_text(printed(capsys, "completion", "bash"))
    program = "/opt/bin/lasw-mert-moses"
    assert completed(script, program, str(tmp_path / "la")) == [str(script)]
    assert completed(script, program, "dev.de", "dev.en", "--batch") == ["--batch-mira", "--batch-mira-args"]
    assert completed(script, program, "--filter", "x", "--no-filter") == ["--no-filter-phrase-table"]
    assert completed(script, program, "--hg") == []  # refused
    assert completed(script, program, "--nbest", "") == []
    assert completed(script, program, "tune", "--optimiser", "w") == ["wro"]
    assert completed(script, program, "--step", "") == ["trust", "growing", "whole"]
    assert completed(script, program, "--working-dir", str(tmp_path / "la")) == [str(script)]


def test_every_value_is_a_file_or_something_else(capsys: Captured, tmp_path: Path) -> None:
    """A new metavar is sorted: into FILES, or here."""
    known = {"ADDRESS", "CODE", "K", "KEY", "KIND", "LINE", "METRIC", "N", "NAME", "None", "P", "ROW", "S", "SECONDS"}
    known |= {
        "SETTING",
        "SHARE",
        "SPEC",
        "TEXT",
        "VALUE",
        "WHICH",
        "X",
        "YEAR",
        "W",
        "A",
        "T",
        "text",
        "LP",
        "csv",
        "html",
    }
    metavars = {
        str(action.metavar)
        for _, parser in parsers()
        for action in parser._actions
        if action.option_strings and action.nargs != 0 and not action.choices and "|" not in str(action.metavar)
    }
    assert {word for one in metavars for word in re.split(r"\W", one) if word} - FILES - known == set()
    script = tmp_path / "lasw.bash"
    script.write_text(printed(capsys, "completion", "bash"))
    for words in ("rerank --weights", "agree --marks", "select --score", "compare --run", "tune --start"):
        assert completed(script, "lasw", *words.split(), str(tmp_path / "la")) == [str(script)], words
    for words in (
        "agree --folds",
        "optimise --output-format",
        "rerank --mbr-scale",
        "select --weight",
        "report --system",
    ):
        assert completed(script, "lasw", *words.split(), str(tmp_path / "la")) == [], words
    assert completed(script, "lasw", "tune", "--keep", "") == ["best", "held-out", "last"]
    assert completed(script, "lasw", "tune", "--decode-best", "") == ["true", "false"]
    assert completed(script, "lasw", "rerank", "--layout", "f") == ["fairseq", "flat"]


def test_zsh_and_fish_know_every_option(capsys: Captured) -> None:
    zsh, fish = printed(capsys, "completion", "zsh"), printed(capsys, "completion", "fish")
    moses = [f"--{one.name}" for one in (*THEIRS, *OURS) if one.fate != REFUSED]
    for options in (*SHOWN.values(), moses):
        for option in options:
            assert f"{option}:" in zsh
            assert f" {option.lstrip('-')}" in fish


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_read_their_scripts(shell: str, tmp_path: Path, capsys: Captured) -> None:
    script = tmp_path / "script"
    script.write_text(printed(capsys, "completion", shell))
    done = subprocess.run([needs(shell), "-n", str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_fish_tells_actions_from_commands(tmp_path: Path, capsys: Captured) -> None:
    script = tmp_path / "script"
    script.write_text(printed(capsys, "completion", "fish"))
    code = f"source {script}; complete -C 'lasw vectors train --model f'; complete -C 'lasw train --model f'"
    code += "; complete -C 'lasw-mert-moses dev.de --optimiser w'"
    done = subprocess.run([needs("fish"), "-c", code], capture_output=True, text=True, check=True)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["fasttext", "fast_align", "wro"]


def test_the_manual_has_every_option_and_is_roff(tmp_path: Path, capsys: Captured) -> None:
    page = printed(capsys, "man")
    assert page.startswith('.TH LASW 1 "" "lasw ')
    for words, options in SHOWN.items():
        assert f'.SH "LASW {words.upper()}"' in page
        for option in options:
            assert option.replace("-", r"\-") in page
    assert not [line for line in page.splitlines() if line.startswith("'")]
    done = subprocess.run(
        [needs("groff"), "-man", "-Tutf8", "-Kutf8", "-wall", "-P-c"],
        input=page,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert "score systems with any metric" in " ".join(done.stdout.split())


def findings(capsys: Captured, code: int) -> dict[str, dict[str, str]]:
    assert main(["doctor", "--json"]) == code
    return {one["what"]: one for one in json.loads(capsys.readouterr().out)}


def test_a_doctor_of_a_sound_installation(capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    (tmp_path / "moses").write_text("#!/bin/sh\n")
    (tmp_path / "moses").chmod(0o755)
    assert main(["doctor"]) == 0
    sys.stdout.seek(0)
    lines = dict(line.removeprefix("ok").strip().split("  ", 1) for line in sys.stdout.read().splitlines())
    said = {name: text.strip() for name, text in lines.items()}
    assert said["numpy"] == metadata.version("numpy")
    assert said["lasw"].startswith(metadata.version("lasw"))
    assert said["decoder moses"] == str(tmp_path / "moses")
    assert said["decoder moses_chart"] == "none on PATH"
    assert said["processors"].endswith("OMP_NUM_THREADS=3")
    assert " kept" in said["kernels"]
    assert "GB free in" in said["disk here"]


Usage = namedtuple("Usage", "total used free")


def test_what_is_wrong_is_a_line_and_exit_1(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda folder: Usage(10**12, 10**12, 2 * 10**8))
    monkeypatch.setattr(
        doctor.metadata, "requires", lambda name: ["numpy>=99.1", "no-such>=1", "rich>=1; extra == 'x'"]
    )
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert main(["doctor"]) == 1
    wrong = [line for line in capsys.readouterr().out.splitlines() if line.startswith("wrong:")]
    numpy = metadata.version("numpy")
    assert wrong[:3] == [
        f"wrong: numpy: {numpy}, expected 99.1 or later; pip install -U",
        "wrong: no-such: not installed; pip install 'no-such>=1'",
        "wrong: kernels: NUMBA_DISABLE_JIT is set: all is a hundred times slower; unset it",
    ]
    assert wrong[3].startswith("wrong: disk here: only 0.20 GB free in ")
    assert findings(capsys, 1)["numpy"]["wrong"]


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert coloured("x", "red", Terminal()) == "\x1b[31mx\x1b[0m"
    assert coloured("x", "red", io.StringIO()) == "x"
    monkeypatch.setenv("TERM", "dumb")
    assert coloured("x", "red", Terminal()) == "x"
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured("x", "red", Terminal()) == "x"


def test_it_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lasw.scripts", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"lasw {metadata.version('lasw')}\n"
