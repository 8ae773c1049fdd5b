"""How files are opened: what kind of file it is, decompressed by content, and within limits that a person can change.

What no text, list or model of people's work comes near is refused in one line, before it takes the memory or the time
of everything else: lines without an end, files that decompress to thousands of times their size, whole files without
bound.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import stat
import sys
import tomllib
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError

fastest_gzip: Any
fastest_zlib: Any
try:
    from isal import igzip as fastest_gzip  # twice as fast as zlib, on 64-bit x86 and ARM
    from isal import isal_zlib as fastest_zlib
except ImportError:
    fastest_gzip, fastest_zlib = gzip, zlib

STANDARD_INPUT = "-"
# What reading cut or damaged compressed data raises.
DAMAGED = (EOFError, OSError, zlib.error, fastest_zlib.error, lzma.LZMAError)

_NO_ZIP = (*DAMAGED, ValueError, KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError, MemoryError)

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_PIECE = 1 << 20
_SURELY_RIGHT = 64 << 20  # bytes that may come out of any file, however small
_NULL_DEVICE = os.makedev(1, 3)
_OWN_HANDLES = ("/dev/fd/", "/proc/", "/dev/stdin")  # what a shell's <(...) is called, and standard input


@dataclass(frozen=True)
class Limit:
    """What is refused beyond a size; a person changes it with an environment variable.

    Args:
        variable: of the environment; a whole number, K, M or G may stand behind it.
        usual: where it is not set.
    """

    variable: str
    usual: int

    def value(self) -> int:
        """The limit.

        Raises:
            UserError: the variable holds something else.
        """
        text = os.environ.get(self.variable, "").strip()
        if not text:
            return self.usual
        number = re.fullmatch(r"([0-9]{1,15})([KMG]?)", text)
        if not number or not int(number[1]):
            raise UserError(f"{self.variable}={text[:60]}", expected="a whole number above 0, as 500000, 64M or 2G")
        return int(number[1]) * _UNITS[number[2]]

    def error(self, found: str, path: str, line: int | None = None) -> UserError:
        """What to raise where `found` is beyond it."""
        value = self.value()
        unit = next((u for u in "GMK" if value % _UNITS[u] == 0), "")
        remedy = f"if it is right, set {self.variable} to more"
        return UserError(found, path=path, line=line, expected=f"at most {value // _UNITS[unit]}{unit}", remedy=remedy)


LONGEST_LINE = Limit("LASW_LONGEST_LINE", 16 << 20)  # bytes
LARGEST_FILE = Limit("LASW_LARGEST_FILE", 256 << 20)  # bytes, of what is read whole: weights, settings, models
LARGEST_RATIO = Limit("LASW_LARGEST_RATIO", 300)  # gzip packs text of zeros 1 000 times, N-best lists 30 times


def open_bytes(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file (``-``: standard input) for reading, decompressed if its first bytes say gzip, bzip2 or xz.

    Reading from it raises a UserError if it decompresses to more than `LARGEST_RATIO` times its size.

    Raises:
        UserError: no such file, a folder, a device, a named pipe, no permission; a standard input that is closed or was
            read before.
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
            _check_kind(name)
            raw = cast(io.BufferedReader, open(name, "rb", buffering=1 << 16))  # noqa: SIM115 - the caller closes it
        except FileNotFoundError:
            raise UserError("no such file", path=name) from None
        except IsADirectoryError:
            raise UserError("this is a folder", path=name, expected="a file") from None
        except PermissionError:
            raise UserError("no permission to read it", path=name) from None
        except OSError as error:
            raise UserError(f"cannot be opened ({error.strerror})", path=name) from None
        except ValueError:
            raise UserError("no name of a file (there is a NUL in it)", path=name.replace("\0", "\\0")) from None
    try:
        start = raw.peek(6)[:6]
    except OSError as error:
        raise UserError(f"cannot be read ({error.strerror})", path=name) from None
    for magic, opener in _MAGIC:
        if start.startswith(magic):
            return cast(BinaryIO, io.BufferedReader(_Decompressed(raw, opener, name), _PIECE))
    return cast(BinaryIO, raw)


def _check_kind(name: str) -> None:
    """Raise UserError for what has no end or begins when somebody writes to it; a shell's ``<(...)`` is let through."""
    status = os.stat(name)
    mode = status.st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or name.startswith(_OWN_HANDLES):
        return
    if stat.S_ISFIFO(mode):
        raise UserError(
            "this is a named pipe", path=name, expected="a file", remedy="give <(COMMAND), or - for standard input"
        )
    if stat.S_ISSOCK(mode) or stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and status.st_rdev != _NULL_DEVICE):
        raise UserError("this is a device", path=name, expected="a file")


class _Counted:
    """Compressed bytes, and how many were taken."""

    def __init__(self, raw: io.BufferedReader) -> None:
        self._raw = raw
        self.taken = 0

    def read(self, size: int = -1) -> bytes:
        data = self._raw.read(size)
        self.taken += len(data)
        return data

    def readinto(self, buffer: Any, /) -> int:
        got = self._raw.readinto(buffer)
        self.taken += got
        return got

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


class _Decompressed(io.RawIOBase):
    """What comes out of compressed bytes, as long as it is not beyond all measure."""

    def __init__(self, raw: io.BufferedReader, opener: Callable[[Any], Any], path: str) -> None:
        self._raw, self._path = raw, path
        self._counted = _Counted(raw)
        self._stream = opener(self._counted)
        self._given = 0
        self._ratio = LARGEST_RATIO.value()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        got: int = self._stream.readinto(buffer)
        self._given += got
        if self._given > _SURELY_RIGHT and self._given > self._ratio * max(self._counted.taken, 1):
            found = f"decompresses to more than {self._given // max(self._counted.taken, 1)} times its size"
            raise LARGEST_RATIO.error(found, self._path)
        return got

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._raw.close()
        super().close()


_MAGIC: tuple[tuple[bytes, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", fastest_gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
)


def first_bytes(path: str | os.PathLike[str], size: int) -> bytes:
    """The first `size` bytes of a file, decompressed; fewer if it has no more, all for -1.

    Raises:
        UserError: as `open_bytes`, or its compressed data is cut off.
    """
    with open_bytes(path) as stream:
        return _taken(stream, sys.maxsize if size < 0 else size, os.fspath(path))


def read_bytes(path: str | os.PathLike[str], most: int | None = None) -> bytes:
    """The whole of a file, decompressed.

    Args:
        path: of it.
        most: bytes; by default `LARGEST_FILE`.

    Raises:
        UserError: as `open_bytes`, its compressed data is cut off, or it has more than `most` bytes.
    """
    limit = LARGEST_FILE.value() if most is None else most
    data = first_bytes(path, limit + 1)
    if len(data) > limit:
        raise LARGEST_FILE.error("a file that is larger", os.fspath(path))
    return data


def _taken(stream: BinaryIO, size: int, path: str) -> bytes:
    """At most `size` bytes: in pieces, as memory for all that could come is not there at once."""
    pieces: list[bytes] = []
    try:
        while size > 0 and (piece := stream.read(min(size, _PIECE))):
            pieces.append(piece)
            size -= len(piece)
    except DAMAGED as error:
        raise damaged(path, error) from None
    return b"".join(pieces)


def read_arrays(path: str | os.PathLike[str], found: str, remedy: str | None = None) -> dict[str, bytes]:
    """The members of a zip file, an ``.npz`` say, by name; what they hold is for `parse_array`.

    Args:
        path: of it.
        found: of the error that says that it is none, or damaged.
        remedy: of the error that says that it is none, or damaged.

    Raises:
        UserError: as `open_bytes`, or it is none, damaged, or decompresses to more than `LARGEST_RATIO` times its size.
    """
    data = first_bytes(path, -1)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            size = sum(member.file_size for member in packed.infolist())
            if size > _SURELY_RIGHT and size > LARGEST_RATIO.value() * len(data):
                raise LARGEST_RATIO.error(
                    f"decompresses to more than {size // len(data)} times its size", os.fspath(path)
                )
            return {member.filename: packed.read(member) for member in packed.infolist()}
    except _NO_ZIP:
        raise UserError(found, path=path, remedy=remedy) from None


def parse_array(data: bytes) -> NDArray[Any]:
    """A member ``NAME.npy``.

    Raises:
        ValueError: it is none; no object is ever made of it but numbers and texts.
    """
    try:
        array = np.asarray(np.lib.format.read_array(io.BytesIO(data), allow_pickle=False))
        if array.dtype.kind == "U" and array.size:
            array = array.astype(array.dtype.newbyteorder("="))
            np.ascontiguousarray(array).tobytes().decode(f"utf-32-{sys.byteorder[0]}e")  # characters that there are
        return array
    except Exception as error:  # reading the header of what is damaged can fail in any way
        raise ValueError(str(error)) from None


def content_digest(path: str | os.PathLike[str]) -> bytes:
    """The SHA-256 of a file's content, decompressed.

    Raises:
        UserError: as `open_bytes`, or its compressed data is cut off.
    """
    with open_bytes(path) as stream:
        try:
            return hashlib.file_digest(cast(io.BufferedReader, stream), "sha256").digest()
        except DAMAGED as error:
            raise damaged(os.fspath(path), error) from None


def damaged(path: str, error: Exception) -> UserError:
    """What to raise after an error that is one of `DAMAGED`."""
    why = "the data ends within a member" if isinstance(error, EOFError) else error
    return UserError(f"its compressed data is cut off or damaged ({why})", path=path, remedy="make the file again")


def parse_json(
    text: str | bytes,
    path: str | os.PathLike[str] | None,
    *,
    line: int | None = None,
    expected: str | None = None,
    remedy: str | None = None,
    **options: Any,
) -> Any:
    """What a JSON text says.

    Args:
        text: UTF-8 where it is bytes.
        path: of it, for messages.
        line: where in it; without one that of the fault is told.
        expected: of the error.
        remedy: of the error.
        options: of `json.loads`.

    Raises:
        UserError: it is none, or holds numbers or brackets that no program takes.
    """
    try:
        return json.loads(text, **options)
    except json.JSONDecodeError as error:
        found, line = f"this is no JSON ({error.msg})", line or (error.lineno if path is not None else None)
    except RecursionError:
        found = "this is no JSON (brackets within thousands of brackets)"
    except (ValueError, OverflowError) as error:  # thousands of digits, no UTF-8
        found = f"this is no JSON ({_reason(error)})"
    raise UserError(found, path=path, line=line, expected=expected, remedy=remedy)


def parse_toml(text: str, path: str) -> dict[str, Any]:
    """The content of a TOML text.

    Raises:
        UserError: it is none, or holds numbers or brackets that no program takes; the line is named where Python
            tells it.
    """
    line = None
    try:
        return tomllib.loads(text)
    except RecursionError:
        what = "brackets within thousands of brackets"
    except (ValueError, OverflowError) as error:
        at = re.search(r"\(at line (\d+)", str(error))
        line = int(at[1]) if at else None
        what = _reason(error).partition(" (at")[0]
    raise UserError(f"this is not TOML ({what})", path=path, line=line)


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte 0x{error.object[error.start]:02x} is no UTF-8"
    text = str(error)
    return "a number of thousands of digits" if "integer string conversion" in text else text
