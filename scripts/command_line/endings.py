"""How a program of ours ends: exit codes, signals, and output that nobody takes."""

from __future__ import annotations

import contextlib
import io
import os
import re
import resource
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from lasw.metrics import UserError
from lasw.scripts.command_line.colours import coloured

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

_PATIENCE = 1.5  # seconds
_NO_MEMORY = re.compile(r"cannot allocate memory|failed to map segment", re.IGNORECASE)
_NO_THREAD = "can't start new thread"
_BEGINNING = "lasw.scripts.entry"  # whose handlers are there while everything is loaded


def guarded(program: Callable[[], str], work: Callable[[], int], *, debug: bool, error: str = "") -> int:
    """`work`, whatever goes wrong in it told in one line: from the imports on to the last flush of its output.

    Args:
        program: what it is called by then.
        work: gives the exit code.
        debug: show the traceback of what a user could have caused as well.
        error: stands before what is told.

    Returns:
        The exit code: that of `work`, 1 where it failed, 128 and the signal's number if it was stopped (130 by Ctrl-C).
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")  # names of files that are no UTF-8 go out as they came in
    try:
        with told_of_signals() as heeded:
            return _heeding(program, work, heeded, debug, error)
    except KeyboardInterrupt as stop:  # also one that comes while the ways to hear of it are opened or closed
        return _interrupted(program(), stop)


def _heeding(
    program: Callable[[], str], work: Callable[[], int], heeded: list[Stopped], debug: bool, error: str
) -> int:
    try:
        return _flushed(work)
    except BrokenPipeError:
        # The reader of our output is gone (`| head`): nothing to say, and nothing more to write.
        drop_output()
        return 0
    except Exception as fault:
        if heeded:  # whatever a library that was being loaded has made of it
            raise heeded[0] from None
        told = _told(fault)
        if told is None or debug:
            raise
        print(f"{coloured(f'{program()}:', 'red', sys.stderr)} {error}{told}", file=sys.stderr)
        if not isinstance(fault, UserError):
            drop_output()
    return EXIT_FAILED


def _interrupted(program: str, stop: KeyboardInterrupt) -> int:
    print(f"{program}: interrupted", file=sys.stderr)
    return stop.code if isinstance(stop, Stopped) else EXIT_INTERRUPTED


def _flushed(work: Callable[[], int]) -> int:
    try:
        code = work()
    except SystemExit:
        if sys.stdout is not None:
            sys.stdout.flush()
        raise
    if sys.stdout is not None:
        sys.stdout.flush()
    return code


def _told(fault: Exception) -> str | None:
    """What is no fault of the program, in one line: a user's mistake, a full disk, too little memory."""
    if isinstance(fault, UserError):
        return str(fault)
    if isinstance(fault, UnicodeEncodeError) and sys.stdout is not None and fault.encoding == sys.stdout.encoding:
        return f"standard output takes {fault.encoding} only: set PYTHONIOENCODING=utf-8"
    if _of_memory(fault):
        return "not enough memory (--debug shows where)"
    if isinstance(fault, RuntimeError) and _NO_THREAD in str(fault):
        return "no thread can be started: not enough memory, or too many processes (--debug shows where)"
    if isinstance(fault, OSError):
        path = fault.filename2 or fault.filename  # of a file that could not be renamed, its new name
        where = f"{os.fsdecode(path) if isinstance(path, bytes) else path}: " if path else ""
        return f"{where}{fault.strerror or fault} (--debug shows where)"
    return None


def _of_memory(fault: BaseException | None) -> bool:
    """Whether it comes of too little memory, it or what it was raised for: libraries say what they failed to load."""
    if isinstance(fault, OSError | ImportError):
        return bool(_NO_MEMORY.search(str(fault))) or _of_memory(fault.__cause__ or fault.__context__)
    if isinstance(fault, SystemError):  # of C code that failed and does not say why
        return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return isinstance(fault, MemoryError)


def drop_output() -> None:
    """What is still to be printed cannot be, and the interpreter's last try must not say so again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Stopped(KeyboardInterrupt):
    """A signal that ends programs, Ctrl-C or another: all are cleaned up after alike."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number


@contextlib.contextmanager
def told_of_signals() -> Iterator[list[Stopped]]:
    """Inside, SIGTERM and SIGHUP end in an exception, so that decoders are stopped and temporary folders removed.

    Python sees a signal between two of its own steps, and a compiled kernel is one step, which can take hours on a
    sentence of a million words. So a second thread is told by the system at once; if the first has not begun to end
    within `_PATIENCE` seconds, the process ends as it stands: what it was at is done again another time. So it does
    where the exception is lost, in C code that calls Python: a compiler asking for what it made before. The same goes
    for every further signal, should the first have been caught by a library, or what it stops take long to clean up.

    Yields:
        The exceptions so far: libraries that are just being loaded catch them and raise others.
    """
    heeded = threading.Event()
    stops: list[Stopped] = []

    def stop(number: int, _: object) -> NoReturn:
        stops.append(Stopped(number))
        heeded.set()
        raise stops[-1]

    def lost(unraisable: Any) -> None:
        if isinstance(unraisable.exc_value, Stopped):
            _end_at_once(unraisable.exc_value.code)
        if not stops:  # what is half made does not go in order
            usual(unraisable)

    taken = {}
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        # Ignored is ignored (nohup); and only the main thread may ask.
        with contextlib.suppress(ValueError):
            before = signal.getsignal(number)
            ours = getattr(before, "__module__", "") == _BEGINNING
            if ours or before in (signal.SIG_DFL, signal.default_int_handler):
                signal.signal(number, stop)
                taken[number] = before
    usual = sys.unraisablehook
    sys.unraisablehook = lost
    with _watched(frozenset(taken), heeded):
        try:
            yield stops
        finally:
            sys.unraisablehook = usual
            for number, before in taken.items():
                signal.signal(number, before)


def _end_at_once(code: int) -> NoReturn:
    os.write(2, b"lasw: stopped within a computation\n")
    os._exit(code)


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
            if told[0] not in numbers:
                continue
            if not heeded.wait(_PATIENCE):
                _end_at_once(128 + told[0])
            heeded.clear()
            while select.select([reading], [], [], 0)[0]:  # those that came before were heeded with it
                if not os.read(reading, 64):
                    break
        os.close(reading)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        if before is not None:
            signal.set_wakeup_fd(before)
        os.close(writing)
