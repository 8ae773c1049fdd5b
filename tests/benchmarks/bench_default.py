"""What optimisers and means of them gain on sentences that they did not learn from: why the default is what it is.

    python tests/benchmarks/bench_default.py [--references FILE LIST...] [--sizes 150 400] [--draws 8]

Without lists those of a recorded run of Moses. From the pool of all lists a set of sentences of each size is drawn,
each optimiser learns from it, and the corpus BLEU of the other sentences' best candidates is held against that of the
default on the same draw: mean, its standard error, and the standard deviation of the score over the draws. Weights of
all features begin at one. Means are of weights at L1 norm 1, as `average` has them; ``bagged`` is the mean of three
fits, each of 63 % of the sentences, what a bootstrap leaves.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import References, metric, read_corpus
from lasw.tuning import Pool, Weights, make_optimiser, read_pool

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SINGLE: dict[str, dict[str, str]] = {
    **{name: {} for name in ("expected", "wro", "mira", "ramp", "perceptron", "mle", "mert")},
    "pro": {"draws": "300", "pairs": "300"},
}
AVERAGED = ("expected", "wro", "mira", "pro", "ramp")
DEFAULT = "expected+wro"
BAGS, BAG = 3, 0.632
BLEU = metric("BLEU")


def fitted(name: str, pool: Pool, start: Weights) -> NDArray[np.float64]:
    """The dense weights that an optimiser finds, at L1 norm 1."""
    dense = make_optimiser(name, SINGLE[name]).fit(pool, start).weights.dense
    return np.asarray(dense / np.abs(dense).sum())


def candidates(pool: Pool, chosen: NDArray[np.int64], draw: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    """Weights learnt from the chosen sentences, by what found them."""
    start = Weights.constant(pool.names, 1.0)

    def of(sentences: NDArray[np.int64]) -> Pool:
        return pool.of_sentences(np.isin(np.arange(len(pool.starts) - 1), sentences))

    whole = of(chosen)
    found = {name: fitted(name, whole, start) for name in SINGLE}
    bags = [of(draw.permutation(chosen)[: int(BAG * len(chosen))]) for _ in range(BAGS)]
    bagged = {name: np.mean([fitted(name, bag, start) for bag in bags], axis=0) for name in ("expected", "wro")}
    for k in range(2, len(AVERAGED) + 1):
        found |= {"+".join(names): np.mean([found[x] for x in names], axis=0) for names in combinations(AVERAGED, k)}
    found |= {f"bagged {name}": weights for name, weights in bagged.items()}
    return {**found, f"bagged {DEFAULT}": np.mean([bagged[x] for x in DEFAULT.split("+")], axis=0)}


def gains(pool: Pool, size: int, draws: int) -> dict[str, list[float]]:
    """The gain of each on the sentences that are not drawn, BLEU points above weights of one, by draw."""
    n = len(pool.starts) - 1
    found: dict[str, list[float]] = {}
    for seed in range(draws):
        draw = np.random.default_rng([seed, size])
        chosen = draw.permutation(n)[:size]
        rest = pool.of_sentences(~np.isin(np.arange(n), chosen))
        before = rest.corpus_score(BLEU, Weights.constant(pool.names, 1.0))
        for name, dense in candidates(pool, chosen, draw).items():
            score = rest.corpus_score(BLEU, Weights(Weights.constant(pool.names, 1.0).names, dense))
            found.setdefault(name, []).append(100 * (score - before))
    return found


def main() -> None:
    """Print a row for each, the best of the means first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--references", default=str(DATA / "multi30k" / "dev.en.gz"))
    parser.add_argument("--sizes", type=int, nargs="+", default=[150, 400])
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("lists", nargs="*")
    options = parser.parse_args()
    lists = options.lists or sorted(map(str, (DATA / "moses" / "de-en").glob("run*.best100.out.gz")))
    if not lists:
        print("left out: the recorded lists are not beside the checkout (../shared/data)")
        return
    pool, _ = read_pool(lists, References((read_corpus(options.references),)))
    for size in options.sizes:
        found = gains(pool, size, options.draws)
        usual = np.array(found[DEFAULT])
        print(
            f"{size} of {len(pool.starts) - 1} sentences; {DEFAULT} gains {usual.mean():.2f} ± {usual.std(ddof=1):.2f}"
        )
        for name, one in sorted(found.items(), key=lambda item: -np.mean(item[1])):
            gap = np.array(one) - usual
            error = gap.std(ddof=1) / len(gap) ** 0.5
            print(f"  {name:32} {gap.mean():+.2f} ± {error:.2f}   spread {np.std(one, ddof=1):.2f}", flush=True)


if __name__ == "__main__":
    main()
