"""Runs the commands of a block of documentation here, as a shell would: ``<``, ``>``, ``|``, patterns, ``\\``.

Words that begin a command: ``lasw`` and ``lasw-mert-moses``, which are called, and a few others, which are started.
"""

from __future__ import annotations

import contextlib
import glob
import io
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence

from lasw.scripts import main as lasw
from lasw.scripts.mert_moses import command as mert_moses

CALLED: dict[str, Callable[[Sequence[str]], int]] = {"lasw": lasw.main, "lasw-mert-moses": mert_moses.main}
STARTED = {"cat", "head", "tail", "cut", "sort", "mkdir", "python", "cp", "rm", "printf", "ls"}


def run(block: str) -> str:
    """What a block prints, in the working directory.

    Raises:
        AssertionError: a command that fails, or that is not known.
    """
    printed = b""
    for line in block.replace("\\\n", " ").splitlines():
        if words := _words(line):
            printed += _pipeline(words)
    return printed.decode("utf-8")


def _words(line: str) -> list[str]:
    found = shlex.shlex(line, posix=True, punctuation_chars="<>|")
    found.wordchars += "*?[]{},:@+%^!"
    found.whitespace_split = True
    return list(found)


def _pipeline(words: list[str]) -> bytes:
    commands: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            commands.append([])
        else:
            commands[-1].append(word)
    data = b""
    for command in commands:
        data = _command(command, data)
    return data


def _command(words: list[str], data: bytes) -> bytes:
    target = ""
    if ">" in words:
        at = words.index(">")
        target = words[at + 1]
        words = words[:at] + words[at + 2 :]
    if "<" in words:
        at = words.index("<")
        with open(words[at + 1], "rb") as stream:
            data = stream.read()
        words = words[:at] + words[at + 2 :]
    program, *arguments = words
    arguments = [path for word in arguments for path in (sorted(glob.glob(word)) if "*" in word else []) or [word]]
    if program in CALLED:
        printed = _called(CALLED[program], arguments, data)
    else:
        assert program in STARTED, f"the tests do not know the program {program}"
        program = sys.executable if program == "python" else program
        done = subprocess.run([program, *arguments], input=data, capture_output=True, check=False)
        assert done.returncode == 0, (words, done.stderr.decode())
        printed = done.stdout
    if target:
        with open(target, "wb") as stream:
            stream.write(printed)
        return b""
    return printed


def _called(program: Callable[[Sequence[str]], int], arguments: Sequence[str], data: bytes) -> bytes:
    out, errors = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with _standard_input(data), contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = program(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
    assert code == 0, (arguments, errors.getvalue())
    out.flush()
    return out.buffer.getvalue()  # type: ignore[attr-defined]


@contextlib.contextmanager
def _standard_input(data: bytes) -> Iterator[None]:
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before
