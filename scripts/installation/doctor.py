"""`lasw doctor`: what this installation has to work with, and a line for everything that is wrong with it."""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from lasw.metrics import borrowing, version
from lasw.scripts.command_line import EXIT_FAILED, Parser, coloured, print_json

_EPILOG = """\
examples:
  lasw doctor
  lasw doctor --json

Exit code 1 if something is wrong. What is not there and only needed by some (decoders) is told, and is not wrong.
"""
_GB = 1e9
_LEAST_DISK = 1.0  # GB
_ROOMS = ("metrics", "tuning", "selection")
_KERNEL = re.compile(rb"^@(borrowing|nested|inlined|allocating)\b", re.MULTILINE)
_REQUIREMENT = re.compile(r"([\w.-]+)\s*>=\s*([\d.]+)$")


@dataclass(frozen=True)
class Finding:
    """A line: what was looked at, what is there, what is wrong with it (nothing if that is empty) and what to do."""

    what: str
    found: str
    wrong: str = ""


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Look and print; 0 if nothing is wrong."""
    findings = [finding for look in _LOOKS for finding in look()]
    wrong = [finding for finding in findings if finding.wrong]
    if arguments.json:
        print_json([asdict(finding) for finding in findings])
        return EXIT_FAILED if wrong else 0
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        mark = coloured("wrong", "red", sys.stdout) if finding.wrong else coloured("ok", "green", sys.stdout) + "   "
        print(f"{mark}  {finding.what:<{width}}  {finding.found}")
    for finding in wrong:
        print(f"{coloured('wrong:', 'red', sys.stdout)} {finding.what}: {finding.wrong}")
    return EXIT_FAILED if wrong else 0


def _versions() -> Iterator[Finding]:
    yield Finding("lasw", f"{version()} in {Path(__file__).absolute().parents[2]}")
    yield Finding("python", f"{platform.python_version()}, {sys.executable}, on {platform.machine()}")
    for text in metadata.requires("lasw") or ():
        needed = _REQUIREMENT.match(text.partition(";")[0])
        if needed is None or "extra" in text.partition(";")[2]:
            continue
        try:
            found = metadata.version(needed[1])
        except metadata.PackageNotFoundError:
            if ";" not in text:  # else not on every machine
                yield Finding(needed[1], "none", f"not installed; pip install '{needed[0]}'")
            continue
        old = _numbers(found) < _numbers(needed[2])
        yield Finding(needed[1], found, f"{found}, expected {needed[2]} or later; pip install -U" if old else "")


def _numbers(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", text)]


def _decoders() -> Iterator[Finding]:
    try:
        yield Finding("decoder thot", f"sil-thot {metadata.version('sil-thot')}")
    except metadata.PackageNotFoundError:
        yield Finding("decoder thot", "none (pip install sil-thot)")
    for name in ("moses", "moses_chart"):
        yield Finding(f"decoder {name}", shutil.which(name) or "none on PATH")


def _processors() -> Iterator[Finding]:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    set_to = [f"{name}={os.environ[name]}" for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS") if name in os.environ]
    yield Finding("processors", ", ".join([f"{usable} of {os.cpu_count()} for --jobs", *set_to]))


def _kernels() -> Iterator[Finding]:
    """Where they are kept and whether they are there: of which files, as newly as the sources."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        yield Finding("kernels", "not compiled", "NUMBA_DISABLE_JIT is set: all is a hundred times slower; unset it")
        return
    place = getattr(borrowing(_numbers).stats, "cache_path", None)  # any function: where it would be kept
    if not place:
        yield Finding("kernels", "compiled at every start", "no folder can be written to; set NUMBA_CACHE_DIR")
        return
    top = Path(__file__).absolute().parents[2]
    rooms = [top / room for room in _ROOMS]
    sources = [path for room in rooms for path in room.rglob("*.py") if _KERNEL.search(path.read_bytes())]
    newest = max(path.stat().st_mtime_ns for path in sources)
    inside = Path(place).name == "__pycache__"  # beside the program, else all in folders of one folder
    kept = [path for folder in (rooms if inside else [Path(place).parent]) for path in folder.rglob("*.nbi")]
    fresh = sum(path.stat().st_mtime_ns >= newest for path in kept)
    state = (
        f"{fresh} kept" if fresh else "none kept: first runs compile what they need (lasw warm-up does it in advance)"
    )
    yield Finding("kernels", f"{state}, in {f'__pycache__ folders of {top}' if inside else Path(place).parent}")


def _disk() -> Iterator[Finding]:
    try:
        here = os.getcwd()
    except OSError:
        yield Finding("disk here", "none", "the working folder is gone; cd elsewhere")
        here = "/"
    for what, folder in (("disk here", here), ("disk for temporary files", tempfile.gettempdir())):
        free = shutil.disk_usage(folder).free / _GB
        wrong = f"only {free:.2f} GB free in {folder}; make room" if free < _LEAST_DISK else ""
        yield Finding(what, f"{free:.1f} GB free in {folder}", f"{wrong}, or set TMPDIR" if wrong else "")


def _terminal() -> Iterator[Finding]:
    encoding = sys.stdout.encoding
    known = encoding.replace("-", "").lower() == "utf8"
    yield Finding("standard output", encoding, "" if known else "takes few characters; set PYTHONIOENCODING=utf-8")


_LOOKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    *(_versions, _decoders, _processors, _kernels, _disk, _terminal),
)
