"""EXTERNAL: the numbers of another program as a metric.

``EXTERNAL[:mode=stream|batch][:timeout=SECONDS]:cmd=COMMAND``: all that is behind ``cmd=`` is the command, colons and
all, split as a shell splits it but run without one; ``cmd=@FILE`` has it in a file, for commands inside a MIX, say.

The program reads lines ``hypothesis TAB reference`` and prints a number for each, higher is better. ``stream``: it is
started once, and must print (and flush) its answers without waiting for the end of its input. ``batch``: it is started
for every batch of new pairs, reads to the end and then answers. A pair is asked once. Of several references the best
counts. The corpus score is the mean of the sentence scores.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import MeanMetric, Signature, with_ones
from lasw.metrics.composed.external_program import STREAM, Program, program
from lasw.metrics.errors import UserError, unknown
from lasw.metrics.registry import Limits, check_options, construct
from lasw.metrics.text import Corpus, References, distinct, read_lines

MOST_TIMEOUT = 1e9
_GRAMMAR = "EXTERNAL[:mode=stream|batch][:timeout=SECONDS]:cmd=COMMAND"
_TIMEOUT = Limits(
    f"a number above 0, {MOST_TIMEOUT:g} at most",
    above=0,
    most=MOST_TIMEOUT,
    unreadable="seconds",
    shown="{name}: {key}={value}",
)


@dataclass(frozen=True)
class External(MeanMetric):
    """A program's numbers, on its own scale.

    Args:
        command: the program and its arguments.
        mode: ``stream`` or ``batch``.
        timeout: seconds without an answer after which it is given up.

    Statistics: (n, 2) float64, score and 1.

    Raises:
        UserError: no command, an unknown mode, or a timeout that is not above 0 or too large.
    """

    command: tuple[str, ...]
    mode: Literal["stream", "batch"] = STREAM
    timeout: Annotated[float, _TIMEOUT] = 600.0

    name = "EXTERNAL"
    display_scale = 1.0

    @property
    def of_words(self) -> bool:
        """It has words of its own, or none."""
        return False

    def __post_init__(self) -> None:
        if not self.command:
            raise UserError(f"{self.name} without a command", expected=_GRAMMAR)
        check_options(self)

    @classmethod
    def from_text(cls, text: str) -> External:
        """The metric of what stands behind ``EXTERNAL:``.

        Raises:
            UserError: not of the form above, or the file of a command cannot be read.
        """
        before, found, command = f":{text}".partition(":cmd=")
        if not found:
            raise UserError("EXTERNAL without a command", expected=_GRAMMAR)
        options: dict[str, str] = {}
        for part in filter(None, before.split(":")):
            key, _, value = part.partition("=")
            if key not in ("mode", "timeout"):
                raise unknown("option of EXTERNAL", key, ["mode", "timeout", "cmd"])
            if key in options:
                raise UserError(f"EXTERNAL: {key!r} is given twice")
            options[key] = value
        return construct(cls, options, cls.name, given={"command": _words(command)})

    def signature(self) -> Signature:
        """The command."""
        return Signature(self.name, (("mode", self.mode), ("cmd", shlex.join(self.command))))

    @property
    def by_segment(self) -> bool:
        """It does."""
        return True

    def prepare(self, references: References) -> ExternalReferences:
        """The references, and the program, which starts when it is first asked."""
        return ExternalReferences(references, program(self.command, self.mode, self.timeout))

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[np.float64]:
        """(n, 2) score and 1.

        Raises:
            UserError: the program cannot be started, fails, is silent for too long, or prints what is no number.
        """
        owner = np.ascontiguousarray(owner, dtype=np.int32)
        rows, inverse = distinct(hypotheses, owner)
        texts = [hypotheses.text(row) for row in rows.tolist()]
        corpora = prepared.references.corpora
        pairs = [(text, c.text(k)) for text, k in zip(texts, owner[rows].tolist(), strict=True) for c in corpora]
        answers = np.array(prepared.program.scores(pairs), dtype=np.float64).reshape(len(rows), len(corpora))
        best = answers.max(axis=1)[inverse] if len(rows) else np.zeros(0)
        return with_ones(best)


@dataclass(frozen=True)
class ExternalReferences:
    """References, and the program that is asked."""

    references: References
    program: Program


def _words(command: str) -> tuple[str, ...]:
    path = command[1:] if command.startswith("@") else None
    if path is not None:
        command = " ".join(read_lines(path))
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise UserError(f"command {command!r} ({error})", path=path, expected="quotes in pairs") from None
