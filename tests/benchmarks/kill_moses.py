"""`kill -9` at random moments of a run of lasw-mert-moses with a stand-in for Moses, then --continue: the same bytes?

    python tests/benchmarks/kill_moses.py [KILLS [SEED]]

Prints the time of every kill behind the start of the process and what differed in the working directory in the end.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from moses_runs import call, files, made

OPTIONS = ("--batch-mira", "--batch-mira-args", "-J 20", "--maximum-iterations", "5", "--return-best-dev")
PROGRAM = [sys.executable, "-c", "import sys; from lasw.scripts.mert_moses.command import main; sys.exit(main())"]


def started(place: Path, folder: Path, *more: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "STAND_IN": "sleep=0.02"}
    command = [*PROGRAM, *call(place, folder, *OPTIONS, *more)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)


def main() -> int:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    with tempfile.TemporaryDirectory() as scratch:
        place = made(Path(scratch))
        begin = time.monotonic()
        assert started(place, place / "whole").wait() == 0
        length = time.monotonic() - begin
        killed = differing = run = 0
        while killed < kills:
            run += 1
            folder = place / f"run{run}"
            more: list[str] = []
            while True:
                process = started(place, folder, *more)
                more = ["--continue"]
                moment = draw.uniform(0, length)
                try:
                    code = process.wait(moment if killed < kills else None)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    killed += 1
                    print(f"run {run}: killed after {moment:.2f} s", flush=True)
                    continue
                if code:
                    print(f"run {run}: ended with code {code}")
                    return 1
                break
            one, other = files(place / "whole"), files(folder)
            wrong = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
            differing += bool(wrong)
            print(f"run {run}: {'the same' if not wrong else 'other: ' + ', '.join(wrong)}", flush=True)
        print(f"{killed} kills in {run} runs, {run - differing} of {run} with the same files, byte for byte")
    return 0 if not differing else 1


if __name__ == "__main__":
    sys.exit(main())
