from __future__ import annotations

import sys

import pytest

from lasw.scripts.command_line.progress import TuningProgress

FIRST = {
    "iteration": 1,
    "dev_score": 0.41234,
    "pool_bleu": 0.43,
    "new_candidates": 10,
    "candidates": 20,
    "seconds": {"decode": 1.5, "pool": 0.5},
    "warnings": ["odd"],
}
LAST = {"iteration": 2, "dev_score": 0.42, "seconds": {"decode": 1.0}, "warnings": []}


def test_plain_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TuningProgress("tune", 3)
    progress.started(1, "decode")
    progress.finished(FIRST)
    progress.finished(LAST)
    progress.close()
    assert capsys.readouterr().err.splitlines() == [
        "iteration 1: development score 41.23 before, 10 new of 20 candidates, pool BLEU 43.00 after (2.0 s)",
        "lasw tune: warning: iteration 1: odd",
        "last weights: development score 42.00 (1.0 s)",
    ]


def test_an_error_rate_is_told_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TuningProgress("tune", 3, dev_metric="TER")
    progress.finished(LAST)
    assert capsys.readouterr().err == "last weights: development TER 58.00 ↓ (1.0 s)\n"
    progress = TuningProgress("tune", 3, dev_metric="NIST")  # which is no percentage
    progress.finished({**LAST, "dev_score": 5.4321})
    assert capsys.readouterr().err == "last weights: development score 5.43 (1.0 s)\n"


def test_only_warnings_if_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TuningProgress("tune", 3, quiet=True)
    progress.finished(FIRST)
    assert capsys.readouterr().err == "lasw tune: warning: iteration 1: odd\n"


def test_a_bar_with_the_time_left_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    progress = TuningProgress("tune", 4)
    progress.started(3, "decode")  # two iterations were done before
    assert (progress._bar.n, progress._bar.initial) == (2, 2)
    progress.finished({**FIRST, "iteration": 3})
    assert progress._bar.n == 3
    progress.started(4, "optimise")
    assert (progress._bar.n, progress._bar.initial) == (3, 2)
    progress.close()
    err = capsys.readouterr().err
    assert "iteration 3: decoding: " in err
    assert "2/4" in err
    assert "iteration 4: optimising: " in err
    assert "iteration 3: development score 41.23 before" in err
