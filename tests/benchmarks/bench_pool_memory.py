"""Peak memory of a pool of 3 million candidates x 14 features, BLEU statistics included.

    python tests/benchmarks/bench_pool_memory.py [--lists 'run*.best100.out.gz'] [--references dev.en] [--candidates N]

The lists are repeated with a digit before one feature until there are N distinct candidates, written to a file and
streamed into a pool in a process of its own, whose peak resident memory is printed. Goal: at most 1.2 GB.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
GOAL = 1.2e9


def generate(lists: list[Path], target: Path, candidates: int) -> None:
    """Write the lists again and again, with another digit before LM0 each time."""
    seen: dict[bytes, None] = {}
    for path in lists:
        with gzip.open(path, "rb") as stream:
            seen.update((line.rpartition(b"|||")[0] + b"||| 0\n", None) for line in stream)  # totals differ
    distinct = list(seen)
    written, turn = 0, 0
    with target.open("wb") as out:
        while written < candidates:
            for line in distinct[: candidates - written]:
                out.write(line.replace(b"LM0= -", b"LM0= -%d" % turn if turn else b"LM0= -", 1))
            written += min(len(distinct), candidates - written)
            turn += 1


def measure(target: str, references: str) -> None:
    """Fill the pool; print what it took."""
    from lasw.metrics import References, metric, read_corpus
    from lasw.tuning import Pool, stream_nbest

    bleu = metric("PGBC4")
    pool = Pool(References((read_corpus(references),)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    start = time.process_time()
    for block in stream_nbest(target, pool.references.vocabulary, unsorted=True):
        pool.add(block)
    filled = time.process_time() - start
    pool.statistics(bleu)
    _ = pool.order
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"candidates          {len(pool):>12,} x {pool.dense.shape[1]} features, {len(pool.hypotheses.ids):,} tokens")
    print(f"reading and merging {filled:>12.2f} CPU s")
    print(f"with statistics     {time.process_time() - start:>12.2f} CPU s")
    print(f"memory before       {before / 1e6:>12.0f} MB")
    print(f"peak memory         {peak / 1e6:>12.0f} MB, {peak / GOAL:.2f} of the goal of {GOAL / 1e6:.0f} MB")


def main() -> None:
    """Generate, then measure in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lists", default=str(DATA / "moses" / "de-en" / "run*.best100.out.gz"))
    parser.add_argument("--references", default=str(DATA / "multi30k" / "dev.en.gz"))
    parser.add_argument("--candidates", type=int, default=3_000_000)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure, arguments.references)
        return
    pattern = Path(arguments.lists)
    lists = sorted(pattern.parent.glob(pattern.name))
    if not lists:
        sys.exit(f"no lists {pattern}")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "nbest"
        generate(lists, target, arguments.candidates)
        command = [sys.executable, __file__, "--measure", str(target), "--references", arguments.references]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
