"""What the first run of a command waits for is told: kernels are compiled when they are first called, then kept."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

TOLD_AFTER = 1.0  # seconds: what takes less needs no word
_WORDS = "compiling what this needs, once after an installation or update (lasw warm-up does it in advance)"
_CLEARED = "\r\x1b[2K"  # the line of a terminal


@contextlib.contextmanager
def told_of_compiling(program: str, *, quiet: bool = False) -> Iterator[None]:
    """Inside, a line on stderr says that kernels are being compiled, once that has taken `TOLD_AFTER`.

    On a terminal the line counts them and goes away when they are done.
    """
    if quiet or "numba" not in sys.modules:
        yield
        return
    from numba.core import event

    numba_events: Any = event  # Numba has no types
    counts = sys.stderr.isatty()

    class Teller(event.Listener):
        def __init__(self) -> None:
            self.began: list[float] = []
            self.seconds, self.kernels, self.told = 0.0, 0, False

        def on_start(self, event: Any) -> None:
            self.began.append(time.perf_counter())
            if self.seconds > TOLD_AFTER and (counts or not self.told):
                self.told = True
                done = f": {self.kernels} kernels in {self.seconds:.0f} s" if counts else ""
                begin, end = (_CLEARED, "") if counts else ("", "\n")
                print(f"{begin}{program}: {_WORDS}{done}", end=end, file=sys.stderr, flush=True)

        def on_end(self, event: Any) -> None:
            took = time.perf_counter() - self.began.pop()
            if not self.began:  # one inside another counts as a part of it
                self.seconds, self.kernels = self.seconds + took, self.kernels + 1

        def clear(self) -> None:
            if self.told and counts:
                print(_CLEARED, end="", file=sys.stderr, flush=True)

    teller = Teller()
    numba_events.register("numba:compile", teller)
    try:
        yield
    finally:
        numba_events.unregister("numba:compile", teller)
        teller.clear()
