"""Processes of this machine that are started once and asked many times.

A `Worker` is ``python -m MODULE ARGUMENTS``: it reads pickled requests from standard input and writes one pickled
answer to each, until its input ends. What it prints to stderr is kept in a file and shown when it dies.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO, Any, cast

from lasw.metrics.errors import UserError

_TOLD = 0.5  # seconds between two words of how far work is
_WATCH = 0.5  # seconds between looks at whether the parent is there
_LAST_LINES = 5


def watch_parent(parent: int, clean_up: Callable[[], None] | None = None) -> None:
    """In a worker: end with the process `parent`, however that ended; it would wait for work for ever.

    Args:
        parent: its number.
        clean_up: called first.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH)
        if clean_up is not None:
            clean_up()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Worker:
    """One process.

    Args:
        died: what is said when it dies, with ``{code}`` for its exit code.
        module: what it runs, with `arguments`; see `serve`.
        environment: variables set for it.
    """

    def __init__(self, died: str, module: str, arguments: Sequence[str], environment: dict[str, str]) -> None:
        self._died = died
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
            UserError: the worker died, or answers with one.
        """
        try:
            pickle.dump(request, cast(IO[bytes], self._process.stdin), protocol=5)
            cast(IO[bytes], self._process.stdin).flush()
            answer = pickle.load(cast(IO[bytes], self._process.stdout))
        except (OSError, EOFError, pickle.UnpicklingError):
            code = self._process.wait()
            raise UserError(f"{self._died.format(code=code)}; its last lines: {self._last_lines()}") from None
        if isinstance(answer, UserError):
            raise answer
        return answer

    def _last_lines(self) -> str:
        """The end of what it printed to stderr, in one line."""
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", errors="replace").splitlines()
        return " / ".join(lines[-_LAST_LINES:]) or "none"

    def close(self) -> None:
        """Stop it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            with contextlib.suppress(OSError, AttributeError):
                cast(IO[bytes], stream).close()


def ask_all(
    workers: Sequence[Worker], requests: Sequence[Any], told: Callable[[int, int], object] | None = None
) -> list[Any]:
    """The answers to `requests` in order; each goes to the next free worker.

    Args:
        workers: that are asked.
        requests: what for.
        told: gets now and then how many are answered of how many.

    Raises:
        UserError: a worker failed; the first failure in the order of requests.
    """
    answers: list[Any] = [None] * len(requests)
    errors: dict[int, BaseException] = {}
    todo = iter(range(len(requests)))
    lock = threading.Lock()

    def ask_on(worker: Worker) -> None:
        while not errors:
            with lock:
                number = next(todo, None)
            if number is None:
                return
            try:
                answers[number] = worker.ask(requests[number])
            except BaseException as error:
                errors[number] = error

    threads = [threading.Thread(target=ask_on, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(None if told is None else _TOLD)
            if told is not None:
                told(sum(answer is not None for answer in answers), len(answers))
    if errors:
        raise errors[min(errors)]
    return answers


def serve(answer: Callable[[Any], Any]) -> None:
    """A worker's whole life: answer requests until there are no more, or who asks is gone; a `UserError` is an answer.

    What libraries print to standard output must not get between the answers, so that goes to stderr.
    """
    watch_parent(os.getppid())
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            result = answer(request)
        except UserError as error:
            result = error
        pickle.dump(result, out, protocol=5)
        out.flush()
