"""How many sentences must be decoded? A prior from another set, parts of the set in each round, short first lists.

    python tests/benchmarks/bench_less_decoding.py [--seeds 3]
    python tests/benchmarks/bench_less_decoding.py --model SYSTEM --source F --references E [--seeds 1]

Without a model the lists of a recorded Moses run are replayed: a decoding gives the best of all recorded candidates.
The development set is tuned in two halves: each is a set of its own, and the weights of the other half, which has the
same features and other sentences, are its prior. The peer is the plain way, four rounds of the whole set with steps of
.3, .5, .7 and 1; the goal 99.5 % of its score. Scores are BLEU of the set decoded with the last weights, which is
not counted. Means over both halves and all seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import References, Vocabulary, metric, read_corpus, read_lines
from lasw.tuning import Decoder, Pool, Thot, Weights, first_hypotheses, make_optimiser
from lasw.tuning.decoders.replay import Replay
from lasw.tuning.loop.fitting import between
from lasw.tuning.pool import Columns
from lasw.tuning.pool.first_best import corpus_score

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SHARE = 0.995
STEPS = (0.3, 0.5, 0.7, 1.0)
LIST = 100


@dataclass(frozen=True)
class Strategy:
    """One way to tune.

    Attributes:
        steps: the share of the optimiser's proposal that is taken, of each round.
        parts: that the set is cut into; round k decodes part k.
        prior: whether it starts with the weights of the other half.
        lists: hypotheses a sentence, of each round; the last number goes on.
    """

    steps: tuple[float, ...] = STEPS
    parts: int = 1
    prior: bool = False
    lists: tuple[int, ...] = (LIST,)


STRATEGIES = {
    "whole set, 4 rounds": Strategy(),
    "whole set, 2 rounds": Strategy((0.5, 1.0)),
    "whole set, 2 rounds, steps of .5 and .7": Strategy((0.5, 0.7)),
    "whole set, 2 rounds, whole steps": Strategy((1.0, 1.0)),
    "changing halves, 4 rounds": Strategy(parts=2),
    "changing quarters, 8 rounds": Strategy((0.3, 0.3, 0.5, 0.5, 0.7, 0.7, 1.0, 1.0), parts=4),
    "lists of 25 in rounds 1 and 2": Strategy(lists=(25, 25, LIST)),
    "lists of 25 in rounds 1 and 2, changing halves": Strategy(parts=2, lists=(25, 25, LIST)),
    "prior, not tuned": Strategy((), prior=True),
    "prior, 1 round": Strategy((0.5,), prior=True),
    "prior, 2 rounds": Strategy((0.5, 1.0), prior=True),
    "prior, 2 rounds, steps of .3 and .5": Strategy((0.3, 0.5), prior=True),
    "prior, 2 rounds, whole steps": Strategy((1.0, 1.0), prior=True),
    "prior, changing halves, 4 rounds": Strategy(parts=2, prior=True),
}


@dataclass
class Task:
    """A decoder and what it translates, of which `sentences` (m,) are the set that is tuned for."""

    decoder: Decoder
    source: list[str]
    references: References
    sentences: NDArray[np.int64]

    def tuned(self, strategy: Strategy, start: Weights, seed: int) -> tuple[Weights, int]:
        """The last weights, and how many sentences were decoded for them."""
        pool, weights, decoded = Pool(self.references), start, 0
        mixed = np.random.default_rng(seed).permutation(self.sentences)
        for k, step in enumerate(strategy.steps):
            chosen = np.sort(mixed[k % strategy.parts :: strategy.parts])
            n = strategy.lists[min(k, len(strategy.lists) - 1)]
            nbest = self.decoder.decode_some(self.source, chosen, weights, n, self.references.vocabulary)
            pool.add(replace(nbest, owner=chosen[nbest.owner].astype(np.int32)))
            decoded += len(chosen)
            fit = make_optimiser("average", seed=1000 * seed + k).fit(pool, weights)
            weights = between(weights, fit.weights, step, Columns.of(pool))
        return weights, decoded

    def score(self, weights: Weights) -> float:
        """BLEU of the set decoded with weights."""
        nbest = self.decoder.decode_some(self.source, self.sentences, weights, 1, self.references.vocabulary)
        references = self.references.take(self.sentences)
        return corpus_score(metric("BLEU"), first_hypotheses(nbest, len(self.sentences)), references)


def compared(halves: Sequence[Task], start: Weights, seeds: Sequence[int]) -> None:
    """Print the table."""
    whole = STRATEGIES["whole set, 4 rounds"]
    priors = {(k, seed): task.tuned(whole, start, seed)[0] for k, task in enumerate(halves) for seed in seeds}
    print(f"start {100 * mean(task.score(start) for task in halves):.2f}\n")
    print("| strategy | decoded, times the set | BLEU | share of the plain way's |\n| --- | --- | --- | --- |")
    plain = 0.0
    for name, strategy in STRATEGIES.items():
        scores, times = [], []
        for (k, seed), own in priors.items():
            first = priors[1 - k, seed] if strategy.prior else start
            done = (own, len(STEPS) * len(halves[k].sentences)) if strategy is whole else None
            weights, decoded = done or halves[k].tuned(strategy, first, seed)
            scores.append(halves[k].score(weights))
            times.append(decoded / len(halves[k].sentences))
        plain = plain or mean(scores)
        reached = ", goal reached" if mean(scores) >= SHARE * plain else ""
        print(
            f"| {name} | {mean(times):.1f} | {100 * mean(scores):.2f} | {mean(scores) / plain:.4f}{reached} |",
            flush=True,
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a system of 'lasw train'; without it the recorded lists are replayed")
    parser.add_argument("--source")
    parser.add_argument("--references")
    parser.add_argument("--sentences", type=int, default=10**9, help="at most")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    vocabulary = Vocabulary()
    if arguments.model:
        decoder: Decoder = Thot(arguments.model)
        source = read_lines(arguments.source)[: arguments.sentences]
        references = References((read_corpus(arguments.references, vocabulary),)).take(np.arange(len(source)))
    else:
        folder = DATA / "moses" / "de-en"
        if not folder.is_dir():
            raise SystemExit("real data is not beside the checkout (../shared/data)")
        lists = tuple(str(folder / f"run{k}.best100.out.gz") for k in range(1, 9))
        decoder = Replay(lists, initial=folder / "run1.moses.ini")
        references = References((read_corpus(DATA / "multi30k" / "dev.en.gz", vocabulary),))
        source = [""] * len(references)
    numbers = np.arange(len(source))
    halves = [Task(decoder, source, references, numbers[k::2]) for k in range(2)]
    compared(halves, decoder.start_weights(), range(1, arguments.seeds + 1))


if __name__ == "__main__":
    main()
