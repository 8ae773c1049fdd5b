"""SIMPBLEU's speed against sacreBLEU's `sentence_bleu`: ``python tests/benchmarks/bench_metrics.py``.

One core, CPU seconds, the median of several runs with warm caches. Prints, never fails.
"""

from __future__ import annotations

import gzip
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import sacrebleu

from lasw.metrics import Corpus, ReferenceNgrams, References, Vocabulary, bootstrap_scores, metric, read_corpus

SEGMENTS = 3000
LENGTH = 25
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def cpu_seconds(work: Callable[[], object], repeats: int = 15, *, warm: bool = True) -> float:
    """Median CPU seconds of one call, after one that warms up."""
    if warm:
        work()
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def invented_text() -> tuple[list[str], list[str]]:
    """Hypotheses and references of words as frequent as in English; a hypothesis keeps runs of its reference."""
    random = np.random.default_rng(1)
    # Digits to base 4: the rarer a word the longer it is, one to eight letters, as in real text.
    words = np.array([np.base_repr(k, 4).translate(str.maketrans("0123", "etao")) for k in range(20_000)])
    weights = 1 / (np.arange(1, len(words) + 1) + 2.7)  # Zipf's law with Mandelbrot's shift
    weights /= weights.sum()
    hypotheses, references = [], []
    for _ in range(SEGMENTS):
        reference = random.choice(words, size=int(random.integers(LENGTH // 2, 3 * LENGTH // 2)), p=weights)
        changed = random.random(len(reference)) < 0.3
        hypotheses.append(" ".join(np.where(changed, random.choice(words, size=len(reference), p=weights), reference)))
        references.append(" ".join(reference))
    return hypotheses, references


def against_sacrebleu() -> None:
    """Segments per second, and the ratio to sacreBLEU's sentence_bleu without a tokeniser."""
    hypotheses, references = invented_text()
    some = SEGMENTS // 5

    def theirs() -> None:
        for line, reference in zip(hypotheses[:some], references[:some], strict=True):
            sacrebleu.sentence_bleu(line, [reference], tokenize="none")

    m, owner = metric("BLEU+1"), np.arange(SEGMENTS, dtype=np.int32)
    refs = References.from_lines(references)
    corpus, ngrams = Corpus.from_lines(hypotheses, refs.vocabulary), ReferenceNgrams.of(refs)
    rows = ngrams.statistics(corpus, owner)

    def from_lines() -> None:
        vocabulary = Vocabulary()
        fresh = References.from_lines(references, vocabulary=vocabulary)
        encoded = Corpus.from_lines(hypotheses, vocabulary)
        m.sentence_scores(m.statistics(encoded, m.prepare(fresh), owner))

    print(f"{SEGMENTS} segments of about {LENGTH} words, sacreBLEU's sentence_bleu and ours in turn, medians")
    report = {
        "statistics": lambda: ngrams.statistics(corpus, owner),
        "sentence scores": lambda: m.sentence_scores(rows),
        "from raw lines to scores": from_lines,
    }
    for name, work in report.items():
        # In turn, so that a machine that is busy with other things slows both.
        pairs = [(cpu_seconds(theirs, 1, warm=False) / some, cpu_seconds(work, 7) / SEGMENTS) for _ in range(9)]
        peer, own = (statistics.median(taken) for taken in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"  {name:<26}{1 / own:>12,.0f} segments/s, sacreBLEU {1 / peer:>7,.0f}: {ratio:>6,.0f} times")
    print(f"  1000 bootstrap corpora    {cpu_seconds(lambda: bootstrap_scores(metric('BLEU'), rows), 3):>14.3f} s")


def on_an_nbest_list() -> None:
    """Statistics of a real list of 100-best hypotheses, if the data is beside the checkout."""
    path = DATA / "moses" / "de-en" / "run1.best100.out.gz"
    if not path.is_file():
        print(f"no N-best list at {path}: left out")
        return
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
        fields = [line.split("|||") for line in stream]
    refs = References((read_corpus(DATA / "multi30k" / "dev.en.gz"),))
    corpus = Corpus.from_lines([f[1] for f in fields], refs.vocabulary)
    owner = np.array([int(f[0]) for f in fields], dtype=np.int32)
    ngrams = ReferenceNgrams.of(refs)
    taken = cpu_seconds(lambda: ngrams.statistics(corpus, owner))
    print(f"{len(corpus)} hypotheses of {corpus.lengths.mean():.1f} words: statistics in {1000 * taken:.1f} ms")
    mixed = np.random.default_rng(1).permutation(len(owner))
    shuffled, owners = corpus.take(mixed), owner[mixed]
    print(f"  in random order: {1000 * cpu_seconds(lambda: ngrams.statistics(shuffled, owners)):.1f} ms")


if __name__ == "__main__":
    against_sacrebleu()
    on_an_nbest_list()
