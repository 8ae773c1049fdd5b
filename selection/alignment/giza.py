"""Word alignments as GIZA++ writes them, three lines a sentence pair.

A comment with the number of times the pair counts, the target sentence, then every source word (``NULL`` first) with
the 1-based positions of the target words it is aligned to: ``NULL ({ 3 }) haus ({ 1 2 })``.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError, atomic_write
from lasw.selection.alignment.pharaoh import Alignment
from lasw.selection.lines import Lines, read_blocks

# What a reader of the layout would take for its own marks.
_MARKS = frozenset(("({", "})"))
_NUMBERED = re.compile(r"# Sentence pair \(([0-9]{1,18})\)")


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


def alignment_blocks(path: str, tolerant: bool = False) -> Iterator[tuple[list[Lines], NDArray[np.uint8]]]:
    """A file of alignments as lines of Pharaoh's layout, in blocks (see `lasw.selection.lines.read_blocks`).

    A file that begins with a comment is GIZA++'s. What cannot be read as an alignment stays a line that is none.

    Args:
        path: of the file.
        tolerant: see `read_blocks`.

    Raises:
        UserError: as `Blocks`; for GIZA++'s layout see `giza_blocks`.
    """
    blocks = read_blocks(path, "utf-8", tolerant)
    first = next(blocks, None)
    if first is None:
        return
    every = itertools.chain([first], blocks)
    if first[0].text(0).startswith("#"):
        yield from giza_blocks(every, path)
    else:
        yield from (([lines], bad) for lines, bad in every)


def giza_blocks(
    blocks: Iterable[tuple[Lines, NDArray[np.uint8]]], path: str
) -> Iterator[tuple[list[Lines], NDArray[np.uint8]]]:
    """The alignments of blocks of lines in GIZA++'s layout.

    A pair of another number than its comment says (``# Sentence pair (3) ...``) is refused, since GIZA++ leaves out
    pairs without a word.

    Args:
        blocks: of the file.
        path: for messages.

    Raises:
        UserError: the file does not end with a whole pair, or a pair is missing.
    """
    number = 0
    lines: list[str] = []
    for block, _ in blocks:
        out = []
        lines += block.texts()
        whole = len(lines) // 3 * 3
        for k in range(0, whole, 3):
            number += 1
            numbered = _NUMBERED.match(lines[k])
            if not lines[k].startswith("#") or (numbered and int(numbered[1]) != number):
                raise UserError(
                    f"{lines[k][:60]!r}",
                    path=path,
                    line=3 * number - 2,
                    expected=f"a comment and the two lines of pair {number}",
                    remedy="every pair of the text needs its three lines",
                )
            out.append(_points(lines[k + 2]))
        lines = lines[whole:]
        if out:
            yield [Lines.of(out)], np.zeros(len(out), dtype=np.uint8)
    if lines:
        raise UserError("the last pair is not whole", path=path, line=3 * number + 1, expected="three lines a pair")


def _points(line: str) -> str:
    """The points of a pair's third line as Pharaoh writes them; the line itself if it is none.

    Every word has a pair of marks of its own behind it and no mark within: one that is broken would give its points to
    the next word.
    """
    words = line.split(" })")
    points = []
    for i, word in enumerate(words[:-1]):
        name, mark, positions = word.rpartition(" ({")
        numbers = [number for number in positions.split(" ") if number]
        if not mark or not all(number.isascii() and number.isdigit() and len(number) < 10 for number in numbers):
            return line
        if name.strip(" ") != "NULL" if i == 0 else name[:1] != " " or " " in name[1:] or name == " ":
            return line
        if i:
            points += [f"{i - 1}-{int(number) - 1}" for number in numbers]
    return " ".join(points) if not words[-1].strip(" ") and len(words) > 1 else line
