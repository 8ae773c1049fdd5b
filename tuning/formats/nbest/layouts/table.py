"""Tables with a line of column names: tabs or commas between the columns.

One column is the text (``text``, ``hypothesis``, ``translation``), one the sentence's number (``id``, ``sentence``),
one the total (``score``), or as ``--column`` says; every other one that holds a number in the first row is a dense
feature, and all other ones are left alone. A name that stands over several columns is a feature of several values.
Without ids every sentence has the same number of rows (``--nbest-size``).
"""

from __future__ import annotations

import csv
import io
import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from lasw.metrics import UserError
from lasw.tuning.formats.nbest.layout import Fields, Group, NBestLayout, Place, is_number, only_score, shortened
from lasw.tuning.formats.nbest.layouts.json_lines import IDS, TEXTS
from lasw.tuning.nbest import NBest

_SCORES = ("score", "total")
_ROLES = {"text": TEXTS, "id": IDS, "score": _SCORES}


class _TableLayout(NBestLayout):
    """The first line names the columns."""

    holds = frozenset(("features", "score"))
    has_columns = True

    def __init__(self, options: Any = None) -> None:
        super().__init__(options)
        self._header: list[str] | None = None
        self._places: dict[str, int] = {}
        self._features: dict[str, list[int]] | None = None
        self._rows = 0

    @classmethod
    @abstractmethod
    def split(cls, line: str) -> list[str]:
        """The columns of a line."""

    @classmethod
    @abstractmethod
    def joined(cls, cells: list[str], path: str | os.PathLike[str] | None) -> str:
        """A line of these columns.

        Raises:
            UserError: a cell that it cannot hold.
        """

    @classmethod
    def column_names(cls, line: str) -> Sequence[str]:
        """See `NBestLayout`."""
        return cls.split(line)

    @classmethod
    def detects(cls, line: str) -> bool:
        """See `NBestLayout`: names only, one of them of a text."""
        names = cls.split(line)
        return len(names) > 1 and any(name in TEXTS for name in names) and not any(map(is_number, names))

    def hypotheses(self, line: str, place: Place) -> Sequence[Fields]:
        """The one of the row; none of the header."""
        cells = self.split(line)
        if self._header is None:
            self._header = cells
            self._places = self._roles(place)
            return ()
        if len(cells) != len(self._header):
            raise place.error(f"{len(cells)} columns", expected=f"{len(self._header)}, as in the first line")
        if self._features is None:
            self._features = self._feature_columns(cells)
        for name, columns in self._features.items():
            for k in columns:
                if not is_number(cells[k]):
                    raise place.error(f"{name} is {shortened(cells[k])}", expected="a number, as in the first row")
        groups = [Group(name, [cells[k] for k in columns], dense=True) for name, columns in self._features.items()]
        score = cells[self._places["score"]] if "score" in self._places else None
        if score is not None and not is_number(score):
            raise place.error(f"the total is {shortened(score)}", expected="a number")
        number = self._number(cells, place)
        self._rows += 1
        return (Fields(number, cells[self._places["text"]], groups or None, [], score),)

    def finish(self, path: str) -> None:
        """See `NBestLayout`.

        Raises:
            UserError: the last sentence has less rows than the others.
        """
        if "id" not in self._places and self.options.size and self._rows % self.options.size:
            raise UserError(f"{self._rows} rows", path=path, expected=f"a multiple of --nbest-size {self.options.size}")

    def _roles(self, place: Place) -> dict[str, int]:
        assert self._header is not None
        found: dict[str, int] = {}
        for role, usual in _ROLES.items():
            wanted = self.options.columns.get(role)
            names = (wanted,) if wanted else usual
            columns = [k for k, name in enumerate(self._header) if name in names]
            if len(columns) > 1:
                raise place.error(
                    f"{len(columns)} columns for the {role}", expected="one", remedy=f"--column {role}=NAME"
                )
            if columns:
                found[role] = columns[0]
            elif wanted:
                raise place.error(f"no column {wanted!r}", expected=f"one of {', '.join(self._header)}")
        if "text" not in found:
            expected = f"a column {', '.join(TEXTS)}, or --column text=NAME"
            raise place.error(f"columns {shortened(' '.join(self._header))}", expected=expected)
        if "id" not in found and not self.options.size:
            expected = "a column id, --column id=NAME, or --nbest-size N"
            raise place.error("no column with the numbers of the sentences", expected=expected)
        return found

    def _feature_columns(self, cells: list[str]) -> dict[str, list[int]]:
        assert self._header is not None
        features: dict[str, list[int]] = {}
        for k, name in enumerate(self._header):
            if k not in self._places.values() and (name in features or is_number(cells[k])):
                features.setdefault(name, []).append(k)
        return features

    def _number(self, cells: list[str], place: Place) -> int:
        if "id" in self._places:
            return self.sentence(cells[self._places["id"]], place)
        return self._rows // self.options.size

    def text(self, nbest: NBest, path: str | os.PathLike[str] | None) -> Iterator[str]:
        """See `NBestLayout`; sparse features are left to others."""
        plain = only_score(nbest.names)
        names = [] if plain else [name for name, size in nbest.names.groups for _ in range(size)]
        for name in names:
            if name in (*TEXTS, *IDS, *_SCORES):
                raise UserError(f"a feature {name}", path=path, expected="another name: the column has a meaning")
        yield self.joined(["id", "text", "score", *names], path)
        dense = nbest.dense[:, :0] if plain else nbest.dense
        for k, (owner, score, row) in enumerate(
            zip(nbest.owner.tolist(), nbest.score.tolist(), dense.tolist(), strict=True)
        ):
            yield self.joined([str(owner), nbest.hypotheses.text(k), repr(score), *map(repr, row)], path)


class TsvLayout(_TableLayout):
    """Tabs between the columns; nothing is quoted."""

    @classmethod
    def split(cls, line: str) -> list[str]:
        """See `_TableLayout`."""
        return line.split("\t")

    @classmethod
    def joined(cls, cells: list[str], path: str | os.PathLike[str] | None) -> str:
        """See `_TableLayout`."""
        return "\t".join(cells) + "\n"


class CsvLayout(_TableLayout):
    """Commas between the columns, quotes as RFC 4180 has them; no cell has a line break."""

    @classmethod
    def split(cls, line: str) -> list[str]:
        """See `_TableLayout`."""
        try:
            return next(csv.reader([line]), [])
        except csv.Error:  # a lone CR, a cell of more than 128 KB: a row that has not as many columns as the first
            return [line]

    @classmethod
    def joined(cls, cells: list[str], path: str | os.PathLike[str] | None) -> str:
        """See `_TableLayout`."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerow(cells)
        return out.getvalue()
