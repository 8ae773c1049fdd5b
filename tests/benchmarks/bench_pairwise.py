"""The pairwise network and combinations: ``python tests/benchmarks/bench_pairwise.py [--losses ...] [--networks N]``.

First decisions per second on invented numbers. Then, with the real data beside the checkout, training on WMT11 (whose
segment numbers were inferred with BLEU: see the data's README) and Kendall's tau as WMT13 had it on WMT13: of every
input, of the network's decisions between two translations, of its scores, of combinations of the same metrics. Nothing
of WMT13 is used in training; when to stop says WMT11's fr-en, of whose systems training has seen none.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from lasw.metrics import (
    LINEAR,
    Examples,
    PairwiseInputs,
    PairwiseModel,
    Preprocessing,
    Settings,
    examples,
    read_preferences,
    train_pairwise,
)
from lasw.metrics.agreement.correlation import tau_of_counts
from lasw.metrics.learned.combination import LOGLINEAR, logarithm
from lasw.metrics.learned.combination_training import fit_weights
from lasw.metrics.learned.pairwise.model import Scaling
from lasw.metrics.learned.pairwise.network import Network, Shape, initial
from lasw.metrics.learned.pairwise.training import outputs, scaled, symmetry

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
METRICS = ("METEOR", "TER", "NIST", "BLEU")
OTHERS = ("CHRF", "WMDO:vectors={}", "WEWPI:vectors={}")
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


def joined(data: list[Examples]) -> Examples:
    """Preferences of several sets as one."""
    translations = np.cumsum([0, *(len(x.vectors) for x in data)])
    segments = np.cumsum([0, *(len(x.references) for x in data)])
    return Examples(
        *(np.concatenate([getattr(x, name) for x in data]) for name in ("vectors", "skip", "references")),
        np.concatenate([x.better + first for x, first in zip(data, translations, strict=False)]),
        np.concatenate([x.worse + first for x, first in zip(data, translations, strict=False)]),
        np.concatenate([x.segment + first for x, first in zip(data, segments, strict=False)]),
    )


def only(data: Examples, columns: list[int], with_vectors: bool) -> Examples:
    """Some of the skip features, with or without vectors."""
    d = data.vectors.shape[1] if with_vectors else 0
    return dataclasses.replace(
        data, skip=data.skip[:, columns], vectors=data.vectors[:, :d], references=data.references[:, :d]
    )


def tau_of(first: np.ndarray, second: np.ndarray) -> float:
    """Kendall's tau (WMT13) of numbers for the better and for the worse ones."""
    orders = [np.count_nonzero(first > second), np.count_nonzero(first < second), len(first)]
    return float(tau_of_counts(np.array(orders), 13))


def tau_of_scores(model: PairwiseModel, data: Examples) -> float:
    """The same of the scores that PAIRWISE gives."""
    reference = np.zeros(len(data.vectors), dtype=np.int64)
    reference[data.better] = reference[data.worse] = data.segment
    references = data.references[reference]
    scores = model.scores(model.seen(data.vectors, data.skip, references), references)
    return tau_of(scores[data.better], scores[data.worse])


def row(name: str, values: list[float], note: str = "") -> None:
    """Print one."""
    print(f"{name:52}{''.join(f'{x:>8.4f}' for x in [*values, statistics.mean(values)])}  {note}", flush=True)


def agreement_with_people(losses: list[str], networks: int, vectors: str) -> None:
    """The table; what the networks see is computed once for all of them."""
    others = tuple(spec.format(vectors) for spec in OTHERS)
    everything = PairwiseInputs((*METRICS, *others, "BLEUCOMP"), vectors)
    text = Preprocessing("13a", True).function()
    found = {}
    for year in ("wmt11", "wmt13"):
        for path in folders(year):
            judged = read_preferences([path], preprocess=text)
            found[year, judged[0].name] = examples(judged, everything).judged()
    train = joined([x for (year, name), x in found.items() if year == "wmt11" and name != STOP])
    stop = found["wmt11", STOP]
    test = {name: x for (year, name), x in found.items() if year == "wmt13"}
    print(f"{'':52}{''.join(f'{name:>8}' for name in test)}    mean")
    for k, spec in enumerate((*METRICS, *others)):
        row(shown(spec), [tau_of(x.skip[x.better, k], x.skip[x.worse, k]) for x in test.values()])
    combinations((*METRICS, *others), joined([train, stop]), list(test.values()))
    four, seven, parts = [0, 1, 2, 3], list(range(7)), [0, 1, 2, *range(7, everything.width)]
    for name, skip, columns, file in (
        ("4 metrics", METRICS, four, ""),
        ("vectors", (), [], vectors),
        ("4 metrics, vectors", METRICS, four, vectors),
        ("3 metrics, BLEUCOMP, vectors", (*METRICS[:3], "BLEUCOMP"), parts, vectors),
        ("7 metrics, vectors", METRICS + others, seven, vectors),
    ):
        inputs = PairwiseInputs(skip, file)
        seen, unseen = only(train, columns, bool(file)), only(stop, columns, bool(file))
        tests = [only(x, columns, bool(file)) for x in test.values()]
        for loss, count in [*((loss, 1) for loss in losses), *([(losses[0], networks)] if networks > 1 else [])]:
            network(f"{name}; {loss}{f' x {count}' if count > 1 else ''}", inputs, seen, unseen, tests, loss, count)


def network(
    name: str, inputs: PairwiseInputs, seen: Examples, unseen: Examples, tests: list[Examples], loss: str, count: int
) -> None:
    """Train one and print how it agrees."""
    start = time.process_time()
    model = train_pairwise(inputs, seen, unseen, Settings(loss=loss, networks=count))
    taken = time.process_time() - start
    inside = [scaled(x, model.scaling) for x in tests]
    measured = [symmetry(model.network, x) for x in inside]
    gap, same = (statistics.mean(x[key] for x in measured) for key in ("gap", "consistent"))
    note = (
        f"trained in {taken:.0f} CPU s, {model.training['passes']} passes, tau {model.training['tau']:.3f} on {STOP}; "
    )
    note += f"gap {gap:.3f}, consistent {same:.1%}"
    row(f"{name}: decisions", [tau_of(*outputs(model.network, x)) for x in inside], note)
    row(f"{name}: scores", [tau_of_scores(model, x) for x in tests])


def combinations(specs: tuple[str, ...], train: Examples, tests: list[Examples]) -> None:
    """Combinations of the first four metrics, and of all."""
    for count in (len(METRICS), len(specs)):
        for kind in (LINEAR, LOGLINEAR):
            better, worse = train.skip[train.better, :count], train.skip[train.worse, :count]
            model = fit_weights(better, worse, specs[:count], kind=kind)
            deviations = model.training["weights-of-deviations"]
            note = " ".join(f"{shown(spec)} {weight:.2f}" for spec, weight in deviations.items())
            sums = []
            for x in tests:
                columns = x.skip[:, [specs.index(spec) for spec in model.specs]]
                sums.append((logarithm(columns, model.floor) if kind == LOGLINEAR else columns) @ model.weights)
            values = [tau_of(y[x.better], y[x.worse]) for x, y in zip(tests, sums, strict=True)]
            row(f"combination of {count}, {kind}", values, note)


def shown(spec: str) -> str:
    """Without files."""
    return spec.partition(":vectors=")[0]


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--losses", nargs="+", default=["logistic", "both"], help="default: logistic both")
    parser.add_argument("--networks", type=int, default=5, help="averaged, a row more (default: 5)")
    arguments = parser.parse_args()
    speed()
    if not DATA.is_dir():
        print(f"no real data at {DATA}: left out")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.bin"
        packed = next((DATA / "vectors").glob("*.bin.gz"))
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        agreement_with_people(arguments.losses, arguments.networks, str(path))


if __name__ == "__main__":
    main()
