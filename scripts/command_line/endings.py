"""How a program of ours ends: exit codes, signals, and output that nobody takes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import NoReturn

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


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
    """Inside, SIGTERM and SIGHUP end in an exception, so that decoders are stopped and temporary folders removed."""

    def stop(number: int, _: object) -> NoReturn:
        raise Stopped(number)

    taken = []
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Ignored is ignored (nohup); and only the main thread may ask.
        with contextlib.suppress(ValueError):
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, stop)
                taken.append(number)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
