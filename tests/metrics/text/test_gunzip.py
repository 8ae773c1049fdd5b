"""gzip data read as the standard library reads it."""

import gzip
import io
import random
import zlib

import pytest

from lasw.metrics.text import gunzip
from lasw.metrics.text.gunzip import open_gzip


@pytest.fixture(params=["whichever is installed", "zlib"], autouse=True)
def library(request, monkeypatch):
    """Every test with both libraries that may do the work."""
    if request.param == "zlib":
        monkeypatch.setattr(gunzip, "fastest", zlib)


def some_bytes(seed, size):
    """Compressible, with stretches that are not."""
    rng = random.Random(seed)
    return b"".join(rng.choice([b"der rote Bus ", rng.randbytes(40)]) for _ in range(size // 25))


@pytest.mark.parametrize("size", [0, 1, 1000, 300_000])
@pytest.mark.parametrize("step", [1000, 1 << 20])
def test_members_and_padding(size, step):
    parts = [some_bytes(k, size) for k in range(3)]
    members = [gzip.compress(part) for part in parts]
    for packed in (members[0], b"".join(members), b"\0\0".join(members) + b"\0" * 70_000):
        stream = open_gzip(io.BytesIO(packed))
        found = bytearray()
        view = memoryview(bytearray(step))
        while got := stream.readinto(view):
            found += view[:got]
        assert bytes(found) == gzip.decompress(packed)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.999])
def test_data_that_is_cut_off(share):
    packed = gzip.compress(some_bytes(1, 300_000))
    with pytest.raises(EOFError):
        open_gzip(io.BytesIO(packed[: int(share * len(packed))])).read()


def test_data_that_is_damaged_or_has_something_else_behind_it():
    packed = bytearray(gzip.compress(b"der rote Bus\n" * 100))
    packed[-6] ^= 1  # in the checksum
    with pytest.raises(zlib.error):
        open_gzip(io.BytesIO(bytes(packed))).read()
    with pytest.raises(zlib.error):
        open_gzip(io.BytesIO(gzip.compress(b"a") + b"something else")).read()


def test_closing_closes_the_file():
    raw = io.BytesIO(gzip.compress(b"a"))
    with open_gzip(raw) as stream:
        assert stream.read() == b"a"
    assert raw.closed
