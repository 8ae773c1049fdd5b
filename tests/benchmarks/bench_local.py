"""WRO-local on a real run: local weights for a test set, how far from the optimum, one by one, and leaving one out.

    python tests/benchmarks/bench_local.py [--sentences 1000]

CPU seconds on one core. Similarities are given apart.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from lasw.metrics import References, Vocabulary, metric, read_corpus, read_lines
from lasw.tuning import (
    LocalSamples,
    LocalWeigher,
    Pool,
    Setting,
    grid,
    leave_one_out,
    local_samples,
    make_similarity,
    match,
    read_pool,
    read_samples,
    read_weights,
    write_samples,
)
from lasw.tuning.optimisers.pairs.wro import WRO

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
RUN = DATA / "moses" / "de-en"
NAMES = ("bleu", "words", "characters")
GOAL_SECONDS, GOAL_ERROR, GOAL_LATENCY, GOAL_CURVE = 1.0, 0.01, 5.0, 60.0
COMPARED = 20


def trained() -> tuple[Pool, LocalSamples]:
    """The pool of eight lists, and WRO's samples of it."""
    references = References((read_corpus(DATA / "multi30k" / "dev.en.gz", Vocabulary()),))
    pool, _ = read_pool([RUN / f"run{k}.best100.out.gz" for k in range(1, 9)], references)
    assert pool.names is not None
    start = match(read_weights(RUN / "run1.moses.ini"), pool.names).weights
    optimiser = WRO()
    source = tuple(read_lines(DATA / "multi30k" / "dev.de.gz"))
    return pool, local_samples(optimiser, pool, start, source)


def refit(samples: LocalSamples, k: np.ndarray, pull: float) -> np.ndarray:
    """The full optimum, Newton's method from 0, written out."""
    c, b = 2 * k[samples.sentence], np.zeros(samples.x.shape[1])
    penalty = samples.l2 * (c @ samples.x**2) / (c @ (samples.x != 0))
    for _ in range(50):
        loses = 1 / (1 + np.exp(samples.x @ b))
        gradient = -(c * loses) @ samples.x + penalty * b + pull * (b - samples.solution)
        hessian = (samples.x.T * (c * loses * (1 - loses))) @ samples.x
        b = b - np.linalg.solve(hessian + np.diag(penalty + pull), gradient)
    return np.asarray(b / samples.scale)


def weights(samples: LocalSamples, test: list[str], matrices: dict[str, np.ndarray]) -> None:
    """Speed and closeness of the fast form, and of the exact one."""
    for text in ("bleu", "bleu:beta=10:prior=0.1", "words:beta=5:prior=0.1", "characters:beta=10:prior=1"):
        weigher = LocalWeigher(samples, Setting.parse(text))
        matrix = matrices[weigher.setting.similarity]  # type: ignore[union-attr]
        began = time.process_time()
        fast = [weigher.weights(row) for row in matrix]
        seconds = time.process_time() - began
        began = time.process_time()
        exact = [weigher.weights(row, exact=True) for row in matrix[:COMPARED]]
        each = (time.process_time() - began) / len(exact)
        errors, apart = [], []
        for row, one, right in zip(matrix, fast, exact, strict=False):
            errors.append(np.abs(one.dense - right.dense).sum() / np.abs(right.dense).sum())
            k = weigher.setting.instance_weights(row, samples.instance)  # type: ignore[union-attr]
            other = refit(samples, k, weigher.pull) + samples.lengthening[samples.columns]
            apart.append(np.abs(right.dense[samples.columns] - other / np.abs(other).sum()).max())
        print(f"{text}")
        print(f"  fast: {seconds:.2f} CPU s for {len(fast)} sentences (goal {GOAL_SECONDS:g})")
        worst, half = 100 * max(errors), 100 * statistics.median(errors)
        print(f"  from the optimum: at most {worst:.3f} %, median {half:.3f} % (goal {100 * GOAL_ERROR:g} %)")
        print(f"  exact: {1e3 * each:.1f} ms a sentence; from a separate optimisation at most {max(apart):.1e}")


def served(samples: LocalSamples, test: list[str]) -> None:
    """Latency of `lasw local serve`, seen from outside, line by line."""
    with tempfile.TemporaryDirectory() as folder:
        write_samples(Path(folder) / "samples", samples)
        began = time.process_time()
        read_samples(Path(folder) / "samples")
        print(f"stored samples: {(Path(folder) / 'samples').stat().st_size / 1e6:.1f} MB, read in", end=" ")
        print(f"{time.process_time() - began:.2f} CPU s")
        for text in ("bleu:beta=10:prior=0.1", "characters:beta=10:prior=1"):
            command = [sys.executable, "-m", "lasw.scripts.main", "local", "serve", "--setting", text, "--samples"]
            seconds = []
            with subprocess.Popen(
                [*command, f"{folder}/samples"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ) as process:
                assert process.stdin is not None
                assert process.stdout is not None
                for line in test:
                    before = time.perf_counter()
                    process.stdin.write(line.encode() + b"\n")
                    process.stdin.flush()
                    process.stdout.readline()
                    seconds.append(1e3 * (time.perf_counter() - before))
                process.stdin.close()
            middle, late = statistics.median(seconds[1:]), float(np.quantile(seconds[1:], 0.99))
            print(f"serve, {text}: {middle:.2f} ms at the median (goal {GOAL_LATENCY:g}), {late:.2f} ms at 99 %")


def curve(pool: Pool, samples: LocalSamples) -> None:
    """Leave-one-out over the default settings."""
    began = time.process_time()
    matrices = {name: make_similarity(name, samples.source).matrix(samples.source) for name in NAMES}
    found = leave_one_out(pool, samples, matrices, grid(NAMES), metric("BLEU"))
    seconds = time.process_time() - began
    print(f"leave-one-out: {len(found.points)} settings, {seconds:.1f} CPU s with similarities (goal {GOAL_CURVE:g})")
    print(f"  global {100 * found.global_score:.2f}; best {found.best.setting}", end=" ")
    print(f"{100 * found.best.lead:+.2f}, p = {found.best.p_value:.3f}; chosen {found.chosen or 'global'}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=1000)
    arguments = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit("real data is not beside the checkout (../shared/data)")
    with threadpool_limits(limits=1):
        pool, samples = trained()
        test = read_lines(DATA / "multi30k" / "test.de.gz")[: arguments.sentences]
        print(f"{samples.x.shape[0]} pairs of {len(samples.source)} sentences, {samples.x.shape[1]} features")
        matrices = {}
        for name in NAMES:
            similarity = make_similarity(name, samples.source)
            similarity.to("")  # compiles
            began = time.process_time()
            matrices[name] = similarity.matrix(test)
            print(f"similarity {name}: {1e3 * (time.process_time() - began) / len(test):.2f} ms a sentence")
        weights(samples, test, matrices)
        served(samples, test)
        curve(pool, samples)


if __name__ == "__main__":
    main()
