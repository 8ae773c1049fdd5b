"""The tables of Song (2015) that need a decoder, on a part of Multi30k: German to English, Thot, from one command.

    python tests/benchmarks/thesis_tables.py --run FOLDER                   # all; hours
    python tests/benchmarks/thesis_tables.py --run FOLDER --only table-5.2  # minutes

Thot is trained on the first 6 000 pairs, the noisy pool is the 6 000 behind them, half of them damaged, professionals
are the development text, the test set is the first 300 sentences of the test text. Development sets have --words words.
The same command goes on where it was stopped; all tables are in one comparison's folder, and rows that two tables have
are run once.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lasw.metrics import read_lines, write_text
from lasw.tuning import COMPARISON

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from damage import KINDS, damage

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "multi30k"
LASW = [sys.executable, "-m", "lasw.scripts"]
ENDS = ("de", "en")
TRAINED, POOL, TESTED = 6000, 6000, 300
FILES = (("source", "de"), ("target", "en"), ("alignment", "align"))


def main() -> None:
    """Make what is missing, then one comparison after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="where everything goes and stays")
    parser.add_argument("--only", nargs="+", metavar="GRID", help="of thesis/: table-5.2, ...")
    parser.add_argument("--words", type=int, default=2000, help="source words of each development set")
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    if not DATA.is_dir():
        print("real data is not beside the checkout (../shared/data)")
        return
    arguments.run.mkdir(parents=True, exist_ok=True)
    _make(arguments.run)
    known = [name.removeprefix("thesis/") for name in COMPARISON.names() if name.startswith("thesis/")]
    for grid in arguments.only or known:
        words = [part for change in _changes(grid, arguments) for part in ("--set", change)]
        print(f"\n{grid}", flush=True)
        _lasw("compare", f"thesis/{grid}", "--run", "run", *words, cwd=arguments.run)


def _make(folder: Path) -> None:
    """Texts, their alignment, and the system; all text is aligned together."""
    train = [read_lines(DATA / f"train.{end}.gz") for end in ENDS]
    professional = [read_lines(DATA / f"dev.{end}.gz") for end in ENDS]
    held_out = [side[TRAINED : TRAINED + POOL] for side in train]
    rates = dict.fromkeys(KINDS, 0.5 / len(KINDS))
    pool = damage(*held_out, rates, seed=1, foreign=train[0][:TRAINED])
    for k, end in enumerate(ENDS):
        noisy = (pool.source, pool.target)[k]
        _write(folder / f"train.{end}", train[k][:TRAINED])
        _write(folder / f"noisy.{end}", noisy)
        _write(folder / f"professional.{end}", professional[k])
        _write(folder / f"all.{end}", [*noisy, *professional[k], *train[k][:TRAINED]])
        _write(folder / f"test.{end}", read_lines(DATA / f"test.{end}.gz")[:TESTED])
    if not (folder / "all.align").exists():
        _lasw("align", "--source", "all.de", "--target", "all.en", "--output", "all.align", cwd=folder)
    points = read_lines(folder / "all.align")
    size = len(pool.source)
    _write(folder / "noisy.align", points[:size])
    _write(folder / "professional.align", points[size : size + len(professional[0])])
    if not (folder / "system").exists():
        _lasw("train", "--source", "train.de", "--target", "train.en", "--output", "system", cwd=folder)
    sets = {"system": "noisy", "test-like": "professional"}
    for name, text in sets.items():  # of table 5.4
        options = ["--source", f"{text}.de", "--target", f"{text}.en", "--method", "random", "--words", "2000"]
        _lasw("select", *options, "--output", name, "--quiet", cwd=folder)
    for end in ENDS:
        both = [read_lines(folder / f"{name}.{end}") for name in sets]
        _write(folder / f"mixed.{end}", [line for lines in both for line in lines[: len(lines) // 2]])


def _changes(grid: str, arguments: argparse.Namespace) -> list[str]:
    """What is to be given, and smaller numbers."""
    sections = COMPARISON.read(f"thesis/{grid}")
    found = ["decoder.name=thot", "decoder.model=system", f"run.iterations={arguments.iterations}"]
    found += [f"comparison.seeds={seed}" for seed in range(1, arguments.seeds + 1)]
    for pool in sections.get("pool", {}):
        found += [f"pool.{pool}.{key}={pool}.{end}" for key, end in FILES]
    for name, values in sections["development"].items():
        if "select" in values:
            options, _, words = values["select"].rpartition(" ")
            fewer = int(words) * arguments.words // 30_000
            found.append(f"development.{name}.select={options} {fewer}")
        else:
            text = name if grid == "table-5.4" else "system"
            found += [f"development.{name}.source={text}.de", f"development.{name}.references={text}.en"]
    return [*found, "test.test.source=test.de", "test.test.references=test.en"]


def _write(path: Path, lines: Sequence[str]) -> None:
    write_text(path, "".join(line + "\n" for line in lines))


def _lasw(*words: str, cwd: Path) -> None:
    subprocess.run([*LASW, *words], cwd=cwd, check=True)


if __name__ == "__main__":
    main()
