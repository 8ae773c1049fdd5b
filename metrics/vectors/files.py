"""Files of word vectors, opened without reading the numbers: rows are read when they are asked for.

Read are word2vec text and binary, GloVe text (no header), fastText's ``.vec`` and ``.bin``, NumPy's ``.npz``, and the
packed file of `lasw.metrics.vectors.packed`, which opens at once whatever its size. What a file is is told from its
content, compressed ones included. fastText's binary files give unknown words the vector of their character n-grams.

Words are compared as bytes of UTF-8. In text, fields are separated by single spaces or tabs: a word may hold anything
else, a no-break space too. A word with spaces in it is read but can be no token. Of equal words the first counts.
gensim's own format is a pickle, which can run code when it is opened: it is refused.
"""

from __future__ import annotations

import codecs
import mmap
import os
import shutil
import struct
import tempfile
import zipfile
from functools import lru_cache
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError
from lasw.metrics.text import DAMAGED, damaged, first_bytes, open_bytes
from lasw.metrics.vectors.arrays import ArraysFile
from lasw.metrics.vectors.base import FORMATS, VectorFile, finite
from lasw.metrics.vectors.packed import PackedFile
from lasw.metrics.vectors.scanned import LONGEST_LINE, BinaryFile, TextFile, parsed

_FASTTEXT_MAGIC = struct.pack("<i", 793712314)  # fastText, src/fasttext.cc
_PICKLE, _ZIP = b"\x80", b"PK\x03\x04"


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
        return _zipped(path)
    if first[:1] == _PICKLE:
        raise UserError(
            "this is a pickle, as gensim's save() writes it, which can run code when it is opened",
            path=path,
            expected=FORMATS,
            remedy="convert it where you trust it: KeyedVectors.load(FILE).save_word2vec_format(NEW)",
        )
    if first == _FASTTEXT_MAGIC:
        return FastTextFile(path)
    content = _content(path)
    content.seek(len(codecs.BOM_UTF8) if content[:3] == codecs.BOM_UTF8 else 0)
    header = _header(content)
    if header and not header[0]:
        raise UserError("no word vectors in it", path=path, expected=FORMATS)
    if header and not _is_text_row(content, header[1]):
        return BinaryFile(path, content, *header)
    return TextFile(path, content, header)


def _zipped(path: str) -> VectorFile:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except Exception:  # the directory of what is damaged can fail in any way
        raise UserError("not written by `lasw vectors convert`, or damaged", path=path, expected=FORMATS) from None
    if "starts.npy" in names:
        return PackedFile(path)
    if names and all(name.endswith(".npy") for name in names):
        return ArraysFile(path)
    raise UserError(
        f"a zip archive of {', '.join(names[:4]) or 'nothing'}", path=path, expected=FORMATS, remedy="unzip it"
    )


def _content(path: str) -> mmap.mmap:
    """The file's bytes, those of a compressed one in a temporary file that has no name."""
    with open_bytes(path) as stream:
        plain: BinaryIO = stream
        with open(path, "rb") as raw:
            if raw.read(6) != first_bytes(path, 6):
                plain = tempfile.TemporaryFile()  # noqa: SIM115
                try:
                    shutil.copyfileobj(stream, plain, 1 << 20)
                except DAMAGED as error:
                    raise damaged(path, error) from None
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
    end = content.find(b"\n", start, start + LONGEST_LINE)
    line = content[start : end if end >= 0 else start + LONGEST_LINE].rstrip(b" \t\r\n")
    fields = line.replace(b"\t", b" ").split(b" ")
    if len(fields) > 1 and all(parsed(field) is not None for field in fields[max(1, len(fields) - size) :]):
        return True
    try:  # perhaps text with something wrong in it: numbers in binary hold bytes that text has not
        return line.decode("utf-8").replace("\t", " ").isprintable()
    except UnicodeDecodeError:
        return False


class FastTextFile(VectorFile):
    """fastText's binary format, read by gensim."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            from gensim.models.fasttext import load_facebook_vectors

            self._vectors: Any = load_facebook_vectors(path)
            self.size = int(self._vectors.vector_size)
        except Exception as error:  # what is damaged can fail in any way
            raise UserError(f"gensim cannot read it ({error})", path=path, expected=FORMATS) from None
        self._extra: dict[str, int] = {}  # words made of n-grams, and their rows

    def __len__(self) -> int:
        return len(self._vectors.index_to_key)

    def row(self, word: str) -> int:
        """See `VectorFile`; words made of n-grams get rows behind the others."""
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
        return finite(out, rows, self)
