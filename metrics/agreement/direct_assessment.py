"""Direct assessment: people's marks for single translations (Graham et al. 2013), and the tables they come in.

A table has a line that names its columns, tabs between, compressed or not: ``human``, ``hyp`` and ``ref`` (or several,
``ref0 ref1 ...``), and if known ``seg1``, the segment counted from 1, and ``system``; others are ignored. A translation
that several systems gave stands there once, as WMT's tables have it: ``A+B`` is both, provided that A and B each have
a line of their own somewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.judgements import MOST_SEGMENTS, check_columns, read_table, segment_number
from lasw.metrics.base import Evaluation, number_in
from lasw.metrics.errors import UserError
from lasw.metrics.text import Corpus, References, Vocabulary

_REFERENCE = re.compile(r"ref\d*")


@dataclass(frozen=True)
class DirectAssessment:
    """n translations, each with references of its own and people's mark for it.

    Attributes:
        name: of the file.
        evaluation: the translations as one system's, over n references.
        marks: (n,) finite, higher is better.
        segments: (n,) int64, which segment each translates, 0-based; each line its own where the table does not say.
        systems: S names, in alphabetical order; none where the table does not say.
        gave: (S, n) bool, which system gave which translation.
    """

    name: str
    evaluation: Evaluation
    marks: NDArray[np.float64]
    segments: NDArray[np.int64]
    systems: tuple[str, ...]
    gave: NDArray[np.bool_]

    @property
    def references(self) -> References:
        """Of each translation."""
        return self.evaluation.references

    @property
    def hypotheses(self) -> Corpus:
        """The translations."""
        return self.evaluation.systems[0]

    @property
    def owner(self) -> NDArray[np.int32]:
        """(n,) the place of each translation's references: its own."""
        return np.arange(len(self.marks), dtype=np.int32)

    def take(self, rows: NDArray[np.integer]) -> DirectAssessment:
        """Only the translations `rows`."""
        rows = np.asarray(rows)
        evaluation = Evaluation(self.references.take(rows), (self.hypotheses.take(rows),))
        columns = (self.marks[rows], self.segments[rows], self.systems, self.gave[:, rows])
        return DirectAssessment(self.name, evaluation, *columns)


def read_direct_assessment(
    path: str | Path, *, preprocess: Callable[[str], str] | None = None, encoding: str = "utf-8"
) -> DirectAssessment:
    """Read a table as described above.

    Raises:
        UserError: a column is missing or named twice, a line has another number of columns, a mark is no finite number,
            a segment no number from 1, a system has two marks for one segment or no name, or there is no line.
    """
    header, numbered = read_table(path, encoding)
    references = [name for name in header if _REFERENCE.fullmatch(name)]
    check_columns(header, ("human", "hyp", *(references or ["ref"])), header, path)
    rows = [fields for _, fields in numbered]
    if not rows:
        raise UserError("no marks", path=path, expected="a line a translation")
    columns: dict[str, tuple[str, ...]] = dict(zip(header, zip(*rows, strict=True), strict=True))
    vocabulary = Vocabulary()

    def corpus(name: str) -> Corpus:
        return Corpus.from_lines(columns[name], vocabulary, preprocess)

    evaluation = Evaluation(References(tuple(map(corpus, references))), (corpus("hyp"),))
    marks = np.array([_mark(text, path, number) for number, text in enumerate(columns["human"], start=2)])
    segments = np.arange(len(rows), dtype=np.int64)
    if "seg1" in columns:
        segments = np.array([_segment(text, path, number) for number, text in enumerate(columns["seg1"], start=2)])
    for number, name in enumerate(columns.get("system", ()), start=2):
        if not name:
            raise UserError("a system without a name", path=path, line=number, expected="a name in every line")
    systems, gave = _systems(columns.get("system", ()), len(rows))
    if "seg1" in columns:
        _check_once(segments, systems, gave, path)
    return DirectAssessment(_stem(Path(path)), evaluation, marks, segments, systems, gave)


def _mark(text: str, path: str | Path, line: int) -> float:
    value = number_in(text)
    if value is None:
        raise UserError(f"mark {text!r}", path=path, line=line, expected="a finite number")
    return value


def _segment(text: str, path: str | Path, line: int) -> int:
    number = segment_number(text)
    if not number:
        raise UserError(f"segment {text!r}", path=path, line=line, expected=f"a number from 1 to {MOST_SEGMENTS}")
    return number - 1


def _systems(names: Sequence[str], n: int) -> tuple[tuple[str, ...], NDArray[np.bool_]]:
    """The systems, and which of the n translations each gave."""
    alone = set(names)
    givers = [parts if alone.issuperset(parts := name.split("+")) else [name] for name in names]
    systems = tuple(sorted({name for parts in givers for name in parts}))
    index = {name: k for k, name in enumerate(systems)}
    gave = np.zeros((len(systems), n), dtype=np.bool_)
    for row, parts in enumerate(givers):
        gave[[index[name] for name in parts], row] = True
    return systems, gave


def _check_once(segments: NDArray[np.int64], systems: Sequence[str], gave: NDArray[np.bool_], path: str | Path) -> None:
    for name, rows in zip(systems, map(np.flatnonzero, gave), strict=True):
        first: dict[int, int] = {}
        for row in rows.tolist():
            segment = int(segments[row])
            if first.setdefault(segment, row) != row:
                raise UserError(
                    f"segment {segment + 1} of system {name} again",
                    path=path,
                    line=row + 2,
                    expected="one mark for each",
                    remedy=f"line {first[segment] + 2} has one too",
                )


def _stem(path: Path) -> str:
    return re.sub(r"(\.tsv)?(\.(gz|bz2|xz))?$", "", path.name)
