"""What the first run of a command waits for is told: kernels are compiled when they are first called, then kept."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

TOLD_AFTER = 1.0  # seconds: what takes less needs no word


@contextlib.contextmanager
def told_of_compiling(program: str, *, quiet: bool = False) -> Iterator[None]:
    """Inside, a line on stderr says that kernels are being compiled, once that has taken `TOLD_AFTER`."""
    if quiet or "numba" not in sys.modules:
        yield
        return
    from numba.core import event

    numba_events: Any = event  # Numba has no types

    class Teller(event.Listener):
        def __init__(self) -> None:
            self.began: list[float] = []
            self.seconds, self.told = 0.0, False

        def on_start(self, event: Any) -> None:
            self.began.append(time.perf_counter())
            if self.seconds > TOLD_AFTER and not self.told:
                self.told = True
                text = (
                    "compiling what this needs, once after an installation or update (lasw warm-up does it in advance)"
                )
                print(f"{program}: {text}", file=sys.stderr, flush=True)

        def on_end(self, event: Any) -> None:
            took = time.perf_counter() - self.began.pop()
            self.seconds += 0.0 if self.began else took  # one inside another counts as a part of it

    teller = Teller()
    numba_events.register("numba:compile", teller)
    try:
        yield
    finally:
        numba_events.unregister("numba:compile", teller)
