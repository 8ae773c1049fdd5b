"""A few hundred damaged files of every format, and that the fuzzer sees what it looks for (`harness`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def test_no_reader_has_anything_but_a_line_to_say() -> None:
    words = [sys.executable, str(HERE / "harness.py"), "--seconds", "60", "--most", "60"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].endswith(" 0 findings")


_FAULTS = """
import os, sys, time
sys.path.insert(0, {here!r})
import harness
from formats import Format
harness.SECONDS = 1.0

def late(path):
    time.sleep(20 if b"x" not in path.read_bytes() else 0)

READERS = {{
    "traceback": (lambda p: {{b"x": 1}}[p.read_bytes()], None),
    "dies": (lambda p: os.abort() if p.read_bytes() != b"x" else None, None),
    "hangs": (late, None),
    "computes": (lambda p: all(True for _ in iter(int, 1)) if p.read_bytes() != b"x" else None, None),
    "differs": (lambda p: p.read_bytes(), lambda p, c: p.write_bytes(b"x")),
}}
read, write = READERS[sys.argv[1]]
harness.formats = lambda: [Format("made", [b"x"], read, write)]
sys.exit(min(harness.fuzz(1.0, 1, None, None), 1))
"""


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("traceback", "KeyError"),
        ("dies", ""),
        ("hangs", ""),
        ("differs", "another thing"),
    ],
)
def test_faults_are_found(fault: str, told: str) -> None:
    code = _FAULTS.format(here=str(HERE))
    done = subprocess.run([sys.executable, "-c", code, fault], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert told in done.stdout
    assert not done.stdout.splitlines()[-1].endswith(" 0 findings")
