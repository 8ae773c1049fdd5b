"""What LA selection sees of a pair: the features of table 4.1 and their sum (Song 2015, section 4.2).

Features that table 4.1 marks with a minus hold negative values, so that the score is a plain sum. The function-word
term exp(-nfw / |r|) already falls with more function words, so subtracting it, as the table is printed, rewards them;
that lets less damage through than adding it (`added_sign`): text without function words is often no text at all.
"""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError
from lasw.selection.lines import LineArrays
from lasw.selection.pool import PairBlock, Scored
from lasw.selection.rankings.la_kernel import WordTable, fill_table, pair_features

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
LOOKS_AT_FUNCTION_WORDS = "TFWP"  # the one that looks at them

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
    "- exp(- function words and punctuation of the target / target words)",
)

OF_WORDS = ("STLR", "TFWP")
"""The features that need no word alignment."""
_OF_WORDS = [NAMES.index(name) for name in OF_WORDS]

FUNCTION_WORDS = 100  # the most frequent ones (see `most_frequent`)
_CODE_POINTS = 0x20000  # the planes that have punctuation

UNBOUNDED = 1 << 31  # source words: no sentence is longer


@dataclass(frozen=True)
class LAScorer:
    """The score of LA selection.

    Args:
        function_words: of the target language; punctuation counts as well.
        low: source sentences must be longer than this, in tokens.
        high: and shorter than this.
        added_sign: add the function-word term instead of subtracting it, as table 4.1 is printed.
        weights: of features and score columns by name; 1 for those not named, as algorithm 4.1 has it.
        extra: names of the score columns that come with the pairs.
        aligned: whether the pairs have a word alignment; without, only the features that need none are told.

    Raises:
        UserError: there is no length between the limits, or a weight of no feature or score column.
    """

    function_words: tuple[str, ...]
    low: int = 10
    high: int = 50
    added_sign: bool = False
    weights: Mapping[str, float] = field(default_factory=dict)
    extra: tuple[str, ...] = ()
    aligned: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high - 1:
            raise UserError(f"length limits {self.low} and {self.high}", expected="low + 1 < high")
        unknown = next((name for name in self.weights if name not in NAMES + self.extra), None)
        if unknown is not None:
            raise UserError(f"no feature {unknown!r}", expected=f"one of {', '.join(NAMES + self.extra)}")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The twelve features (two of pairs without alignment), then the score columns."""
        return (NAMES if self.aligned else OF_WORDS) + self.extra

    def any_length(self) -> LAScorer:
        """The same without limits of length."""
        return replace(self, low=0, high=UNBOUNDED)

    def alone(self, name: str) -> LAScorer:
        """The same, with the score of one feature and nothing else."""
        return replace(self, weights=dict.fromkeys(NAMES + self.extra, 0.0) | {name: 1.0})

    def score(self, block: PairBlock) -> Scored:
        """See `Scorer`."""
        features, verdicts, lengths = features_of(
            block, self.function_words, self.low, self.high, added_sign=self.added_sign
        )
        if not self.aligned:
            features = features[:, _OF_WORDS]
        if self.extra:
            features = np.concatenate([features, block.extra], axis=1)
        # Column by column, not a product of matrices: a pair's sum must not depend on the block it stands in.
        score = np.zeros(len(block))
        for k, name in enumerate(self.feature_names):
            score += self.weights.get(name, 1.0) * features[:, k]
        return Scored(score, features, verdicts, lengths)


def features_of(
    block: PairBlock, function_words: Sequence[str], low: int, high: int, *, added_sign: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.uint8], NDArray[np.int64]]:
    """The features of table 4.1 of a block of n pairs.

    Args:
        block: the pairs; without alignment the ten features that need it are 0.
        function_words: of the target language.
        low, high: only pairs with low < source tokens < high get features; all are checked.
        added_sign: see `LAScorer`.

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
        1.0 if added_sign else -1.0,
        np.empty(longest[1] * width, dtype=np.uint64),
        np.empty(width, dtype=np.uint64),
        features,
        verdicts,
        lengths,
    )
    return features, verdicts, lengths


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
