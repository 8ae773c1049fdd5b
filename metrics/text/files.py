"""Lines of text: one way in for every text this package reads.

Lines end at LF alone; a CR before the LF is dropped and
counted; a byte order mark at the start is dropped. Text is UTF-8 unless an encoding is given, and bytes that
are not valid are refused with file and line.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError
from lasw.metrics.text.bytescan import scan
from lasw.metrics.text.opening import DAMAGED, LONGEST_LINE, Limit, damaged, open_bytes

BLOCK_BYTES = 1 << 20

_LF, _CR = 10, 13
_OF_A_LINE = 8  # bytes in a list of lines
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

    def __iter__(self) -> Generator[Block, None, None]:
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
        longest = LONGEST_LINE.value()
        size = max(min(self.size, longest + 1), 16)  # a byte order mark must fit
        step = size
        rest = np.empty(0, dtype=np.uint8)  # the beginning of a line
        first = True
        while True:
            old = len(rest)
            buffer = np.empty(old + step + 1, dtype=np.uint8)
            buffer[:old] = rest
            got = self._fill(stream, buffer.data[old:-1])
            end = old + got
            start = _mark_length(buffer[:end], self.path) if first else 0
            first = False
            if end - start > longest:
                self._check_length(buffer[start:end], longest)
            if got < step:
                if end > start and buffer[end - 1] != _LF:
                    self.final_newline = False
                    buffer[end] = _LF
                    end += 1
                if end > start:
                    yield self._block(buffer[start:end])
                return
            new = max(old, start)
            whole = _last_line_end(buffer[new:end])
            if whole:
                yield self._block(buffer[start : new + whole])
                rest = buffer[new + whole : end]
                step = size
            else:  # a long line: twice as much at a time, so that nothing is copied again and again
                rest = buffer[start:end]
                step = max(size, min(len(rest), longest + 1))

    def _check_length(self, data: NDArray[np.uint8], longest: int) -> None:
        """Raise UserError if the first line is too long; the others are no longer than what is read at a time."""
        if data[: longest + 1].tobytes().find(b"\n") < 0:
            raise LONGEST_LINE.error(f"a line of more than {longest} bytes", self.path, self.lines + 1)

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


def read_lines(path: str | os.PathLike[str], *, encoding: str = "utf-8", most: Limit | None = None) -> list[str]:
    """All lines of a text file without their ends, split on LF only.

    Args:
        path: of the file.
        encoding: of it.
        most: bytes that it may have, `LARGEST_FILE` say; lines count for 8 at least, as empty ones take memory too.

    Raises:
        UserError: as `Blocks`, or the file is larger than `most`.
    """
    lines: list[str] = []
    size = 0
    for block in Blocks(os.fspath(path), encoding):
        text = block.text().split("\n")[:-1]
        size += len(block.data)
        if most is not None and max(size, _OF_A_LINE * (len(lines) + len(text))) > most.value():
            raise most.error("a file that is larger", os.fspath(path))
        lines.extend(text)
    return lines
