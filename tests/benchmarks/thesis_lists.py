"""The tables of Song (2015) on recorded lists of a Moses system: 14 features, German to English, nothing is decoded.

    python tests/benchmarks/thesis_lists.py --run FOLDER                   # all
    python tests/benchmarks/thesis_lists.py --run FOLDER --only table-5.2

The system was tuned on Multi30k's 1 014 development sentences, eight rounds of 100-best lists. The first 700 are the
pool, the others the test set, whose lists are reranked; half of its references are damaged in ways that leave its
sources as they are. Professionals are the same 700 sentences undamaged. Development sets have --words words. The same
command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lasw.metrics import read_lines, write_text
from lasw.tuning import COMPARISON

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from damage import SHUFFLED, TRUNCATED, UNTRANSLATED, WRONG_LANGUAGE, damage

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
LASW = [sys.executable, "-m", "lasw.scripts"]
ENDS = ("de", "en")
POOL, ALIGNED = 700, 6000
KINDS = (SHUFFLED, TRUNCATED, UNTRANSLATED, WRONG_LANGUAGE)  # of the target side alone
FILES = (("source", "de"), ("target", "en"), ("alignment", "align"))
WITHOUT = ("table-5.4",)  # there is no text of another domain
# Captions are short: bands of length that have sentences, sizes that the pool has.
ROWS = {
    "table-4.2": ["Rand.", "1-10", "10-20", "20-30", "10-50"],
    "figure-4.1": [f"{kind} {k}k" for kind in ("random", "LA", "professional") for k in (10, 30, 50, 70)],
}


def main() -> None:
    """Make what is missing, then one comparison after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="where everything goes and stays")
    parser.add_argument("--only", nargs="+", metavar="GRID", help="of thesis/: table-5.2, ...")
    parser.add_argument("--words", type=int, default=2000, help="source words of each development set")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    if not DATA.is_dir():
        print("real data is not beside the checkout (../shared/data)")
        return
    arguments.run.mkdir(parents=True, exist_ok=True)
    _make(arguments.run)
    known = [name.removeprefix("thesis/") for name in COMPARISON.names() if name.startswith("thesis/")]
    for grid in arguments.only or [name for name in known if name not in WITHOUT]:
        words = [part for change in _changes(grid, arguments) for part in ("--set", change)]
        print(f"\n{grid}", flush=True)
        _lasw("compare", f"thesis/{grid}", "--run", "run", *words, cwd=arguments.run)


def _make(folder: Path) -> None:
    """Texts, their alignment and their lists; all text is aligned together with some of the training text."""
    text = [read_lines(DATA / f"multi30k/dev.{end}.gz") for end in ENDS]
    train = [read_lines(DATA / f"multi30k/train.{end}.gz")[:ALIGNED] for end in ENDS]
    clean = [side[:POOL] for side in text]
    pool = damage(*clean, dict.fromkeys(KINDS, 0.5 / len(KINDS)), seed=1, foreign=train[0])
    for k, end in enumerate(ENDS):
        noisy = (pool.source, pool.target)[k]
        _write(folder / f"noisy.{end}", noisy)
        _write(folder / f"professional.{end}", clean[k])
        _write(folder / f"test.{end}", text[k][POOL:])
        _write(folder / f"all.{end}", [*noisy, *clean[k], *train[k]])
    if not (folder / "all.align").exists():
        _lasw("align", "--source", "all.de", "--target", "all.en", "--output", "all.align", cwd=folder)
    points = read_lines(folder / "all.align")
    _write(folder / "noisy.align", points[:POOL])
    _write(folder / "professional.align", points[POOL : 2 * POOL])
    for number in range(1, 9):
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


def _changes(grid: str, arguments: argparse.Namespace) -> list[str]:
    """What is to be given, and smaller numbers."""
    sections = COMPARISON.read(f"thesis/{grid}")
    found = [f"comparison.seeds={seed}" for seed in range(1, arguments.seeds + 1)]
    start = DATA / "moses/de-en/run1.moses.ini"
    for pool in sections.get("pool", {}):
        found += [f"pool.{pool}.{key}={pool}.{end}" for key, end in FILES]
        found += [f"pool.{pool}.lists=pool.{number}.gz" for number in range(1, 9)]
    for name, values in sections["development"].items():
        found.append(f"development.{name}.start={start}")
        if "select" in values:
            options, _, words = values["select"].rpartition(" ")
            fewer = int(words) * arguments.words // 30_000
            found.append(f"development.{name}.select={options} {fewer}")
        else:
            found += [f"development.{name}.source=professional.de", f"development.{name}.references=professional.en"]
            found += [f"development.{name}.lists=pool.{number}.gz" for number in range(1, 9)]
    found += [f"system.MERT.development={name}" for name in ROWS.get(grid, ())]
    found += [f"test.test.lists=test.{number}.gz" for number in range(1, 9)]
    return [*found, "test.test.source=test.de", "test.test.references=test.en"]


def _write(path: Path, lines: Sequence[str]) -> None:
    write_text(path, "".join(line + "\n" for line in lines))


def _lasw(*words: str, cwd: Path) -> None:
    subprocess.run([*LASW, *words], cwd=cwd, check=True)


if __name__ == "__main__":
    main()
