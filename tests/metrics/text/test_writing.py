"""Writing files: whole or not at all, what a killed process left, several at once, links."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from lasw.metrics import UserError, atomic_write, open_bytes, own_names, write_text


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out"
    write_text(path, "old\n")

    def fail() -> None:
        with atomic_write(path) as stream:
            stream.write(b"new")
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        fail()
    assert path.read_bytes() == b"old\n"
    assert os.listdir(tmp_path) == ["out"]
    write_text(path, "new\n")
    assert path.read_bytes() == b"new\n"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_no_file_comes_in_the_place_of_a_pipe_or_a_folder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(UserError, match=r"cannot be written \(no regular file\); expected the name of a file"):
            write_text(tmp_path / name, "x")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["folder", "pipe"]


def test_gz_is_written_to_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.gz", "two.gz"):
        write_text(tmp_path / name, "über\n" * 100)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    with open_bytes(tmp_path / "one.gz") as stream:
        assert stream.read().decode() == "über\n" * 100


def test_writing_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    write_text(tmp_path / "target", "old\n")
    (tmp_path / "link").symlink_to("target")
    write_text(tmp_path / "link", "new\n")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new\n"


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere/out: cannot be written \(No such file or directory\)"):
        write_text(tmp_path / "nowhere" / "out", "x")


def test_what_a_killed_process_left_is_taken_over(tmp_path: Path) -> None:
    """It is longer than what comes, and holds no lock any more."""
    child = os.fork()
    if child == 0:
        with atomic_write(tmp_path / "out") as stream:
            stream.write(b"x" * 100)
            stream.flush()
            os._exit(0)
    os.waitpid(child, 0)
    assert [(entry.name, entry.stat().st_size) for entry in tmp_path.iterdir()] == [(".out.new", 100)]
    write_text(tmp_path / "out", "new\n")
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("out", "new\n")]


def test_several_write_the_same_file_at_once(tmp_path: Path) -> None:
    """Each writes its own; the last to be done is what stands there."""
    with atomic_write(tmp_path / "out") as first, atomic_write(tmp_path / "out") as second:
        first.write(b"first")
        second.write(b"second")
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("out", b"first")]
    texts = [f"{k}" * 50_000 for k in range(8)]
    threads = [threading.Thread(target=write_text, args=(tmp_path / "out", text)) for text in texts * 5]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert os.listdir(tmp_path) == ["out"]
    assert (tmp_path / "out").read_text() in texts


@pytest.mark.parametrize("make", [Path.symlink_to, Path.hardlink_to])
def test_what_stands_at_the_name_beside_it_and_is_not_ours(tmp_path: Path, make: object) -> None:
    (tmp_path / "precious").write_text("kept")
    make(tmp_path / ".out.new", tmp_path / "precious")  # type: ignore[operator]
    write_text(tmp_path / "out", "new\n")
    assert (tmp_path / "precious").read_text() == "kept"
    assert not (tmp_path / "out").is_symlink()
    assert (tmp_path / "out").read_text() == "new\n"


def test_of_our_own_names_no_link_is_followed(tmp_path: Path) -> None:
    """Neither at the end nor on the way, though it came after every check."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    (tmp_path / "run").mkdir()
    (tmp_path / "beside").symlink_to(precious)
    (tmp_path / "run" / "weights").symlink_to(precious / "file")
    (tmp_path / "run" / "iterations").symlink_to(precious)
    with own_names(f"{tmp_path / 'run'}/"):
        write_text(tmp_path / "run" / "weights", "new")
        with pytest.raises(UserError, match=r"file: cannot be written \(Not a directory\)"):
            write_text(tmp_path / "run" / "iterations" / "file", "new")
        write_text(tmp_path / "beside" / "other", "new")  # not ours
    assert not (tmp_path / "run" / "weights").is_symlink()
    assert (tmp_path / "run" / "weights").read_text() == "new"
    assert (precious / "file").read_text() == "kept"
    write_text(tmp_path / "run" / "iterations" / "file", "followed again")
    assert (precious / "file").read_text() == "followed again"


def test_a_prefix_of_names_in_a_folder_that_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "folder" / "dev.lines").symlink_to("precious")
    with own_names(tmp_path / "link" / "dev."):
        write_text(tmp_path / "link" / "dev.lines", "1\n")
    assert (tmp_path / "folder" / "dev.lines").read_text() == "1\n"
    assert sorted(os.listdir(tmp_path / "folder")) == ["dev.lines"]


def test_a_full_disk_is_told_with_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    target = tmp_path / "weights"
    target.write_text("old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UserError, match=f"^{target}: cannot be written \\(No space left on device\\)$"):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["weights"]
