"""SIGTERM and Ctrl-C within long computations: ``python tests/fuzz/signals.py [--only NAME] [--moments 3] [--seed 1]``.

Every command of `long_jobs` is stopped at moments drawn from a seed, counted in processor seconds of its own and of
what it has started, out of those that it takes when nobody stops it; how long it takes to end is told, which may be two
seconds, not counting those that it waits for a processor.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from commands import Job  # noqa: E402
from long_jobs import long_jobs  # noqa: E402

MOST = 2.0  # seconds
_OFTEN = 0.05  # seconds
_TICK = os.sysconf("SC_CLK_TCK")


def _seconds(process: subprocess.Popen[str]) -> float:
    """Processor seconds so far of a process and those that it has started: all of its session."""
    ticks = 0
    for path in Path("/proc").glob("[1-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[3]) == process.pid:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICK


def _waiting(process: subprocess.Popen[str]) -> float:
    """Seconds that its first thread would have run, had others not: no fault of its own."""
    try:
        return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def _heeding() -> None:
    """What runs in the background of a shell takes no notice of Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def lasting(job: Job, place: Path, most: float) -> float:
    """Processor seconds that it takes when nobody stops it, at most so many."""
    process, took = _started(job, place), 0.0
    while process.poll() is None and took < most:
        took = _seconds(process)
        time.sleep(_OFTEN)
    over = process.poll() is not None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    _, said = process.communicate()
    if over and process.returncode:
        raise RuntimeError(said)
    return took


def stopped(job: Job, place: Path, moment: float, number: int) -> tuple[float, int, str] | None:
    """How long it took to end, its code and its last line; None if it was over before."""
    process = _started(job, place)
    while process.poll() is None and _seconds(process) < moment:
        time.sleep(_OFTEN)
    if process.poll() is not None:
        _, said = process.communicate()
        if process.returncode:
            raise RuntimeError(said)
        return None
    began, waited = time.monotonic(), _waiting(process)
    late = waited
    process.send_signal(number)
    while process.poll() is None:
        late = max(late, _waiting(process))
        time.sleep(0.005)
    took = time.monotonic() - began - (late - waited)
    _, said = process.communicate()
    left = [path.name for path in (place / "run" / "out").iterdir()]
    last = said.rstrip().rpartition("\n")[2]
    return took, process.returncode, f"{last} left: {left}" if left else last


def _started(job: Job, place: Path) -> subprocess.Popen[str]:
    shutil.rmtree(place / "run", ignore_errors=True)
    return job.start(place / "run", preexec_fn=_heeding)


def tried(job: Job, place: Path, moments: int, latest: float, seed: int) -> tuple[str, int]:
    """A line about one command, and how often it ended late or otherwise than it should."""
    job.prepare(place)
    draw, slowest, ended, late = random.Random(f"{job.name} {seed}"), 0.0, [], 0
    last = lasting(job, place, latest)
    for k in range(moments):
        number = signal.SIGTERM if k % 2 else signal.SIGINT
        moment = draw.uniform(min(0.5, 0.3 * last), 0.95 * last)
        found = stopped(job, place, moment, number)
        if found is None:
            ended.append(f"over before {moment:.1f} s")
            continue
        took, code, said = found
        slowest = max(slowest, took)
        stopped_well = code in (128 + number, -number) and "left:" not in said
        wrong = took > MOST or not (stopped_well or code == 0) or "Error" in said  # 0: it was just over
        late += wrong
        ended.append(f"{moment:.1f}: {took:.2f} s{f' code {code} {said}' if wrong else ''}")
    return f"{job.name:22} of {last:5.1f} s   slowest {slowest:5.2f} s   {'; '.join(ended)}", late


def main() -> int:
    """Print a line for every command; 1 if one takes too long or ends otherwise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="commands whose name begins so; may be repeated"
    )
    parser.add_argument("--moments", type=int, default=3, help="of each command (default: %(default)s)")
    parser.add_argument(
        "--latest", type=float, default=20.0, help="of them, in processor seconds (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--place", type=Path, help="where the data stays")
    given = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory(prefix="lasw-signals-") as made:
        for job in long_jobs():
            if given.only is None or any(job.name.startswith(name) for name in given.only):
                line, late = tried(job, given.place or Path(made), given.moments, given.latest, given.seed)
                faults += late
                print(line, flush=True)
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main())
