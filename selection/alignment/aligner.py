"""Models of word alignment by name, each trained in a process of its own (this module, run as a program).

Thot's aligners add up expected counts in whatever order OpenMP's threads finish, so two runs differ in the last bits
and then in the alignments. One thread per direction and both directions side by side keeps two cores busy and the
result the same; OpenMP reads the number of threads when it starts, hence the process.

A new model is a file with an `Aligner`, a line in `ALIGNERS` and a test.
"""

from __future__ import annotations

import os
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from lasw.metrics import Registry, UserError

Sentences = Sequence[Sequence[str]]

_LAST_LINES = 5


@dataclass(frozen=True)
class Aligner(ABC):
    """A model of word alignment in one direction.

    Args:
        iterations: of training.
        seed: of chance.
    """

    iterations: int
    seed: int = 1

    @abstractmethod
    def train(self, source: Sentences, target: Sentences, prefix: str, step: Callable[[], None]) -> None:
        """Train, and write the model's files ``PREFIX.*``.

        One of them, ``PREFIX.aligns``, has a line a pair, ``i-j`` for every target word j (from 0) that comes from
        source word i.

        Args:
            source: n sentences of at least one token.
            target: as many.
            prefix: of the files.
            step: called before each iteration; ends the process if nobody waits for it any more.
        """


ALIGNERS: Registry[type[Aligner]] = Registry(
    "model",
    {
        "fast_align": "lasw.selection.alignment.thot:FastAlign",
        "hmm": "lasw.selection.alignment.thot:Hmm",
        "ibm1": "lasw.selection.alignment.thot:Ibm1",
        "ibm2": "lasw.selection.alignment.thot:Ibm2",
        "eflomal": "lasw.selection.alignment.thot:Eflomal",
    },
)


def train_apart(
    model: str, iterations: int | None, seed: int, directions: Sequence[Sequence[Path]], jobs: int
) -> None:
    """Train a model on several texts, each in a process with one thread.

    Args:
        model: one of `ALIGNERS`.
        iterations: of training; by default the model's own.
        seed: of chance.
        directions: source text, target text (tokens between single spaces, no empty line) and prefix of the model.
        jobs: 1 trains one after the other.

    Raises:
        UserError: there is no such model, sil-thot is missing, or training failed.
    """
    ALIGNERS.find(model)
    command = [sys.executable, "-m", "lasw.selection.alignment.aligner", model, str(iterations or 0), str(seed)]
    with ExitStack() as stack:
        started = []
        for paths in directions:
            process = subprocess.Popen(
                [*command, *map(str, paths)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
            started.append(stack.enter_context(process))
            stack.callback(process.kill)
            if jobs < 2:
                _finish(process)
        for process in started if jobs > 1 else ():
            _finish(process)


def _finish(process: subprocess.Popen[bytes]) -> None:
    _, errors = process.communicate()
    if not process.returncode:
        return
    lines = errors.decode("utf-8", errors="replace").splitlines()
    if any("No module named 'thot'" in line for line in lines):
        raise UserError("word alignment needs sil-thot", remedy="pip install 'lasw[thot]'")
    last = " / ".join(lines[-_LAST_LINES:]) or "nothing"
    raise UserError(f"the aligner ended with code {process.returncode}; its last lines: {last}")


def _sentences(path: str) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="\n") as stream:
        return [line.rstrip("\n").split(" ") for line in stream]


def main(model: str, iterations: str, seed: str, source: str, target: str, prefix: str) -> None:
    """What the process does: train one direction."""
    parent = os.getppid()

    def step() -> None:
        if os.getppid() != parent:  # whoever asked is gone
            sys.exit(1)

    given = {"iterations": int(iterations)} if int(iterations) else {}
    ALIGNERS.find(model)(seed=int(seed), **given).train(_sentences(source), _sentences(target), prefix, step)


if __name__ == "__main__":
    main(*sys.argv[1:])
