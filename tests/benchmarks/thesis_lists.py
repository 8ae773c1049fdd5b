"""The tables of Song (2015) on recorded lists of a Moses system: 14 features, German to English, nothing is decoded.

    python tests/benchmarks/thesis_lists.py --run FOLDER                   # all
    python tests/benchmarks/thesis_lists.py --run FOLDER --only table-5.2

The system was tuned on Multi30k's 1 014 development sentences, eight rounds of 100-best lists. The first 700 are the
pool, the others the test set, whose lists are reranked; half of its references are damaged in ways that leave its
sources as they are. Professionals are the same 700 sentences undamaged. Development sets have --words words. The same
command goes on where it was stopped.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Sequence
from pathlib import Path

from lasw.metrics import read_lines

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from damage import SHUFFLED, TRUNCATED, UNTRANSLATED, WRONG_LANGUAGE, damage
from thesis_runs import ALIGNED, DATA, Sections, compare, options, read, write, write_aligned

POOL = 700
KINDS = (SHUFFLED, TRUNCATED, UNTRANSLATED, WRONG_LANGUAGE)  # of the target side alone
ITERATIONS = range(1, 9)
WITHOUT = ("table-5.4",)  # there is no text of another domain
# Captions are short: bands of length that have sentences, sizes that the pool has.
ROWS = {
    "table-4.2": ["Rand.", "1-10", "10-20", "20-30", "10-50"],
    "figure-4.1": [f"{kind} {k}k" for kind in ("random", "LA", "professional") for k in (10, 30, 50, 70)],
}


def main() -> None:
    """Make what is missing, then one comparison after the other."""
    arguments = options(__doc__, seeds=5).parse_args()
    if not DATA.is_dir():
        print("real data is not beside the checkout (../shared/data)")
        return
    arguments.run.mkdir(parents=True, exist_ok=True)
    _make(arguments.run)
    compare(arguments, _given, WITHOUT)


def _make(folder: Path) -> None:
    """Texts, their alignment and their lists."""
    text = read("dev")
    train = [side[:ALIGNED] for side in read("train")]
    clean = [side[:POOL] for side in text]
    pool = damage(*clean, dict.fromkeys(KINDS, 0.5 / len(KINDS)), seed=1, foreign=train[0])
    write_aligned(folder, {"noisy": (pool.source, pool.target), "professional": clean}, train)
    write(folder, "test", [side[POOL:] for side in text])
    for number in ITERATIONS:
        if not (folder / f"test.{number}.gz").exists():
            _split(DATA / f"moses/de-en/run{number}.best100.out.gz", folder, number)


def _split(path: Path, folder: Path, number: int) -> None:
    """Lists of the pool, and those of the test set counted from 0."""
    lines: dict[str, list[str]] = {"pool": [], "test": []}
    for line in read_lines(path):
        sentence, _, rest = line.partition(" |||")
        place = int(sentence)
        lines["pool" if place < POOL else "test"].append(f"{place - POOL * (place >= POOL)} |||{rest}\n")
    for name, found in lines.items():
        with gzip.open(folder / f"{name}.{number}.gz", "wt", encoding="utf-8", compresslevel=1) as out:
            out.writelines(found)


def _given(grid: str, sections: Sections) -> Sequence[str]:
    """Lists, the weights they begin from, and the test set."""
    lists = [f"pool.{number}.gz" for number in ITERATIONS]
    found = [f"pool.{pool}.lists={one}" for pool in sections.get("pool", {}) for one in lists]
    for name, values in sections["development"].items():
        found.append(f"development.{name}.start={DATA / 'moses/de-en/run1.moses.ini'}")
        if "select" not in values:
            found += [f"development.{name}.source=professional.de", f"development.{name}.references=professional.en"]
            found += [f"development.{name}.lists={one}" for one in lists]
    found += [f"system.MERT.development={name}" for name in ROWS.get(grid, ())]
    found += [f"test.test.lists=test.{number}.gz" for number in ITERATIONS]
    return [*found, "test.test.source=test.de", "test.test.references=test.en"]


if __name__ == "__main__":
    main()
