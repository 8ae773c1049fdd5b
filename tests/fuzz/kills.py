"""kill -9 at random moments of every command that writes: ``python tests/fuzz/kills.py --kills 300 --seed 1``.

A command is run once undisturbed. Then again and again it is started, killed with all its children at a moment drawn
from a seed, up to three times in a row, and run until it is done. All outputs must be the bytes of the undisturbed run,
and nothing may be left over: no other file in the run's folder, none among the temporary files.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import json
import os
import random
import re
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

from commands import Job, ended, jobs  # noqa: E402

_IN_A_ROW = 3
_OF_CLOCKS = {"seconds", "sha256", "fit.json", "decode.json", "iteration.json"}
_WHILE_WRITING = 1 / 3
_LONGEST = 300.0  # seconds


def half_written(folder: Path) -> bool:
    """Whether a file there is being written; folders may go while one looks, which `os.walk` does not mind."""
    return any(fnmatch.fnmatch(name, ".*.new") for _, _, names in os.walk(folder) for name in names)


def contents(folder: Path) -> dict[str, object]:
    """What a run has left by name, but for what time and process it was made in."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name == "lock":
            found[name] = ""
        elif path.suffix == ".jsonl":
            found[name] = [timeless(json.loads(line)) for line in path.read_text().splitlines()]
        elif path.suffix == ".json":
            found[name] = timeless(json.loads(path.read_text()))
        elif path.suffix == ".html":  # shows what else is compared, and how long all took
            found[name] = path.read_text().rstrip().endswith("</html>")
        else:
            found[name] = path.read_bytes() if path.is_file() else "a folder"
    return found


def timeless(content: object) -> object:
    """JSON without seconds, and without checksums of what has some."""
    if isinstance(content, dict):
        return {key: timeless(value) for key, value in content.items() if key not in _OF_CLOCKS}
    return content


class Trials:
    """Kills of one command.

    Args:
        job: the command.
        place: an empty folder.
        draw: moments are drawn from it.
    """

    def __init__(self, job: Job, place: Path, draw: random.Random) -> None:
        self.job, self.place, self.draw = job, place, draw
        self.kills = self.trials = 0
        self.faults: list[str] = []
        job.prepare(place)
        self.run = place / "run"  # always the same, as some write it down
        began = time.monotonic()
        self.finish()
        self.seconds = time.monotonic() - began
        self.wanted = contents(self.run)
        shutil.rmtree(self.run)

    def finish(self) -> None:
        """Run the command to its end.

        Raises:
            RuntimeError: it failed.
        """
        code, said = ended(self.job.start(self.run), _LONGEST)
        if code:
            raise RuntimeError(f"code {code}: {said[-2000:]}")

    def once(self, most: int) -> None:
        """Kill it up to so many times, then run it to its end and compare."""
        self.trials += 1
        moments = []
        for _ in range(min(most, self.draw.randint(1, _IN_A_ROW))):
            moment = self.draw.uniform(0.05, 1.0) * self.seconds
            if not self.killed(moment):
                break
            moments.append(f"{moment:.2f}")
        self.kills += len(moments)
        try:
            self.finish()
            found = contents(self.run)
            wrong = sorted(name for name in {*found, *self.wanted} if found.get(name) != self.wanted.get(name))
        except RuntimeError as error:
            wrong = [str(error)]
        if wrong:
            self.faults.append(f"killed after {', '.join(moments)} s: {', '.join(wrong)}")
            kept = self.run.rename(self.place / f"fault{self.trials}")
            print(f"    {self.job.name}, {kept.name}, {self.faults[-1]}", flush=True)
        else:
            shutil.rmtree(self.run)

    def killed(self, moment: float) -> bool:
        """Start it and kill it, in a third of cases not before it writes a file; whether it was still at work."""
        writing = self.draw.random() < _WHILE_WRITING
        process = self.job.start(self.run, stderr=subprocess.DEVNULL)
        began = time.monotonic()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(moment)
            self.seconds = min(self.seconds, time.monotonic() - began)  # it compiled before, or the machine was busy
        while writing and process.poll() is None and not half_written(self.run / "out"):
            time.sleep(0.001)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait() == -signal.SIGKILL


def kill_all(chosen: list[Job], kills: int, seed: int, scratch: Path) -> int:
    """Kill every command its share of times, print a line for each; the number of runs that did not end well."""
    print(f"{'command':24} {'whole':>7} {'kills':>6} {'runs':>5} {'the same, nothing left':>23}", flush=True)
    faults = 0
    for k, job in enumerate(chosen):
        share = kills * (k + 1) // len(chosen) - kills * k // len(chosen)
        trials = Trials(job, scratch / re.sub(r"\W+", "-", job.name), random.Random(f"{job.name} {seed}"))
        while trials.kills < share and trials.trials < 10 * share:
            trials.once(share - trials.kills)
        good = trials.trials - len(trials.faults)
        print(f"{job.name:24} {trials.seconds:6.1f}s {trials.kills:6} {trials.trials:5} {good:23}", flush=True)
        faults += len(trials.faults)
    return faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300, help="of all commands together (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (default: %(default)s)")
    parser.add_argument("--only", action="append", metavar="NAME", help="one command; may be repeated")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where runs that did not end well stay")
    given = parser.parse_args()
    every = [job for job in jobs() if given.only is None or job.name in given.only]
    with tempfile.TemporaryDirectory(prefix="lasw-kills-") as made:
        sys.exit(min(kill_all(every, given.kills, given.seed, given.keep or Path(made)), 1))
