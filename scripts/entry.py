"""What runs first: Ctrl-C ends in one line from here on, while all the rest is being loaded."""

from __future__ import annotations

import contextlib
import os
import signal
import sys

_STOPPED = 128  # and the number of a signal: a code behind it


def _stop(number: int, _: object) -> None:
    os.write(2, b"lasw: interrupted\n")
    os._exit(128 + number)  # nothing was begun that would have to be ended


def begin() -> None:
    """Heed Ctrl-C, unless it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)


def _end(code: int) -> int:
    """Take no notice of Ctrl-C any more: all is done, and Python takes leave without its handlers.

    Of a program that was stopped it does not even that: what compilers left half made crashes as it is taken down.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if code > _STOPPED:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.flush()
        os._exit(code)
    return code


def lasw() -> int:
    """The program `lasw`."""
    begin()
    from lasw.scripts.main import main

    return _end(main())


def mert_moses() -> int:
    """The program `lasw-mert-moses`."""
    begin()
    from lasw.scripts.mert_moses import main

    return _end(main())


if __name__ == "__main__":
    sys.exit(lasw())
