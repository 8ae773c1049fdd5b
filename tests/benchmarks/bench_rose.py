"""ROSE as a loss against SIMPBLEU, and pairs a second: ``python tests/benchmarks/bench_rose.py``.

One core, CPU seconds, the median of several runs with warm caches, the two in turn. Prints, never fails.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from itertools import repeat

import numpy as np
from bench_metrics import DATA, cpu_seconds, invented_text

from lasw.metrics import Corpus, Metric, References, Rose, RoseFeatures, RoseModel, Vocabulary, metric, read_corpus
from lasw.metrics.learned.word_classes import frequent_words


def rose(references: References, *, pos: bool = False) -> Rose:
    """With made-up weights, which do not matter to its speed."""
    features = RoseFeatures(frequent_words(references.corpora), pos=pos)
    d = len(features.names)
    return Rose(RoseModel("rank", features, tuple(np.linspace(-1, 1, d)), (0.5,) * d, (0.2,) * d, 0.0))


def scoring(m: Metric, references: References, corpus: Corpus, owner: np.ndarray) -> Callable[[], object]:
    prepared = m.prepare(references)
    return lambda: m.sentence_scores(m.statistics(corpus, prepared, owner))


def on_nbest_list() -> None:
    """Time per candidate of a real list, each metric's statistics and sentence scores."""
    path = DATA / "moses" / "de-en" / "run1.best100.out.gz"
    if not path.is_file():
        print("N-best list: not beside the checkout")
        return
    vocabulary = Vocabulary()
    references = References((read_corpus(next((DATA / "multi30k").glob("dev.en*")), vocabulary),))
    with gzip.open(path, "rt") as lines:
        fields = [line.split(" ||| ")[:2] for line in lines]
    corpus = Corpus.from_lines([text for _, text in fields], vocabulary)
    owner = np.array([int(number) for number, _ in fields], dtype=np.int32)
    print(f"N-best list of {len(corpus)} candidates, {len(corpus.ids) / len(corpus):.0f} words each")
    _print({"BLEU+1": metric("BLEU+1"), "PABC4": metric("PABC4"), "ROSE": rose(references)}, references, corpus, owner)


def on_long_pairs() -> None:
    """Pairs a second of 25-word segments, with and without tags."""
    hypotheses, lines = invented_text()
    references = References.from_lines(lines)
    corpus = Corpus.from_lines(hypotheses, references.vocabulary)
    owner = np.arange(len(corpus), dtype=np.int32)
    print(f"{len(corpus)} pairs of about 25 words")
    _print({"PABC4": metric("PABC4"), "ROSE": rose(references)}, references, corpus, owner)
    tagged = [[" ".join(f"{word}|T{len(word)}" for word in line.split()) for line in x] for x in (hypotheses, lines)]
    references = References.from_lines(tagged[1])
    corpus = Corpus.from_lines(tagged[0], references.vocabulary)
    _print({"ROSE with tags": rose(references, pos=True)}, references, corpus, owner)


def _print(metrics: dict[str, Metric], references: References, corpus: Corpus, owner: np.ndarray) -> None:
    works = {name: scoring(m, references, corpus, owner) for name, m in metrics.items()}
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in repeat(None, 5):
        for name, work in works.items():
            taken[name].append(cpu_seconds(work, 1))
    first = None
    for name, seconds in taken.items():
        median = float(np.median(seconds))
        first = first or median
        each = 1e6 * median / len(corpus)
        print(f"  {name:14} {each:7.2f} us each, {1e6 / each:9.0f} a second, {median / first:5.2f} x the first")


if __name__ == "__main__":
    on_nbest_list()
    on_long_pairs()
