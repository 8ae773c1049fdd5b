"""kill -9 at random moments of a Thot tuning run, then the same command again: are the final weights the same bytes?

    python tests/benchmarks/kill_thot.py [--kills 20] [--model DIR --source FILE --references FILE]

Without a model a small one is trained from made-up text. Every trial has a run directory of its own, is killed once, at
a moment drawn from the time that the uninterrupted run was at work (from its first file on), and then finished by the
same command. A run that has ended before its moment is no trial: it is run again, to be killed earlier.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from made_text import parallel_text


def main() -> int:
    """Print how many trials ended with the bytes of the uninterrupted run; 0 if all did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, help="of the moments (default: drawn anew)")
    parser.add_argument("--model", type=Path, help="a system of 'lasw train'")
    parser.add_argument("--source", type=Path)
    parser.add_argument("--references", type=Path)
    parser.add_argument("--nbest", default="50")
    parser.add_argument("--iterations", default="3")
    arguments = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if arguments.seed is None else arguments.seed
    with tempfile.TemporaryDirectory(prefix="lasw-kill-") as scratch:
        folder = Path(scratch)
        if arguments.model is None:
            _train(folder, arguments)
        process = _start(arguments, folder / "whole")
        began = time.perf_counter()
        if process.wait():
            print("the uninterrupted run failed", file=sys.stderr)
            return 1
        seconds = time.perf_counter() - began
        wanted = (folder / "whole" / "weights.json").read_bytes()
        print(f"uninterrupted: {seconds:.1f} s; moments drawn with seed {seed}", flush=True)
        draw = random.Random(seed)
        moments = [draw.uniform(0, seconds) for _ in range(arguments.kills)]
        same = [_trial(arguments, folder / str(k), moment, wanted) for k, moment in enumerate(moments, 1)]
    print(f"{sum(same)} of {len(same)} resumed runs ended with the same weights, byte for byte")
    return 0 if all(same) else 1


def _trial(arguments: argparse.Namespace, run: Path, moment: float, wanted: bytes) -> bool:
    while True:
        process = _start(arguments, run)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            break
        shutil.rmtree(run)
        moment *= 0.9
    done = sorted(path.name for path in run.glob("iterations/*/*")) if run.exists() else []
    again = subprocess.run(_command(arguments, run), capture_output=True, text=True, check=False)
    same = again.returncode == 0 and (run / "weights.json").read_bytes() == wanted
    print(f"killed after {moment:5.2f} s with {len(done):2} files: {'same' if same else 'OTHER'}", flush=True)
    if again.returncode:
        print(again.stderr, file=sys.stderr)
    return same


def _start(arguments: argparse.Namespace, run: Path) -> subprocess.Popen[bytes]:
    """A run that is at work: it has written its first file."""
    process = subprocess.Popen(_command(arguments, run), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not (run / "run.json").exists():
        time.sleep(0.002)
    return process


def _command(arguments: argparse.Namespace, run: Path) -> list[str]:
    command = [sys.executable, "-m", "lasw.scripts.main", "tune", "wro-simpbleu", "--run", str(run)]
    command += ["--decoder", "thot", "--model", str(arguments.model), "--jobs", "2", "--seed", "1"]
    command += ["--source", str(arguments.source), "--references", str(arguments.references)]
    return [*command, "--nbest", arguments.nbest, "--iterations", arguments.iterations]


def _train(folder: Path, arguments: argparse.Namespace) -> None:
    for name, count, seed in (("train", 2000, 1), ("dev", 50, 2)):
        for side, lines in zip(("source", "target"), parallel_text(count, seed), strict=True):
            (folder / f"{name}.{side}").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    arguments.model, arguments.source = folder / "model", folder / "dev.source"
    arguments.references = folder / "dev.target"
    command = [sys.executable, "-m", "lasw.scripts.main", "train"]
    command += ["--source", str(folder / "train.source"), "--target", str(folder / "train.target")]
    subprocess.run([*command, "--output", str(arguments.model), "--quiet"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
