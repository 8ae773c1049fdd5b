"""A million sparse features: one pass of MIRA and one fit of PRO, CPU seconds and peak memory of each.

    python tests/benchmarks/bench_sparse.py [--sentences 2000] [--candidates 100] [--active 50] [--features 1000000]

Candidates are noisy copies of random references, with 14 dense features and the given number of sparse ones each, drawn
like words of a text (Zipf). The pool is built in memory; the same candidates are written as an N-best list of Moses and
read again. Every part runs in a process of its own. Goal: under 2 minutes and 4 GB each.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy

from lasw.metrics import Corpus, References, Vocabulary, metric, read_corpus
from lasw.tuning import (
    FeatureNames,
    NBest,
    Pool,
    Weights,
    make_optimiser,
    read_pool,
    read_weights,
    write_nbest,
    write_weights,
)

GOAL_SECONDS, GOAL_MEGABYTES = 120.0, 4000.0
DENSE, LENGTH, WORDS = 14, 20, 20_000
OPTIONS: dict[str, dict[str, float]] = {"mira": {"passes": 1}, "pro": {}}


def generated(sentences: int, candidates: int, active: int, features: int) -> tuple[References, NBest]:
    """Always the same lists for the same numbers."""
    rng = np.random.default_rng(1)
    n = sentences * candidates
    owner = np.repeat(np.arange(sentences, dtype=np.int32), candidates)
    vocabulary, names = Vocabulary(), Vocabulary()
    Corpus.from_lines([" ".join(f"w{k}" for k in range(WORDS))], vocabulary)
    Corpus.from_lines([" ".join(f"F_{k}" for k in range(features))], names)
    wanted = rng.integers(0, WORDS, (sentences, LENGTH), dtype=np.int32)
    noise = 0.7 * rng.random(n)
    words = np.where(
        rng.random((n, LENGTH)) < noise[:, None], rng.integers(0, WORDS, (n, LENGTH), dtype=np.int32), wanted[owner]
    )
    dense = np.round(rng.normal(size=(n, DENSE)) - 4 * noise[:, None] * (np.arange(DENSE) == 0), 4)
    columns = np.minimum(np.exp(rng.random((n, active)) * np.log(features)).astype(np.int32) - 1, features - 1)
    columns.sort(axis=1)
    sparse = scipy.sparse.csr_array(
        (np.ones(n * active), columns.ravel(), np.arange(0, n * active + 1, active)), shape=(n, features)
    )
    sparse.sum_duplicates()  # a feature drawn twice counts 2
    groups = FeatureNames(tuple((f"D{k}", 1) for k in range(DENSE)))
    references = References((_corpus(wanted, vocabulary),))
    return references, NBest(groups, owner, _corpus(words, vocabulary), dense, np.zeros(n), sparse, names)


def _corpus(words: np.ndarray[tuple[int, int], np.dtype[np.int32]], vocabulary: Vocabulary) -> Corpus:
    return Corpus(words.ravel(), np.arange(0, words.size + 1, LENGTH, dtype=np.int64), vocabulary)


@contextmanager
def measured(what: str, goal: bool = False) -> Iterator[None]:
    """Print the CPU seconds of a block and the peak memory of the process so far."""
    began = time.process_time()
    yield
    seconds, peak = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    share = f", {seconds / GOAL_SECONDS:.3f} and {peak / GOAL_MEGABYTES:.2f} of the goals" if goal else ""
    print(f"  {what:28} {seconds:7.2f} CPU s, peak {peak:5.0f} MB{share}", flush=True)


def optimise(optimiser: str, size: tuple[int, int, int, int]) -> None:
    """From lists in memory to weights on disk and back."""
    references, nbest = generated(*size)
    pool, bleu = Pool(references), metric("BLEU")
    print(f"{optimiser}: {len(nbest)} candidates, {nbest.sparse.nnz} values of {nbest.sparse.shape[1]} features")  # type: ignore[union-attr]
    with measured("pool"):
        pool.add(nbest)
    del nbest
    assert pool.names is not None
    start = Weights.constant(pool.names, 1.0)
    with measured("statistics, pool score"):
        before = pool.corpus_score(bleu, start)
    with measured("one pass" if optimiser == "mira" else "fit", goal=True):
        fit = make_optimiser(optimiser, OPTIONS[optimiser]).fit(pool, start)
    with measured("pool score"):
        after = pool.corpus_score(bleu, fit.weights)
    print(f"  pool BLEU {before:.4f} -> {after:.4f}, {len(fit.weights.sparse)} sparse weights")
    with tempfile.TemporaryDirectory() as folder:
        with measured("weight file written"):
            write_weights(Path(folder) / "weights.json", fit.weights)
        with measured("weight file read"):
            assert read_weights(Path(folder) / "weights.json").sparse == dict(fit.weights.sparse)
    with measured("min-count 3"):
        view = pool.without_rare(3)
    print(f"  {len(pool.sparse_names) - len(view.sparse_names)} features in fewer than 3 sentences")


def read(folder: str) -> None:
    """The list from disk into a pool."""
    path = Path(folder) / "nbest"
    references = References((read_corpus(Path(folder) / "references"),))
    print(f"reading: {path.stat().st_size / 1e6:.0f} MB of text")
    with measured("text to pool", goal=True):
        pool, _ = read_pool([path], references)
    print(f"  {len(pool)} candidates, {len(pool.sparse_names)} sparse features")


def main() -> None:
    """Measure every part in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("sentences", 2000), ("candidates", 100), ("active", 50), ("features", 1_000_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    size = given.sentences, given.candidates, given.active, given.features
    if given.part:
        part, folder = given.part
        if part == "read":
            read(folder)
        elif part == "write":
            references, nbest = generated(*size)
            corpus = references.corpora[0]
            lines = "".join(corpus.text(k) + "\n" for k in range(len(corpus)))
            (Path(folder) / "references").write_text(lines, encoding="utf-8")
            with measured("text written"):
                write_nbest(Path(folder) / "nbest", nbest)
        else:
            optimise(part, size)
        return
    with tempfile.TemporaryDirectory() as folder:
        for part in (*OPTIONS, "write", "read"):
            subprocess.run([sys.executable, __file__, *sys.argv[1:], "--part", part, folder], check=True)


if __name__ == "__main__":
    main()
