"""Decoding on a Dask cluster: how well workers share the work, and what each sentence costs the head.

``python tests/benchmarks/bench_cluster.py [--seconds 20] [--sentences 2000]``. The decoder sleeps (for the first table)
or gives made-up lists at once (for the second), so that many workers fit on one machine and only lasw and Dask are
measured. The workers are threads of two processes beside this one, which is the head: client and scheduler.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import distributed
import numpy as np

from lasw.metrics import Corpus, References, Vocabulary, atomic_write
from lasw.tuning import Decoder, FeatureNames, NBest, Pool, Weights, on_cluster, read_nbest, write_nbest

NAMES = FeatureNames((("LM0", 1), ("TM0", 4), ("Distortion0", 1), ("WordPenalty0", 1), ("LexicalReordering0", 7)))
WORDS = np.array([f"w{k:05d}" for k in range(20_000)])
START = Weights.constant(NAMES, 1.0)


class Sleeping(Decoder):
    """Takes so many seconds a token, and gives one hypothesis."""

    name = "sleeping"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def start_weights(self) -> Weights:
        return START

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        time.sleep(sum(self.seconds * len(line.split()) for line in source))
        dense = np.zeros((len(source), len(NAMES)))
        owner = np.arange(len(source), dtype=np.int32)
        return NBest(NAMES, owner, Corpus.from_lines(source, vocabulary), dense, dense[:, 0])


class Ready(Decoder):
    """Gives n hypotheses a sentence at once, made of its words and others."""

    name = "ready"

    def start_weights(self) -> Weights:
        return START

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        draw = np.random.default_rng(len(source[0]))
        words = Corpus.from_lines(source, vocabulary)
        lengths = np.repeat(words.lengths, n)
        ids = draw.integers(0, len(vocabulary), int(lengths.sum()), dtype=np.int32)
        hypotheses = Corpus(ids, np.concatenate([[0], np.cumsum(lengths)]), vocabulary)
        dense = np.round(draw.normal(size=(len(lengths), len(NAMES))), 4)
        owner = np.repeat(np.arange(len(source), dtype=np.int32), n)
        return NBest(NAMES, owner, hypotheses, dense, dense.sum(axis=1))


def made_source(n: int) -> list[str]:
    draw = np.random.default_rng(1)
    ranks = draw.zipf(1.3, size=(n, 60)) % len(WORDS)
    return [" ".join(WORDS[row[:size]].tolist()) for row, size in zip(ranks, draw.integers(3, 50, n), strict=True)]


def sharing(seconds: float, most: int) -> None:
    """The first table: two rounds each, the second with the times of the first known."""
    print(f"as many sentences as take each worker {seconds:.0f} s\n")
    print("| workers | sentences | round | seconds | share of the time that a worker decodes |\n" + 5 * "| --- " + "|")
    threads = 1
    while threads <= most:
        source = made_source(max(200, 40 * threads))
        decoder = Sleeping(seconds * threads / sum(len(line.split()) for line in source))
        with local(threads) as cluster, on_cluster(decoder, cluster.scheduler_address) as spread:
            spread.decode(["a"] * 2 * threads, START, 1, Vocabulary())  # what workers load, they load once
            for number in (1, 2):
                began = time.perf_counter()
                spread.decode(source, START, 1, Vocabulary())
                taken = time.perf_counter() - began
                share = seconds / taken
                print(f"| {threads} | {len(source)} | {number} | {taken:.2f} | {share:.3f} |", flush=True)
        threads *= 2


def head(sentences: int, n: int) -> None:
    """The second table: processor seconds of this process."""
    source = made_source(sentences)
    references = References((Corpus.from_lines(source),))
    tokens = np.mean([len(line.split()) for line in source])
    print(f"\n{sentences} sentences, {n}-best lists, {tokens:.0f} tokens a hypothesis\n")
    print("| what the head does | processor ms a sentence |\n| --- | --- |")

    def told(what: str, began: float) -> None:
        print(f"| {what} | {1e3 * (time.process_time() - began) / sentences:.3f} |", flush=True)

    with (
        tempfile.TemporaryDirectory() as folder,
        local(2) as cluster,
        on_cluster(Ready(), cluster.scheduler_address) as spread,
    ):
        path = Path(folder) / "nbest.gz"
        b"".join(spread.decode_packed(source[:10], START, n, Vocabulary()))  # compiles
        for what in ("parts out, lists back and into the file (first round)", "the same in later rounds"):
            began = time.process_time()
            lists = spread.decode_packed(source, START, n, Vocabulary())
            with atomic_write(path, pack=False) as stream:
                stream.writelines(lists)
            told(what, began)
        bytes_each = path.stat().st_size / sentences
        began = time.process_time()
        nbest = spread.decode(source, START, n, references.vocabulary)
        told("`lasw decode`: parts out, arrays back and joined", began)
        write_nbest(path, nbest)  # compiles
        began = time.process_time()
        write_nbest(path, nbest)
        told("`lasw decode`: writing the list", began)
        read_nbest(path, references.vocabulary)
        began = time.process_time()
        again = read_nbest(path, references.vocabulary)
        told("reading it", began)
        Pool(references).add(again)
        began = time.process_time()
        Pool(references).add(again)
        told("adding it to the pool", began)
    arrays = (nbest.owner, nbest.hypotheses.ids, nbest.hypotheses.offsets, nbest.dense, nbest.score)
    memory = sum(array.nbytes for array in arrays) / sentences
    print(f"\na list: {bytes_each / 1e3:.1f} KB a sentence on disk and on the network, {memory / 1e3:.1f} KB in memory")


def local(threads: int) -> distributed.LocalCluster:
    processes = min(2, threads)
    return distributed.LocalCluster(
        n_workers=processes, threads_per_worker=threads // processes, dashboard_address=None, silence_logs=50
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="that each worker decodes")
    parser.add_argument("--most", type=int, default=16, help="workers")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--nbest", type=int, default=100)
    given = parser.parse_args()
    if given.seconds:
        sharing(given.seconds, given.most)
    head(given.sentences, given.nbest)
