"""What scoring a pool in parts costs: CPU seconds and bytes a pair, and what that makes for a pool of any size.

    python tests/benchmarks/bench_shards.py [--pairs 200000] [--pool 1e10] [--workers 1000] [--kills]

Generated pairs of 25 words a side. CPU seconds of one core, medians of three, warm. With --kills also a run on two
Dask workers of this machine, both killed once on the way, whose selection is compared with that of one thread.
"""

from __future__ import annotations

import argparse
import gzip
import math
import os
import pickle
import random
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from bench_select import generate

from lasw.metrics import workers
from lasw.selection import WORDS, Bitext, LAScorer, choose, collector
from lasw.selection.choice.candidates import Collection
from lasw.selection.choice.distributed import score_part
from lasw.selection.choice.la import REACH
from lasw.selection.pool import Part, pair_count, parts_of

SCORER = LAScorer(("the", "of"))
SHARD = 1_000_000  # pairs of a file in the plan


def main() -> None:
    """Measure and extrapolate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--pool", type=float, default=1e10)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--kills", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lasw-shards-") as scratch:
        plain, packed = [], []
        for name, text in zip("fea", generate(arguments.pairs), strict=True):
            plain.append(os.path.join(scratch, name))
            packed.append(f"{plain[-1]}.gz")
            Path(plain[-1]).write_text(text)
            Path(packed[-1]).write_bytes(gzip.compress(text.encode(), 6))
        _rates(arguments, Bitext(*plain), Bitext(*packed))
        if arguments.kills:
            _kills(Bitext(*plain))


def _rates(arguments: argparse.Namespace, plain: Bitext, packed: Bitext) -> None:
    n = arguments.pairs
    size = [sum(os.path.getsize(path) for path in bitext.paths) / n for bitext in (plain, packed)]
    budget = WORDS * REACH
    full = score_part(Part(plain), SCORER, Collection(budget))
    whole = Collection(budget)
    whole.merge(full)
    whole.ranked()
    returned = len(pickle.dumps(full))
    print(f"{n} pairs of {size[0]:.0f} bytes, {size[1]:.0f} in gzip; load {os.getloadavg()[0]:.1f}")
    count = [_seconds(lambda one=one: pair_count(one)) / n for one in (plain, packed)]  # type: ignore[misc]
    score = [
        _seconds(lambda one=one: score_part(Part(one), SCORER, whole.part())) / n  # type: ignore[misc]
        for one in (plain, packed)
    ]
    sent = _seconds(lambda: [pickle.dumps(part, protocol=5) for part in parts_of(plain)]) / n
    merge = _seconds(lambda: _merged(pickle.dumps(full), budget))
    for name, values in (("counting lines", count), ("reading and scoring", score)):
        print(f"{name:<34}{1 / values[0]:>12,.0f} pairs/s plain {1 / values[1]:>12,.0f} pairs/s gzip")
    print(f"{'head: cutting and packing a stream':<34}{1 / sent:>12,.0f} pairs/s")
    print(f"{'a full collection':<34}{returned / 1e6:>12,.1f} MB, merged in {merge:.2f} s")
    pool, cores = arguments.pool, arguments.workers
    shards = pool / SHARD
    seconds = pool * (count[1] + score[1]) / cores
    # A part that is sent off when k others are merged returns one kth of a collection if pairs come in no order; with
    # each round the parts under way double, so a round returns about two collections.
    moved = 2 * returned * math.log2(max(2, shards))
    print(f"\nplan for {pool:.0e} pairs in {shards:,.0f} gzip files on {cores} cores")
    print(f"{pool * size[1] / 1e12:.1f} TB read twice in {seconds:.0f} s, {SHARD * (count[1] + score[1]):.1f} s a file")
    print(f"{moved / 1e9:.1f} GB of candidates to the head, {shards * returned / 1e9:.0f} GB if the best come last")
    print(f"through one head that reads a single stream: {pool * sent / 3600:.1f} h")


def _merged(data: bytes, budget: int) -> None:
    whole = Collection(budget)
    whole.merge(pickle.loads(data))
    whole.ranked()


def _seconds(work: Callable[[], Any], runs: int = 3) -> float:
    found = []
    for _ in range(runs):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return statistics.median(found)


def _kills(bitext: Bitext) -> None:
    import distributed

    expected = choose(collector(bitext, SCORER))
    killed: list[int] = []
    draw = random.Random(1)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:

        def watch(pairs: int) -> None:
            if len(killed) < 2 and draw.random() < 0.5:
                alive = [one.process.pid for one in cluster.workers.values() if one.process is not None]
                victim = draw.choice([pid for pid in alive if pid is not None and pid not in killed])
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

        with workers(scheduler=cluster.scheduler_address) as where:
            found = choose(collector(bitext, SCORER, where, watch=watch))
    same = (found.chosen.line == expected.chosen.line).all() and vars(found.profile) == vars(expected.profile)
    print(f"{len(killed)} Dask workers killed: the selection is {'the same' if same else 'another'}")


if __name__ == "__main__":
    main()
