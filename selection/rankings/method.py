"""What a method of selection is: something that ranks the pairs of a pool, made from what it needs."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from lasw.selection.choice import WORDS, Collect
from lasw.selection.pool import OK, Bitext, PairBlock, Scored, Scorer
from lasw.selection.rankings.la_features import LAScorer

SAMPLE = 100_000  # words are counted in so many first pairs: a prefix, whatever reads the rest


@dataclass(frozen=True)
class Material:
    """The pool, as methods see it.

    Args:
        pool: the pairs.
        la: LA's scorer with the user's weights, function words and length limits.
        collect: reads the pool with a scorer.
        words: source words wanted.
    """

    pool: Bitext
    la: LAScorer
    collect: Callable[[Scorer], Collect]
    words: int = WORDS


class Method(ABC):
    """A way to rank the pairs of a pool: a dataclass whose fields are what it needs.

    Attributes:
        meaning: in a line.
        aligned: whether the pool must be aligned.
        filtered: whether pairs that are too similar to others or untranslated are left out unless the user says
            otherwise; what LA selection is compared with does without.
        weighted: whether the user's weights of LA's features count.
        function_words: whether it looks at the function words of translations.
    """

    meaning: ClassVar[str]
    aligned: ClassVar[bool] = False
    filtered: ClassVar[bool] = False
    weighted: ClassVar[bool] = False
    function_words: ClassVar[bool] = False

    @classmethod
    def takes(cls) -> tuple[str, ...]:
        """Names of the fields."""
        return tuple(field.name for field in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else ()

    @abstractmethod
    def scorer(self, material: Material) -> Scorer:
        """What scores the pairs of a pool."""


class Ranking(Protocol):
    """What pairs are ranked by instead of LA's sum; can be sent to another process."""

    def __call__(self, block: PairBlock, scored: Scored, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(m,) scores of the pairs `rows` (m,) of a block, higher is better.

        A pair's score depends to the last bit on nothing but the pair and its line number, never on the block.
        """


@dataclass(frozen=True)
class RankedBy:
    """A scorer with the features and verdicts of LA selection and the score of a ranking.

    Args:
        la: LA's scorer; its length limits hold.
        ranking: of the pairs that have no fault and the right length.
    """

    la: LAScorer
    ranking: Ranking

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Those of LA selection."""
        return self.la.feature_names

    def score(self, block: PairBlock) -> Scored:
        """See `lasw.selection.pool.scored.Scorer`."""
        scored = self.la.score(block)
        rows = np.flatnonzero(scored.verdicts == OK)
        score = np.zeros(len(block))
        if len(rows):
            score[rows] = self.ranking(block, scored, rows)
        return dataclasses.replace(scored, score=score)
