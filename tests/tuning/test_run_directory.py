from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lasw.metrics import UserError
from lasw.tuning import RunDirectory, read_json

SETTINGS = {
    "settings": {"run": {"seed": 1, "iterations": 5}, "optimiser": {"metric": "PABC4"}},
    "inputs": {"source": "ab"},
}


def test_other_settings_are_refused_with_the_difference(tmp_path: Path) -> None:
    with RunDirectory(tmp_path / "run") as run:
        assert run.describe({**SETTINGS, "command": "lasw tune a"}) == {}
    with RunDirectory(tmp_path / "run") as run:
        assert run.describe({**SETTINGS, "command": "lasw tune b"})["command"] == "lasw tune a"
        other = {**SETTINGS, "settings": {"run": {"seed": 2, "iterations": 5}, "optimiser": {"metric": "BLEU"}}}
        with pytest.raises(UserError, match=r'optimiser.metric = "PABC4" \(now "BLEU"\), run.seed = 1 \(now 2\)'):
            run.describe(other)
        with pytest.raises(UserError, match=r'source = "ab" \(now "cd"\)'):
            run.describe({**SETTINGS, "inputs": {"source": "cd"}})
        with pytest.raises(UserError, match=r"optimiser.pairs = nothing \(now 3\)"):
            run.describe(
                {**SETTINGS, "settings": {**SETTINGS["settings"], "optimiser": {"metric": "PABC4", "pairs": 3}}}
            )
        kept = read_json(tmp_path / "run/run.json")
    assert kept is not None
    assert kept["settings"]["run"]["seed"] == 1


def test_what_may_change(tmp_path: Path) -> None:
    more = {**SETTINGS, "settings": {**SETTINGS["settings"], "run": {"seed": 1, "iterations": 9}}}
    with RunDirectory(tmp_path / "run") as run:
        run.describe(SETTINGS, ["run.iterations"])
        run.describe(more, ["run.iterations"])
        found = read_json(tmp_path / "run/run.json")
    assert found is not None
    assert found["settings"]["run"]["iterations"] == 9


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match=r"no run directory \(it holds 'thesis.tex'\)"), RunDirectory(tmp_path):
        pass
    with pytest.raises(UserError, match="cannot be made"), RunDirectory(tmp_path / "thesis.tex" / "run"):
        pass


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_damage(tmp_path: Path, number: str) -> None:
    with RunDirectory(tmp_path / "run") as run:
        run.iteration(1).mkdir(parents=True)
        (run.iteration(1) / "iteration.json").write_text(f'{{"dev_score": {number}}}')
        assert run.records() == []
        assert "iterations/001/iteration.json is damaged" in run.take_damage()[0]


def test_leftovers_of_killed_writes_go_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "iterations" / "001"
    folder.mkdir(parents=True)
    for path in (tmp_path / ".run.json.abc", folder / ".nbest.gz.x1", folder / ".keep"):
        path.write_text("half")
    with RunDirectory(tmp_path):
        assert not (tmp_path / ".run.json.abc").exists()
        assert sorted(p.name for p in folder.iterdir()) == [".keep"]


HOLDER = """
import sys, time
from lasw.tuning import RunDirectory
with RunDirectory(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_two_processes_do_not_share_a_run_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / "run")], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(UserError, match=f"another process is at work in it .process {holder.pid} on"):
            RunDirectory(tmp_path / "run").__enter__()
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    with RunDirectory(tmp_path / "run") as run:
        with pytest.raises(UserError, match="this process is at work"), RunDirectory(tmp_path / "run"):
            pass
        assert run.records() == []
    with RunDirectory(tmp_path / "run"):
        pass


@pytest.mark.parametrize("name", ["lock", "report.html", "run.json", "iterations", "table.json"])
def test_a_link_in_the_place_of_a_file_of_ours_is_refused(tmp_path: Path, name: str) -> None:
    """What it leads to is somebody else's, and stays as it is."""
    precious = tmp_path / "precious"
    precious.mkdir() if name == "iterations" else precious.write_text("kept")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}") if name != "run.json" else None
    (tmp_path / "run" / name).symlink_to(precious)
    with pytest.raises(UserError, match=rf"{name}: a symbolic link to .*precious.*; a run directory has files"):
        RunDirectory(tmp_path / "run").__enter__()
    assert list(precious.iterdir()) == [] if name == "iterations" else precious.read_text() == "kept"


def test_a_link_that_comes_after_the_check_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept")
    with RunDirectory(tmp_path / "run") as run:
        (tmp_path / "run" / "log.jsonl").symlink_to(tmp_path / "precious")
        run.write_log([{"iteration": 1}])
        assert (tmp_path / "run" / "log.jsonl").read_text() == '{"iteration": 1}\n'
    assert (tmp_path / "precious").read_text() == "kept"


def test_a_link_within_an_iteration_is_refused(tmp_path: Path) -> None:
    with RunDirectory(tmp_path / "run") as run:
        run.iteration(1).mkdir(parents=True)
    (run.iteration(1) / "after.json").symlink_to(tmp_path / "gone")
    with pytest.raises(UserError, match=r"after\.json: a symbolic link"):
        RunDirectory(tmp_path / "run").__enter__()
    assert not (tmp_path / "gone").exists()
    (tmp_path / "link").symlink_to(tmp_path / "run")  # the directory itself may be one
    (run.iteration(1) / "after.json").unlink()
    with RunDirectory(tmp_path / "link"):
        pass
