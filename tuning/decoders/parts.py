"""Parts of one input, each translated by a process of its own of a program."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from lasw.metrics import UserError, Vocabulary, write_text
from lasw.tuning.decoders.program import Program
from lasw.tuning.formats import Options, read_nbest
from lasw.tuning.nbest import NBest


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
