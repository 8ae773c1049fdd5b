"""A fuzzer of all readers: ``python tests/fuzz/harness.py --seconds 600 --seed 7 [--only NAME] [--keep FOLDER]``.

Files of every format are damaged, from a seed, and read. Four things must hold of each: nothing but a `UserError` comes
out, in one line; it is over in 10 CPU seconds; the process has at most 1 GB; what is accepted, written by us
and read again is the same. A format is read in a process of its own, so that one that dies is a finding too.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from formats import Format, formats, repacked  # noqa: E402
from mutations import mutated  # noqa: E402

from lasw.metrics import UserError  # noqa: E402

SECONDS = 10.0
KILOBYTES = 1 << 20
_STEP = 0.2  # seconds between two notes of how far it is


def batch(one: Format, others: list[bytes], seed: int, seconds: float, place: Path, most: int) -> None:
    """Read damaged files of one format until the time is over; what was found goes to `place`."""
    warnings.simplefilter("error", category=RuntimeWarning)  # an overflow that nobody looked at is a wrong number
    random_ = random.Random(f"{one.name} {seed}")
    for text in one.seeds:  # loads, compiles, and shows that they are undamaged
        _check(one, text, place)
    counts = {"inputs": 0, "accepted": 0, "slowest": 0.0}
    began = noted = time.monotonic()
    hang = open(place / "hang", "w")  # noqa: SIM115 - as long as the process
    faulthandler.register(signal.SIGXCPU, file=hang, chain=True)
    while time.monotonic() - began < seconds and counts["inputs"] < most:
        chosen = random_.choice(one.seeds)
        if chosen.startswith(b"PK") and random_.random() < 0.6:
            data = repacked(chosen, lambda x: mutated(random_, x, [x]), random_.randrange(20))
        else:
            data = mutated(random_, chosen, others)
        (place / "current").write_bytes(data)
        # Of processor time, since others may be at work; asleep it may be six times as long.
        most_cpu = int(time.process_time() + SECONDS) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (most_cpu, resource.RLIM_INFINITY))
        faulthandler.dump_traceback_later(6 * SECONDS, exit=True, file=hang)
        start = time.monotonic()
        try:
            _check(one, data, place)
            counts["accepted"] += 1
        except UserError as error:
            if "\n" in str(error) or len(str(error)) > 2000:
                _found(place, data, f"a message of {len(str(error))} characters: {str(error)[:200]!r}")
        except BaseException:
            _found(place, data, traceback.format_exc())
            if isinstance(sys.exc_info()[1], KeyboardInterrupt):
                raise
        faulthandler.cancel_dump_traceback_later()
        counts["inputs"] += 1
        counts["slowest"] = max(counts["slowest"], time.monotonic() - start)
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > KILOBYTES:
            _found(place, data, "more than 1 GB of memory")
            break
        if time.monotonic() - noted > _STEP:
            noted = time.monotonic()
            _note(place, counts)
    _note(place, counts)


def _check(one: Format, data: bytes, place: Path) -> None:
    path = place / "input"
    path.write_bytes(data)
    content = one.read(path)
    if one.write is not None:
        one.write(path, content)
        again = one.read(path) if one.again is None else one.again(path, content)
        assert one.same(content, again), f"accepted, and another thing when written and read again: {content} {again}"


def _found(place: Path, data: bytes, what: str) -> None:
    number = len(list(place.glob("finding-*")))
    if number < 40:
        (place / f"finding-{number:03d}").write_bytes(data)
        (place / f"what-{number:03d}").write_text(what)


def _note(place: Path, counts: dict[str, float]) -> None:
    said = {**counts, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}
    (place / "counts.new").write_text(json.dumps(said))
    os.replace(place / "counts.new", place / "counts")


def _apart(work: Callable[[], None], place: Path) -> int:
    """Do something in a process of its own; how it ended."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(place / "stderr", os.O_WRONLY | os.O_CREAT), 2)
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fuzz(seconds: float, seed: int, only: str | None, keep: Path | None, most: int = sys.maxsize) -> int:
    """Fuzz all formats for about so long, print a table; the number of findings."""
    every = [one for one in formats() if only in (None, one.name)]
    texts = [text for one in every for text in one.seeds]
    total = findings = 0
    print(f"{'format':28} {'inputs':>9} {'accepted':>9} {'slowest':>8} {'MB':>5}  findings", flush=True)
    for one in every:
        name = one.name
        with tempfile.TemporaryDirectory(prefix="lasw-fuzz-") as folder:
            place = Path(folder)
            others = texts if seed % 3 == 0 else one.seeds
            code = _apart(
                lambda one=one, place=place, others=others: batch(one, others, seed, seconds / len(every), place, most),
                place,
            )
            counts = json.loads((place / "counts").read_text()) if (place / "counts").exists() else {"inputs": 0}
            if code:
                hang = (place / "hang").read_text() if (place / "hang").exists() else ""
                data = (place / "current").read_bytes() if (place / "current").exists() else b""
                _found(place, data, f"ended with code {code}\n{hang}\n{(place / 'stderr').read_text()[-3000:]}")
            found = sorted(place.glob("what-*"))
            shown = [counts.get(key, 0) for key in ("inputs", "accepted", "slowest", "memory")]
            print(
                f"{name:28} {shown[0]:9} {shown[1]:9} {shown[2]:7.2f}s {shown[3] // 1024:5}  {len(found)}", flush=True
            )
            total, findings = total + shown[0], findings + len(found)
            for what in found:
                last = [line for line in what.read_text().split("\n") if line.strip()]
                print(f"    {last[-1][:200]}  ({what.name})")
            if keep is not None and found:
                shutil.copytree(place, keep / name.replace("/", "_"), dirs_exist_ok=True)
    print(f"{total} inputs, {findings} findings")
    return findings


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="for all formats (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--only", metavar="FORMAT", help="one format")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where inputs with findings go")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="inputs of a format")
    given = parser.parse_args()
    sys.exit(min(fuzz(given.seconds, given.seed, given.only, given.keep, given.most), 1))
