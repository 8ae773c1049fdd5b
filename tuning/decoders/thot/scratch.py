"""Temporary folders that do not outlive their process for long, even if it is killed without a chance to clean up.

A process holds a lock on a file in its folder; the kernel drops it when the process ends, however it ends. Who makes a
folder first removes those of the same kind that nobody holds.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_LOCK = ".lock"


class ScratchFolder:
    """A new temporary folder, removed by `cleanup`, when nobody refers to it any more, or when Python exits.

    Args:
        prefix: of its name, one for every use.

    Attributes:
        path: of the folder.
    """

    def __init__(self, prefix: str) -> None:
        remove_abandoned(prefix)
        self._folder = tempfile.TemporaryDirectory(prefix=prefix)
        self.path = Path(self._folder.name)
        self._lock: int | None = os.open(self.path / (_LOCK + ".new"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # Under its name it is always locked: a folder that is just being made is not taken for an abandoned one.
        os.rename(self.path / (_LOCK + ".new"), self.path / _LOCK)

    def cleanup(self) -> None:
        """Remove it."""
        self._folder.cleanup()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __del__(self) -> None:
        if getattr(self, "_lock", None) is not None:
            self.cleanup()


def remove_abandoned(prefix: str) -> None:
    """Remove the scratch folders with this prefix whose process has died."""
    for folder in Path(tempfile.gettempdir()).glob(prefix + "*"):
        with contextlib.suppress(OSError):
            handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an OSError if somebody holds it
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)
