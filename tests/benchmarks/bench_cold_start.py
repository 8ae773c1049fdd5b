"""Seconds from pressing return to the answer, for commands that do almost nothing.

Peer: `python -c "import sacrebleu"`, what anybody pays who scores from Python. Then the processor seconds of first
runs, whose kernels are still to be compiled, beside those of second ones.
Run: python tests/benchmarks/bench_cold_start.py
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPEATS = 7


def seconds(*command: str) -> float:
    """Median wall seconds of a command, after one run that fills the caches."""
    times = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def processor_seconds(environment: dict[str, str], *command: str) -> float:
    """Of one run of a command, in all its threads and processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_runs(lasw: str, folder: Path, text: Path) -> None:
    """A line a command: with an empty folder of compiled kernels, and again."""
    draw = random.Random(1)
    words = ["a", "small", "house", "stands", "on", "a", "hill"]
    with open(folder / "list", "w", encoding="utf-8") as stream:
        for k in range(100):
            for _ in range(30):
                spoilt = " ".join(word if draw.random() < 0.8 else "the" for word in words)
                stream.write(f"{k} ||| {spoilt} ||| LM0= {draw.gauss(0, 1):.4f} W= {draw.gauss(0, 1):.4f} ||| 0\n")
    (folder / "weights").write_text("LM0= 1\nW= 1\n", encoding="utf-8")
    print(f"\n{'processor seconds':<28}{'first':>9}{'second':>9}")
    optimise = (lasw, "optimise", "--references", str(text), "--optimiser")
    for name, command in (
        ("lasw score", (lasw, "score", "-r", str(text), str(text))),
        ("lasw rerank", (lasw, "rerank", "--weights", str(folder / "weights"), str(folder / "list"))),
        *((f"lasw optimise, {chosen}", (*optimise, chosen, str(folder / "list"))) for chosen in ("mira", "pro")),
    ):
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            first, second = (processor_seconds(environment, *command) for _ in range(2))
        print(f"{name:<28}{first:>9.1f}{second:>9.1f}")


def main() -> None:
    """Print one line a command."""
    beside = Path(sys.executable).parent / "lasw"
    lasw = str(beside) if beside.exists() else shutil.which("lasw") or "lasw"
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text"
        text.write_text("a small house stands on a hill\n" * 100, encoding="utf-8")
        peer = seconds(sys.executable, "-c", "import sacrebleu")
        print(f"{'command':<28}{'seconds':>9}{'/ import sacrebleu':>20}")
        for name, command in (
            ("import sacrebleu (peer)", (sys.executable, "-c", "import sacrebleu")),
            ("lasw --help", (lasw, "--help")),
            ("lasw score, 100 segments", (lasw, "score", "-r", str(text), str(text))),
        ):
            taken = seconds(*command)
            print(f"{name:<28}{taken:>9.3f}{taken / peer:>20.2f}")
        first_runs(lasw, Path(folder), text)


if __name__ == "__main__":
    main()
