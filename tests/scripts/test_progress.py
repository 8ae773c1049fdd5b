from __future__ import annotations

import sys

import pytest

from lasw.scripts.command_line import progress as module
from lasw.scripts.command_line.progress import TimeLeft, TuningProgress, watched_sentences

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


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What time it is, in seconds."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_the_time_left_is_that_of_sentences_that_take_as_long(clock: list[float]) -> None:
    left = TimeLeft()
    assert left.told(0, 1000) == "0 of 1000 sentences"
    clock[0] += 10
    assert left.told(100, 1000) == "100 of 1000 sentences, 1:30 left"
    clock[0] += 80
    assert left.told(900, 1000) == "900 of 1000 sentences, 0:10 left"
    assert left.told(0, 50) == "0 of 50 sentences"  # another decoding begins
    clock[0] += 5
    assert left.told(25, 50) == "25 of 50 sentences, 0:05 left"


def test_sentences_are_told_in_the_bar(
    clock: list[float], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    progress = TuningProgress("tune", 4)
    progress.started(1, "decode")
    clock[0] += 30
    progress.decoded(300, 1000)
    progress.close()
    assert "iteration 1: decoding, 300 of 1000 sentences, 1:10 left" in capsys.readouterr().err


def test_elsewhere_a_line_a_minute_tells_of_sentences(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    progress = TuningProgress("tune", 4)
    quiet = TuningProgress("tune", 4, quiet=True)
    for one in (progress, quiet):
        one.started(1, "decode")
    for done in range(100, 400, 100):
        clock[0] += 40
        progress.decoded(done, 1000)
        quiet.decoded(done, 1000)
    assert capsys.readouterr().err == "iteration 1: decoding, 200 of 1000 sentences, 5:20 left\n"
    with watched_sentences(quiet=False) as told:
        assert told is not None
        told(1, 3)
        clock[0] += 61
        told(2, 3)
    assert capsys.readouterr().err == "decoding, 2 of 3 sentences, 0:30 left\n"
