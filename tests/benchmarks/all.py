"""All benchmarks one after the other, each in a process of its own. Run: python tests/benchmarks/all.py"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Run every bench_*.py beside this file; those that need real data say so and are left out."""
    for script in sorted(Path(__file__).parent.glob("bench_*.py")):
        print(f"== {script.name}", flush=True)
        subprocess.run([sys.executable, str(script)], check=True)


if __name__ == "__main__":
    main()
