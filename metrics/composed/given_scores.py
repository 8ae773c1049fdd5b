"""SCORES: numbers that were computed elsewhere, as a metric.

``SCORES:file=FILE``, all behind ``file=`` is the path. The file, compressed or not, has a line that names its columns,
tabs between: ``hyp`` and ``score``, higher is better, and ``ref`` if a hypothesis may have several scores; others are
ignored. Texts are compared token by token, so they must be as the text that is scored is after --tokenize and
--lowercase. Of several references the best counts. The corpus score is the mean of the sentence scores.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import MeanMetric, Signature, number_in, with_ones
from lasw.metrics.errors import UserError
from lasw.metrics.text import Corpus, References, distinct, read_lines

_GRAMMAR = "SCORES:file=FILE"
_SHOWN = 60


@dataclass(frozen=True, eq=False)
class GivenScores(MeanMetric):
    """Numbers from a table, on their own scale.

    Args:
        path: of the table.
        table: from a hypothesis and its reference, both with single spaces between tokens, to its score; the reference
            is None where the table has none.

    Statistics: (n, 2) float64, score and 1.
    """

    path: str
    table: dict[tuple[str, str | None], float] = field(repr=False)
    with_references: bool

    name = "SCORES"
    display_scale = 1.0

    @property
    def of_words(self) -> bool:
        """It has words of its own, or none."""
        return False

    @classmethod
    def from_text(cls, text: str) -> GivenScores:
        """The metric of what stands behind ``SCORES:``.

        Raises:
            UserError: not of the form above, or the file cannot be read.
        """
        key, equals, path = text.partition("=")
        if key != "file" or not path:
            raise UserError(f"SCORES:{text}" if equals or text else "SCORES without a file", expected=_GRAMMAR)
        return read_scores(path)

    def signature(self) -> Signature:
        """The file's name and a fingerprint of the scores."""
        digest = hashlib.sha256()
        for (hypothesis, reference), score in sorted(self.table.items(), key=repr):
            digest.update(f"{hypothesis}\t{reference}\t{score!r}\n".encode())
        return Signature(self.name, (("file", f"{os.path.basename(self.path)}#{digest.hexdigest()[:12]}"),))

    @property
    def by_segment(self) -> bool:
        """It does."""
        return True

    def prepare(self, references: References) -> References:
        """The references themselves."""
        return references

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[np.float64]:
        """(n, 2) score and 1.

        Raises:
            UserError: the table has no score for a hypothesis.
        """
        owner = np.ascontiguousarray(owner, dtype=np.int32)
        rows, inverse = distinct(hypotheses, owner)
        best = np.empty(len(rows))
        for k, (row, segment) in enumerate(zip(rows.tolist(), owner[rows].tolist(), strict=True)):
            best[k] = self._score(hypotheses.text(row), prepared, segment)
        return with_ones(best[inverse])

    def _score(self, hypothesis: str, references: References, segment: int) -> float:
        texts = [c.text(segment) for c in references.corpora] if self.with_references else [None]
        found = [self.table[hypothesis, text] for text in texts if (hypothesis, text) in self.table]
        if len(found) < len(texts):
            raise UserError(
                f"no score for the hypothesis {_short(hypothesis)!r} of segment {segment + 1}",
                path=self.path,
                expected="a line for each hypothesis" + (" and reference" if self.with_references else ""),
                remedy="is its text tokenised and cased in the same way?",
            )
        return max(found)


def read_scores(path: str | Path) -> GivenScores:
    """Read a table as described above.

    Raises:
        UserError: a column is missing or named twice, a line has another number of columns, a score is no finite
            number, or one text has two scores.
    """
    lines = read_lines(path)
    header = lines[0].split("\t") if lines else []
    for name in ("hyp", "score"):
        if header.count(name) != 1:
            found = f"{header.count(name) or 'no'} column {name!r}"
            raise UserError(found, path=path, line=1, expected="a first line that names the columns, with tabs")
    if header.count("ref") > 1:
        raise UserError("2 columns 'ref'", path=path, line=1, expected="one at most, a line for each reference")
    table: dict[tuple[str, str | None], float] = {}
    for number, line in enumerate(lines[1:], start=2):
        fields = line.split("\t")
        if len(fields) != len(header):
            raise UserError(f"{len(fields)} columns", path=path, line=number, expected=f"{len(header)}")
        row = dict(zip(header, fields, strict=True))
        key = (_tokens(row["hyp"]), _tokens(row["ref"]) if "ref" in row else None)
        score = _number(row["score"], path, number)
        if table.setdefault(key, score) != score:
            found = f"another score for the hypothesis {_short(key[0])!r}"
            remedy = None if "ref" in row else "a column 'ref' tells them apart"
            raise UserError(found, path=path, line=number, expected="one", remedy=remedy)
    if not table:
        raise UserError("no scores", path=path, expected="a line a hypothesis")
    return GivenScores(os.fspath(path), table, "ref" in header)


def _tokens(text: str) -> str:
    return " ".join(token for token in text.split(" ") if token)


def _number(text: str, path: str | Path, line: int) -> float:
    value = number_in(text)
    if value is None:
        raise UserError(f"score {text!r}", path=path, line=line, expected="a finite number")
    return value


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."
