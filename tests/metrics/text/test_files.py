"""Files in and out: line ends, marks, encodings, compression by content."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lasw.metrics import Blocks, UserError, first_bytes, open_bytes, read_lines, scan
from lasw.metrics.text import opening


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "text"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\nb\r", ["a", "b"]),
        (b"a\rb\n", ["a\rb"]),
        (b"\xef\xbb\xbfa\nb\n", ["a", "b"]),
        (b"\xef\xbb\xbf", []),
        (b"a\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        ("a\u2028b\u0085c\x0bd\x0ce\n".encode(), ["a\u2028b\u0085c\x0bd\x0ce"]),
        (b"a\n\n\n", ["a", "", ""]),
    ],
)
@pytest.mark.parametrize("size", [1, 17, 1 << 20])
def test_lines_end_at_lf_only(tmp_path: Path, data: bytes, lines: list[str], size: int) -> None:
    blocks = Blocks(str(written(tmp_path, data)), size=size)
    got = [line for block in blocks for line in block.text().split("\n")[:-1]]
    assert got == lines
    assert read_lines(tmp_path / "text") == lines
    assert blocks.final_newline == (data.endswith(b"\n") or not lines)
    assert blocks.carriage_returns == data.count(b"\r\n") + data.endswith(b"\r")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\n\r\0\ufeff", exclude_categories=["Cs"]), max_size=40)))
def test_blocks_of_any_size_hold_the_same_lines(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = written(tmp_path_factory.mktemp("blocks"), "".join(line + "\n" for line in lines).encode())
    for size in (16, 31, 64):
        first = 1
        got = []
        for block in Blocks(str(path), size=size):
            assert block.first_line == first
            got += block.text().split("\n")[:-1]
            first = 1 + len(got)
        assert got == lines


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"good\nbad \xff here\n", r"text:2: byte 0xff is no UTF-8; .*--encoding"),
        (b"caf\xe9\n", r"text:1: byte 0xe9 is no UTF-8"),
        (b"a\nb\nsurrogate \xed\xa0\x80\n", r"text:3: byte 0xed"),
        (b"cut \xe2\x82", r"text:1: byte 0xe2"),
        (b"a\nb\0c\n", r"text:2: a NUL byte; expected text"),
        ("a\nb\n".encode("utf-16"), r"text: this is UTF-16 text; .*--encoding utf-16"),
        ("a\nb\n".encode("utf-16-be"), r"text:1: a NUL byte; .*UTF-16"),
    ],
)
def test_what_is_no_utf8_is_refused_with_its_line(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_lines(written(tmp_path, data))


def test_other_encodings(tmp_path: Path) -> None:
    text = "grün\u20ac\nzwei\n"
    for encoding in ("utf-16", "utf-16-le", "cp1252", "utf-8-sig", "UTF8"):
        assert read_lines(written(tmp_path, text.encode(encoding)), encoding=encoding) == ["grün\u20ac", "zwei"]
    with pytest.raises(UserError, match=r"text:2: not valid ascii"):
        read_lines(written(tmp_path, "a\né\n".encode()), encoding="ascii")
    for name in ("klingon", "rot13", "base64", "undefined"):
        with pytest.raises(UserError, match=f"unknown encoding '{name}'"):
            read_lines(tmp_path / "text", encoding=name)
    with pytest.raises(UserError, match=r"text:1: not valid utf-16 .*BOM"):
        read_lines(written(tmp_path, "a\n".encode("utf-16-be")), encoding="utf-16")


@pytest.mark.parametrize("library", ["the fastest", "the standard library's"])
def test_gzip_data_of_several_members(tmp_path: Path, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if library != "the fastest":
        monkeypatch.setattr(opening, "_MAGIC", ((b"\x1f\x8b", gzip.open),))
    parts = [f"{k}{os.urandom(size).hex()}\n" for k, size in enumerate((0, 1000, 300_000))]
    members = [gzip.compress(part.encode()) for part in parts]
    for packed in (members[2], b"".join(members), b"\0\0".join(members) + b"\0" * 70_000):
        assert "\n".join([*read_lines(written(tmp_path, packed)), ""]).encode() == gzip.decompress(packed)
    damaged = bytearray(members[2])
    damaged[-6] ^= 1  # in the checksum
    for packed, why in (
        (damaged, "CRC"),
        (members[1] + b"something else", "gzip"),
        (members[2][:-9], "ends within a member"),
    ):
        with pytest.raises(UserError, match=f"cut off or damaged .*{why}"):
            read_lines(written(tmp_path, packed))
    with open_bytes(written(tmp_path, members[1])) as stream:
        raw = stream.raw._raw  # type: ignore[attr-defined]
    assert raw.closed


COMPRESSORS: list[Callable[[bytes], bytes]] = [gzip.compress, bz2.compress, lzma.compress]


@pytest.mark.parametrize("compress", COMPRESSORS)
@pytest.mark.parametrize("name", ["text", "text.gz", "text.txt"])
def test_compression_is_known_by_content(tmp_path: Path, compress: Callable[[bytes], bytes], name: str) -> None:
    path = tmp_path / name
    path.write_bytes(compress("über\nzwei\n".encode()))
    assert read_lines(path) == ["über", "zwei"]


def test_plain_text_named_gz_is_plain_text(tmp_path: Path) -> None:
    (tmp_path / "text.gz").write_bytes(b"plain\n")
    assert read_lines(tmp_path / "text.gz") == ["plain"]


@pytest.mark.parametrize("compress", COMPRESSORS)
def test_compressed_data_that_is_cut_off(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    data = compress(os.urandom(20_000).hex().encode() + b"\n")
    with pytest.raises(UserError, match="text: its compressed data is cut off or damaged"):
        read_lines(written(tmp_path, data[: len(data) // 2]))


@pytest.mark.parametrize("compress", COMPRESSORS)
def test_first_bytes(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    data = compress(os.urandom(100_000))
    assert len(first_bytes(written(tmp_path, data), 9)) == 9
    with pytest.raises(UserError, match="cut off or damaged"):
        first_bytes(written(tmp_path, data[:40]), 50_000)
    assert first_bytes(written(tmp_path, b"ab"), 9) == b"ab"


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing: no such file"):
        read_lines(tmp_path / "nothing")
    with pytest.raises(UserError, match="this is a folder; expected a file"):
        read_lines(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path: Path) -> None:
    written(tmp_path, b"a\n").chmod(0)
    with pytest.raises(UserError, match="no permission"):
        read_lines(tmp_path / "text")


def test_standard_input_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.compress(b"a\nb\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
    assert read_lines("-") == ["a", "b"]
    with pytest.raises(UserError, match="closed or was read before; name it once"):
        read_lines("-")
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UserError, match="standard input is closed"):
        read_lines("-")


# Bytes near every border of the table of valid UTF-8, and plain ones, so that random strings are often nearly valid.
BORDERS = "0a 0d 41 7f 80 8f 90 9f a0 bf c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 ff"
BYTES = st.one_of(
    st.binary(max_size=40),
    st.lists(st.sampled_from(sorted(bytes.fromhex(BORDERS))), max_size=40).map(bytes),
    st.text(max_size=30).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30).map(str.encode),
)


@settings(max_examples=500, deadline=None)
@given(BYTES)
def test_scan_agrees_with_pythons_decoder(data: bytes) -> None:
    got = scan(np.frombuffer(data, dtype=np.uint8))
    try:
        data.decode("utf-8")
        invalid = -1
    except UnicodeDecodeError as error:
        invalid = error.start
    assert got.invalid == invalid
    if invalid < 0:  # a scan stops at the first invalid byte
        assert got.newlines == data.count(b"\n")
        assert got.carriage_returns == data.count(b"\r")
        assert got.nul == data.find(b"\0")


def test_an_error_is_one_line() -> None:
    error = UserError("a\nb", path="file", line=3, expected="c", remedy="do d")
    assert str(error) == "file:3: a b; expected c; do d"
    assert str(UserError("a", path="file")) == "file: a"
