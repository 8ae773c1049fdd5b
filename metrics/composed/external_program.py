"""A running program that is asked for numbers: fed while its answers are read, every question asked once."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import shlex
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import IO, Any, Final, NamedTuple

from lasw.metrics.base import number_in
from lasw.metrics.composed.kept_scores import KeptScores
from lasw.metrics.errors import UserError

STREAM: Final = "stream"
BATCH: Final = "batch"
TEXT: Final = "text"
JSON: Final = "json"
_TAIL = 300  # bytes of what it said on stderr that an error tells
_GRACE = 5.0  # seconds to end by itself
_CHUNK = 1 << 16
_AT_ONCE = 1 << 10  # questions of a stream between two writes of what is kept


class Question(NamedTuple):
    """What a program is asked for a number about; None: it is not told."""

    hypothesis: str
    reference: str | None
    source: str | None = None

    def line(self, input_: str) -> str:
        """As the program reads it."""
        if input_ == JSON:
            told = {key: text for key, text in self._asdict().items() if text is not None}
            return json.dumps(told, ensure_ascii=False) + "\n"
        told_text = "\t".join(text for text in self[:2] if text is not None)
        return told_text.replace("\r", " ") + "\n"  # a part of a token here, and for many programs the end of a line


class Program:
    """See `lasw.metrics.composed.external`; arguments as `lasw.metrics.composed.external.External`."""

    def __init__(
        self, command: tuple[str, ...], mode: str, timeout: float, input_: str = TEXT, cache: str = ""
    ) -> None:
        self._command, self._mode, self._timeout, self._input = command, mode, timeout, input_
        self._known: dict[Question, float] = {}
        self._kept = KeptScores(cache, command, [input_]) if cache else None
        self._running: _Running | None = None

    def scores(self, questions: Sequence[Question]) -> list[float]:
        """The program's number for each.

        Raises:
            UserError: it cannot be started, ends too early or with an error, is silent for too long, or prints what is
                no finite number, or more lines than it was asked for.
        """
        new = list(dict.fromkeys(question for question in questions if question not in self._known))
        if self._kept is not None:
            kept = {question: self._kept.get(question) for question in new}
            self._known.update((question, score) for question, score in kept.items() if score is not None)
            new = [question for question, score in kept.items() if score is None]
        at_once = _AT_ONCE if self._kept is not None and self._mode == STREAM else max(1, len(new))
        for start in range(0, len(new), at_once):
            part = new[start : start + at_once]
            try:
                answers = list(zip(part, self._ask(part), strict=True))
            except BaseException:
                self.close(at_once=True)  # what it still has to say would be taken for the next answers
                raise
            if self._kept is not None:
                self._kept.add(answers)
            self._known.update(answers)
        return [self._known[question] for question in questions]

    def close(self, *, at_once: bool = False) -> None:
        """End the program; `at_once`: without letting it come to its own end."""
        if self._running is not None:
            self._running.end(0.0 if at_once else _GRACE)
            self._running = None

    def _ask(self, questions: Sequence[Question]) -> list[float]:
        # After a fork parent and child would read each other's answers.
        if self._running is None or self._running.owner != os.getpid():
            self._running = _Running(self._command, self._timeout)
        running = self._running
        lines = [question.line(self._input) for question in questions]
        answers = running.ask(questions, lines, last=self._mode == BATCH)
        if self._mode == BATCH:
            running.check_end()
            self.close()
        return answers


@lru_cache(maxsize=8)
def program(command: tuple[str, ...], mode: str, timeout: float, input_: str = TEXT, cache: str = "") -> Program:
    """The same program for the same command, ended with this process."""
    made = Program(command, mode, timeout, input_, cache)
    atexit.register(made.close)
    return made


class _Running:
    """One process."""

    def __init__(self, command: tuple[str, ...], timeout: float) -> None:
        self.owner = os.getpid()
        self._name, self._timeout = shlex.join(command), timeout
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        # Python programs hold back their output unless told not to.
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        try:
            self._process: Any = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, env=environment
            )
        except (OSError, ValueError) as error:  # ValueError: a NUL in it
            self._stderr.close()
            why = error.strerror if isinstance(error, OSError) else error
            raise UserError(
                f"EXTERNAL: {command[0]!r} cannot be started ({why})", expected="a program and its arguments"
            ) from None
        self._rest = b""

    def ask(self, questions: Sequence[Question], lines: Sequence[str], *, last: bool) -> list[float]:
        """Answers, one a question; after `last` ones its input is closed."""
        if self._has_more():
            raise self._error("numbers that nobody asked for", "a number a line")
        data = "".join(lines).encode()
        # In a thread of its own: a program that answers line by line stops reading when nobody takes its answers.
        writer = threading.Thread(target=self._write, args=(data, last), daemon=True)
        writer.start()
        answers: list[float] = []
        while len(answers) < len(questions):
            for line in self._lines(len(answers), len(questions)):
                if len(answers) == len(questions):
                    raise self._error(f"more than the {len(questions)} numbers it was asked for", "a number a line")
                answers.append(self._number(line, questions[len(answers)]))
        writer.join(self._timeout)
        if self._rest:
            raise self._error(f"more than the {len(questions)} numbers it was asked for", "a number a line")
        return answers

    def _has_more(self) -> bool:
        """Whether it has printed something since its last answer."""
        if not select.select([self._process.stdout], [], [], 0)[0]:
            return False
        self._rest += os.read(self._process.stdout.fileno(), _CHUNK)
        return bool(self._rest)

    def _write(self, data: bytes, last: bool) -> None:
        stdin = self._process.stdin
        with contextlib.suppress(OSError, ValueError):  # it has ended, as its answers will tell
            stdin.write(data)
            stdin.flush()
            if last:
                stdin.close()

    def _lines(self, done: int, wanted: int) -> list[bytes]:
        """The next whole lines, at least one."""
        deadline = time.monotonic() + self._timeout
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise self._error(
                    f"no answer in {self._timeout:g} s, {done} of {wanted} numbers so far",
                    "a number a line, flushed",
                    "mode=batch if it answers at the end of its input; timeout=SECONDS if it is slow",
                )
            chunk = os.read(self._process.stdout.fileno(), _CHUNK)
            if not chunk and not self._rest:
                raise self._ended(done, wanted)
            self._rest += chunk or b"\n"  # the last line may be without an end
        *lines, self._rest = self._rest.split(b"\n")
        return lines

    def _number(self, line: bytes, question: Question) -> float:
        value = number_in(line.decode(errors="replace"))
        if value is None:
            shown = line.decode(errors="replace")[:60]
            raise self._error(f"{shown!r} for the hypothesis {question.hypothesis[:60]!r}", "a finite number a line")
        return value

    def check_end(self) -> None:
        """Raise UserError unless it ends, without an error and without another number."""
        self._process.stdin = None  # closed already, which communicate() does not expect
        try:
            extra = self._process.communicate(timeout=self._timeout)[0]
        except subprocess.TimeoutExpired:
            raise self._error(f"it does not end, {self._timeout:g} s after its answers", "the end") from None
        if extra.strip():
            raise self._error("more numbers than lines", "a number a line")
        if self._process.returncode:
            raise self._ended(0, 0)

    def _ended(self, done: int, wanted: int) -> UserError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        code = self._process.returncode
        if code is None:
            how = "it closed its output and goes on"
        else:
            how = f"it ended (killed by signal {-code})" if code < 0 else f"it ended (exit code {code})"
        return self._error(how + (f" after {done} of {wanted} numbers" if wanted else ""))

    def _error(self, found: str, expected: str | None = None, remedy: str | None = None) -> UserError:
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _TAIL))
        said = self._stderr.read().decode(errors="replace").strip()
        told = f"EXTERNAL: {self._name}: {found}" + (f"; it said: {said}" if said else "")
        return UserError(told, expected=expected, remedy=remedy)

    def end(self, grace: float) -> None:
        """End it: close its input, wait `grace` seconds, then kill it."""
        if self.owner != os.getpid():
            return
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._stderr.close()
