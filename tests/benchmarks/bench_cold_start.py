"""Seconds from pressing return to the answer, for commands that do almost nothing.

Peer: `python -c "import sacrebleu"`, what anybody pays who scores from Python.
Run: python tests/benchmarks/bench_cold_start.py
"""

from __future__ import annotations

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


if __name__ == "__main__":
    main()
