"""Opening and writing files: one way in for every file this package reads, one way out for every file it writes.

Compression is recognised by content, not by name. Lines end at LF alone; a CR before the LF is dropped and
counted; a byte order mark at the start is dropped. Text is UTF-8 unless an encoding is given, and bytes that
are not valid are refused with file and line. Files are written to a temporary name beside the target and renamed,
so that a reader sees the old file or the whole new one.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import hashlib
import io
import lzma
import os
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError
from lasw.metrics.text.bytescan import scan

fastest_gzip: Any
fastest_zlib: Any
try:
    from isal import igzip as fastest_gzip  # twice as fast as zlib, on 64-bit x86 and ARM
    from isal import isal_zlib as fastest_zlib
except ImportError:
    fastest_gzip, fastest_zlib = gzip, zlib

BLOCK_BYTES = 1 << 20
STANDARD_INPUT = "-"
# What reading cut or damaged compressed data raises.
DAMAGED = (EOFError, OSError, zlib.error, fastest_zlib.error, lzma.LZMAError)

_LF, _CR = 10, 13
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass
class Block:
    """Some whole lines of a file: `data` (n,) ends with LF, `first_line` is the 1-based number of its first line."""

    data: NDArray[np.uint8]
    first_line: int

    def text(self) -> str:
        """The lines as one string."""
        return self.data.tobytes().decode("utf-8")


@dataclass
class Blocks:
    """The lines of a file in blocks of bounded size (memory: about twice `size` bytes, or the longest line).

    Iterate once. After that `carriage_returns` says how many lines ended in CR LF, `lines` how many there were,
    `final_newline` whether the last one was ended.

    Raises:
        UserError: the file cannot be opened, is no text of this encoding, or its compressed data is cut off.
    """

    path: str
    encoding: str = "utf-8"
    size: int = BLOCK_BYTES
    lines: int = field(default=0, init=False)
    carriage_returns: int = field(default=0, init=False)
    final_newline: bool = field(default=True, init=False)

    def __iter__(self) -> Iterator[Block]:
        with open_bytes(self.path) as stream:
            utf8 = codecs.lookup(self._codec().name).name == "utf-8"
            yield from self._cut(cast(_Readable, stream) if utf8 else _Transcoded(stream, self._codec(), self.path))

    def _codec(self) -> codecs.CodecInfo:
        try:
            codec = codecs.lookup(self.encoding)
            b"a".decode(codec.name, errors="ignore")  # a LookupError for codecs that do not decode text, such as rot13
            return codec
        except (LookupError, UnicodeError):
            raise UserError(f"unknown encoding {self.encoding!r}", remedy="give a name that Python knows") from None

    def _cut(self, stream: _Readable) -> Iterator[Block]:
        rest = np.empty(0, dtype=np.uint8)
        first = True
        size = max(self.size, 16)  # a byte order mark must fit
        while True:
            buffer = np.empty(len(rest) + size + 1, dtype=np.uint8)
            buffer[: len(rest)] = rest
            got = self._fill(stream, buffer.data[len(rest) : -1])
            end = len(rest) + got
            start = _mark_length(buffer[:end], self.path) if first else 0
            first = False
            if got < size:
                if end > start and buffer[end - 1] != _LF:
                    self.final_newline = False
                    buffer[end] = _LF
                    end += 1
                if end > start:
                    yield self._block(buffer[start:end])
                return
            whole = start + _last_line_end(buffer[start:end])
            if whole > start:
                yield self._block(buffer[start:whole])
            rest = buffer[whole:end]

    def _fill(self, stream: _Readable, view: memoryview) -> int:
        done = 0
        while done < len(view):
            try:
                got = stream.readinto(view[done:])
            except DAMAGED as error:
                raise damaged(self.path, error) from None
            if not got:
                break
            done += got
        return done

    def _block(self, data: NDArray[np.uint8]) -> Block:
        first_line = self.lines + 1
        seen = scan(data)
        if seen.invalid >= 0:
            raise UserError(
                f"byte 0x{data[seen.invalid]:02x} is no UTF-8",
                path=self.path,
                line=first_line + int(np.count_nonzero(data[: seen.invalid] == _LF)),
                remedy="convert it to UTF-8, or name its encoding with --encoding where the command has that",
            )
        if seen.nul >= 0:
            raise UserError(
                "a NUL byte",
                path=self.path,
                line=first_line + int(np.count_nonzero(data[: seen.nul] == _LF)),
                expected="text",
                remedy="is this UTF-16 or a binary file?",
            )
        self.lines += seen.newlines
        if seen.carriage_returns:
            before_lf = np.flatnonzero((data[:-1] == _CR) & (data[1:] == _LF))
            self.carriage_returns += len(before_lf)
            data = np.delete(data, before_lf)
        return Block(data, first_line)


class _Readable(Protocol):
    def readinto(self, buffer: Any, /) -> int | None:
        """Fill the buffer as far as it goes; the number of bytes, 0 at the end."""


class _Transcoded:
    """A stream of another encoding, read as UTF-8."""

    def __init__(self, stream: BinaryIO, codec: codecs.CodecInfo, path: str) -> None:
        self._stream = stream
        self._decoder = codec.incrementaldecoder()
        self._name = codec.name
        self._path = path
        self._lines = 0
        self._ready = b""

    def readinto(self, buffer: memoryview, /) -> int:
        while not self._ready:
            chunk = self._stream.read(1 << 16)
            try:
                text = self._decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                line = self._lines + 1 + error.object[: error.start].count(b"\n")
                raise UserError(f"not valid {self._name} ({error.reason})", path=self._path, line=line) from None
            except UnicodeError as error:  # of the whole stream: no byte order mark in UTF-16, say
                raise UserError(f"not valid {self._name} ({error})", path=self._path, line=self._lines + 1) from None
            self._lines += text.count("\n")
            self._ready = text.encode("utf-8")
            if not chunk:
                break
        got = min(len(buffer), len(self._ready))
        buffer[:got] = self._ready[:got]
        self._ready = self._ready[got:]
        return got


def _mark_length(start: NDArray[np.uint8], path: str) -> int:
    head = start[:3].tobytes()
    if head.startswith(_UTF16_MARKS):
        remedy = "convert it, or give --encoding utf-16 where the command has that"
        raise UserError("this is UTF-16 text", path=path, expected="UTF-8", remedy=remedy)
    return len(codecs.BOM_UTF8) if head == codecs.BOM_UTF8 else 0


def _last_line_end(data: NDArray[np.uint8]) -> int:
    """Offset behind the last LF, 0 if there is none."""
    step = 1 << 16  # lines are mostly short, so the end of the block is where to look first
    for end in range(len(data), 0, -step):
        start = max(0, end - step)
        found = data[start:end].tobytes().rfind(b"\n")
        if found >= 0:
            return start + found + 1
    return 0


def read_lines(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> list[str]:
    """All lines of a text file without their ends, split on LF only.

    Raises:
        UserError: as `Blocks`.
    """
    lines: list[str] = []
    for block in Blocks(os.fspath(path), encoding):
        lines.extend(block.text().split("\n")[:-1])
    return lines


def open_bytes(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file (``-``: standard input) for reading, decompressed if its first bytes say gzip, bzip2 or xz.

    Raises:
        UserError: no such file, a folder, no permission; a standard input that is closed or was read before.
    """
    name = os.fspath(path)
    raw: io.BufferedReader
    if name == STANDARD_INPUT:
        if sys.stdin is None or sys.stdin.closed or sys.stdin.buffer.closed:
            raise UserError(
                "standard input is closed or was read before", path=name, remedy="name it once, or give a file"
            )
        raw = cast(io.BufferedReader, sys.stdin.buffer)
    else:
        try:
            raw = cast(io.BufferedReader, open(name, "rb", buffering=1 << 16))  # noqa: SIM115 - the caller closes it
        except FileNotFoundError:
            raise UserError("no such file", path=name) from None
        except IsADirectoryError:
            raise UserError("this is a folder", path=name, expected="a file") from None
        except PermissionError:
            raise UserError("no permission to read it", path=name) from None
        except OSError as error:
            raise UserError(f"cannot be opened ({error.strerror})", path=name) from None
    start = raw.peek(6)[:6]
    for magic, opener in _MAGIC:
        if start.startswith(magic):
            return cast(BinaryIO, opener(raw))
    return cast(BinaryIO, raw)


def _open_gzip(raw: BinaryIO) -> BinaryIO:
    stream = fastest_gzip.open(raw)
    stream.myfileobj = raw  # what it closes when it is closed itself
    return cast(BinaryIO, stream)


_MAGIC = ((b"\x1f\x8b", _open_gzip), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))


def first_bytes(path: str | os.PathLike[str], size: int) -> bytes:
    """The first `size` bytes of a file, decompressed; fewer if it has no more, all for -1.

    Raises:
        UserError: as `open_bytes`, or its compressed data is cut off.
    """
    with open_bytes(path) as stream:
        try:
            return stream.read(size)
        except DAMAGED as error:
            raise damaged(os.fspath(path), error) from None


def content_digest(path: str | os.PathLike[str]) -> bytes:
    """The SHA-256 of a file's content, decompressed."""
    with open_bytes(path) as stream:
        return hashlib.file_digest(cast(io.BufferedReader, stream), "sha256").digest()


def damaged(path: str, error: Exception) -> UserError:
    """What to raise after an error that is one of `DAMAGED`."""
    why = "the data ends within a member" if isinstance(error, EOFError) else error
    return UserError(f"its compressed data is cut off or damaged ({why})", path=path, remedy="make the file again")


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary stream whose content appears at `path` whole, when the block ends without an error, or not at all.

    A name that ends in ``.gz`` is compressed, always to the same bytes for the same content.

    Raises:
        UserError: the folder does not exist or cannot be written to, the disk is full, or the name is that of a device,
            a pipe or a folder, in whose place no file may come.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise UserError("cannot be written (no regular file)", path=os.fspath(path), expected="the name of a file")
    target = os.path.realpath(os.fspath(path))
    try:
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=f".{os.path.basename(target)}.")
    except OSError as error:
        raise UserError(f"cannot be written ({error.strerror})", path=os.fspath(path)) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            if target.endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=stream, mtime=0) as packed:
                    yield cast(BinaryIO, packed)
            else:
                yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename in (None, temporary):  # no other file's trouble
            raise UserError(f"cannot be written ({error.strerror})", path=os.fspath(path)) from None
        raise


def refuse_overwriting(outputs: Iterable[str], inputs: Iterable[str], remedy: str = "give another --output") -> None:
    """Refuse to write to one of the files that are read, or over a file of a folder that is read.

    Args:
        outputs: files that will be written; `STANDARD_INPUT` stands for standard output.
        inputs: files and folders that are read.
        remedy: what the user can do.

    Raises:
        UserError: names the file.
    """
    written = {os.path.realpath(path) for path in outputs if path != STANDARD_INPUT}
    for path in inputs:
        real = os.path.realpath(path)
        inside = [one for one in written if one.startswith(os.path.join(real, "")) and os.path.exists(one)]
        if path != STANDARD_INPUT and (real in written or inside):
            raise UserError("the output would overwrite what is read", path=(inside or [path])[0], remedy=remedy)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` to `path` in UTF-8, whole or not at all (see `atomic_write`)."""
    with atomic_write(path) as stream:
        stream.write(text.encode("utf-8"))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
