"""word2vec's and GloVe's files, read through once to learn where each word's numbers begin."""

from __future__ import annotations

import mmap
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError
from lasw.metrics.vectors.base import FORMATS, VectorFile

LONGEST_LINE = 1 << 20


class _Scanned(VectorFile):
    """A file that was read through once to learn where each word's numbers begin."""

    def __init__(self, path: str, content: mmap.mmap, size: int) -> None:
        self.path, self.size = path, size
        self._content = content
        self._rows: dict[bytes, int] = {}
        self._places: list[int] = []
        self._repeated = 0

    def _add(self, word: bytes, place: int) -> None:
        if self._rows.setdefault(word, len(self._places)) != len(self._places):
            self._repeated += 1
        self._places.append(place)

    def _remark(self) -> None:
        if self._repeated:
            self.remarks += (f"{self.path}: {self._repeated} words stand there again; the first of each counts",)

    def __len__(self) -> int:
        return len(self._places)

    def row(self, word: str) -> int:
        """See `VectorFile`."""
        return self._rows.get(word.encode(), -1)

    def word(self, row: int) -> str:
        """See `VectorFile`."""
        return self._names[row].decode("utf-8", errors="replace")

    @cached_property
    def _names(self) -> list[bytes]:
        """Of every row; repeated words have none."""
        names = [b""] * len(self._places)
        for word, row in self._rows.items():
            names[row] = word
        return names


class BinaryFile(_Scanned):
    """word2vec's binary format: a line ``n d``, then for each word its bytes, a space and d little-endian floats."""

    def __init__(self, path: str, content: mmap.mmap, count: int, size: int) -> None:
        super().__init__(path, content, size)
        place = content.find(b"\n") + 1
        for number in range(count):
            end = content.find(b" ", place, place + LONGEST_LINE)
            after = end + 1 + 4 * size
            if end < 0 or after > len(content):
                raise UserError(f"the file ends in word {number + 1}", path=path, expected=f"{count} of {size} numbers")
            self._add(content[place:end].lstrip(b"\n"), end + 1)
            place = after
        if content[place:].strip(b"\n"):
            raise UserError(
                f"{len(content) - place} bytes behind the last word", path=path, expected=f"{count} of {size} numbers"
            )
        self._remark()

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `VectorFile`."""
        out = np.empty((len(rows), self.size), dtype=np.float32)
        for k, row in enumerate(rows.tolist()):
            out[k] = np.frombuffer(self._content, dtype="<f4", count=self.size, offset=self._places[row])
        bad = np.flatnonzero(~np.isfinite(out).all(axis=1))
        if len(bad):
            row = int(rows[bad[0]])
            raise UserError(f"word {row + 1} ({self.word(row)!r}) has NaN or inf in its vector", path=self.path)
        return out


class TextFile(_Scanned):
    """A word and d numbers a line; with a first line ``n d`` or without (GloVe)."""

    def __init__(self, path: str, content: mmap.mmap, header: tuple[int, int] | None) -> None:
        """From where `content` stands, which is behind a byte order mark."""
        super().__init__(path, content, header[1] if header else 0)
        self._skipped = 1 if header else 0
        if header:
            content.readline()
        with_spaces = 0
        while True:
            place = content.tell()
            line = content.readline()
            if not line:
                break
            line = line.rstrip(b" \t\r\n")
            if not self.size:
                self.size = _fields(line) - 1
            if self.size < 1 or _fields(line) != self.size + 1:
                self._check(line)
                with_spaces += 1
            self._add(_word(line, self.size), place)
        if not self._places:
            raise UserError("no word vectors in it", path=path, expected=FORMATS)
        if header and header[0] != len(self):
            raise UserError(
                f"{len(self)} words",
                path=path,
                expected=f"{header[0]}, as its first line says",
                remedy="is it cut off?",
            )
        if with_spaces:
            self.remarks += (f"{path}: {with_spaces} words have spaces in them, so no token can be one of them",)
        self._remark()

    def _check(self, line: bytes) -> None:
        """A line with too many fields is a word with spaces; if all behind the first are numbers it is a mistake."""
        fields = line.replace(b"\t", b" ").split(b" ")
        number = len(self) + self._skipped + 1
        wrong = UserError(
            f"{len(fields) - 1} numbers", path=self.path, line=number, expected=f"a word and {self.size or 'some'}"
        )
        if self.size < 1 or len(fields) <= self.size:
            raise wrong
        if all(parsed(field) is not None for field in fields[1 : -self.size]):
            raise wrong

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `VectorFile`."""
        out = np.empty((len(rows), self.size), dtype=np.float32)
        for k, row in enumerate(rows.tolist()):
            self._content.seek(self._places[row])
            fields = self._content.readline().rstrip(b" \t\r\n").replace(b"\t", b" ").split(b" ")[-self.size :]
            try:
                with np.errstate(over="ignore"):  # what single precision cannot hold is refused below
                    out[k] = [float(field) for field in fields]
            except ValueError:
                self._refuse(row, next(field for field in fields if parsed(field) is None))
            if not np.isfinite(out[k]).all():
                self._refuse(row, fields[int(np.flatnonzero(~np.isfinite(out[k]))[0])])
        return out

    def _refuse(self, row: int, field: bytes) -> None:
        raise UserError(
            f"{field.decode('utf-8', errors='replace')!r} in the vector of {self.word(row)!r}",
            path=self.path,
            line=row + self._skipped + 1,
            expected="a number",
        )


def _fields(line: bytes) -> int:
    return line.count(b" ") + line.count(b"\t") + 1


def _word(line: bytes, size: int) -> bytes:
    if _fields(line) == size + 1:
        ends = [end for end in (line.find(b" "), line.find(b"\t")) if end >= 0]
        return line[: min(ends)]
    return line.replace(b"\t", b" ").rsplit(b" ", size)[0]


def parsed(field: bytes) -> float | None:
    """The number in a field of text, None if it holds none."""
    try:
        return float(field)
    except ValueError:
        return None
