"""Parts of one input, each translated by a process of its own of a program."""

from __future__ import annotations

import itertools
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, TypeVar

import numpy as np

from lasw.metrics import UserError, Vocabulary, write_text
from lasw.tuning.decoders.program import Program
from lasw.tuning.formats import Options, read_nbest
from lasw.tuning.nbest import NBest

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.005, 0.05  # seconds between two looks at the processes
_TOLD = 1.0  # seconds between two looks at what they have written
_TAIL = 1 << 16


@dataclass
class Part:
    """Consecutive sentences that one process translates.

    Attributes:
        first: number of the first one, counted from 0.
        source: the sentences.
        program: that translates them.
        place: where the files of this process lie.
        number: of the process.
    """

    first: int
    source: Sequence[str]
    program: Program
    place: Path
    number: int
    process: subprocess.Popen[bytes] = field(init=False)

    @classmethod
    def cut(cls, source: Sequence[str], jobs: int, program: Program, place: Path) -> list[Self]:
        """At most `jobs` parts of about the same size that cover all sentences."""
        number = max(1, min(jobs, len(source)))
        cuts = itertools.pairwise(len(source) * k // number for k in range(number + 1))
        return [cls(start, source[start:end], program, place, k) for k, (start, end) in enumerate(cuts)]

    def path(self, name: str) -> Path:
        """Of one of its files."""
        return self.place / f"{name}{self.number}"

    def start(self, weights: Path, n: int, stack: ExitStack) -> None:
        """Begin; when `stack` ends, the process has. What is no placeholder of the program is its input or output."""
        source, nbest = self.path("source"), self.path("nbest")
        write_text(source, "".join(line + "\n" for line in self.source))
        given = self.program.placeholders
        stdin = None if "source" in given else source
        stdout = self.path("stdout") if "nbest" in given else nbest
        values = {"weights": str(weights), "source": str(source), "nbest": str(nbest), "n": str(n)}
        self.process = stack.enter_context(self.program.running(values, stdin, stdout, self.path("stderr")))

    def listed(self) -> int:
        """For how many sentences, at least, it has printed a list: what the id in its last whole line says."""
        try:
            with open(self.path("nbest"), "rb") as stream:
                stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL))
                lines = stream.read().split(b"\n")[:-1]
        except FileNotFoundError:
            return 0
        identity = lines[-1].split(b"|||")[0].strip() if lines else b""
        return int(identity) + 1 if identity.isdigit() else 0

    def has_list(self) -> bool:
        """Whether it has printed anything where its list belongs."""
        path = self.path("nbest")
        return path.exists() and path.stat().st_size > 0

    def failure(self, what: str) -> UserError:
        """The error that blames the program for `what` and shows the end of what this process said."""
        return self.program.failure(what, self.path("stderr"))

    def read(self, path: Path, vocabulary: Vocabulary, options: Options, *, unplaced: str = "") -> NBest:
        """The list in `path`.

        Args:
            path: of it.
            vocabulary: of the hypotheses.
            options: of `read_nbest`, but for the number of sentences and the order of ids, which is any.
            unplaced: said in front of a fault that is on no line.

        Raises:
            UserError: something else is in it.
        """
        options["segments"], options["unsorted"] = len(self.source), True
        try:
            return read_nbest(path, vocabulary, **options)
        except UserError as error:
            where = f"line {error.line} of its N-best list: " if error.line else unplaced
            detail = "; ".join(filter(None, [error.found, error.expected and f"expected {error.expected}"]))
            raise self.failure(f"printed something else: {where}{detail}") from None

    def unlisted(self, nbest: NBest | None) -> tuple[int, list[int]]:
        """How many sentences have hypotheses, and which that are not blank have none."""
        listed = np.zeros(len(self.source), dtype=bool)
        if nbest is not None:
            listed[nbest.owner] = True
        return int(listed.sum()), [k for k in np.flatnonzero(~listed).tolist() if self.source[k].strip()]


P = TypeVar("P", bound=Part)


def as_they_end(parts: Sequence[P], told: Callable[[int, int], object] | None = None) -> Iterator[tuple[P, int]]:
    """Started parts with the exit codes of their processes, as these end.

    Args:
        parts: of one input.
        told: gets now and then how many sentences have lists, as far as these say it, of how many.
    """
    running, sentences = list(parts), sum(len(part.source) for part in parts)
    pause, last = _SHORTEST_PAUSE, time.monotonic()
    while running:
        for part in list(running):
            code = part.process.poll()
            if code is not None:
                running.remove(part)
                yield part, code
        if running:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        if told is not None and time.monotonic() - last > _TOLD:
            last = time.monotonic()
            told(sum(min(part.listed(), len(part.source)) for part in parts), sentences)
