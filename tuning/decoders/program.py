"""Running a program that a user names: placeholders in its command line, and one line of blame when it fails."""

from __future__ import annotations

import contextlib
import ctypes
import difflib
import functools
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from lasw.metrics import UserError, command_words

T = TypeVar("T")
PLACEHOLDERS = ("weights", "source", "nbest", "n")
_LAST_LINES = 5
_SAME_ADDRESSES, _ASK = 0x0040000, 0xFFFFFFFF  # of personality(2)
_MOMENT = 5.0  # seconds in which a thread that was asked for has begun, if there is one at all
_LINE_LENGTH = 200
# What the lines before it said, of models that were loaded and options that were read, is no reason.
_REASON = re.compile(r"(terminate called|(\S*exception|(fatal )?error|illegal \w+|usage)\b:?)", re.IGNORECASE)
_OPERATORS = frozenset(("|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>&1"))
_BRACES = re.compile(r"\{([A-Za-z]+)\}")


class Program:
    """A command line with placeholders; no shell is involved (write ``sh -c '...'`` for pipes).

    Args:
        command: as one would type it.
        folder: where it runs; a program named by a relative path is looked for there.

    Raises:
        UserError: no command, one for a shell, a placeholder that does not exist, or a program that cannot be run.
    """

    def __init__(self, command: str, folder: Path) -> None:
        self.words = command_words(command)
        if not self.words:
            raise UserError("no command")
        # With their quotes, so that a quoted one is no operator.
        operator = next((word for word in command_words(command, quotes=True) if word in _OPERATORS), None)
        if operator is not None:
            remedy = "write sh -c '...' around it, or quotes if an argument is meant"
            raise UserError(f"{operator!r} in the command, which no shell reads", remedy=remedy)
        self.folder = folder
        self.name = self.words[0]
        in_braces = {name for word in self.words for name in _BRACES.findall(word)}
        self.placeholders = in_braces & set(PLACEHOLDERS)
        for name in sorted(in_braces - self.placeholders):
            near = difflib.get_close_matches(name, PLACEHOLDERS, n=1)
            if near:
                raise UserError(f"unknown placeholder {{{name}}} in the command", remedy=f"did you mean {{{near[0]}}}?")
        self._path = _found(self.name, folder)

    @contextlib.contextmanager
    def running(
        self, values: Mapping[str, str], stdin: Path | None, stdout: Path, stderr: Path
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Run it with these values for the placeholders; at the end of the block it and what it started are killed.

        Its memory is at the same addresses every time, where the system allows that: of hypotheses that are as good as
        each other Moses keeps the one at the lower address, and so gave other lists in every other run.

        Raises:
            UserError: the system cannot run it.
        """
        words = [_BRACES.sub(lambda found: values.get(found[1], found[0]), word) for word in self.words]
        with open(stdin or os.devnull, "rb") as source, open(stdout, "wb") as out, open(stderr, "wb") as errors:
            start = functools.partial(
                subprocess.Popen,
                [self._path, *words[1:]],
                cwd=self.folder,
                stdin=source,
                stdout=out,
                stderr=errors,
                process_group=0,  # decoders are often wrapped in scripts
            )
            starting: Future[subprocess.Popen[bytes]] = Future()
            try:
                # In a thread: a signal would come out of the call that starts it, and nobody would know its number.
                threading.Thread(target=_fulfil, args=(starting, start, _at_the_same_addresses)).start()
                yield starting.result()
            except OSError as error:
                if error is not starting.exception(_MOMENT):
                    raise
                raise UserError(f"{self.name} cannot be run ({error.strerror})", remedy=_hint(self._path)) from None
            finally:
                _end(starting)

    def failure(self, found: str, stderr: Path) -> UserError:
        """The error that blames it for `found` and shows the end of what it said."""
        return UserError(f"{self.name} {found}; its last lines: {last_lines(stderr)}")

    def ended(self, code: int) -> str:
        """What an exit code means."""
        if code < 0:
            names = {member.value: member.name for member in signal.Signals}
            return f"was killed by signal {names.get(-code, -code)}"
        return f"ended with code {code}"


def _at_the_same_addresses() -> None:
    """What this thread, and no other, starts from here on."""
    with contextlib.suppress(OSError, AttributeError):  # another system
        change = ctypes.CDLL(None).personality
        change.argtypes = [ctypes.c_ulong]
        now = change(_ASK)
        if now >= 0:
            change(now | _SAME_ADDRESSES)


def _fulfil(promise: Future[T], function: Callable[[], T], first: Callable[[], None]) -> None:
    try:
        first()
        promise.set_result(function())
    except BaseException as error:
        promise.set_exception(error)


def _end(starting: Future[subprocess.Popen[bytes]]) -> None:
    """Kill what was started, and all that it has started itself."""
    try:
        process = starting.result(_MOMENT)
    except (OSError, TimeoutError):  # nothing was
        return
    if process.returncode is None:  # nobody has waited for it, so its number is still its own
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def last_lines(path: Path) -> str:
    """The last lines of a log, in one line; none before the one that names the reason, if there is one."""
    with open(path, "rb") as stream:
        stream.seek(max(0, path.stat().st_size - 4 * _LAST_LINES * _LINE_LENGTH))
        lines = stream.read().decode("utf-8", errors="replace").split("\n")
    last = [line.strip()[:_LINE_LENGTH] for line in lines if line.strip()][-_LAST_LINES:]
    reason = next((k for k, line in enumerate(last) if _REASON.match(line)), 0)
    return " / ".join(last[reason:]) or "none"


def _found(name: str, folder: Path) -> str:
    if "/" not in name:
        path = shutil.which(name)
        if path is None:
            beside = " (it is a file here: write ./" + name + ")" if (folder / name).is_file() else ""
            raise UserError(f"no program {name!r}{beside}", remedy="give its path, or add its folder to PATH")
        return path
    place = (folder / os.path.expanduser(name)).absolute()
    if not place.exists():
        raise UserError(f"no program {name!r}", path=str(place))
    if place.is_dir():
        raise UserError("this is a folder", path=str(place), expected="a program")
    if not os.access(place, os.X_OK):
        raise UserError("it is not executable", path=str(place), expected="a program", remedy=_hint(str(place)))
    return str(place)


def _hint(path: str) -> str:
    """What to do about a file that cannot be run."""
    with open(path, "rb") as stream:
        start = stream.read(4096)
    if re.search(rb"^\[[A-Za-z-]+\]", start, re.MULTILINE) or path.endswith((".ini", ".cfg", ".json", ".toml")):
        return "this is a configuration file: name the program first, then its options"
    return "chmod +x it" if not os.access(path, os.X_OK) else "a script needs a first line like #!/bin/sh"
