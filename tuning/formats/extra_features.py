"""Features from other scorers: one number (or several) per hypothesis, in a file of their own.

Text, a line a hypothesis, compressed or not; or an array of numpy (``.npy``), (n,) or (n, k).
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Blocks, UserError, Vocabulary, first_bytes, parse_array, tokens
from lasw.tuning.formats.nbest import Place, read_matrix
from lasw.tuning.formats.weights import FilePath, number
from lasw.tuning.nbest import NBest, ScoredList
from lasw.tuning.weights import FeatureNames

_LF = 10

Floats = NDArray[np.float64]
_List = TypeVar("_List", NBest, ScoredList)


class ExtraFeatures:
    """The columns that several lists of hypotheses get, in the order of the lists.

    Args:
        files: for every feature its files; together they have one line for every hypothesis of all lists.

    Raises:
        UserError: a name that no list could hold, a file that cannot be read, a line that is no finite number, or has
            more or fewer of them than the first.
    """

    def __init__(self, files: Mapping[str, Sequence[FilePath]], *, encoding: str = "utf-8") -> None:
        for name in files:
            _check_name(name)
        self._files = files
        self._columns = {name: read_columns(paths, f"a value of {name}", encoding) for name, paths in files.items()}
        self._used = 0
        self._sparse_names: Vocabulary | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The features."""
        return tuple(self._columns)

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """The features with their numbers of values."""
        return tuple((name, column.shape[1]) for name, column in self._columns.items())

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
        added: list[Floats] = [column[start:end] for column in self._columns.values()]
        names = FeatureNames(nbest.names.groups + self.groups)
        return dataclasses.replace(nbest, names=names, dense=np.hstack([nbest.dense, *added]))

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


def read_columns(paths: Sequence[FilePath], what: str, encoding: str = "utf-8") -> Floats:
    """(n, k) the numbers in files, one behind the other.

    Args:
        paths: of text or of arrays.
        what: they are, for messages.
        encoding: of text.

    Raises:
        UserError: see `ExtraFeatures`.
    """
    parts = [_array(path) if os.fspath(path).endswith(".npy") else _text(path, what, encoding) for path in paths]
    for path, part in zip(paths[1:], parts[1:], strict=True):
        if part.shape[1] != parts[0].shape[1]:
            expected = f"{parts[0].shape[1]}, as in {os.fspath(paths[0])}"
            raise UserError(f"{part.shape[1]} numbers a line", path=os.fspath(path), expected=expected)
    return np.concatenate(parts)


def _text(path: FilePath, what: str, encoding: str) -> Floats:
    parts: list[Floats] = []
    width = 0
    for block in Blocks(os.fspath(path), encoding):
        width = width or len(tokens(block.text().partition("\n")[0])) or 1
        values = np.empty((int(np.count_nonzero(block.data == _LF)), width))
        if not read_matrix(block.data, values):  # something that the compiled reader leaves to this one, or wrong
            rows = enumerate(block.text().split("\n")[:-1], block.first_line)
            values = np.array([_row(line, Place(os.fspath(path), k), what, width) for k, line in rows])
        parts.append(values)
    return np.concatenate(parts) if parts else np.empty((0, 1))


def _row(line: str, place: Place, what: str, width: int) -> list[float]:
    row = [number(x, path=place.path, line=place.line, what=what) for x in tokens(line) or [""]]
    if len(row) != width:
        raise place.error(f"{len(row)} numbers", expected=f"{width}, as on line 1")
    return row


def _array(path: FilePath) -> Floats:
    try:
        array = parse_array(first_bytes(path, -1))
    except ValueError as error:
        raise UserError(
            f"no array of numpy ({error})", path=os.fspath(path), expected="what numpy.save writes"
        ) from None
    if array.dtype.kind not in "iuf" or array.ndim not in (1, 2):
        found = f"{array.dtype} of shape {array.shape}"
        raise UserError(found, path=os.fspath(path), expected="numbers, (n,) or (n, k)")
    columns = (array[:, None] if array.ndim == 1 else array).astype(np.float64)
    lost = np.flatnonzero(~np.isfinite(columns).all(axis=1))
    if len(lost):
        raise UserError(f"row {lost[0]} is not finite", path=os.fspath(path), expected="finite numbers")
    return columns
