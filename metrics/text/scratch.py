"""Temporary folders that do not stay: what a killed process leaves is removed by the next one of the same user."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
from pathlib import Path

_LOCK = ".lock"
# Seconds after which a folder without a lock is one whose process was killed while it made or removed it. Where no
# process has the number in its name it is so at once, but for those of another system that has the same folder.
_MADE, _MADE_BY_NOBODY = 60.0, 0.2


class ScratchFolder:
    """A new temporary folder, removed by `cleanup`, when nobody refers to it any more, or when Python exits.

    If the process is killed without a chance to clean up, the next one removes it: a process holds a lock on a file in
    its folder, which the kernel drops when the process ends, however it ends; who makes a folder first removes those of
    the same kind that nobody holds.

    Args:
        prefix: of its name, one for every use, ``lasw-command-`` say.
        place: where it is made; by default the system's temporary folder.

    Attributes:
        path: of the folder.
    """

    def __init__(self, prefix: str, place: str | os.PathLike[str] | None = None) -> None:
        remove_abandoned(prefix, place)
        self._folder = tempfile.TemporaryDirectory(prefix=f"{prefix}{os.getpid()}-", dir=place)
        self.path = Path(self._folder.name)
        self._lock: int | None = os.open(self.path / (_LOCK + ".new"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        # Under its name it is always locked: a folder that is just being made is not taken for an abandoned one.
        os.rename(self.path / (_LOCK + ".new"), self.path / _LOCK)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Remove it."""
        self._folder.cleanup()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __del__(self) -> None:
        if getattr(self, "_lock", None) is not None:
            self.cleanup()


def remove_abandoned(prefix: str, place: str | os.PathLike[str] | None = None) -> None:
    """Remove this user's scratch folders with this prefix whose process has died."""
    for folder in Path(place or tempfile.gettempdir()).glob(prefix + "*"):
        with contextlib.suppress(OSError):
            status = folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                continue
            locked = (folder / _LOCK).exists()
            young = _MADE_BY_NOBODY if _maker_is_gone(folder.name.removeprefix(prefix)) else _MADE
            if not locked and time.time() - status.st_mtime < young:
                continue  # it is just being made
            flags = (os.O_RDWR if locked else os.O_DIRECTORY) | os.O_CLOEXEC | os.O_NOFOLLOW
            handle = os.open(folder / _LOCK if locked else folder, flags)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an OSError if somebody holds it
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)


def _maker_is_gone(name: str) -> bool:
    """Whether the process is no more whose number the name begins with, behind the prefix."""
    number = re.match(r"(\d{1,9})-", name)
    if number is None:
        return False
    try:
        os.kill(int(number[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # somebody else's
    return False
