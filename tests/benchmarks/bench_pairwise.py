"""The pairwise network and combinations: ``python tests/benchmarks/bench_pairwise.py [--losses LOSS ...]``.

First decisions per second on invented numbers. Then, with the real data beside the checkout, training on WMT11 (whose
segment numbers were inferred with BLEU: see the data's README) and Kendall's tau as WMT13 had it on WMT13: of every
input, of the network's decisions between two translations, of its scores, of combinations of the same metrics. Nothing
of WMT13 is used in training; when to stop says WMT11's fr-en, of whose systems training has seen none.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from lasw.metrics.agreement import agreement
from lasw.metrics.base import Metric
from lasw.metrics.combination import LINEAR, LOGLINEAR, combination
from lasw.metrics.combination_training import train_combination
from lasw.metrics.correlation import tau_of_counts
from lasw.metrics.judgements import Judgements
from lasw.metrics.learning import read_preferences
from lasw.metrics.pairwise import Pairwise
from lasw.metrics.pairwise_inputs import PairwiseInputs
from lasw.metrics.pairwise_model import PairwiseModel, Scaling
from lasw.metrics.pairwise_network import Network, Shape, initial
from lasw.metrics.pairwise_training import Settings, examples, outputs, scaled, symmetry, trained_model
from lasw.metrics.preprocessing import Preprocessing
from lasw.metrics.registry import metric

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
METRICS = ("METEOR", "TER", "NIST", "BLEU")
STOP = "fr-en"


def speed() -> None:
    """CPU seconds of decisions from sentence vectors and skip features, and of those among many of one segment."""
    random, shape = np.random.default_rng(1), Shape(50, 4, 4)
    network = Network(initial(shape, random), shape)
    one = np.ones(1)
    scaling = Scaling(-one.repeat(50), one.repeat(50), -one.repeat(4), one.repeat(4))
    model = PairwiseModel(PairwiseInputs(METRICS), network, scaling, np.zeros(4))
    n, group = 20_000, 100
    vectors, references, skip = random.normal(size=(n, 50)), random.normal(size=(n, 50)), random.normal(size=(n, 4))
    first = np.arange(0, n, 2)

    def pairs() -> None:
        model.decide(model.seen(vectors, skip, references), first, first + 1)

    def among() -> None:
        for start in range(0, n, group):
            rows = slice(start, start + group)
            model.mean_wins(model.seen(vectors[rows], skip[rows], references[rows]))

    for name, work, count in (
        ("every translation new", pairs, n // 2),
        ("each with each of 100", among, n * (group - 1)),
    ):
        taken = []
        for _ in range(7):
            start = time.process_time()
            work()
            taken.append(time.process_time() - start)
        print(f"{name:24}{count / statistics.median(taken):>12,.0f} decisions/s")


def folders(year: str) -> list[str]:
    """Of one year's judgements."""
    return sorted(str(path) for path in (DATA / year).iterdir() if (path / "hyp").is_dir())


def decisions(model: PairwiseModel, data: Judgements) -> tuple[float, dict[str, float]]:
    """Kendall's tau (WMT13) of the network's own decisions, and its symmetry."""
    seen = scaled(examples([data], model.inputs).judged(), model.scaling)
    forward, backward = outputs(model.network, seen)
    orders = np.array([np.count_nonzero(forward > backward), np.count_nonzero(forward < backward), len(forward)])
    return float(tau_of_counts(orders, 13)), symmetry(model.network, seen)


def row(name: str, values: list[float], note: str = "") -> None:
    """Print one."""
    print(f"{name:44}{''.join(f'{x:>8.4f}' for x in [*values, statistics.mean(values)])}  {note}", flush=True)


def tau13(m: Metric, test: list[Judgements]) -> list[float]:
    """Of a metric's scores."""
    return [float(agreement(m, data)["segments", "kendall"].value or 0.0) for data in test]


def agreement_with_people(losses: list[str], vectors: str) -> None:
    """The table."""
    text = Preprocessing("13a", True).function()
    train = read_preferences([x for x in folders("wmt11") if not x.endswith(STOP)], preprocess=text)
    stop = read_preferences([x for x in folders("wmt11") if x.endswith(STOP)], preprocess=text)
    test = read_preferences(folders("wmt13"), preprocess=text)
    print(f"{'':44}{''.join(f'{x.name:>8}' for x in test)}    mean")
    for spec in METRICS:
        row(spec, tau13(metric(spec), test))
    for kind in (LINEAR, LOGLINEAR):
        model = train_combination([*train, *stop], METRICS, kind=kind)
        row(f"combination, {kind}", tau13(combination(model), test), model.mixture_spec() if kind == LINEAR else "")
    for skip, file in (
        (METRICS, ""),
        ((), vectors),
        (METRICS, vectors),
        ((*METRICS[:3], "BLEUCOMP"), vectors),
    ):
        inputs = PairwiseInputs(skip, file)
        seen, unseen = examples(train, inputs), examples(stop, inputs)
        for loss in losses:
            start = time.process_time()
            trained = trained_model(inputs, seen, unseen, Settings(loss=loss))
            features = ["4 metrics" if skip == METRICS else "3 + BLEUCOMP"] if skip else []
            name = f"{loss}: {', '.join([*features, *(['vectors'] if file else [])])}"
            found = [decisions(trained, data) for data in test]
            gap = statistics.mean(x["gap"] for _, x in found)
            same = statistics.mean(x["consistent"] for _, x in found)
            note = f"{time.process_time() - start:.0f} CPU s, {trained.training['passes']} passes; gap {gap:.3f}, "
            row(f"{name}, decisions", [x for x, _ in found], f"{note}consistent {same:.1%}")
            row(f"{name}, scores", tau13(Pairwise(trained), test))


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--losses", nargs="+", default=["logistic", "both"])
    arguments = parser.parse_args()
    speed()
    if not DATA.is_dir():
        print(f"no real data at {DATA}: left out")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.bin"
        packed = next((DATA / "vectors").glob("*.bin.gz"))
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        agreement_with_people(arguments.losses, str(path))


if __name__ == "__main__":
    main()
