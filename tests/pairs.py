"""Pools of pairs of sentences that tests share."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lasw.selection import Bitext, PairBlock, Selection, choose, collector
from lasw.selection.lines import Lines


def write_lines(path: Path | str, lines: Sequence[str]) -> str:
    Path(path).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def read_back(path: Path | str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").split("\n")[:-1]


def write_bitext(folder: Path, columns: Sequence[Sequence[str]], name: str = "pool") -> Bitext:
    """Source, target and perhaps alignment, a file each."""
    ends = ("de", "en", "align")[: len(columns)]
    return Bitext(*(write_lines(folder / f"{name}.{end}", c) for end, c in zip(ends, columns, strict=True)))


def block(
    source: list[str], target: list[str] | None = None, alignment: list[str] | None = None, first_line: int = 1
) -> PairBlock:
    n = len(source)
    target = ["x"] * n if target is None else target
    points = None if alignment is None else Lines.of(alignment)
    return PairBlock(first_line, Lines.of(source), Lines.of(target), points, np.zeros(n, np.uint8), np.empty((n, 0)))


def made_pairs(seed: int, n: int) -> list[tuple[str, str, str]]:
    """Pairs of 8 to 16 words with alignments, many with the same score."""
    draw = random.Random(seed)
    out = []
    for _ in range(n):
        sizes = draw.randint(8, 16), draw.randint(8, 16)
        words = [
            " ".join(f"{side}{draw.randint(0, 60)}" for _ in range(k)) for side, k in zip("fe", sizes, strict=True)
        ]
        points = sorted({(draw.randrange(sizes[0]), draw.randrange(sizes[1])) for _ in range(draw.randint(6, 14))})
        out.append((*words, " ".join(f"{i}-{j}" for i, j in points)))
    return out


def chosen(selection: Selection) -> list[int]:
    return selection.chosen.line.tolist()


def choice(bitext: Bitext, scorer: Any, words: int, *more: Any, workers: Any = None, **options: Any) -> Selection:
    """What is selected of a pool by a scorer."""
    return choose(collector(bitext, scorer, workers), words, *more, **options)
