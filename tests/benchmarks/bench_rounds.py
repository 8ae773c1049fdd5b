"""Decoding rounds and decode seconds until a tuning run has 99.5 % of the plain loop's final development score.

    python tests/benchmarks/bench_rounds.py [--seeds 3] [--optimisers wro pro] [--strategies NAME ...]
    python tests/benchmarks/bench_rounds.py --model SYSTEM --source F --references E [--test F E] [--ones]

Without a model the lists of a recorded Moses run are replayed: a decoding gives the best of all recorded candidates,
and counts 45 s, what decoding that development set once took. With one, Thot decodes, and the seconds are those of its
processes' CPU, each decoding measured once (strategies that share decodings share the measurement).

The plain loop runs `--iterations` rounds and keeps the weights with the best development score. The goal is 99.5 % of
its final score, mean over the seeds. Printed are means over seeds: rounds, decodings and seconds until the development
score of the current weights reaches the goal (in parentheses: seeds that did), then, for every rule of when to end,
decodings and seconds in all and the scores of the weights that are kept.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import References, Vocabulary, metric, read_corpus, read_lines
from lasw.tuning import (
    Decoder,
    Json,
    Loop,
    NBest,
    RunDirectory,
    RunSettings,
    Thot,
    Weights,
    first_hypotheses,
    make_optimiser,
    read_weights,
    reason_to_stop,
)
from lasw.tuning.decoders.replay import Replay
from lasw.tuning.loop.stopping import SETTLED
from lasw.tuning.pool.first_best import corpus_score

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SECONDS = 45.0  # of decoding the 1014 sentences of the recorded run once
SHARE = 0.995
# Rules that are never met, so that every round records what its pool gains.
ENDLESS: dict[str, Any] = {"noise": 1.0, "patience": 10**6, "step": "whole", "folds": 0}
STRATEGIES: dict[str, dict[str, Any]] = {
    "plain": {},
    "growing steps": {"step": "growing"},
    "steps that the decoder judges": {"step": "trust"},
    "first list of 300": {"first_nbest": 300},
    "lists half as long each round": {"nbest_growth": 0.5},
    "lists twice as long each round, from 25": {"nbest": 25, "nbest_growth": 2.0},
    "1 perturbed in round 1": {"perturbed": 1, "perturbed_rounds": 1},
    "2 perturbed in round 1": {"perturbed": 2, "perturbed_rounds": 1},
    "4 perturbed in round 1": {"perturbed": 4, "perturbed_rounds": 1},
    "1 perturbed a round": {"perturbed": 1},
    "half way from round 1": {"interpolation": 0.5, "interpolation_from": 1},
    "half way from round 2": {"interpolation": 0.5, "interpolation_from": 2},
}
RULES: dict[str, dict[str, Any]] = {
    "all rounds": {"noise": 0.0},
    "within 1 standard error": {"noise": 1.0},
    "within 1/2": {"noise": 0.5},
    "within 1/4": {"noise": 0.25},
    "within 1/2, twice": {"noise": 0.5, "patience": 2},
}


class Measured(Decoder):
    """Another decoder whose decodings are done once, counted and timed.

    Attributes:
        seconds: of the decodings that were asked for since it was set to [].
    """

    def __init__(self, decoder: Decoder, fixed_seconds: float | None) -> None:
        self.name, self.follows_weights = decoder.name, decoder.follows_weights
        self.seconds: list[float] = []
        self._decoder = decoder
        self._fixed = fixed_seconds
        self._done: dict[tuple[bytes, int, int], tuple[NBest, float]] = {}

    def start_weights(self) -> Weights:
        return self._decoder.start_weights()

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        key = weights.dense.tobytes(), n, len(source)
        if key not in self._done:
            before = children_seconds()
            nbest = self._decoder.decode(source, weights, n, vocabulary)
            self._done[key] = nbest, children_seconds() - before if self._fixed is None else self._fixed
        self.seconds.append(self._done[key][1])
        return self._done[key][0]

    def decode_some(
        self, source: Sequence[str], chosen: NDArray[np.int64], weights: Weights, n: int, vocabulary: Vocabulary
    ) -> NBest:
        before = children_seconds()
        nbest = self._decoder.decode_some(source, chosen, weights, n, vocabulary)
        share = None if self._fixed is None else self._fixed * len(chosen) / len(source)
        self.seconds.append(children_seconds() - before if share is None else share)
        return nbest


def children_seconds() -> float:
    """CPU seconds so far of the processes that this one has started and that live."""
    total, tick = 0.0, os.sysconf("SC_CLK_TCK")
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid():
                total += (int(fields[11]) + int(fields[12])) / tick
    return total


@dataclass(frozen=True)
class Task:
    """What is tuned, and the test set with a decoder of its own (one holds what the sentences of a set need)."""

    decoder: Measured
    source: list[str]
    references: References
    start: Weights
    test: tuple[Decoder, list[str], References] | None = None


@dataclass(frozen=True)
class Run:
    """What one run did.

    Attributes:
        records: of the rounds, and of the decoding with the last weights.
        weights: that rounds 0, 1, ... made.
        decodings: how many there had been when the score of the weights of rounds 0, 1, ... was known.
        seconds: of these.
    """

    records: list[Json]
    weights: list[Weights]
    decodings: list[int]
    seconds: list[float]

    @property
    def scores(self) -> list[float]:
        """Development scores of the weights that rounds 0, 1, ... made."""
        return [record["dev_score"] for record in self.records]

    def end(self, rule: dict[str, Any]) -> int:
        """The last round whose weights a loop with this rule would have decoded with (see `lasw.tuning.loop.loop`)."""
        settings = RunSettings(Path(), iterations=0, **rule)
        rounds = len(self.records) - ("pool_bleu" not in self.records[-1])
        for count in range(1, rounds + 1):
            reason = reason_to_stop(settings, self.records[:count])
            if reason is not None:
                return count if reason == SETTLED and count < len(self.records) else count - 1
        return len(self.records) - 1


def tuned(task: Task, optimiser: str, seed: int, settings: dict[str, Any]) -> Run:
    """One run of the loop."""
    task.decoder.seconds = []
    watch = Watch(task.decoder)
    with tempfile.TemporaryDirectory() as place, RunDirectory(place) as directory:
        run = RunSettings(Path(place), seed=seed, **{**ENDLESS, **settings})
        directory.describe({"settings": {}, "inputs": {}})
        loop = Loop(
            task.decoder,
            lambda one: make_optimiser(optimiser, seed=one),
            run,
            metric(run.dev_metric),
        )
        loop.run(task.source, task.references, task.start, directory, watch)
        before = [directory.iteration(k) / "before.json" for k in range(1, len(watch.records) + 1)]
        weights = [read_weights(path) for path in before]
    # The score of a round's weights comes with the first decoding of the next round.
    decodings = [1, *(end + 1 for end in watch.ends[:-1])]
    seconds = np.cumsum(task.decoder.seconds)
    return Run(watch.records, weights, decodings, [float(seconds[k - 1]) for k in decodings])


class Watch:
    """Records of a run, and the decodings that each had needed at its end."""

    def __init__(self, decoder: Measured) -> None:
        self._decoder = decoder
        self.records: list[Json] = []
        self.ends: list[int] = []

    def started(self, iteration: int, step: str) -> None:
        pass

    def decoded(self, done: int, of: int) -> None:
        pass

    def finished(self, record: Json) -> None:
        self.records.append(record)
        self.ends.append(len(self._decoder.seconds))


def tested(task: Task, weights: Weights) -> float | None:
    """BLEU on the test set, if there is one."""
    if task.test is None:
        return None
    decoder, source, references = task.test
    nbest = decoder.decode(source, weights, 1, references.vocabulary)
    return corpus_score(metric("BLEU"), first_hypotheses(nbest, len(source)), references)


def replayed() -> Task:
    """The recorded run."""
    folder = DATA / "moses" / "de-en"
    lists = tuple(str(folder / f"run{k}.best100.out.gz") for k in range(1, 9))
    decoder = Replay(lists, initial=folder / "run1.moses.ini")
    vocabulary = Vocabulary()
    references = References((read_corpus(DATA / "multi30k" / "dev.en.gz", vocabulary),))
    return Task(Measured(decoder, SECONDS), [""] * len(references), references, decoder.start_weights())


def translated(arguments: argparse.Namespace) -> Task:
    """A Thot system."""
    decoder = Thot(arguments.model)
    start = decoder.start_weights()
    if arguments.ones:
        start = Weights.constant(start.names, 1.0)
    references = References((read_corpus(arguments.references, Vocabulary()),))
    test = None
    if arguments.test:
        references_of_test = References((read_corpus(arguments.test[1], Vocabulary()),))
        test = Measured(Thot(arguments.model), None), read_lines(arguments.test[0]), references_of_test
    return Task(Measured(decoder, None), read_lines(arguments.source), references, start, test)


def rows(name: str, task: Task, runs: Sequence[Run], goal: float) -> Iterator[str]:
    """Lines of the table: a strategy, then each rule that ends it."""
    first = [next((k for k, score in enumerate(run.scores) if score >= goal), None) for run in runs]
    reached = [(run, k) for run, k in zip(runs, first, strict=True) if k is not None]
    cells = ["-", "-", "-"]
    if reached:
        cells = [f"{mean(k for _, k in reached):.1f}", f"{mean(run.decodings[k] for run, k in reached):.1f}"]
        cells.append(f"{mean(run.seconds[k] for run, k in reached):.0f}")
    cells[0] += f" ({len(reached)}/{len(runs)})"
    for title, rule in RULES.items():
        ends = [run.end(rule) for run in runs]
        kept = [int(np.argmax(run.scores[: end + 1])) for run, end in zip(runs, ends, strict=True)]
        last = [
            f"{mean(run.decodings[end] for run, end in zip(runs, ends, strict=True)):.1f}",
            f"{mean(run.seconds[end] for run, end in zip(runs, ends, strict=True)):.0f}",
            f"{100 * mean(run.scores[k] for run, k in zip(runs, kept, strict=True)):.2f}",
        ]
        tests = [tested(task, run.weights[k]) for run, k in zip(runs, kept, strict=True)]
        last.append(f"{100 * mean(t for t in tests if t is not None):.2f}" if task.test else "")
        yield f"| {' | '.join([name, *cells, title, *last])} |"


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a system of 'lasw train'; without it the recorded lists are replayed")
    parser.add_argument("--source")
    parser.add_argument("--references")
    parser.add_argument("--test", nargs=2, metavar=("SOURCE", "REFERENCES"))
    parser.add_argument("--ones", action="store_true", help="start from all ones, not from Thot's own weights")
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--optimisers", nargs="+", default=["wro", "pro"])
    parser.add_argument("--strategies", nargs="+", default=list(STRATEGIES), choices=list(STRATEGIES), metavar="NAME")
    arguments = parser.parse_args()
    if not arguments.model and not DATA.is_dir():
        raise SystemExit("real data is not beside the checkout (../shared/data)")
    task = translated(arguments) if arguments.model else replayed()
    seeds = range(1, arguments.seeds + 1)
    for optimiser in arguments.optimisers:
        goal = 0.0
        for name in ["plain", *(one for one in arguments.strategies if one != "plain")]:
            settings = {"iterations": arguments.iterations, **STRATEGIES[name]}
            runs = [tuned(task, optimiser, seed, settings) for seed in seeds]
            if name == "plain":
                goal = SHARE * mean(max(run.scores) for run in runs)
                print(f"\n{optimiser}: start {100 * runs[0].scores[0]:.2f}, goal {100 * goal:.2f}\n")
                print("| strategy | rounds to goal | decodings | seconds | ends | decodings | seconds | dev | test |")
                print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
            for line in rows(name, task, runs, goal):
                print(line, flush=True)


if __name__ == "__main__":
    main()
