"""Processes that answer requests in pickles, started once and asked many times.

A worker is ``python -m MODULE ARGUMENTS``. It reads pickled requests from standard input and writes one pickled answer
to each, until its input ends. What it prints to stderr is kept in a file and shown when it fails. Workers that lose
their parent see their input end and stop.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any, cast

from lasw.metrics import UserError

_LAST_LINES = 5


class Failure:
    """A worker's answer when a request made it fail: the message for the user."""

    def __init__(self, message: str) -> None:
        self.message = message


class Worker:
    """One process.

    Args:
        what: its name in messages ("the Thot decoder").
        module: what it runs, with `arguments`.
        environment: variables set for it.
    """

    def __init__(self, what: str, module: str, arguments: Sequence[str], environment: dict[str, str]) -> None:
        self.what = what
        self._log = cast(IO[bytes], tempfile.TemporaryFile())  # noqa: SIM115 - closed with the worker
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, **environment},
        )

    def ask(self, request: Any) -> Any:
        """Its answer.

        Raises:
            UserError: the worker died or says that it failed.
        """
        try:
            pickle.dump(request, cast(IO[bytes], self._process.stdin), protocol=5)
            cast(IO[bytes], self._process.stdin).flush()
            answer = pickle.load(cast(IO[bytes], self._process.stdout))
        except (OSError, EOFError, pickle.UnpicklingError):
            code = self._process.wait()
            raise UserError(f"{self.what} died (code {code}); its last lines: {self.last_lines()}") from None
        if isinstance(answer, Failure):
            raise UserError(answer.message)
        return answer

    def last_lines(self) -> str:
        """The end of what it printed to stderr, in one line."""
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", errors="replace").splitlines()
        return " / ".join(lines[-_LAST_LINES:]) or "none"

    def close(self) -> None:
        """Stop it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            with suppress(OSError, AttributeError):
                cast(IO[bytes], stream).close()


def ask_all(workers: Sequence[Worker], requests: Sequence[Any]) -> list[Any]:
    """The answers to `requests` in order; each goes to the next free worker.

    Raises:
        UserError: a worker failed; the first failure in the order of requests.
    """
    answers: list[Any] = [None] * len(requests)
    errors: dict[int, BaseException] = {}
    todo = iter(range(len(requests)))
    lock = threading.Lock()

    def serve(worker: Worker) -> None:
        while not errors:
            with lock:
                number = next(todo, None)
            if number is None:
                return
            try:
                answers[number] = worker.ask(requests[number])
            except BaseException as error:
                errors[number] = error

    threads = [threading.Thread(target=serve, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[min(errors)]
    return answers


def serve(answer: Callable[[Any], Any]) -> None:
    """A worker's whole life: answer requests until there are no more.

    What libraries print to standard output must not get between the answers, so that goes to stderr.
    """
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(answer(request), out, protocol=5)
        out.flush()
