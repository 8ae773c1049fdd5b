"""Writing files: one way out for every file this package writes.

A file is written to a name of its own beside the target, ``.TARGET.new``, and renamed, so that a reader sees the old
file or the whole new one. What a killed process left under that name is taken over by the next one that writes the
target: a process holds a lock on what it writes, which the kernel drops when the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import os
import secrets
import stat
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, cast

from lasw.metrics.errors import UserError
from lasw.metrics.text.opening import STANDARD_INPUT

_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)  # needs no permission to list it
_NEW = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_LEVEL = 4  # of compression: half the time of 6, and lists are a seventh larger
_GZIP = 31  # zlib's window of 15 bits, with the head and the end of a gzip file
_own: list[str] = []  # beginnings of absolute paths


def gzip_member(content: bytes) -> bytes:
    """A gzip file of its own, always the same for the same content; one behind the other they are a gzip file too."""
    return zlib.compress(content, _LEVEL, _GZIP)


@contextlib.contextmanager
def own_names(beginning: str | os.PathLike[str]) -> Iterator[None]:
    """Inside, files whose paths begin so are of our own making: no symbolic link is followed there or on the way there.

    Args:
        beginning: of paths; it ends with a slash for all that is in a folder.
    """
    text = os.fspath(beginning)
    whole = os.path.abspath(text) + ("/" if text.endswith("/") else "")
    _own.append(whole)
    try:
        yield
    finally:
        _own.remove(whole)


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], *, pack: bool = True) -> Iterator[BinaryIO]:
    """A binary stream whose content appears at `path` whole, when the block ends without an error, or not at all.

    Args:
        path: of the file; where it is a symbolic link what it leads to is written, except within `own_names`.
        pack: compress where the name ends in ``.gz``, always to the same bytes for the same content.

    Raises:
        UserError: the folder does not exist or cannot be written to, the disk is full, or the name is that of a device,
            a pipe or a folder, in whose place no file may come.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise UserError("cannot be written (no regular file)", path=os.fspath(path), expected="the name of a file")
    with contextlib.ExitStack() as stack:
        try:
            folder, name = _folder_of(path, stack)
            handle, temporary = _beside(folder, name)
        except OSError as error:
            raise UserError(f"cannot be written ({error.strerror})", path=os.fspath(path)) from None
        try:
            with os.fdopen(handle, "wb") as stream:
                if pack and name.endswith(".gz"):
                    with gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=stream, mtime=0) as packed:
                        yield cast(BinaryIO, packed)
                else:
                    yield stream
                stream.flush()
                os.fchmod(handle, 0o666 & ~_umask())
                os.fsync(handle)
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            if isinstance(error, OSError) and error.filename in (None, temporary):  # no other file's trouble
                raise UserError(f"cannot be written ({error.strerror})", path=os.fspath(path)) from None
            raise


def _folder_of(path: str | os.PathLike[str], stack: contextlib.ExitStack) -> tuple[int, str]:
    """The folder of a file, as a handle that stays the same folder whatever is renamed, and the file's name in it."""
    whole = os.path.abspath(os.fspath(path))
    root = next((os.path.dirname(own) for own in _own if whole.startswith(own)), None)
    if root is None:
        whole = os.path.realpath(whole)
        root = os.path.dirname(whole)
    handle = _opened(root, _FOLDER, None, stack)
    for part in os.path.relpath(os.path.dirname(whole), root).split(os.sep):
        handle = _opened(part, _FOLDER | os.O_NOFOLLOW, handle, stack)
    return handle, os.path.basename(whole)


def _opened(name: str, flags: int, folder: int | None, stack: contextlib.ExitStack) -> int:
    handle = os.open(name, flags, dir_fd=folder)
    stack.callback(os.close, handle)
    return handle


def _beside(folder: int, name: str) -> tuple[int, str]:
    """A new file in the folder of another, for this process alone: its handle and its name."""
    beside = f".{name}.new"
    with contextlib.suppress(OSError):  # no locks on this file system, say, or a link in its place
        handle = os.open(beside, _NEW, 0o600, dir_fd=folder)
        with contextlib.ExitStack() as stack:
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ours, there = os.fstat(handle), os.stat(beside, dir_fd=folder, follow_symlinks=False)
            # Whoever held it before may have renamed it since it was opened.
            alone = os.path.samestat(ours, there) and stat.S_ISREG(ours.st_mode) and ours.st_nlink == 1
            if alone and ours.st_uid == os.geteuid():
                os.ftruncate(handle, 0)
                stack.pop_all()
                return handle, beside
    beside = f".{name}.{secrets.token_hex(4)}"  # somebody else writes the same file at this moment
    return os.open(beside, _NEW | os.O_EXCL, 0o600, dir_fd=folder), beside


def refuse_overwriting(outputs: Iterable[str], inputs: Iterable[str], remedy: str = "give another --output") -> None:
    """Refuse to write to one of the files that are read, or over a file of a folder that is read.

    Args:
        outputs: files that will be written; `STANDARD_INPUT` stands for standard output.
        inputs: files and folders that are read.
        remedy: what the user can do.

    Raises:
        UserError: names the file.
    """
    written = {os.path.realpath(path) for path in outputs if path != STANDARD_INPUT}
    for path in inputs:
        real = os.path.realpath(path)
        inside = [one for one in written if one.startswith(os.path.join(real, "")) and os.path.exists(one)]
        if path != STANDARD_INPUT and (real in written or inside):
            raise UserError("the output would overwrite what is read", path=(inside or [path])[0], remedy=remedy)


def refuse_links(paths: Iterable[str | os.PathLike[str]], remedy: str) -> None:
    """Refuse symbolic links where files of our own making belong: what they lead to is somebody else's.

    Raises:
        UserError: names the first.
    """
    for path in paths:
        if os.path.islink(path):
            raise UserError(f"a symbolic link to {os.readlink(path)!r}", path=path, remedy=remedy)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` to `path` in UTF-8, whole or not at all (see `atomic_write`).

    Names of files that are no UTF-8 are in it as Python shows them (``\\udcff``), which JSON reads again.
    """
    with atomic_write(path) as stream:
        stream.write(text.encode("utf-8", errors="backslashreplace"))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
