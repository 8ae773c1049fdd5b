"""LA selection's speed and memory on a generated pool, 25 words a side, alignments as Pharaoh writes them.

    python tests/benchmarks/bench_select.py [--pairs 200000] [--memory 2000000]

Scoring is measured on one core in CPU seconds, the median of several runs with warm caches: from bytes in memory, and
with reading and keeping candidates. Then the rate for more threads. Peak memory is that of a whole selection in a
process of its own, over `--memory` pairs that come through pipes and are never on disk (0: not measured). Goals:
200 000 pairs/s, at most 1 GB for 20 million pairs. Prints, never fails.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from lasw.metrics import workers
from lasw.selection import WORDS, Bitext, LAScorer, choose, collector
from lasw.selection.choice.la import REACH

GOAL_RATE, GOAL_BYTES = 200_000, 1e9
LENGTH = 25
VOCABULARY = 30_000
RUNS = 5


def sentences(pairs: int, draw: np.random.Generator, words: list[str]) -> list[str]:
    """Sentences of words whose frequencies fall as Zipf has it."""
    frequency = 1 / (np.arange(VOCABULARY) + 5)
    ids = draw.choice(VOCABULARY, size=(pairs, LENGTH), p=frequency / frequency.sum())
    return [" ".join([words[k] for k in row]) + "\n" for row in ids.tolist()]


def alignments(pairs: int, draw: np.random.Generator) -> list[str]:
    """Nine words of ten aligned, to about the same place."""
    shift, kept = draw.integers(-1, 2, size=(pairs, LENGTH)), draw.random((pairs, LENGTH)) < 0.9
    places = np.clip(np.arange(LENGTH) + shift, 0, LENGTH - 1)
    return [
        " ".join([f"{i}-{j}" for i, j in enumerate(row) if k[i]]) + "\n"
        for row, k in zip(places.tolist(), kept.tolist(), strict=True)
    ]


def generate(pairs: int) -> list[str]:
    """Text of source, target and alignment."""
    draw = np.random.default_rng(1)
    words = ["".join(chr(97 + k) for k in row[: 2 + row[0] % 8]) for row in draw.integers(0, 26, (VOCABULARY, 9))]
    return [
        "".join(sentences(pairs, draw, words)),
        "".join(sentences(pairs, draw, words)),
        "".join(alignments(pairs, draw)),
    ]


def cpu(action: object) -> float:
    """CPU seconds, the median of several runs."""
    found = []
    for _ in range(RUNS):
        start = time.process_time()
        action()  # type: ignore[operator]
        found.append(time.process_time() - start)
    return statistics.median(found)


def wall(action: object) -> float:
    """Seconds, the best of several runs."""
    found = []
    for _ in range(RUNS):
        start = time.perf_counter()
        action()  # type: ignore[operator]
        found.append(time.perf_counter() - start)
    return min(found)


def rates(bitext: Bitext, scorer: LAScorer, pairs: int) -> None:
    """Print pairs a second."""
    blocks = list(bitext.blocks())
    for block in blocks[:1]:
        scorer.score(block)
    scoring = pairs / cpu(lambda: [scorer.score(block) for block in blocks])
    reading = pairs / cpu(lambda: sum(len(block) for block in bitext.blocks()))
    collecting = pairs / cpu(lambda: collector(bitext, scorer)(WORDS * REACH, None))
    selecting = pairs / cpu(lambda: choose(collector(bitext, scorer)))
    print(f"scoring, bytes in memory       {scoring:>12,.0f} pairs/s (goal {GOAL_RATE:,})")
    print(f"reading alone                  {reading:>12,.0f} pairs/s")
    print(f"reading, scoring, candidates   {collecting:>12,.0f} pairs/s")
    print(f"the same and the choice        {selecting:>12,.0f} pairs/s ({WORDS} words)")
    for n in (1, 2):
        with workers(n) as threads:
            rate = pairs / wall(lambda threads=threads: collector(bitext, scorer, threads)(WORDS * REACH, None))
        print(f"wall clock, {n} thread{'s' * (n > 1):<1}           {rate:>12,.0f} pairs/s")


def memory(texts: list[str], pairs: int, folder: Path) -> None:
    """Print the peak memory of a selection from `pairs` pairs: the generated ones in ever other letters."""
    names = [folder / name for name in ("pipe.s", "pipe.t", "pipe.a")]
    own = len(texts[0].split("\n")) - 1
    turns = -(-pairs // own)
    encoded = [text.encode() for text in texts]
    draw = np.random.default_rng(2)
    # Other letters each turn, so that no sentence comes twice, which the filters would reject; points stay as they are.
    letters = [bytes([*range(97), *(97 + draw.permutation(26)), *range(123, 256)]) for _ in range(turns)]

    def feed(k: int) -> None:
        with open(names[k], "wb") as pipe:
            for table in letters:
                pipe.write(encoded[k].translate(table))

    for name in names:
        os.mkfifo(name)
    feeders = [threading.Thread(target=feed, args=(k,), daemon=True) for k in range(3)]
    for feeder in feeders:
        feeder.start()
    start = time.perf_counter()
    subprocess.run([sys.executable, __file__, "--child", *map(str, names)], check=True)
    print(f"wall clock, through pipes      {time.perf_counter() - start:>12,.0f} s")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--memory", type=int, default=2_000_000)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        selection = choose(collector(Bitext(*arguments.child), LAScorer(("the",))))
        # Of this program image alone; the resource usage would count what the parent held when it forked.
        status = Path("/proc/self/status").read_text()
        peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
        print(f"selected                       {len(selection):>12,} pairs of {selection.profile.pairs:,}")
        print(f"peak memory                    {peak / 1e6:>12,.0f} MB (goal {GOAL_BYTES / 1e6:,.0f})")
        return
    texts = generate(arguments.pairs)
    with tempfile.TemporaryDirectory(prefix="lasw-bench-") as name:
        folder = Path(name)
        for text, path in zip(texts, ("s", "t", "a"), strict=True):
            (folder / path).write_text(text)
        bitext = Bitext(*(str(folder / path) for path in ("s", "t", "a")))
        scorer = LAScorer(tuple(sorted(set(texts[1].split()[:150]))[:100]))
        rates(bitext, scorer, arguments.pairs)
        if arguments.memory:
            memory(texts, arguments.memory, folder)


if __name__ == "__main__":
    main()
