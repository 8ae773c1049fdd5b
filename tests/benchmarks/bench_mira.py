"""Batch MIRA on the lists of a real run of eight iterations: CPU seconds of the fit, pool BLEU by seed.

    python tests/benchmarks/bench_mira.py [--repeats 3] [--seeds 5]

Peer figures, Moses' kbmira on the same lists and one core: 2.0 s as shipped (its filter of duplicates drops 80-90 % of
the distinct hypotheses), pool BLEU .4041; without that filter 4.9 s, .4066.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from lasw.metrics import References, metric, read_corpus
from lasw.tuning import Pool, Weights, match, read_pool, read_weights
from lasw.tuning.optimisers.mira.mira import MIRA

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
PEER_SECONDS, PEER_BLEU = 4.9, 0.4066
SHIPPED_SECONDS, SHIPPED_BLEU = 2.0, 0.4041
GOAL_SECONDS, GOAL_BLEU = PEER_SECONDS / 3, 0.4062


def real_run() -> tuple[Pool, Weights]:
    """All candidates of the eight lists, and the weights before the first."""
    run = DATA / "moses" / "de-en"
    references = References((read_corpus(DATA / "multi30k" / "dev.en.gz"),))
    pool, _ = read_pool([run / f"run{k}.best100.out.gz" for k in range(1, 9)], references)
    assert pool.names is not None
    return pool, match(read_weights(run / "run1.moses.ini"), pool.names).weights


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit("real data is not beside the checkout (../shared/data)")
    pool, start = real_run()
    bleu = metric("BLEU")
    print(f"{len(pool)} candidates, pool BLEU before {pool.corpus_score(bleu, start):.4f}")
    for title, options in (
        ("MIRA", {}),
        ("MIRA, raw features", {"scaling": "raw"}),
        ("MIRA, loss PABC4", {"metric": "PABC4"}),
        ("MIRA, background of the model", {"model_bg": True}),
    ):
        MIRA(passes=1, **options).fit(pool, start)  # type: ignore[arg-type]  # kernels and statistics are there
        seconds, scores, passes = [], [], []
        for seed in range(1, arguments.seeds + 1):
            for _ in range(arguments.repeats if seed == 1 else 1):
                began = time.process_time()
                fit = MIRA(seed=seed, **options).fit(pool, start)  # type: ignore[arg-type]
                seconds.append(time.process_time() - began)
            scores.append(pool.corpus_score(bleu, fit.weights))
            passes.append(fit.iterations)
        taken = statistics.median(seconds)
        print(
            f"{title}: {taken:.2f} CPU s (goal {GOAL_SECONDS:.1f}), {PEER_SECONDS / taken:.1f} times as fast as kbmira"
        )
        print(f"  without its filter, {SHIPPED_SECONDS / taken:.1f} times as fast as shipped")
        print(f"  pool BLEU by seed {' '.join(f'{score:.5f}' for score in scores)}, best passes {passes}")
        print(
            f"  mean {statistics.mean(scores):.5f} (goal {GOAL_BLEU}; kbmira {PEER_BLEU}, as shipped {SHIPPED_BLEU}), "
            f"max - min {max(scores) - min(scores):.5f}"
        )


if __name__ == "__main__":
    main()
