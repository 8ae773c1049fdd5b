"""People's pairwise rankings of systems, segment by segment, and the folder they come in.

A folder holds ``ref.txt`` (or several: ``ref0.txt``, ``ref1.txt``), ``hyp/SYSTEM.txt`` and ``pairs.tsv``, each
compressed or not. ``pairs.tsv`` has the columns ``seg1 sysA sysB rel judge``: the segment counted from 1, and ``<``
where sysA is better, ``>`` where sysB is, ``=`` for a tie; other columns are ignored. People were sometimes shown the
reference among the systems: pairs with ``_ref`` are left out, and counted.

Where people's scores of whole systems are known by themselves, ``systems.tsv`` holds them, columns ``system human``;
they then count instead of the share of comparisons won, and ``pairs.tsv`` may be missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Evaluation, number_in
from lasw.metrics.errors import UserError, unknown
from lasw.metrics.text import References, read_corpora, read_lines

MOST_SEGMENTS = 9_999_999  # of a set of judgements: numbers are drawn for all up to the last

_REFERENCE = "_ref"
_SIGNS = {"<": 1, ">": -1, "=": 0}
ANONYMOUS = ("", "-")
_COLUMNS = ("seg1", "sysA", "sysB", "rel")
_TEXT = re.compile(r"(?P<name>.+)\.txt(\.(gz|bz2|xz))?")
_TABLE = r"{}\.tsv(\.(gz|bz2|xz))?"


@dataclass(frozen=True)
class Judgements:
    """Systems' translations and which of two a person preferred.

    Attributes:
        name: of the folder.
        systems: S names, in alphabetical order.
        evaluation: the S systems' translations of n segments.
        segment: (m,) int64, 0-based segment of each preference.
        better, worse: (m,) int64, system preferred and system not preferred.
        ties: how many pairs people found equally good; only accuracies count them.
        with_reference: how many pairs were left out because one of the two was the reference itself.
        given: (S,) people's scores of the systems, NaN for one without; None if they come from the preferences.
        tied: (t, 3) int64, segment and two systems of each pair that people found equally good.
        votes: (v, 5) int64, every comparison: segment, two systems, 1 where the first is better, -1 the second, 0
            neither, and who said so, -1 for somebody unknown.
    """

    name: str
    systems: tuple[str, ...]
    evaluation: Evaluation
    segment: NDArray[np.int64]
    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    ties: int
    with_reference: int
    given: NDArray[np.float64] | None = None
    tied: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 3), dtype=np.int64))
    votes: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 5), dtype=np.int64))

    def __repr__(self) -> str:
        sizes = f"{len(self.systems)} systems, {len(self.evaluation.references)} segments"
        return f"Judgements({self.name!r}, {sizes}, {len(self.segment)} preferences, {self.ties} ties)"

    @classmethod
    def from_lines(
        cls,
        references: Sequence[str] | References,
        systems: Mapping[str, Sequence[str]],
        pairs: Iterable[tuple[int, str, str, str]],
        name: str = "",
    ) -> Judgements:
        """Of strings and lists.

        Args:
            references: n lines; more than one reference by `References.from_lines`.
            systems: n translations each, by the system's name.
            pairs: segment, counted from 0, and two systems with what people say of them: ``<`` if the first is
                better, ``>`` if the second is, ``=`` if neither is.
            name: of the set.

        Raises:
            UserError: a system has another number of lines than the references, a pair is of a system or segment
                that there is not, or says something else.
        """
        names = tuple(sorted(systems))
        evaluation = Evaluation.from_lines(references, *(systems[one] for one in names))
        votes = []
        for segment, first, second, relation in pairs:
            known = first in systems and second in systems and first != second and relation in _SIGNS
            if not known or not 0 <= segment < len(evaluation.references):
                raise UserError(
                    f"pair {(segment, first, second, relation)!r}",
                    expected=f"a segment below {len(evaluation.references)}, two of {', '.join(names)}, and <, > or =",
                )
            votes.append(Vote(segment, names.index(first), names.index(second), _SIGNS[relation], ""))
        return judgements_of(name, names, evaluation, votes, 0)

    @property
    def without_score(self) -> tuple[str, ...]:
        """The systems that people gave no score, and so no correlation of systems has."""
        scored = np.zeros(len(self.systems), dtype=np.bool_)
        if self.given is None:
            scored[self.better] = scored[self.worse] = True
        else:
            scored = ~np.isnan(self.given)
        return tuple(name for name, has_one in zip(self.systems, scored.tolist(), strict=True) if not has_one)


@dataclass(frozen=True)
class Vote:
    """One comparison: 0-based segment, two systems; 1 if the first is better, -1 the second, 0 neither; who said so."""

    segment: int
    first: int
    second: int
    sign: int
    judge: str


def read_judgements(
    folder: str | Path, *, preprocess: Callable[[str], str] | None = None, encoding: str = "utf-8"
) -> Judgements:
    """Read a folder as described above.

    Raises:
        UserError: a file is missing or a line of the table is wrong.
    """
    folder = Path(folder)
    evaluation, names = read_systems_texts(folder, preprocess, encoding)
    pairs, scores = _tables(folder, "pairs"), _tables(folder, "systems")
    if len(pairs) + (not pairs and len(scores)) != 1 or len(scores) > 1:
        found = f"{len(pairs)} tables of judgements"
        found += f", {len(scores)} of systems" if scores else ""
        raise UserError(found, path=folder, expected="one, pairs.tsv or pairs.tsv.gz")
    given = _read_systems(scores[0], names, encoding) if scores else None
    if not pairs:
        nothing = np.empty(0, dtype=np.int64)
        return Judgements(folder.resolve().name, names, evaluation, nothing, nothing, nothing, 0, 0, given)
    votes, left_out = _read_pairs(pairs[0], names, len(evaluation.references), encoding)
    return judgements_of(folder.resolve().name, names, evaluation, votes, left_out, given)


def judgements_of(
    name: str,
    systems: tuple[str, ...],
    evaluation: Evaluation,
    votes: Sequence[Vote],
    with_reference: int,
    given: NDArray[np.float64] | None = None,
) -> Judgements:
    """Judgements from comparisons one by one."""
    judges = {judge: k for k, judge in enumerate(sorted({vote.judge for vote in votes}))}
    rows = [(v.segment, v.first, v.second, v.sign, -1 if v.judge in ANONYMOUS else judges[v.judge]) for v in votes]
    table = np.array(rows, dtype=np.int64).reshape(-1, 5)
    ordered, tied = table[table[:, 3] != 0], table[table[:, 3] == 0][:, :3]
    ahead = ordered[:, 3] > 0
    better, worse = (np.where(ahead, ordered[:, i], ordered[:, j]) for i, j in ((1, 2), (2, 1)))
    columns = (ordered[:, 0], better, worse, len(tied), with_reference, given, tied, table)
    return Judgements(name, systems, evaluation, *columns)


def read_systems_texts(
    folder: Path, preprocess: Callable[[str], str] | None, encoding: str
) -> tuple[Evaluation, tuple[str, ...]]:
    """The systems' texts and references in a folder, and the systems' names.

    Raises:
        UserError: there is none.
    """
    if not folder.is_dir():
        raise UserError("no such folder", path=folder)
    reference_paths = [path for name, path in _texts(folder) if re.fullmatch(r"ref\d*", name)]
    systems = dict(_texts(folder / "hyp"))
    if not reference_paths:
        raise UserError("no reference", path=folder, expected="ref.txt or ref.txt.gz in it")
    if not systems:
        raise UserError("no system", path=folder / "hyp", expected="a file NAME.txt or NAME.txt.gz a system")

    references = References.read(reference_paths, preprocess=preprocess, encoding=encoding)
    outputs = read_corpora(systems.values(), references.vocabulary, preprocess=preprocess, encoding=encoding)
    return Evaluation(references, outputs), tuple(systems)


def _tables(folder: Path, name: str) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if re.fullmatch(_TABLE.format(name), path.name)]


def _texts(folder: Path) -> list[tuple[str, Path]]:
    """(name, path) of the text files of a folder, by name; two files of one name are refused."""
    paths: dict[str, Path] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        match = _TEXT.fullmatch(path.name)
        if match is None:
            continue
        if match["name"] in paths:
            raise UserError(f"the same text as {paths[match['name']].name}", path=path, expected="one file for each")
        paths[match["name"]] = path
    return sorted(paths.items())


def _read_pairs(path: Path, systems: tuple[str, ...], segments: int, encoding: str) -> tuple[list[Vote], int]:
    """The comparisons, and how many have the reference."""
    index = {name: k for k, name in enumerate(systems)}
    votes: list[Vote] = []
    with_reference = 0
    header, _ = read_table(path, encoding)
    columns = (*_COLUMNS, "judge") if header.count("judge") == 1 else _COLUMNS
    for number, (segment, first, second, relation, *judge) in _rows(path, columns, encoding):
        if _REFERENCE in (first, second):
            with_reference += 1
            continue
        if not 1 <= segment_number(segment) <= segments:
            raise UserError(f"segment {segment!r}", path=path, line=number, expected=f"a number from 1 to {segments}")
        for name in (first, second):
            if name not in index:
                raise _unknown_system(name, systems, path, number)
        if first == second:
            raise UserError(f"system {first} against itself", path=path, line=number, expected="two systems")
        if relation not in _SIGNS:
            raise UserError(f"relation {relation!r}", path=path, line=number, expected="'<', '>' or '='")
        who = judge[0] if judge else ""
        votes.append(Vote(int(segment) - 1, index[first], index[second], _SIGNS[relation], who))
    return votes, with_reference


def _read_systems(path: Path, systems: tuple[str, ...], encoding: str) -> NDArray[np.float64]:
    """(S,) people's scores, NaN for a system without."""
    index = {name: k for k, name in enumerate(systems)}
    scores = np.full(len(systems), np.nan)
    for number, (name, text) in _rows(path, ("system", "human"), encoding):
        if name == _REFERENCE:
            continue
        if name not in index:
            raise _unknown_system(name, systems, path, number)
        if not math.isnan(scores[index[name]]):
            raise UserError(f"system {name} again", path=path, line=number, expected="one line for each")
        score = number_in(text)
        if score is None:
            raise UserError(f"score {text!r}", path=path, line=number, expected="a finite number")
        scores[index[name]] = score
    return scores


def _rows(path: Path, columns: tuple[str, ...], encoding: str) -> Iterator[tuple[int, list[str]]]:
    """The 1-based number of each line behind the first, and its fields of these columns."""
    header, rows = read_table(path, encoding)
    check_columns(header, columns, columns, path)
    places = [header.index(name) for name in columns]
    return ((number, [fields[place] for place in places]) for number, fields in rows)


def read_table(path: str | Path, encoding: str) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The names of a table's columns; the 1-based number and the fields of each line behind them.

    Raises:
        UserError: it cannot be read; when its lines are gone through, another number of fields or a blank last line.
    """
    lines = read_lines(path, encoding=encoding)
    header = lines[0].split("\t") if lines else []

    def rows() -> Iterator[tuple[int, list[str]]]:
        for number, line in enumerate(lines[1:], start=2):
            fields = line.split("\t")
            if not line and number == len(lines):
                raise UserError("one extra blank last line", path=path, line=number, remedy="remove it")
            if len(fields) != len(header):
                raise UserError(f"{len(fields)} columns", path=path, line=number, expected=f"{len(header)}")
            yield number, fields

    return header, rows()


def check_columns(header: Sequence[str], needed: Iterable[str], once: Iterable[str], path: str | Path) -> None:
    """Raise UserError unless the columns `needed` are there, and none of `once` twice."""
    missing = next((name for name in needed if name not in header), None)
    if missing is not None:
        raise UserError(
            f"no column {missing!r}", path=path, line=1, expected="a first line that names the columns, with tabs"
        )
    twice = next((name for name in once if header.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"two columns {twice!r}", path=path, line=1, expected="each once")


def segment_number(text: str) -> int:
    """The number from 1 that `text` is; 0 if it is none, or too large to be one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(MOST_SEGMENTS)) else 0


def _unknown_system(name: str, systems: tuple[str, ...], path: Path, line: int) -> UserError:
    error = unknown("system", name, list(systems))
    return UserError(error.found, path=path, line=line, expected=error.expected, remedy=error.remedy)
