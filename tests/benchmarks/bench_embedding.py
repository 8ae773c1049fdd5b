"""WMD and WE_WPI against loops over gensim and POT: ``python tests/benchmarks/bench_embedding.py``.

One core, CPU seconds, medians with warm caches, the peers in turn with ours, so that a machine that is busy with other
things slows both. Invented words with random vectors; pairs are from encoded text to scores. Prints, never fails.
"""

from __future__ import annotations

import statistics
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import ot
from bench_metrics import cpu_seconds, invented_text
from gensim.models import KeyedVectors
from threadpoolctl import threadpool_limits

from lasw.metrics import Corpus, References, metric
from lasw.metrics.vectors.packed import write_packed

SIZES = (50, 300)
PEER_PAIRS = 200
ROUNDS = 3


def by_gensim(vectors: KeyedVectors, pairs: list[tuple[list[str], list[str]]]) -> None:
    """gensim's word mover's distance, one call a pair."""
    for e, r in pairs:
        vectors.wmdistance(e, r)


def by_pot(unit: dict[str, np.ndarray], pairs: list[tuple[list[str], list[str]]]) -> None:
    """Cosine distances of a pair by one matrix product, then POT's exact solver."""
    for e, r in pairs:
        a, b = Counter(e), Counter(r)
        costs = 1.0 - np.array([unit[w] for w in a]) @ np.array([unit[w] for w in b]).T
        weights = [np.array(list(c.values())) / c.total() for c in (a, b)]
        ot.emd2(*weights, costs)


def compare(size: int, folder: Path) -> None:
    """Pairs per second with vectors of `size` numbers."""
    hypotheses, references = invented_text()
    refs = References.from_lines(references)
    corpus = Corpus.from_lines(hypotheses, refs.vocabulary)
    words = [refs.vocabulary[k] for k in range(len(refs.vocabulary))]
    matrix = np.random.default_rng(2).normal(size=(len(words), size)).astype(np.float32)
    path = folder / f"{size}.vectors"
    write_packed(path, [word.encode() for word in words], matrix)
    gensim_vectors = KeyedVectors(vector_size=size)
    gensim_vectors.add_vectors(words, matrix)
    unit = dict(zip(words, matrix / np.linalg.norm(matrix, axis=1, keepdims=True), strict=True))
    split = [(e.split(), r.split()) for e, r in zip(hypotheses, references, strict=True)][:PEER_PAIRS]
    owner = np.arange(len(corpus), dtype=np.int32)
    print(f"{len(corpus)} pairs of about {corpus.lengths.mean():.0f} words, {size} dimensions: pairs per second")
    peers: dict[str, Callable[[], None]] = {
        "gensim wmdistance": lambda: by_gensim(gensim_vectors, split),
        "POT loop": lambda: by_pot(unit, split),
    }
    for spec in ("WMD", "WMDO", "WE", "WEWPI", "SRBLEU"):
        m = metric(f"{spec}:vectors={path}")
        prepared = m.prepare(refs)
        m.statistics(corpus, prepared, owner)
        ours, theirs = [], {name: [] for name in peers}  # type: ignore[var-annotated]
        for _ in range(ROUNDS):
            for name, work in peers.items():
                if spec == "WMD":
                    theirs[name].append(PEER_PAIRS / cpu_seconds(work, 1, warm=False))
            ours.append(len(owner) / cpu_seconds(lambda m=m, p=prepared: m.statistics(corpus, p, owner), 1, warm=False))  # type: ignore[misc]
        own = statistics.median(ours)
        line = f"  {spec:<8}{own:>10,.0f}"
        for name, rates in theirs.items():
            if rates:
                line += f"; {name} {statistics.median(rates):,.0f}: {own / statistics.median(rates):.1f} times"
        print(line)
    wmd = metric(f"WMD:vectors={path}")
    loading = cpu_seconds(lambda: wmd.prepare(refs).embedding.arrays(), 3)
    print(f"  vectors of {len(words)} words read: {loading:.2f} CPU seconds")


if __name__ == "__main__":
    with threadpool_limits(1), tempfile.TemporaryDirectory() as scratch:
        for dimensions in SIZES:
            compare(dimensions, Path(scratch))
