"""What is refused before it takes all memory or time, at the size that is said, and what a person can do about it."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import resource
import socket
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lasw.metrics import Blocks, UserError, open_bytes, parse_json, parse_toml, read_bytes, read_lines
from lasw.metrics.text import LARGEST_FILE, content_digest, parse_array, read_arrays


def refused(action: Callable[[], object]) -> str:
    with pytest.raises(UserError) as caught:
        action()
    return str(caught.value)


@given(
    st.lists(st.integers(0, 70), min_size=1, max_size=8),
    st.booleans(),
    st.integers(1, 40),
    st.integers(1, 40),
)
def test_lines_as_long_as_they_may_be(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], ended: bool, size: int, longest: int
) -> None:
    path = tmp_path_factory.mktemp("limits") / "text"
    lines = ["a" * length for length in lengths]
    path.write_text("\n".join(lines) + ("\n" if ended else ""))
    longest = max(longest, 16)
    first = next((k for k, line in enumerate(lines, 1) if len(line) > longest), None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LASW_LONGEST_LINE", str(longest))
        blocks = Blocks(str(path), size=size)
        if first is None:
            assert "".join(block.text() for block in blocks).split("\n")[:-1] == (
                lines if ended or lines[-1] else lines[:-1]
            )
            return
        found = refused(lambda: list(blocks))
    assert found.startswith(f"{path}:{first}: a line of more than {longest} bytes; expected at most {longest}")
    assert found.endswith("if it is right, set LASW_LONGEST_LINE to more")


def test_a_line_without_an_end_takes_linear_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASW_LONGEST_LINE", "1G")
    seconds = []
    for size in (8 << 20, 64 << 20):
        (tmp_path / "text").write_bytes(b"a" * size)
        began = time.process_time()
        assert len(next(iter(Blocks(str(tmp_path / "text")))).data) == size + 1
        seconds.append(time.process_time() - began)
    assert seconds[1] < 25 * seconds[0] + 0.5  # 64 times as much by going over everything again


@pytest.mark.parametrize(("compress", "most"), [(gzip.compress, "256M"), (bz2.compress, "16M"), (lzma.compress, "16M")])
def test_little_that_becomes_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compress: Callable[[bytes], bytes], most: str
) -> None:
    path = tmp_path / "bomb"
    with open(path, "wb") as stream:
        piece = compress(b"\n" * (16 << 20))
        for _ in range(8):
            stream.write(piece)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for action in (lambda: read_lines(path), lambda: read_bytes(path), lambda: content_digest(path)):
        found = refused(action)
        assert found.startswith(f"{path}: decompresses to more than ")
        assert found.endswith("expected at most 300; if it is right, set LASW_LARGEST_RATIO to more")
    if most != "256M":  # which it is when nobody says otherwise
        monkeypatch.setenv("LASW_LARGEST_FILE", most)
    found = refused(lambda: read_lines(path, most=LARGEST_FILE))  # empty lines are the larger in memory
    assert found.startswith(f"{path}: a file that is larger; expected at most {most}")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 900_000


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_bytes_are_counted(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    (tmp_path / "text").write_bytes(compress(os.urandom(1 << 20)))
    with open_bytes(tmp_path / "text") as stream:
        assert len(stream.read()) == 1 << 20
        assert stream.raw._counted.taken >= 1 << 20  # type: ignore[attr-defined]


def test_a_ratio_that_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASW_LARGEST_RATIO", "5000")
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"\n" * (65 << 20)))
    with open_bytes(tmp_path / "text.gz") as stream:
        assert sum(map(len, iter(lambda: stream.read(1 << 20), b""))) == 65 << 20


def test_small_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASW_LARGEST_FILE", "2K")
    path = tmp_path / "file"
    path.write_bytes(b"abcdefghijklmno\n" * 128)
    assert len(read_bytes(path)) == len("\n".join([*read_lines(path, most=LARGEST_FILE), ""])) == 2048
    path.write_bytes(b"abcdefghijklmno\n" * 129)
    for action in (lambda: read_bytes(path), lambda: read_lines(path, most=LARGEST_FILE)):
        assert refused(action) == f"{path}: a file that is larger; expected at most 2K; if it is right, set " + (
            "LASW_LARGEST_FILE to more"
        )
    for wrong in ("x", "0", "-1", "1.5M", "9" * 30):
        monkeypatch.setenv("LASW_LARGEST_FILE", wrong)
        assert refused(lambda: read_bytes(path)).startswith(f"LASW_LARGEST_FILE={wrong}; expected a whole number")


def test_what_has_no_end_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refused(lambda: open_bytes(tmp_path / "pipe")).endswith(
        "named pipe; expected a file; give <(COMMAND), or - for standard input"
    )
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        assert "this is a device" in refused(lambda: open_bytes(tmp_path / "socket"))
    for name in ("/dev/zero", "/dev/full", "/dev/urandom"):
        assert refused(lambda name=name: open_bytes(name)) == f"{name}: this is a device; expected a file"  # type: ignore[misc]
    assert read_lines("/dev/null") == []
    reading, writing = os.pipe()
    os.write(writing, b"a\nb\n")
    os.close(writing)
    assert read_lines(f"/dev/fd/{reading}") == ["a", "b"]
    os.close(reading)
    assert "there is a NUL in it" in refused(lambda: open_bytes("a\0b"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[" * 100_000, "brackets within thousands of brackets"),
        ('{"a":' * 100_000, "brackets within thousands of brackets"),
        ("1" * 5000, "a number of thousands of digits"),
        ("{\n\n'", "Expecting property name enclosed in double quotes"),
        (b"\xff", "byte 0xff is no UTF-8"),
        ("", "Expecting value"),
    ],
)
def test_json_that_is_none(text: str | bytes, found: str) -> None:
    assert f"this is no JSON ({found})" in refused(lambda: parse_json(text, "file"))
    assert refused(lambda: parse_json(text, "file", line=7, remedy="do")).startswith("file:7: ")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a = " + "[" * 3000 + "]" * 3000, "file: this is not TOML (brackets within thousands of brackets)"),
        ("\na = " + "1" * 5000, "file: this is not TOML (a number of thousands of digits)"),
        ("\na = b", "file:2: this is not TOML (Invalid value)"),
    ],
)
def test_toml_that_is_none(text: str, found: str) -> None:
    assert refused(lambda: parse_toml(text, "file")) == found


def test_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "arrays"
    np.savez_compressed(path, a=np.arange(3), b=np.array(["x", "yy"]))
    members = read_arrays(path.with_suffix(".npz"), "none")
    assert parse_array(members["a.npy"]).tolist() == [0, 1, 2]
    assert parse_array(members["b.npy"]).tolist() == ["x", "yy"]
    data = path.with_suffix(".npz").read_bytes()
    for cut in (b"", b"PK", data[:-30], data[:100], gzip.compress(data)[:-9]):
        path.write_bytes(cut)
        assert "none" in refused(lambda: read_arrays(path, "none")) or "cut off" in refused(
            lambda: read_arrays(path, "none")
        )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a.npy", b"\0" * (65 << 20))
    assert "decompresses to more than" in refused(lambda: read_arrays(path, "none"))
    out = io.BytesIO()
    np.save(out, np.array([{}, None], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle"):
        parse_array(out.getvalue())
    out = io.BytesIO()
    np.save(out, np.arange(3))
    for old, new in ((b"(3,), ", b"(9999999999999999999,), "), (b"(3,)", b"((((")):
        with pytest.raises(ValueError, match=r"."):
            parse_array(out.getvalue().replace(old, new))
    assert json.dumps(parse_array(out.getvalue()).tolist()) == "[0, 1, 2]"


def test_empty_lines_take_memory_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASW_LARGEST_FILE", "9000")
    path = tmp_path / "feeds"
    path.write_bytes(b"\n" * 1125)
    assert read_lines(path, most=LARGEST_FILE) == [""] * 1125
    path.write_bytes(b"\n" * 1126)
    with pytest.raises(UserError, match="larger"):
        read_lines(path, most=LARGEST_FILE)
