"""A process of Moses that is given sentences again and again: its models are loaded once for all parts of a round.

It reads a named pipe in the place of a file. That the lists of a part are complete is told by the next sentence, whose
translation or list begins behind them; so each part is followed by the shortest sentence of all once more, of which
nothing is kept.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from lasw.metrics import ScratchFolder
from lasw.tuning.decoders.moses.shards import Numbered, Shard, failure
from lasw.tuning.decoders.program import Program

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.002, 0.02  # seconds between two looks at what it has printed
_PATIENCE = 5.0  # seconds for the list of a sentence that is translated


@dataclass
class Fed(Shard):
    """Sentences of a process that has had `before` others; `path("nbest")` has their list alone, numbered from 0."""

    before: int = field(default=0, kw_only=True)

    def translated(self) -> int:
        """Of these sentences."""
        return min(max(super().translated() - self.before, 0), len(self.source))

    def listed(self) -> int:
        """Of these sentences."""
        return min(max(self.lists_end() - self.before, 0), len(self.source))

    def lists_end(self) -> int:
        """One more than the number of the last sentence that the process has listed."""
        return super().listed()

    def whole_list(self) -> Path:
        """Of the process."""
        return super().path("nbest")

    def path(self, name: str) -> Path:
        """Of one of its files."""
        return super().path("part" if name == "nbest" and self.cut_out else name)

    cut_out: bool = field(default=False, init=False)


class _Pipe:
    """A named pipe: who reads it sees a file that ends when this is closed."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        # In both directions, so that it waits for no reader.
        self._handle = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self.is_open = True

    def write(self, data: bytes) -> int:
        """How many bytes there was room for."""
        try:
            return os.write(self._handle, data) if data and self.is_open else 0
        except BlockingIOError:
            return 0

    def close(self) -> None:
        """End it, once."""
        if self.is_open:
            os.close(self._handle)
        self.is_open = False


class Kept:
    """One process.

    Args:
        program: Moses with its options.
        write: writes the moses.ini.
        n: length of the lists.
        several_at_once: whether it has several threads.
    """

    def __init__(self, program: Program, write: Callable[[Path], None], n: int, *, several_at_once: bool) -> None:
        self._program, self._several = program, several_at_once
        self._fed, self._read = 0, 0
        self._stack = ExitStack()
        self._place = self._stack.enter_context(ScratchFolder("lasw-moses-"))
        self._finalizer = weakref.finalize(self, self._stack.close)
        write(self._place / "moses.ini")
        self._pipe, one = _Pipe(self._place / "pipe"), Shard(0, (), program, self._place, 0)
        self._stack.callback(self._pipe.close)
        paths = {"weights": self._place / "moses.ini", "source": self._pipe.path, "nbest": one.path("nbest")}
        values = {**{name: str(path) for name, path in paths.items()}, "n": str(n)}
        running = program.running(values, None, one.path("stdout"), one.path("stderr"))
        self._process = self._stack.enter_context(running)

    def close(self) -> None:
        """End it."""
        self._finalizer()

    def __call__(self, numbered: Numbered, again: str) -> Fed:
        """Have sentences translated, and `again` behind them.

        Raises:
            UserError: it failed.
        """
        part = Fed(0, numbered.source, self._program, self._place, 0, before=self._fed)
        part.process = self._process
        self._fed += len(numbered.source) + 1
        waiting = "".join(line + "\n" for line in (*numbered.source, again)).encode()
        pause, late = _SHORTEST_PAUSE, 0.0
        while not self._complete(part, late):
            code = self._process.poll()
            if code is not None and (code or self._pipe.is_open):
                raise failure(part, code, numbered, self._several)
            if code is not None:
                break
            waiting = waiting[self._pipe.write(waiting) :]
            if late and time.monotonic() - late > _PATIENCE:
                self._pipe.close()  # what it prints at its end is complete
            if not late and not waiting and Shard.translated(part) >= self._fed:
                late = time.monotonic()
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        self._cut(part)
        return part

    def whole_list(self) -> Path:
        """What it has listed so far, the sentences behind the parts included."""
        return Shard(0, (), self._program, self._place, 0).path("nbest")

    @property
    def over(self) -> bool:
        """Whether it can be given no more."""
        return not self._pipe.is_open or self._process.poll() is not None

    def _complete(self, part: Fed, late: float) -> bool:
        """Whether all lists of a part are written."""
        return part.lists_end() >= self._fed or (bool(late) and not self._several)

    def _cut(self, part: Fed) -> None:
        """Write the list of a part to a file of its own."""
        first, end = part.before, part.before + len(part.source)
        with open(part.whole_list(), "rb") as stream:
            stream.seek(self._read)
            lines = stream.read()
        whole = lines[: lines.rfind(b"\n") + 1]
        self._read += len(whole)
        part.cut_out = True
        with open(part.path("nbest"), "wb") as stream:
            stream.writelines(_renumbered(whole.split(b"\n")[:-1], first, end))


def _renumbered(lines: Sequence[bytes], first: int, end: int) -> list[bytes]:
    """The lines of the sentences from `first` to `end`, which is none of them, numbered from 0."""
    kept = []
    for line in lines:
        identity, bar, rest = line.partition(b"|||")
        if not identity.strip().isdigit():
            kept.append(line + b"\n")  # who reads the part says what is wrong with it
            continue
        number = int(identity)
        if first <= number < end:
            kept.append(b"%d %s%s\n" % (number - first, bar, rest))
    return kept
