"""Direct assessment as CSV: a person's mark for a system's translation of a segment, a line each.

With a first line that names the columns, in any capitals: ``system``, ``segment`` (also ``segmentId``, ``seg1``,
``sid``, ``itemID``), counted from 1, ``score`` (also ``raw``, ``human``, ``z``), and if known ``judge`` (``user``,
``annotator``, ``judgeId``) and ``type`` (``itemType``), of which only ``TGT`` counts, the others being there to test
the judge. Without such a line, the columns of Appraise: ``user,system,itemID,itemType,source,target,score``. Several
marks of one translation are averaged. The texts are in a folder, as `read_judgements` has them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from lasw.metrics.agreement.judgements import ANONYMOUS, read_systems_texts, segment_number
from lasw.metrics.agreement.layouts.commas import csv_rows
from lasw.metrics.agreement.layouts.registry import other_layouts
from lasw.metrics.agreement.marked import MarkedSystems
from lasw.metrics.base import number_in
from lasw.metrics.errors import UserError, unknown

_COLUMNS = {
    "system": ("system", "systemid", "sys"),
    "segment": ("segment", "segmentid", "seg1", "segid", "sid", "itemid", "item"),
    "score": ("score", "raw", "human", "mark", "z"),
    "judge": ("judge", "judgeid", "user", "username", "annotator", "worker", "rater"),
    "type": ("type", "itemtype"),
}
_APPRAISE = ("judge", "system", "segment", "type", "source", "target", "score")
_COUNTS = ("", "TGT")


def read_marks(
    path: str | Path,
    folder: str | Path,
    *,
    standardise: bool = False,
    preprocess: Callable[[str], str] | None = None,
    encoding: str = "utf-8",
) -> MarkedSystems:
    """Read the marks of the systems of a folder.

    Args:
        path: the CSV file.
        folder: with ref.txt and hyp/.
        standardise: take from each judge's marks their mean and divide by their standard deviation (divisor n - 1), as
            WMT does; judges who gave fewer than two different marks are left out.
        preprocess: of every line of text.
        encoding: of all files.

    Raises:
        UserError: a column is missing, a line is wrong, or a system has no text.
    """
    evaluation, names = read_systems_texts(Path(folder), preprocess, encoding)
    n, index = len(evaluation.references), {name: k for k, name in enumerate(names)}
    rows: list[tuple[int, int, str, float]] = []
    for number, row in _rows(path, encoding):
        if row.get("type", "").strip().upper() not in _COUNTS:
            continue
        segment, mark = segment_number(row["segment"].strip()), number_in(row["score"].strip())
        system = row["system"].strip()
        if not 1 <= segment <= n:
            expected = f"a number from 1 to {n}"
            raise UserError(f"segment {row['segment']!r}", path=path, line=number, expected=expected)
        if mark is None:
            raise UserError(f"mark {row['score']!r}", path=path, line=number, expected="a finite number")
        if system not in index:
            error = unknown("system", system, list(names))
            raise UserError(error.found, path=path, line=number, expected=error.expected, remedy=error.remedy)
        rows.append((index[system], segment - 1, row.get("judge", "").strip(), mark))
    notes = []
    if standardise:
        if any(judge in ANONYMOUS for _, _, judge, _ in rows):
            expected = "a column 'judge' that names one for every mark"
            raise UserError("marks without a judge", path=path, expected=expected, remedy="leave out --standardise")
        rows, left_out = _standardised(rows)
        notes.append(f"marks standardised by judge; {left_out} of judges who gave one mark only left out")
    if not rows:
        raise UserError("no marks", path=path, expected="a line a mark")
    sums, counts = np.zeros((len(names), n)), np.zeros((len(names), n))
    for system_place, place, _, mark in rows:
        sums[system_place, place] += mark
        counts[system_place, place] += 1
    marks = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return MarkedSystems(Path(folder).resolve().name, names, evaluation, marks, notes=tuple(notes))


def _rows(path: str | Path, encoding: str) -> list[tuple[int, dict[str, str]]]:
    """The number of each line and its columns by the names of `_COLUMNS`."""
    lines = csv_rows(path, encoding)
    if not lines:
        raise UserError("no marks", path=path, expected="a line a mark")
    first = [name.strip().lower() for name in lines[0]]
    if len(first) >= len(_APPRAISE) and number_in(first[len(_APPRAISE) - 1]) is not None:
        places, begin = {name: k for k, name in enumerate(_APPRAISE)}, 0
    else:
        places = {
            name: first.index(known)
            for name, others in _COLUMNS.items()
            for known in reversed(others)
            if known in first
        }
        begin = 1
        for name in ("system", "segment", "score"):
            if name not in places:
                expected = f"a first line that names the columns, commas between: {', '.join(_COLUMNS[name])}"
                remedy = other_layouts("--marks")
                raise UserError(f"no column {name!r}", path=path, line=1, expected=expected, remedy=remedy)
    rows = []
    for number, fields in enumerate(lines[begin:], start=begin + 1):
        if len(fields) != len(lines[0]):
            raise UserError(f"{len(fields)} columns", path=path, line=number, expected=f"{len(lines[0])}")
        rows.append((number, {name: fields[place] for name, place in places.items()}))
    return rows


def _standardised(rows: list[tuple[int, int, str, float]]) -> tuple[list[tuple[int, int, str, float]], int]:
    """The same marks on one scale, and how many were left out."""
    by_judge: dict[str, list[float]] = {}
    for _, _, judge, mark in rows:
        by_judge.setdefault(judge, []).append(mark)
    scales = {
        judge: (float(np.mean(marks)), deviation)
        for judge, marks in by_judge.items()
        if len(set(marks)) > 1 and (deviation := float(np.std(marks, ddof=1))) > 0  # tiny marks have none
    }
    kept = [
        (system, segment, judge, (mark - scales[judge][0]) / scales[judge][1])
        for system, segment, judge, mark in rows
        if judge in scales
    ]
    return kept, len(rows) - len(kept)
