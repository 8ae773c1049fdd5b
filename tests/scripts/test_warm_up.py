"""Compiling in advance, and the word about it where it was not done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from lasw.scripts.command_line import compiling
from lasw.scripts.command_line.compiling import told_of_compiling
from lasw.scripts.main import main

Captured = pytest.CaptureFixture[str]


def test_it_shows_what_it_does_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["warm-up", "rerank", "select"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[:3] == ["1 of 5: rerank", "2 of 5: rerank", "3 of 5: select la"]
    assert lines[-1].startswith("compiled in ")
    assert list(tmp_path.iterdir()) == []
    assert Path.cwd() == tmp_path
    assert main(["warm-up", "rerank", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["warm-up", "tea"]) == 1
    assert (
        "nothing to compile for 'tea'; expected score, optimise, rerank, tune, local, select" in capsys.readouterr().err
    )


def test_what_is_warmed_up_compiles_nothing_more(tmp_path: Path) -> None:
    """A list of other text, in another process."""
    lines = [
        f"{k} ||| {' '.join('abcdefgh'[: 8 - r])} ||| A= {-r}.5 B= {r % 3} ||| 0\n" for k in range(4) for r in range(8)
    ]
    (tmp_path / "list").write_text("".join(lines))
    (tmp_path / "weights").write_text("A= 1\nB= 1\n")
    program = """
import sys
from numba.core import event
from lasw.scripts.main import main
main(["warm-up", "rerank", "--quiet"])
with event.install_recorder("numba:compile") as found:
    main(["rerank", "--weights", "weights", "list"])
print(len(found.buffer), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == "0\n"
    assert done.stdout == "a b c d e f g h\n" * 4


def test_compiling_is_told_once_and_not_where_nobody_wants_to_know(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def compiled(quiet: bool, after: float) -> str:
        monkeypatch.setattr(compiling, "TOLD_AFTER", after)
        with told_of_compiling("lasw x", quiet=quiet):
            for _ in range(3):
                assert numba.njit(lambda x: x.sum())(np.ones(3)) == 3
        return capsys.readouterr().err

    said = "lasw x: compiling what this needs, once after an installation or update (lasw warm-up does it in advance)\n"
    assert compiled(quiet=False, after=0.0) == said
    assert compiled(quiet=True, after=0.0) == ""
    assert compiled(quiet=False, after=1e6) == ""
