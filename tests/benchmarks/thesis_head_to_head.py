"""Table 3.14 of Song (2015): how often the system tuned for one metric translates better than that tuned for another.

    python tests/benchmarks/thesis_lists.py --run FOLDER --only table-3.14
    python tests/benchmarks/thesis_head_to_head.py --run FOLDER -m CHRF:words=2

People ranked the five translations there; here a metric does. What counts is as there: test sentences whose five
translations are not all the same. Those with the same score tie.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from lasw.metrics import Evaluation, metric, read_lines

LOSSES = ("PABC4", "PGBC4", "PGBC2", "PGB4", "RGBC4")


def main() -> None:
    """Score the translations of all runs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="of thesis_lists.py")
    parser.add_argument("-m", "--metric", default="CHRF:words=2", help="who judges (default: %(default)s)")
    arguments = parser.parse_args()
    wins = np.concatenate([_wins(arguments, seed) for seed in _seeds(arguments.run)])
    print(f"{len(wins)} sentences of {len(_seeds(arguments.run))} runs, judged by {arguments.metric}")
    print("how often the column's system is better than the row's:")
    print("".join(f"{name:>8}" for name in ("", *LOSSES)))
    for i, row in enumerate(LOSSES):
        shares = [wins[:, j, i].mean() for j in range(len(LOSSES))]
        print(f"{row:>8}" + "".join(f"{'-' if i == j else f'{x:.2f}':>8}" for j, x in enumerate(shares)))
    better, worse = int(wins[:, 0, 1].sum()), int(wins[:, 1, 0].sum())
    print(f"PABC4 against PGBC4: {better} to {worse}, binomial test p = {binomtest(better, better + worse).pvalue:.4f}")


def _seeds(run: Path) -> list[int]:
    names = [path.name for path in (run / "run/runs").glob(f"mert-{LOSSES[0]}-dev-seed*")]
    if not names:
        sys.exit(f"{run}: no runs of table-3.14; make them with thesis_lists.py")
    return sorted(int(name.split("-seed")[1].split("-")[0]) for name in names)


def _wins(arguments: argparse.Namespace, seed: int) -> NDArray[np.bool_]:
    """(sentences, systems, systems): the first system is better than the second, one run of each."""
    texts = []
    for loss in LOSSES:
        (path,) = (arguments.run / "run/runs").glob(f"mert-{loss}-dev-seed{seed}-*/test-*.txt")
        texts.append(read_lines(path))
    rows = [k for k, five in enumerate(zip(*texts, strict=True)) if len(set(five)) > 1]
    references = read_lines(arguments.run / "test.en")
    lines = [[text[k] for k in rows] for text in texts]
    evaluation = Evaluation.from_lines([references[k] for k in rows], *lines)
    scores = evaluation.sentence_scores(metric(arguments.metric)).T  # of an error rate one minus it
    return np.asarray(scores[:, :, None] - scores[:, None, :] > 0)


if __name__ == "__main__":
    main()
