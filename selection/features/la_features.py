"""What LA selection sees of a pair: the features of table 4.1 and their sum (Song 2015, section 4.2).

Features that table 4.1 marks with a minus hold negative values, so that the score is a plain sum. The function-word
term exp(-nfw / |r|) already falls with more function words; it is added, unless `paper_sign` is asked for.
"""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError
from lasw.selection import lines
from lasw.selection.features import la_kernel
from lasw.selection.features.la_kernel import LENGTH, READER, WordTable, fill_table, pair_features
from lasw.selection.lines import LineArrays
from lasw.selection.pool import PairBlock

NAMES: tuple[str, ...] = (
    "LAR",
    "RAR",
    "TAR",
    "AFer1",
    "AFer2",
    "AFer3",
    "SLCSR",
    "TLCSR",
    "SLDSR",
    "TLDSR",
    "STLR",
    "TFWP",
)
"""Names of the features as in tables 4.1 and 4.4."""

MEANINGS: tuple[str, ...] = (
    "aligned source words / source words",
    "aligned target words / target words",
    "aligned words of both sides / all words",
    "- largest fertility of a target word / source words",
    "- second largest fertility / source words",
    "- third largest fertility / source words",
    "longest run of aligned source words / source words",
    "longest run of aligned target words / target words",
    "- longest run of unaligned source words / source words",
    "- longest run of unaligned target words / target words",
    "length of the shorter side / length of the longer",
    "exp(- function words and punctuation of the target / target words)",
)

FUNCTION_WORDS = 100  # the most frequent ones (see `most_frequent`)
_CODE_POINTS = 0x20000  # the planes that have punctuation

REASONS = {
    LENGTH: "length",
    la_kernel.EMPTY_SOURCE: "the source side is empty",
    la_kernel.EMPTY_TARGET: "the target side is empty",
    la_kernel.NO_POINTS: "no word alignment; expected points like 0-0 1-2",
    la_kernel.OUT_OF_RANGE: "an alignment point lies outside the sentences",
    READER + lines.NOT_TEXT: "no text of this encoding, or a NUL byte",
    READER + lines.TOO_LONG: f"a line of more than {lines.MAX_LINE_BYTES} bytes",
    READER + lines.NO_COUNTERPART: "no counterpart: the files differ in their number of lines",
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


@dataclass(frozen=True)
class LAScorer:
    """The score of LA selection.

    Args:
        function_words: of the target language; punctuation counts as well.
        low: source sentences must be longer than this, in tokens.
        high: and shorter than this.
        paper_sign: subtract the function-word term, as table 4.1 is printed, instead of adding it.
        weights: of features by name; 1 for those not named, as algorithm 4.1 has it.
        extra: names of the score columns that come with the pairs.
        extra_weights: one each.
    """

    function_words: tuple[str, ...]
    low: int = 10
    high: int = 50
    paper_sign: bool = False
    weights: tuple[tuple[str, float], ...] = ()
    extra: tuple[str, ...] = ()
    extra_weights: tuple[float, ...] = ()
    _weights: NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high - 1:
            raise UserError(f"length limits {self.low} and {self.high}", expected="low + 1 < high")
        given = dict(self.weights)
        unknown = next((name for name in given if name not in NAMES), None)
        if unknown is not None:
            raise UserError(f"no feature {unknown!r}", expected=f"one of {', '.join(NAMES)}")
        all_weights = [given.get(name, 1.0) for name in NAMES] + list(self.extra_weights)
        object.__setattr__(self, "_weights", np.array(all_weights))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The twelve features, then the score columns."""
        return NAMES + self.extra

    def score(self, block: PairBlock) -> Scored:
        """See `Scorer`."""
        features, verdicts, lengths = features_of(
            block, self.function_words, self.low, self.high, paper_sign=self.paper_sign
        )
        if self.extra:
            features = np.concatenate([features, block.extra], axis=1)
        # Column by column, not a product of matrices: a pair's sum must not depend on the block it stands in.
        score = np.zeros(len(block))
        for k, weight in enumerate(self._weights.tolist()):
            score += weight * features[:, k]
        return Scored(score, features, verdicts, lengths)


def features_of(
    block: PairBlock, function_words: Sequence[str], low: int, high: int, *, paper_sign: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.uint8], NDArray[np.int64]]:
    """The features of table 4.1 of a block of n pairs.

    Args:
        block: the pairs; without alignment the ten features that need it are 0.
        function_words: of the target language.
        low, high: only pairs with low < source tokens < high get features; all are checked.
        paper_sign: see `LAScorer`.

    Returns:
        (n, 12) float64 in the order of `NAMES`, (n,) uint8 verdicts, (n, 2) int64 tokens of source and target.
    """
    n = len(block)
    features = np.zeros((n, len(NAMES)))
    verdicts = np.zeros(n, dtype=np.uint8)
    lengths = np.zeros((n, 2), dtype=np.int64)
    source, target = _arrays(block.source.arrays), _arrays(block.target.arrays)
    alignment = _NO_ALIGNMENT if block.alignment is None else _arrays(block.alignment.arrays)
    longest = [int((side.ends - side.starts).max(initial=0)) // 2 + 1 for side in (source, target)]
    width = (min(high, longest[0]) + 63) // 64
    pair_features(
        source,
        target,
        alignment,
        block.bad,
        low,
        high,
        _table(tuple(function_words)),
        -1.0 if paper_sign else 1.0,
        np.empty(longest[1] * width, dtype=np.uint64),
        np.empty(width, dtype=np.uint64),
        features,
        verdicts,
        lengths,
    )
    return features, verdicts, lengths


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
        path = paths[{la_kernel.EMPTY_TARGET: 1, la_kernel.NO_POINTS: 2, la_kernel.OUT_OF_RANGE: 2}.get(verdict, 0)]
        raise UserError(
            REASONS[verdict], path=path, line=block.first_line + k, remedy="--skip-bad leaves out such pairs"
        )


def most_frequent(blocks: Iterable[PairBlock], n: int = FUNCTION_WORDS) -> tuple[str, ...]:
    """The n most frequent tokens of the target sides that are no punctuation; of equal ones the first in byte order.

    The literature takes the 100 most frequent words of a language for its function words.
    """
    counts: Counter[str] = Counter()
    for block in blocks:
        for text in block.target.texts():
            counts.update(text.replace("\t", " ").split(" "))
    del counts[""]
    words = (word for word in counts if not is_punctuation(word))
    return tuple(sorted(words, key=lambda word: (-counts[word], word.encode("utf-8", "replace")))[:n])


def is_punctuation(token: str) -> bool:
    """Whether every character of a token is punctuation or a symbol (Unicode categories P and S)."""
    return all(unicodedata.category(letter)[0] in "PS" and ord(letter) < _CODE_POINTS for letter in token)


@lru_cache(maxsize=4)
def _table(words: tuple[str, ...]) -> WordTable:
    encoded = sorted({word.encode() for word in words if word})
    starts = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(word) for word in encoded], out=starts[1:])
    arena = np.frombuffer(b"".join(encoded) + bytes(8), dtype=np.uint8).copy()
    slots = np.zeros(1 << max(4, (4 * len(encoded)).bit_length()), dtype=np.int64)
    longest = np.array([max(map(len, encoded), default=0)], dtype=np.int64)
    table = WordTable(slots, starts, arena, longest, _punctuation())
    fill_table(table)
    return table


@lru_cache(maxsize=1)
def _punctuation() -> NDArray[np.bool_]:
    top = min(_CODE_POINTS, sys.maxunicode)
    return np.array([unicodedata.category(chr(code))[0] in "PS" for code in range(top)], dtype=np.bool_)


def _arrays(arrays: LineArrays) -> LineArrays:
    """Writable ones: what comes from another process may not be, and would be compiled for anew."""
    if all(array.flags.writeable for array in (arrays.data, arrays.starts, arrays.ends)):
        return arrays
    return LineArrays(arrays.data.copy(), arrays.starts.copy(), arrays.ends.copy())


_NO_ALIGNMENT = LineArrays(np.zeros(1, dtype=np.uint8), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
