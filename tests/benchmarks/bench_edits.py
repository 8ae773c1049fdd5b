"""Edit and comparator metrics, and TER, chrF and WER against their peers: ``python tests/benchmarks/bench_edits.py``.

One core, CPU seconds, medians with warm caches; sacreBLEU (and jiwer, where it is installed) in turn with ours, so that
a machine that is busy with other things slows both. Prints, never fails.
"""

from __future__ import annotations

import gzip
import importlib.util
import statistics
from collections.abc import Callable
from pathlib import Path

import numpy as np
from bench_metrics import DATA, cpu_seconds, invented_text
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from lasw.metrics import Corpus, References, metric, read_corpus

SPECS = ("BLEU", "WER", "PER", "CDER", "TER", "CHRF", "CHRF:words=2", "NIST", "METEOR", "MIX:BLEU+1=0.5:TER=0.5")
PEER_SEGMENTS = 60


def peers() -> dict[str, Callable[[str, str], object]]:
    """What computes the same score of one sentence elsewhere."""
    ter, chrf, chrf_words = TER(case_sensitive=True), CHRF(), CHRF(word_order=2)
    found: dict[str, Callable[[str, str], object]] = {
        "TER": lambda e, r: ter.sentence_score(e, [r]),
        "CHRF": lambda e, r: chrf.sentence_score(e, [r]),
        "CHRF:words=2": lambda e, r: chrf_words.sentence_score(e, [r]),
    }
    if importlib.util.find_spec("jiwer"):
        import jiwer

        found["WER"] = lambda e, r: jiwer.wer(r, e)
    return found


def against_peers() -> None:
    """Segments per second from encoded text to scores, and the ratio to the peer's sentence scores."""
    hypotheses, references = invented_text()
    owner = np.arange(len(hypotheses), dtype=np.int32)
    refs = References.from_lines(references)
    corpus = Corpus.from_lines(hypotheses, refs.vocabulary)
    print(f"{len(hypotheses)} segments of about {corpus.lengths.mean():.0f} words")
    for spec, peer in peers().items():
        m = metric(spec)

        def ours(m=m) -> None:  # type: ignore[no-untyped-def]
            m.sentence_scores(m.statistics(corpus, m.prepare(refs), owner))

        def theirs(peer=peer) -> None:  # type: ignore[no-untyped-def]
            for e, r in zip(hypotheses[:PEER_SEGMENTS], references[:PEER_SEGMENTS], strict=True):
                peer(e, r)

        ours()
        pairs = [
            (cpu_seconds(theirs, 1, warm=False) / PEER_SEGMENTS, cpu_seconds(ours, 3) / len(owner)) for _ in range(5)
        ]
        peer_time, own = (statistics.median(taken) for taken in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"  {spec:<14}{1 / own:>12,.0f} segments/s, peer {1 / peer_time:>8,.0f}: {ratio:>6,.0f} times")


def on_an_nbest_list() -> None:
    """Statistics of a real list of 100-best hypotheses, if the data is beside the checkout."""
    path: Path = DATA / "moses" / "de-en" / "run1.best100.out.gz"
    if not path.is_file():
        print(f"no N-best list at {path}: left out")
        return
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
        fields = [line.split("|||") for line in stream]
    refs = References((read_corpus(DATA / "multi30k" / "dev.en.gz"),))
    corpus = Corpus.from_lines([f[1] for f in fields], refs.vocabulary)
    owner = np.array([int(f[0]) for f in fields], dtype=np.int32)
    print(f"{len(corpus)} hypotheses of {corpus.lengths.mean():.1f} words: CPU seconds")
    for spec in SPECS:
        m = metric(spec)
        preparing = cpu_seconds(lambda m=m: m.prepare(refs), 3)  # type: ignore[misc]
        prepared = m.prepare(refs)
        counting = cpu_seconds(lambda m=m, p=prepared: m.statistics(corpus, p, owner), 3)  # type: ignore[misc]
        rows = m.statistics(corpus, prepared, owner)
        scoring = cpu_seconds(lambda m=m, x=rows: m.sentence_scores(x), 3)  # type: ignore[misc]
        print(f"  {spec:<24} references {preparing:.3f}, statistics {counting:.3f}, sentence scores {scoring:.4f}")


if __name__ == "__main__":
    against_peers()
    on_an_nbest_list()
