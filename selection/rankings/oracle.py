"""Selection by what a decoder makes of the pool: its N-best lists (Song 2015, section 2.5).

- oracle score: the best score in a sentence's list (Hui et al. 2010);
- separability Q = B * J: how far the best hypotheses stand out in score (B) and in feature space (J) (Cao & Khudanpur
  2012; equations 2.36 to 2.38). Pairs are ranked by the separability of their own list, D = {s};
- similarity of the 1-bests' feature vectors to those of a test set (Li et al. 2010; equation 2.35).

Features are divided by their standard deviation over all lists first: the equations leave the scale open, and the
feature with the largest numbers would decide alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError
from lasw.selection.pool import PairBlock, Scored, Scorer
from lasw.selection.rankings.method import Material, Method, RankedBy

_AT_ONCE = 1000


@dataclass(frozen=True)
class Lists:
    """N-best lists of S sentences with n hypotheses.

    Attributes:
        starts: (S + 1,) int64: the hypotheses of sentence s are starts[s]:starts[s + 1], in the decoder's order.
        features: (n, d) float64.
        scores: (n,) float64, a metric's sentence scores.
    """

    starts: NDArray[np.int64]
    features: NDArray[np.float64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        for start, end in pairwise(self.starts.tolist()):
            yield self.scores[start:end], self.features[start:end]

    def firsts(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(k,) the lists that are not empty, and (k, d) the features of their first hypotheses."""
        rows = np.flatnonzero(np.diff(self.starts))
        return rows, self.features[self.starts[rows]]

    def scaled(self) -> Lists:
        """The same with each feature divided by its standard deviation; constant ones become 0."""
        return Lists(self.starts, self.standardised(self.features), self.scores)

    def standardised(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m, d) vectors less the mean of all hypotheses, divided by their standard deviation."""
        if not len(self.features):
            return vectors
        mean, deviation = self.features.mean(axis=0), self.features.std(axis=0)
        factor = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 1e-12)
        return np.asarray((vectors - mean) * factor)


@dataclass(frozen=True)
class ByLine:
    """Ranks by a table with a value for every pair.

    Args:
        values: (S,) of the pairs from line 1; NaN where a pair has no list.
    """

    values: NDArray[np.float64]

    def __call__(self, block: PairBlock, scored: Scored, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(m,) values.

        Raises:
            UserError: a pair has no list.
        """
        places = block.line_numbers[rows] - 1
        known = places < len(self.values)
        values = np.full(len(rows), np.nan)
        values[known] = self.values[places[known]]
        if np.isnan(values).any():
            line = int(places[np.argmax(np.isnan(values))]) + 1
            expected = f"a list with the number {line - 1} for it"
            raise UserError(f"no N-best list of the pool's line {line}", expected=expected)
        return values


@dataclass(frozen=True)
class OracleScore(Method):
    """The best score of each list.

    Args:
        lists: N-best lists of the pool.
    """

    meaning = "the best score in the N-best list (Hui et al. 2010)"
    lists: Lists

    def values(self) -> NDArray[np.float64]:
        """(S,) of the pool's pairs from line 1; NaN where the list is empty."""
        return np.array([scores.max() if len(scores) else np.nan for scores, _ in self.lists])

    def scorer(self, material: Material) -> Scorer:
        """See `Method`."""
        return RankedBy(material.la, ByLine(self.values()))


class Separability(OracleScore):
    """Q of each list; 0 where it has fewer than three different hypotheses."""

    meaning = "separability Q = B * J of the N-best list"

    def values(self) -> NDArray[np.float64]:
        """See `OracleScore`."""
        out = np.full(len(self.lists), np.nan)
        for s, (scores, features) in enumerate(self.lists.scaled()):
            if len(scores):
                oracle = np.arange(len(scores)) == np.argmax(scores)
                b = score_separability(float(scores.max()), scores[~oracle])
                out[s] = b * class_separability(features, oracle)
        return out


@dataclass(frozen=True)
class FirstBest(OracleScore):
    """Largest cosine of the feature vector of a list's first hypothesis to those of a test set (equation 2.35).

    The vectors are standardised over the pool's hypotheses.

    Args:
        test_lists: N-best lists of the test set, with the same features.
    """

    meaning = "features of the 1-best translation like the test set's"
    test_lists: Lists

    def values(self) -> NDArray[np.float64]:
        """See `OracleScore`.

        Raises:
            UserError: the features differ in number, or the test set has no hypothesis.
        """
        lists, test = self.lists, self.test_lists
        if lists.features.shape[1] != test.features.shape[1]:
            raise UserError(
                f"the test set's lists have {test.features.shape[1]} features", expected=f"{lists.features.shape[1]}"
            )
        if not len(test.features):
            raise UserError("the test set's lists are empty")
        against = _units(lists.standardised(test.firsts()[1]))
        rows, firsts = lists.firsts()
        units = _units(lists.standardised(firsts))
        out = np.full(len(lists), np.nan)
        for start in range(0, len(rows), _AT_ONCE):
            out[rows[start : start + _AT_ONCE]] = (units[start : start + _AT_ONCE] @ against.T).max(axis=1)
        return out


def score_separability(oracle: float, others: NDArray[np.float64]) -> float:
    """B of equation 2.37: (N - 1) * M(R_1)^2 / sum of M(R_i).

    Args:
        oracle: score M(R_1) of the set of best hypotheses, one of each list.
        others: (N - 1,) score of the set of second, third ... hypotheses.

    Returns:
        B; 0 where there are no others or all of them score 0, as it is not defined there.
    """
    total = float(others.sum())
    return len(others) * oracle * oracle / total if total > 0 else 0.0


def class_separability(features: NDArray[np.float64], oracle: NDArray[np.bool_], *, as_printed: bool = False) -> float:
    """J of equation 2.38: scatter between the classes over scatter within them.

    Args:
        features: (n, d) of all hypotheses.
        oracle: (n,) which are oracles.
        as_printed: equation 2.38 multiplies (m_1 - m) with (m_i - m) in its numerator; the trace of the scatter between
            classes is that of (m_i - m)(m_i - m)^T, which is computed unless the printed one is asked for.

    Returns:
        J; 0 where a class is empty or nothing is scattered within them.
    """
    if oracle.all() or not oracle.any():
        return 0.0
    mean = features.mean(axis=0)
    classes = [features[oracle], features[~oracle]]
    shifts = [members.mean(axis=0) - mean for members in classes]
    between = sum(float((shifts[0] if as_printed else shift) @ shift) for shift in shifts)
    within = sum(float(((members - members.mean(axis=0)) ** 2).sum(axis=1).mean()) for members in classes)
    return between / within if within > 1e-12 else 0.0


def _units(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0))
