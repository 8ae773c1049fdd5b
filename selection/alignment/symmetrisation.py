"""Both directions of word alignment, and how they become one.

Sources: Och and Ney (2003); grow-diag-final(-and) Koehn, Och and Marcu (2003) and Koehn et al. (2005). A new
symmetrisation is a function of `Directions`, a line in `SYMMETRISATIONS` and a test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Registry
from lasw.selection.alignment.pharaoh import Alignment


@dataclass(frozen=True)
class Directions:
    """Both directions of alignment of n sentence pairs.

    Attributes:
        forward: every target word comes from at most one source word. Points are (source, target) here and below.
        backward: every source word comes from at most one target word.
        source, target: (n,) tokens on each side.
        unaligned: numbers of the pairs that no model saw, because a side is empty or longer than `MAX_LENGTH`.
        prefixes: of the models' files, source to target and target to source.
    """

    forward: Alignment
    backward: Alignment
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    unaligned: NDArray[np.int64]
    prefixes: tuple[Path, Path]


def _by_thot(method: str) -> Callable[[Directions], Alignment]:
    """A method of Thot's alignment matrix."""

    def merged(directions: Directions) -> Alignment:
        from thot.common import WordAlignmentMatrix

        pairs = []
        sizes = zip(directions.source.tolist(), directions.target.tolist(), strict=True)
        for size, first, second in zip(sizes, directions.forward, directions.backward, strict=True):
            if not len(first) and not len(second):
                pairs.append(first)
                continue
            matrix, other = WordAlignmentMatrix(*size), WordAlignmentMatrix(*size)
            for points, into in ((first, matrix), (second, other)):
                for i, j in points.tolist():
                    into.set(i, j)
            getattr(matrix, method)(other)
            pairs.append(np.argwhere(matrix.to_numpy()).astype(np.int32))
        return Alignment.from_pairs(pairs)

    return merged


forward, backward = attrgetter("forward"), attrgetter("backward")
grow_diag_final_and, grow_diag_final = _by_thot("grow_diag_final_and"), _by_thot("grow_diag_final")
grow_diag, grow = _by_thot("grow_diag"), _by_thot("grow")
union, intersection, och = _by_thot("union"), _by_thot("intersect"), _by_thot("och_symmetrize")

_HERE = "lasw.selection.alignment.symmetrisation"
SYMMETRISATIONS: Registry[Callable[[Directions], Alignment]] = Registry(
    "symmetrisation",
    {
        "grow-diag-final-and": f"{_HERE}:grow_diag_final_and",
        "grow-diag-final": f"{_HERE}:grow_diag_final",
        "grow-diag": f"{_HERE}:grow_diag",
        "grow": f"{_HERE}:grow",
        "union": f"{_HERE}:union",
        "intersection": f"{_HERE}:intersection",
        "och": f"{_HERE}:och",
        "forward": f"{_HERE}:forward",
        "backward": f"{_HERE}:backward",
    },
)


def symmetrise(directions: Directions, heuristic: str = "grow-diag-final-and") -> Alignment:
    """One alignment from the two directions.

    Raises:
        UserError: the heuristic is none of `SYMMETRISATIONS`.
    """
    return SYMMETRISATIONS.find(heuristic)(directions)


def transposed(alignment: Alignment) -> Alignment:
    """The same points as (target, source)."""
    pair = np.repeat(np.arange(len(alignment)), np.diff(alignment.offsets))
    flipped = alignment.points[:, ::-1]
    return Alignment(flipped[np.lexsort((flipped[:, 1], flipped[:, 0], pair))], alignment.offsets)
