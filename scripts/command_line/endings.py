"""How a program of ours ends: exit codes, signals, and output that nobody takes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import NoReturn

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

_PATIENCE = 1.5  # seconds


def drop_output() -> None:
    """What is still to be printed cannot be, and the interpreter's last try must not say so again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Stopped(KeyboardInterrupt):
    """Another signal that ends programs: cleaned up after as after Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number


@contextlib.contextmanager
def told_of_signals() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP end in an exception, so that decoders are stopped and temporary folders removed.

    Python sees a signal between two of its own steps, and a compiled kernel is one step, which can take hours on a
    sentence of a million words. So a second thread is told by the system at once; if the first has not begun to end
    within `_PATIENCE` seconds, the process ends as it stands: what it was at is done again another time.
    """
    heeded = threading.Event()

    def stop(number: int, _: object) -> NoReturn:
        heeded.set()
        raise KeyboardInterrupt if number == signal.SIGINT else Stopped(number)

    taken = {}
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        # Ignored is ignored (nohup); and only the main thread may ask.
        with contextlib.suppress(ValueError):
            before = signal.getsignal(number)
            if before in (signal.SIG_DFL, signal.default_int_handler):
                signal.signal(number, stop)
                taken[number] = before
    with _watched(frozenset(taken), heeded):
        try:
            yield
        finally:
            for number, before in taken.items():
                signal.signal(number, before)


@contextlib.contextmanager
def _watched(numbers: frozenset[int], heeded: threading.Event) -> Iterator[None]:
    """Inside, a thread ends the process when one of these signals is not heeded."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    except ValueError:  # not the main thread
        before = None

    def watch() -> None:
        while told := os.read(reading, 1):
            if told[0] in numbers and not heeded.wait(_PATIENCE):
                os.write(2, b"lasw: stopped within a computation\n")
                os._exit(128 + told[0])
        os.close(reading)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        if before is not None:
            signal.set_wakeup_fd(before)
        os.close(writing)
