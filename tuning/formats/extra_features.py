"""Features from other scorers: one number per N-best line, in a file of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError, Vocabulary, read_lines
from lasw.tuning.formats.weights import FilePath, number
from lasw.tuning.nbest import NBest, ScoredList

Floats = NDArray[np.float64]
_List = TypeVar("_List", NBest, ScoredList)


class ExtraFeatures:
    """The columns that several lists of hypotheses get, in the order of the lists.

    Args:
        files: for every feature its files; together they have one number for every line of all lists.

    Raises:
        UserError: a name that no list could hold, a file that cannot be read, a line that is no finite number.
    """

    def __init__(self, files: Mapping[str, Sequence[FilePath]], *, encoding: str = "utf-8") -> None:
        for name in files:
            _check_name(name)
        self._files = files
        self._columns = {name: _read(name, paths, encoding) for name, paths in files.items()}
        self._used = 0
        self._sparse_names: Vocabulary | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The features."""
        return tuple(self._columns)

    def extend(self, nbest: _List) -> _List:
        """The next list, with its part of the columns behind its own features.

        Raises:
            UserError: a column that is too short, or a name that the list has already.
        """
        if not self._columns:
            return nbest
        start, end = self._used, self._used + len(nbest)
        for name, column in self._columns.items():
            if name in nbest.names.slices:
                raise _has_its_own(name)
            if end > len(column):
                raise self._wrong_length(name, f"more than {len(column)}")
        self._used = end
        self._sparse_names = nbest.sparse_names
        added: list[Floats] = [column[start:end, None] for column in self._columns.values()]
        return dataclasses.replace(
            nbest, names=nbest.names.extended(*self.names), dense=np.hstack([nbest.dense, *added])
        )

    def finish(self) -> None:
        """To be called behind the last list.

        Raises:
            UserError: a column has numbers left, or the name of a sparse feature of the lists.
        """
        if self._columns and self._sparse_names is not None:
            for k in range(len(self._sparse_names)):
                if self._sparse_names[k] in self._columns:
                    raise _has_its_own(self._sparse_names[k])
        for name, column in self._columns.items():
            if len(column) != self._used:
                raise self._wrong_length(name, str(self._used))

    def _wrong_length(self, name: str, expected: str) -> UserError:
        return UserError(
            f"{len(self._columns[name])} values of the feature {name}",
            path=" + ".join(map(str, self._files[name])),
            expected=f"{expected}, one for every line of the N-best lists",
        )


def _check_name(name: str) -> None:
    if not name or "|||" in name or "=" in name or any(map(str.isspace, name)):
        raise UserError(f"{name!r} as the name of a feature", expected="a name without blanks, '=' and '|||'")


def _has_its_own(name: str) -> UserError:
    return UserError(f"the N-best list has a feature {name} of its own", remedy="name the new one differently")


def _read(name: str, paths: Sequence[FilePath], encoding: str) -> Floats:
    parts = [np.empty(0)]
    for path in paths:
        lines = read_lines(path, encoding=encoding)
        what = f"a value of {name}"
        parts.append(np.array([number(x.strip(" \t"), path=path, line=k, what=what) for k, x in enumerate(lines, 1)]))
    return np.concatenate(parts)
