"""Running a program that a user names: placeholders in its command line, and one line of blame when it fails."""

from __future__ import annotations

import contextlib
import difflib
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from lasw.metrics import UserError

PLACEHOLDERS = ("weights", "source", "nbest", "n")
_LAST_LINES = 5
_LINE_LENGTH = 200
# What the lines before it said, of models that were loaded and options that were read, is no reason.
_REASON = re.compile(r"(terminate called|(\S*exception|(fatal )?error|illegal \w+|usage)\b:?)", re.IGNORECASE)
_BRACES = re.compile(r"\{([A-Za-z]+)\}")


class Program:
    """A command line with placeholders; no shell is involved (write ``sh -c '...'`` for pipes).

    Args:
        command: as one would type it.
        folder: where it runs; a program named by a relative path is looked for there.

    Raises:
        UserError: no command, a placeholder that does not exist, or a program that cannot be run.
    """

    def __init__(self, command: str, folder: Path) -> None:
        try:
            self.words = shlex.split(command)
        except ValueError as error:
            raise UserError(f"command {command!r}: {error}") from None
        if not self.words:
            raise UserError("no command")
        self.folder = folder
        self.name = self.words[0]
        self.placeholders = {found for word in self.words for found in _BRACES.findall(word)} & set(PLACEHOLDERS)
        for found in sorted({found for word in self.words for found in _BRACES.findall(word)} - set(PLACEHOLDERS)):
            near = difflib.get_close_matches(found, PLACEHOLDERS, n=1)
            if near:
                raise UserError(
                    f"unknown placeholder {{{found}}} in the command", remedy=f"did you mean {{{near[0]}}}?"
                )
        self._path = _found(self.name, folder)

    def start(
        self, values: Mapping[str, str], stdin: Path | None, stdout: Path, stderr: Path
    ) -> subprocess.Popen[bytes]:
        """Start it with these values for the placeholders, in a process group of its own: see `stop`.

        Raises:
            UserError: the system cannot run it.
        """
        words = [_BRACES.sub(lambda found: values.get(found[1], found[0]), word) for word in self.words]
        with open(stdin or os.devnull, "rb") as source, open(stdout, "wb") as out, open(stderr, "wb") as errors:
            try:
                return subprocess.Popen(
                    [self._path, *words[1:]],
                    cwd=self.folder,
                    stdin=source,
                    stdout=out,
                    stderr=errors,
                    process_group=0,
                )
            except OSError as error:
                raise UserError(f"{self.name} cannot be run ({error.strerror})", remedy=_hint(self._path)) from None

    def failure(self, found: str, stderr: Path) -> UserError:
        """The error that blames it for `found` and shows the end of what it said."""
        return UserError(f"{self.name} {found}; its last lines: {last_lines(stderr)}")

    def ended(self, code: int) -> str:
        """What an exit code means."""
        if code < 0:
            names = {member.value: member.name for member in signal.Signals}
            return f"was killed by signal {names.get(-code, -code)}"
        return f"ended with code {code}"


def stop(process: subprocess.Popen[bytes]) -> None:
    """Kill a program that has not ended and what it started itself: decoders are often wrapped in scripts."""
    if process.returncode is None:  # nobody has waited for it, so its number is still its own
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def last_lines(path: Path) -> str:
    """The last lines of a log, in one line; none before the one that names the reason, if there is one."""
    with open(path, "rb") as stream:
        stream.seek(max(0, path.stat().st_size - 4 * _LAST_LINES * _LINE_LENGTH))
        lines = stream.read().decode("utf-8", errors="replace").split("\n")
    said = [line.strip()[:_LINE_LENGTH] for line in lines if line.strip()]
    said = said[-_LAST_LINES:]
    reason = next((k for k, line in enumerate(said) if _REASON.match(line)), 0)
    return " / ".join(said[reason:]) or "none"


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


def paths_as_values(paths: Mapping[str, Path], n: int) -> dict[str, str]:
    """Values of the placeholders."""
    return {**{name: str(path) for name, path in paths.items()}, "n": str(n)}


def shards(lines: Sequence[str], jobs: int) -> list[tuple[int, int]]:
    """At most `jobs` ranges of about the same size that cover all lines."""
    number = max(1, min(jobs, len(lines)))
    cuts = [len(lines) * k // number for k in range(number + 1)]
    return list(itertools.pairwise(cuts))
