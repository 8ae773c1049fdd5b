"""Word alignments as GIZA++ writes them, three lines a sentence pair.

A comment with the number of times the pair counts, the target sentence, then every source word (``NULL`` first) with
the 1-based positions of the target words it is aligned to: ``NULL ({ 3 }) haus ({ 1 2 })``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from lasw.metrics.errors import UserError
from lasw.metrics.files import atomic_write
from lasw.selection.pharaoh import Alignment

# What a reader of the layout would take for its own marks.
_MARKS = frozenset(("({", "})"))


def write_giza(
    path: str | os.PathLike[str], source: Sequence[Sequence[str]], target: Sequence[Sequence[str]], alignment: Alignment
) -> None:
    """Write an alignment of tokenised text; pairs without a point are left out, as a phrase extractor wants it.

    Raises:
        UserError: a token is one of the layout's own marks, so that a reader would misread the line.
    """
    with atomic_write(path) as stream:
        for number, (words, others, points) in enumerate(zip(source, target, alignment, strict=True), 1):
            if len(points):
                if _MARKS.intersection(words):
                    raise UserError(
                        "a source token is '({' or '})'",
                        path=os.fspath(path),
                        line=number,
                        remedy="tokenise or replace it",
                    )
                stream.write(_three_lines(words, others, points.tolist()).encode())


def _three_lines(source: Sequence[str], target: Sequence[str], points: list[list[int]]) -> str:
    linked: list[list[str]] = [[] for _ in source]
    free = np.ones(len(target), dtype=bool)
    for i, j in points:
        linked[i].append(str(j + 1))
        free[j] = False
    null = [str(j + 1) for j in np.flatnonzero(free).tolist()]
    words = (f"{word} ({{ {' '.join(to)} }})" for word, to in zip(["NULL", *source], [null, *linked], strict=True))
    return f"# 1\n{' '.join(target)}\n{' '.join(words)}\n"
