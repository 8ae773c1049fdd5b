"""Files of word vectors, opened without reading the numbers: rows are read when they are asked for.

Read are word2vec text and binary, GloVe text (no header), fastText's ``.vec`` and ``.bin``, gensim's own format, and
the packed file that `write_packed` makes, which opens at once however large it is. What a file is is told from its
content, compressed ones included. fastText's binary files give unknown words the vector of their character n-grams.

Words are compared as bytes of UTF-8. In text, fields are separated by single spaces or tabs: a word may hold anything
else, a no-break space too. A word with spaces in it is read but can be no token. Of equal words the first counts.
gensim's own format is a pickle, which can run code when it is opened: open only what you trust.
"""

from __future__ import annotations

import codecs
import mmap
import os
import shutil
import struct
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError
from lasw.metrics.files import atomic_write, first_bytes, open_bytes

FORMATS = "word2vec text or binary, GloVe, fastText, gensim's own format, or a file of `lasw vectors convert`"

_FASTTEXT_MAGIC = struct.pack("<i", 793712314)  # fastText, src/fasttext.cc
_PICKLE, _ZIP = b"\x80", b"PK\x03\x04"
_MEMBERS = ("words", "starts", "vectors")
_LONGEST_LINE = 1 << 20


class VectorFile(ABC):
    """An opened file of n words with vectors of d numbers.

    Attributes:
        path: of the file.
        size: d.
        remarks: what a person should know, one line each.
    """

    path: str
    size: int
    remarks: tuple[str, ...] = ()

    @abstractmethod
    def __len__(self) -> int:
        """Number of words, n."""

    @abstractmethod
    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The row of each word, -1 where there is none."""

    @abstractmethod
    def word(self, row: int) -> str:
        """The word of a row."""

    @abstractmethod
    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """(m, d) the vectors of `rows` (m,).

        Raises:
            UserError: one is not all numbers.
        """


def open_vectors(path: str | os.PathLike[str]) -> VectorFile:
    """Open a file of word vectors; once for the same file.

    Raises:
        UserError: it cannot be read, is none of the formats, or a line has another number of fields than the rest.
    """
    name = os.fspath(path)
    first = first_bytes(name, 4)
    status = os.stat(name)
    return _opened(name, status.st_mtime_ns, status.st_size, first)


@lru_cache(maxsize=4)
def _opened(path: str, _changed: int, _bytes: int, first: bytes) -> VectorFile:
    if first == _ZIP:
        return PackedFile(path)
    if first == _FASTTEXT_MAGIC or first[:1] == _PICKLE:
        return GensimFile(path, fasttext=first == _FASTTEXT_MAGIC)
    content = _content(path)
    content.seek(len(codecs.BOM_UTF8) if content[:3] == codecs.BOM_UTF8 else 0)
    header = _header(content)
    if header and not header[0]:
        raise UserError("no word vectors in it", path=path, expected=FORMATS)
    if header and not _is_text_row(content, header[1]):
        return BinaryFile(path, content, *header)
    return TextFile(path, content, header)


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

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """See `VectorFile`."""
        return np.array([self._rows.get(word.encode(), -1) for word in words], dtype=np.int64)

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
            end = content.find(b" ", place, place + _LONGEST_LINE)
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
        if all(_number(field) is not None for field in fields[1 : -self.size]):
            raise wrong

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `VectorFile`."""
        out = np.empty((len(rows), self.size), dtype=np.float32)
        for k, row in enumerate(rows.tolist()):
            self._content.seek(self._places[row])
            fields = self._content.readline().rstrip(b" \t\r\n").replace(b"\t", b" ").split(b" ")[-self.size :]
            try:
                out[k] = [float(field) for field in fields]
            except ValueError:
                self._refuse(row, next(field for field in fields if _number(field) is None))
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


class GensimFile(VectorFile):
    """What gensim opens: its own format, memory-mapped where it is, and fastText's binary one."""

    def __init__(self, path: str, *, fasttext: bool) -> None:
        self.path = path
        try:
            if fasttext:
                from gensim.models.fasttext import load_facebook_vectors

                self._vectors: Any = load_facebook_vectors(path)
            else:
                from gensim.models import KeyedVectors

                found: Any = KeyedVectors.load(path, mmap="r")
                self._vectors = getattr(found, "wv", found)  # of a whole model its vectors
            self.size = int(self._vectors.vector_size)
        except Exception as error:  # unpickling can fail in any way
            raise UserError(f"gensim cannot read it ({error})", path=path, expected=FORMATS) from None
        self._extra: dict[str, int] = {}  # words made of n-grams, and their rows

    def __len__(self) -> int:
        return len(self._vectors.index_to_key)

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """See `VectorFile`; words made of n-grams get rows behind the others."""
        return np.array([self._find(word) for word in words], dtype=np.int64)

    def _find(self, word: str) -> int:
        row = self._vectors.key_to_index.get(word, -1)
        if row < 0 and hasattr(self._vectors, "vectors_ngrams") and word in self._vectors:
            return self._extra.setdefault(word, len(self) + len(self._extra))
        return int(row)

    def word(self, row: int) -> str:
        """See `VectorFile`."""
        return str(self._vectors.index_to_key[row]) if row < len(self) else list(self._extra)[row - len(self)]

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `VectorFile`."""
        out = np.empty((len(rows), self.size), dtype=np.float32)
        for k, row in enumerate(rows.tolist()):
            out[k] = self._vectors.get_vector(self.word(row)) if row >= len(self) else self._vectors.vectors[row]
        return _finite(out, rows, self)


class PackedFile(VectorFile):
    """Words sorted by their bytes and a matrix, in an uncompressed ``.npz``, all of it memory-mapped."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._words, self._starts, self._vectors = _mapped(path)
            self.size = int(self._vectors.shape[1])
        except (zipfile.BadZipFile, KeyError, ValueError, IndexError, OSError):
            raise UserError("not written by `lasw vectors convert`, or damaged", path=path, expected=FORMATS) from None

    def __len__(self) -> int:
        return len(self._starts) - 1

    def _bytes(self, row: int) -> bytes:
        return bytes(self._words[self._starts[row] : self._starts[row + 1]])

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """See `VectorFile`."""
        return np.array([self._find(word.encode()) for word in words], dtype=np.int64)

    def _find(self, word: bytes) -> int:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < word:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self._bytes(low) == word else -1

    def word(self, row: int) -> str:
        """See `VectorFile`."""
        return self._bytes(row).decode("utf-8", errors="replace")

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `VectorFile`."""
        return _finite(np.asarray(self._vectors[rows], dtype=np.float32), rows, self)


def write_packed(path: str | os.PathLike[str], words: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
    """Write a packed file: the same bytes for the same words and vectors.

    Args:
        path: where to.
        words: n different ones, in any order.
        vectors: (n, d).
    """
    order = sorted(range(len(words)), key=words.__getitem__)
    starts = np.cumsum([0] + [len(words[k]) for k in order], dtype=np.int64)
    arena = np.frombuffer(b"".join(words[k] for k in order), dtype=np.uint8)
    arrays: tuple[NDArray[Any], ...] = arena, starts, np.ascontiguousarray(vectors[order], dtype="<f4")
    with atomic_write(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, array in zip(_MEMBERS, arrays, strict=True):
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _mapped(path: str) -> list[NDArray[Any]]:
    found = []
    with zipfile.ZipFile(path) as archive, open(path, "rb") as stream:
        for name in _MEMBERS:
            info = archive.getinfo(f"{name}.npy")
            if info.compress_type != zipfile.ZIP_STORED:
                raise ValueError("compressed")
            stream.seek(info.header_offset + 26)  # where a local header has the lengths of name and extra field
            stream.seek(sum(struct.unpack("<HH", stream.read(4))), os.SEEK_CUR)
            np.lib.format.read_magic(stream)
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
            found.append(
                np.memmap(path, dtype, "r", stream.tell(), shape) if np.prod(shape) else np.empty(shape, dtype)
            )
    return found


def _finite(vectors: NDArray[np.float32], rows: NDArray[np.int64], file: VectorFile) -> NDArray[np.float32]:
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise UserError(f"NaN or inf in the vector of {file.word(int(rows[bad[0]]))!r}", path=file.path)
    return vectors


def _content(path: str) -> mmap.mmap:
    """The file's bytes, those of a compressed one in a temporary file that has no name."""
    with open_bytes(path) as stream:
        plain: BinaryIO = stream
        with open(path, "rb") as raw:
            if raw.read(6) != first_bytes(path, 6):
                plain = tempfile.TemporaryFile()  # noqa: SIM115
                try:
                    shutil.copyfileobj(stream, plain, 1 << 20)
                except (EOFError, OSError) as error:
                    raise UserError(f"its compressed data is cut off or damaged ({error})", path=path) from None
                plain.flush()
        if not first_bytes(path, 1):
            raise UserError("the file is empty", path=path, expected=FORMATS)
        return mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ)


def _header(content: mmap.mmap) -> tuple[int, int] | None:
    """Numbers of words and of dimensions, if the first line has two whole numbers."""
    start = content.tell()
    fields = content[start : max(content.find(b"\n", start, start + 100), start)].split()
    if len(fields) == 2 and all(field.isdigit() for field in fields) and int(fields[1]) > 0:
        return int(fields[0]), int(fields[1])
    return None


def _is_text_row(content: mmap.mmap, size: int) -> bool:
    """Whether the line behind the header looks like text."""
    start = content.find(b"\n") + 1
    end = content.find(b"\n", start, start + _LONGEST_LINE)
    line = content[start : end if end >= 0 else start + _LONGEST_LINE].rstrip(b" \t\r\n")
    fields = line.replace(b"\t", b" ").split(b" ")
    if len(fields) > 1 and all(_number(field) is not None for field in fields[max(1, len(fields) - size) :]):
        return True
    try:  # perhaps text with something wrong in it: numbers in binary hold bytes that text has not
        return line.decode("utf-8").replace("\t", " ").isprintable()
    except UnicodeDecodeError:
        return False


def _fields(line: bytes) -> int:
    return line.count(b" ") + line.count(b"\t") + 1


def _word(line: bytes, size: int) -> bytes:
    if _fields(line) == size + 1:
        ends = [end for end in (line.find(b" "), line.find(b"\t")) if end >= 0]
        return line[: min(ends)]
    return line.replace(b"\t", b" ").rsplit(b" ", size)[0]


def _number(field: bytes) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None
