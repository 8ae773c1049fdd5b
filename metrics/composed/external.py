"""EXTERNAL: the numbers of another program as a metric.

``EXTERNAL[:OPTION=VALUE ...]:cmd=COMMAND``: all that is behind ``cmd=`` is the command, colons and all, split as a
shell splits it but run without one; ``cmd=@FILE`` has it in a file, for commands inside a MIX, say.

The program reads lines ``hypothesis TAB reference`` and prints a number for each, higher is better. With
``input=json`` a line is an object with ``hypothesis``, ``reference`` and, where ``source=FILE`` has the source
sentences, ``source``. With ``reference=no`` it sees no reference. ``mode=stream``: it is started once, and must print
(and flush) its answers without waiting for the end of its input. ``mode=batch``: it is started for every batch of new
questions, reads to the end and then answers. A question is asked once, with ``cache=FILE`` by all runs together
(`kept_scores`). Of several references the best counts. The corpus score is the mean of the sentence scores.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import MeanMetric, Signature, with_ones
from lasw.metrics.composed.external_program import STREAM, TEXT, Program, Question, program
from lasw.metrics.errors import UserError, unknown
from lasw.metrics.registry import Limits, check_options, construct
from lasw.metrics.text import Corpus, References, Vocabulary, command_words, content_digest, distinct, read_lines

MOST_TIMEOUT = 1e9
_GRAMMAR = "EXTERNAL[:OPTION=VALUE ...]:cmd=COMMAND"
_OPTIONS = ("mode", "timeout", "input", "source", "reference", "cache")
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
        input: ``text`` or ``json``.
        source: a file of source sentences, one for each reference; empty: none are told.
        reference: ``yes``, or ``no`` for a program that estimates without.
        cache: a file that scores are kept in; empty: none.

    Statistics: (n, 2) float64, score and 1.

    Raises:
        UserError: no command, an option that has no such value, or sources for ``text``.
    """

    command: tuple[str, ...]
    mode: Literal["stream", "batch"] = STREAM
    timeout: Annotated[float, _TIMEOUT] = 600.0
    input: Literal["text", "json"] = TEXT
    source: str = ""
    reference: Literal["yes", "no"] = "yes"
    cache: str = ""

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
        if self.source and self.input == TEXT:
            raise UserError("EXTERNAL:source= beside input=text", expected="input=json")

    @property
    def compares(self) -> bool:
        """Unless it asks without references."""
        return self.reference == "yes"

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
            if not value:
                raise UserError(f"EXTERNAL: no value of {key!r}", expected=_GRAMMAR)
            if key not in _OPTIONS:
                raise unknown("option of EXTERNAL", key, [*_OPTIONS, "cmd"])
            if key in options:
                raise UserError(f"EXTERNAL: {key!r} is given twice")
            options[key] = value
        return construct(cls, options, cls.name, given={"command": _words(command)})

    def signature(self) -> Signature:
        """The command, and what it is told."""
        told: list[tuple[str, str]] = [("input", self.input)] if self.input != TEXT else []
        told += [("source", self._digest)] if self.source else []
        told += [("reference", self.reference)] if not self.compares else []
        return Signature(self.name, (("mode", self.mode), *told, ("cmd", shlex.join(self.command))))

    @cached_property
    def _digest(self) -> str:
        return content_digest(self.source).hex()[:12]

    @property
    def by_segment(self) -> bool:
        """It does."""
        return True

    def prepare(self, references: References) -> ExternalReferences:
        """The references and sources, and the program, which starts when it is first asked.

        Raises:
            UserError: there are not as many sources as references (where these are not asked about: fewer).
        """
        source = read_lines(self.source) if self.source else []
        if self.source and (len(source) < len(references) or (self.compares and len(source) > len(references))):
            expected = f"{'' if self.compares else 'at least '}{len(references)}, one for every sentence"
            raise UserError(f"{len(source)} lines", path=self.source, expected=expected)
        asked = program(self.command, self.mode, self.timeout, self.input, self.cache)
        return ExternalReferences(references, source, asked)

    def prepare_pairs(self, vocabulary: Vocabulary) -> None:
        """Nothing is kept.

        Raises:
            UserError: a program that is told sources, or no references.
        """
        if self.source or not self.compares:
            key = "source" if self.source else "reference"
            raise UserError(f"EXTERNAL:{key}= as a utility", expected="a program that compares two texts")

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[np.float64]:
        """(n, 2) score and 1.

        Raises:
            UserError: the program cannot be started, fails, is silent for too long, or prints what is no number.
        """
        owner = np.ascontiguousarray(owner, dtype=np.int32)
        rows, inverse = distinct(hypotheses, owner)
        texts = [hypotheses.text(row) for row in rows.tolist()]
        questions = [
            Question(text, reference, prepared.source[k] if self.source else None)
            for text, k in zip(texts, owner[rows].tolist(), strict=True)
            for reference in (prepared.texts(k) if self.compares else [None])
        ]
        answers = np.array(prepared.program.scores(questions), dtype=np.float64)
        answers = answers.reshape(len(rows), len(questions) // max(1, len(rows)))
        best = answers.max(axis=1)[inverse] if len(rows) else np.zeros(0)
        return with_ones(best)


@dataclass(frozen=True)
class ExternalReferences:
    """References, source sentences if there are some, and the program that is asked."""

    references: References
    source: Sequence[str]
    program: Program

    def texts(self, sentence: int) -> list[str]:
        """The references of a sentence."""
        return [corpus.text(sentence) for corpus in self.references.corpora]


def _words(command: str) -> tuple[str, ...]:
    path = command[1:] if command.startswith("@") else None
    if path is not None:
        command = " ".join(read_lines(path))
    return tuple(command_words(command, path=path))
