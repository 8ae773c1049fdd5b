"""What a scorer says of the pairs of a pool: scores, features, and which pairs cannot be selected and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError
from lasw.selection import lines
from lasw.selection.pool.bitext import PairBlock

# Verdicts on a pair. Above LENGTH: it is faulty, and why. The reader's own reasons (see `lines`) come after READER.
OK, LENGTH, EMPTY_SOURCE, EMPTY_TARGET, NO_POINTS, OUT_OF_RANGE, READER = range(7)

REASONS = {
    LENGTH: "length",
    EMPTY_SOURCE: "the source side is empty",
    EMPTY_TARGET: "the target side is empty",
    NO_POINTS: "no word alignment; expected points like 0-0 1-2",
    OUT_OF_RANGE: "an alignment point lies outside the sentences",
    READER + lines.NOT_TEXT: "no text of this encoding, or a NUL byte",
    READER + lines.TOO_LONG: f"a line of more than {lines.MAX_LINE_BYTES} bytes",
    READER + lines.BAD_COLUMNS: "too few columns",
    READER + lines.BAD_SCORE: "no number in a score column",
}
"""What a verdict other than OK says; all but `LENGTH` are faults of the input."""


@dataclass(frozen=True)
class Scored:
    """What a scorer says about the n pairs of a block.

    Attributes:
        score: (n,) float64, higher is better; meaningless where the verdict is not OK.
        features: (n, d) float64.
        verdicts: (n,) uint8: OK, LENGTH, or a fault (see `REASONS`).
        lengths: (n, 2) int64, tokens of source and target.
    """

    score: NDArray[np.float64]
    features: NDArray[np.float64]
    verdicts: NDArray[np.uint8]
    lengths: NDArray[np.int64]


class Scorer(Protocol):
    """Scores blocks of pairs: a pure function that can be sent to another process."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the d columns of features."""

    def score(self, block: PairBlock) -> Scored:
        """Scores, features and verdicts of every pair; depends on nothing but the pair and its line number."""


def refuse_faults(block: PairBlock, verdicts: NDArray[np.uint8], paths: tuple[str, str, str]) -> None:
    """Refuse the first faulty pair of a block, if there is one.

    Args:
        block: the pairs.
        verdicts: (n,) of a scorer.
        paths: files of source, target and alignment.

    Raises:
        UserError: names file, line and fault.
    """
    faulty = np.flatnonzero(verdicts > LENGTH)
    if len(faulty):
        k = int(faulty[0])
        verdict = int(verdicts[k])
        path = paths[{EMPTY_TARGET: 1, NO_POINTS: 2, OUT_OF_RANGE: 2}.get(verdict, 0)]
        remedy = "--skip-bad leaves out such pairs"
        if verdict == OUT_OF_RANGE:  # of another text, or the other way round, even points inside are wrong
            remedy = f"is it the alignment of these files, source first? If so, {remedy}"
        raise UserError(REASONS[verdict], path=path, line=block.first_line + k, remedy=remedy)
