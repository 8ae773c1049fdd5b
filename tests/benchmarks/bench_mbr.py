"""Minimum Bayes risk over real 100-best lists, beside the package `mbrs`: ``python tests/benchmarks/bench_mbr.py``.

CPU seconds (of all processes) from texts in memory to the chosen ones, on the same lists, in turn with ours: mbrs' MBR
decoder with its chrF, with `fastchrf` in place of sacreBLEU's, and with sacreBLEU's BLEU smoothed by add-1 above single
words. Ours takes all lists, mbrs some of them, spread evenly. Where mbrs is not installed in this Python, --peer-python
names one that has it; else its double loop over sacreBLEU is run instead, and said so.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "moses" / "de-en" / "run1.best100.out.gz"
UTILITIES = {  # ours, and the peer's class and settings
    "CHRF": ("MetricChrF", {"num_workers": 1}),
    "CHRF (fastchrf)": ("MetricChrF", {"fastchrf": True}),
    "BLEU+1:smoothing=lin-och": (
        "MetricBLEU",
        {"tokenize": "none", "smooth_method": "add-k", "smooth_value": 1, "effective_order": False, "force": True},
    ),
}
CLOSE = 1e-5  # mbrs computes in single precision


def lists(path: Path) -> list[list[str]]:
    """The hypotheses of each sentence."""
    found: dict[str, list[str]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
        for line in stream:
            fields = line.split("|||")
            found.setdefault(fields[0], []).append(" ".join(fields[1].split()))
    return list(found.values())


def cpu() -> float:
    """CPU seconds so far, of this process and its children."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def peer(request: Path) -> None:
    """What the Python with mbrs does: seconds and expected utilities of the lists in `request`."""
    name, every = json.loads(request.read_text(encoding="utf-8"))
    kind, settings = UTILITIES[name]
    try:
        import mbrs.metrics
        from mbrs.decoders import DecoderMBR

        made = getattr(mbrs.metrics, kind)
        measure = made(made.Config(**settings))
        decoder = DecoderMBR(DecoderMBR.Config(), measure)
        decoder.decode(every[0][:2], every[0][:2])
        start = cpu()
        for texts in every:
            decoder.decode(texts, texts)
        taken = cpu() - start
        utilities = [measure.expected_scores(texts, texts).tolist() for texts in every[:10]]
        who = "mbrs"
    except ImportError:
        from sacrebleu.metrics import BLEU, CHRF

        settings = {key: value for key, value in settings.items() if key not in ("num_workers", "fastchrf")}
        scorer = CHRF() if kind == "MetricChrF" else BLEU(**settings)
        start = cpu()
        utilities = [
            [float(np.mean([scorer.sentence_score(x, [y]).score for y in texts])) for x in texts] for texts in every
        ]
        taken, who = cpu() - start, "a double loop over sacreBLEU (mbrs is not installed)"
    print(json.dumps([who, taken, utilities]))


def ours(spec: str, every: list[list[str]]) -> tuple[float, list[np.ndarray]]:
    """Seconds and expected utilities."""
    from lasw.metrics import Corpus, Vocabulary, metric
    from lasw.tuning import ExpectedUtility

    start = cpu()
    vocabulary = Vocabulary()
    corpus = Corpus.from_lines([text for texts in every for text in texts], vocabulary)
    sizes = np.array([len(texts) for texts in every])
    owner = np.repeat(np.arange(len(every), dtype=np.int32), sizes)
    expected = ExpectedUtility(metric(spec), vocabulary).of(corpus, owner, corpus, owner, np.ones(len(corpus)))
    return cpu() - start, np.split(expected, np.cumsum(sizes)[:-1])


def main() -> None:
    """Print a line a utility."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", type=Path, default=DATA, help="N-best lists of Moses, compressed")
    parser.add_argument("--peer-python", default=sys.executable, help="a Python that has mbrs")
    parser.add_argument("--peer-lists", type=int, default=10, help="so many lists for the peer")
    parser.add_argument("--peer", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        peer(arguments.peer)
        return
    if not arguments.lists.is_file():
        print(f"no N-best lists at {arguments.lists}: left out")
        return
    every = lists(arguments.lists)
    some = [every[k] for k in np.linspace(0, len(every) - 1, arguments.peer_lists).astype(int)]
    print(f"{len(every)} lists of {np.mean([len(x) for x in every]):.0f} hypotheses; the peer {len(some)} of them")
    for name in UTILITIES:
        spec = name.split()[0]
        ours(spec, every[:20])
        before, _ = ours(spec, every)
        with tempfile.TemporaryDirectory() as folder:
            request = Path(folder) / "lists.json"
            request.write_text(json.dumps([name, some]), encoding="utf-8")
            command = [arguments.peer_python, __file__, "--peer", str(request)]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
        who, taken, theirs = json.loads(answer)
        after, _ = ours(spec, every)
        pairs, peer_pairs = (sum(len(x) ** 2 for x in part) for part in (every, some))
        peer_time, own = taken / peer_pairs, (before + after) / 2 / pairs
        print(
            f"{name}: {own * pairs:.2f} s for {pairs:,} pairs; {who}: {taken:.2f} s for {peer_pairs:,}, "
            f"{peer_time * pairs:,.0f} s for all: {peer_time / own:,.0f} times"
        )
        _compare(ours(spec, some)[1], theirs)
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def _compare(own: list[np.ndarray], theirs: list[list[float]]) -> None:
    """How far apart utilities are, and whether what is chosen is among the peer's best."""
    apart, same = 0.0, 0
    for mine, other in zip(own, theirs, strict=False):
        scaled = np.array(other) * (0.01 if max(other) > 1.5 else 1)
        apart = max(apart, float(np.abs(mine - scaled).max()))
        same += scaled[int(np.argmax(mine))] >= scaled.max() - CLOSE
    print(f"  utilities at most {apart:.1g} apart, {same} of {len(theirs)} choices the same")


if __name__ == "__main__":
    main()
