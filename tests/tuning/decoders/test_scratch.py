"""Temporary folders go with their process, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from lasw.metrics import UserError
from lasw.metrics.text import ScratchFolder, remove_abandoned
from lasw.tuning import Thot

HOLDER = """
import sys, tempfile, time
tempfile.tempdir = sys.argv[1]
from lasw.metrics.text import ScratchFolder
folder = ScratchFolder("lasw-x-")
(folder.path / "file").write_text("x")
print(folder.path, flush=True)
time.sleep(60)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_lives_as_long_as_it_is_wanted(place: Path) -> None:
    folder = ScratchFolder("lasw-x-")
    (folder.path / "file").write_text("x")
    other = ScratchFolder("lasw-x-")  # of this very process
    assert folder.path.exists()
    folder.cleanup()
    folder.cleanup()
    assert not folder.path.exists()
    assert other.path.exists()
    path = other.path
    del other
    assert not path.exists()


def test_a_killed_process_leaves_nothing_for_long(place: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(place)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    try:
        left = Path(holder.stdout.readline().strip())
        remove_abandoned("lasw-x-")
        assert (left / "file").exists()  # its process lives
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert (left / "file").exists()
    remove_abandoned("lasw-y-")
    assert (left / "file").exists()
    ScratchFolder("lasw-x-").cleanup()
    assert not left.exists()


def test_what_is_not_ours_stays(place: Path) -> None:
    (place / "lasw-x-new").mkdir()  # not locked yet, or nobody's
    (place / "lasw-x-file").write_text("x")
    remove_abandoned("lasw-x-")
    assert (place / "lasw-x-new").is_dir()
    assert (place / "lasw-x-file").exists()


def test_a_folder_without_a_lock_is_just_being_made_or_long_abandoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("lasw-z-now", "lasw-z-old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".lock.new").touch()
    os.utime(tmp_path / "lasw-z-old", (1, 1))
    remove_abandoned("lasw-z-")
    assert os.listdir(tmp_path) == ["lasw-z-now"]


def test_a_folder_without_a_lock_whose_maker_was_killed_goes_at_once(place: Path) -> None:
    """A process may be killed before its folder is locked, or while it removes it, lock first."""
    dead = subprocess.Popen([sys.executable, "-SEc", ""])
    dead.wait()
    for name in (f"{dead.pid}-made", f"{os.getpid()}-made", "1-made", "made"):
        (place / f"lasw-z-{name}").mkdir()
    (place / f"lasw-z-{dead.pid}-made" / "rest").write_text("x")
    remove_abandoned("lasw-z-")
    assert len(os.listdir(place)) == 4  # another system may just be making it
    time.sleep(0.3)
    remove_abandoned("lasw-z-")
    assert sorted(os.listdir(place)) == sorted(["lasw-z-1-made", "lasw-z-made", f"lasw-z-{os.getpid()}-made"])


def test_what_a_run_left_that_was_killed_at_its_end_goes_though_nothing_is_translated(place: Path) -> None:
    (place / "lasw-thot-1-left").mkdir()
    (place / "lasw-thot-1-left" / ".lock").touch()
    with pytest.raises(UserError):
        Thot(place / "no system")
    assert os.listdir(place) == []
