"""What the runs of Song's (2015) tables share: their options, aligned text, and what every grid is given."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lasw.metrics import read_lines, write_text
from lasw.tuning import COMPARISON

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ENDS = ("de", "en")
ALIGNED = 6000  # pairs of the training text that are aligned with all text that is selected from
_LASW = [sys.executable, "-m", "lasw.scripts"]
_FILES = (("source", "de"), ("target", "en"), ("alignment", "align"))
_WORDS = 30_000  # of the thesis' development sets

Sides = Sequence[Sequence[str]]
Sections = Mapping[str, Mapping[str, Any]]


def options(description: str | None, seeds: int) -> argparse.ArgumentParser:
    """The options that all have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="where everything goes and stays")
    parser.add_argument("--only", nargs="+", metavar="GRID", help="of thesis/: table-5.2, ...")
    parser.add_argument("--words", type=int, default=2000, help="source words of each development set")
    parser.add_argument("--seeds", type=int, default=seeds)
    return parser


def read(name: str) -> list[list[str]]:
    """Both sides of a part of Multi30k."""
    return [read_lines(DATA / f"multi30k/{name}.{end}.gz") for end in ENDS]


def write(folder: Path, name: str, sides: Sides) -> None:
    """Both sides of a text."""
    for end, lines in zip(ENDS, sides, strict=True):
        write_text(folder / f"{name}.{end}", "".join(line + "\n" for line in lines))


def write_aligned(folder: Path, texts: Mapping[str, Sides], train: Sides) -> None:
    """Texts and the alignment of each; all are aligned together with some of the training text, once."""
    for name, sides in texts.items():
        write(folder, name, sides)
    write(folder, "all", [[line for one in (*texts.values(), train) for line in one[k]] for k in range(2)])
    if not (folder / "all.align").exists():
        lasw("align", "--source", "all.de", "--target", "all.en", "--output", "all.align", cwd=folder)
    points = read_lines(folder / "all.align")
    first = 0
    for name, sides in texts.items():
        after = first + len(sides[0])
        write_text(folder / f"{name}.align", "".join(line + "\n" for line in points[first:after]))
        first = after


def compare(
    arguments: argparse.Namespace, given: Callable[[str, Sections], Sequence[str]], without: Sequence[str] = ()
) -> None:
    """One comparison after the other, in one folder, so that rows of two tables are run once.

    Args:
        arguments: of `options`.
        given: to a grid, from its name and sections: settings, besides those of its seeds, pools and selections.
        without: grids that cannot be run here.
    """
    known = [name.removeprefix("thesis/") for name in COMPARISON.names() if name.startswith("thesis/")]
    for grid in arguments.only or [name for name in known if name not in without]:
        sections = COMPARISON.read(f"thesis/{grid}")
        words = [part for one in (*_all(sections, arguments), *given(grid, sections)) for part in ("--set", one)]
        print(f"\n{grid}", flush=True)
        lasw("compare", f"thesis/{grid}", "--run", "run", *words, cwd=arguments.run)


def _all(sections: Sections, arguments: argparse.Namespace) -> list[str]:
    """Seeds, the files of pools, and smaller selections."""
    found = [f"comparison.seeds={seed}" for seed in range(1, arguments.seeds + 1)]
    for pool in sections.get("pool", {}):
        found += [f"pool.{pool}.{key}={pool}.{end}" for key, end in _FILES]
    for name, values in sections["development"].items():
        if "select" in values:
            select, _, words = values["select"].rpartition(" ")
            found.append(f"development.{name}.select={select} {int(words) * arguments.words // _WORDS}")
    return found


def lasw(*words: str, cwd: Path) -> None:
    """One command, in a process of its own."""
    subprocess.run([*_LASW, *words], cwd=cwd, check=True)
