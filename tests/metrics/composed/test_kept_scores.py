"""Scores kept on disk: nothing is asked twice, by no process, whatever a kill has left."""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path

import pytest

from lasw.metrics import References, UserError, metric
from lasw.metrics.composed.kept_scores import KeptScores

QUESTIONS = [("a", "b", None), ("a", None, "b"), ("a\tb", None, None), ("a", "b", "c"), ("é", "", "")]


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    path = str(tmp_path / "scores")
    first = KeptScores(path, ["prog", "-x"], ["json"])
    assert [first.get(question) for question in QUESTIONS] == [None] * 5
    first.add(zip(QUESTIONS[:4], [0.1, -2e-300, 3.0, 1 / 3], strict=True))
    for kept in (first, KeptScores(path, ["prog", "-x"], ["json"])):
        assert [kept.get(question) for question in QUESTIONS] == [0.1, -2e-300, 3.0, 1 / 3, None]
    for command, texts in ((["prog"], ["json"]), (["prog", "-x"], ["text"]), (["prog", "-x", "json"], [])):
        assert KeptScores(path, command, texts).get(QUESTIONS[0]) is None


def test_what_cannot_be_kept_is_told_before_a_program_works(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    script = f'{sys.executable} -c \'open("{asked}", "w")\''
    with pytest.raises(UserError, match="scores cannot be kept"):
        metric(f"EXTERNAL:cache={tmp_path}/nowhere/scores:cmd={script}").prepare(References.from_lines(["a b"]))
    assert not asked.exists()
    with pytest.raises(UserError, match="no value of 'cache'"):
        metric(f"EXTERNAL:cache:cmd={script}")


def test_a_script_counts_by_its_content(tmp_path: Path) -> None:
    path, script = str(tmp_path / "scores"), tmp_path / "script"
    script.write_text("1")
    KeptScores(path, ["python", str(script)]).add([(QUESTIONS[0], 1.0)])
    assert KeptScores(path, ["python", str(script)]).get(QUESTIONS[0]) == 1.0
    script.write_text("2")
    assert KeptScores(path, ["python", str(script)]).get(QUESTIONS[0]) is None


def test_whatever_a_kill_has_left_no_other_number_is_read(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    KeptScores(str(whole), ["prog"]).add(zip(QUESTIONS[:2], [0.8123, -17.25], strict=True))
    data = whole.read_bytes()
    for size in range(len(data)):
        path = tmp_path / "cut"
        path.write_bytes(data[:size])
        cut = KeptScores(str(path), ["prog"])
        known = [cut.get(question) for question in QUESTIONS[:2]]
        assert all(found in (None, score) for found, score in zip(known, [0.8123, -17.25], strict=True))
        cut.add([(QUESTIONS[2], 5.0)])
        again = KeptScores(str(path), ["prog"])
        assert [again.get(question) for question in QUESTIONS[:3]] == [*known, 5.0]


def _adding(path: str, who: int) -> None:
    for k in range(200):
        KeptScores(path, ["prog"]).add([((f"{who} {k}", None, None), who + k / 1000), (("shared", str(k), None), 1.5)])


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "scores")
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_adding, args=(path, who)) for who in (1, 2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    kept = KeptScores(path, ["prog"])
    assert all(kept.get((f"{who} {k}", None, None)) == who + k / 1000 for who in (1, 2) for k in range(200))
    assert all(kept.get(("shared", str(k), None)) == 1.5 for k in range(200))


def test_another_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scores"
    path.write_text("0.5\t" + "a" * 32 + "\nhello\n")
    with pytest.raises(UserError, match=r"scores:2: 'hello'; expected scores that EXTERNAL has kept; give another"):
        KeptScores(str(path), ["prog"])
    with pytest.raises(UserError, match="scores cannot be kept"):
        KeptScores(str(tmp_path / "none/scores"), ["prog"]).add([(QUESTIONS[0], 1.0)])
    path.write_text(("0.5\t" + "a" * 32 + "\n") * 40)
    monkeypatch.setenv("LASW_LARGEST_FILE", "1K")
    with pytest.raises(UserError, match="LASW_LARGEST_FILE"):
        KeptScores(str(path), ["prog"])


def test_the_option_changes_no_score(tmp_path: Path) -> None:
    with_cache, without = (metric(f"EXTERNAL:{more}cmd={sys.executable} x") for more in (f"cache={tmp_path}/s:", ""))
    assert with_cache.signature() == without.signature()
    assert with_cache.statistics_key() == without.statistics_key()
