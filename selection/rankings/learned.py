"""LA selection with learned weights (Song 2015, section 4.4.5): which pairs look like those of a trusted corpus?

A support vector machine with an RBF kernel tells pairs of a trusted corpus from the worst ones of the pool by LA's
score, the same number of each, and pairs are ranked by its decision value. The thesis has SVMlight's defaults; here
features are standardised, C is 1 and gamma is 1 / number of features, as scikit-learn has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError, borrowing
from lasw.selection.choice import Collect, collector
from lasw.selection.pool import Bitext, PairBlock, Scored, Scorer
from lasw.selection.rankings.la_features import NAMES, LAScorer
from lasw.selection.rankings.method import Material, Method, RankedBy


@dataclass(frozen=True)
class Decision:
    """A trained support vector machine over the features of table 4.1.

    Attributes:
        vectors: (s, 12) float64, support vectors, standardised.
        duals: (s,) float64, their coefficients: positive for pairs like the trusted ones.
        intercept: of the decision value.
        gamma: of the kernel exp(-gamma * |x - y|^2).
        mean, scale: (12,) float64: features are standardised as (x - mean) / scale.
    """

    vectors: NDArray[np.float64]
    duals: NDArray[np.float64]
    intercept: float
    gamma: float
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    def __call__(self, block: PairBlock, scored: Scored, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(m,) decision values, see `method.Ranking`."""
        return self.values(scored.features[rows, : len(NAMES)])

    def values(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) decision values of n rows of features (n, 12)."""
        x = np.ascontiguousarray((features - self.mean) / self.scale)
        out = np.empty(len(x))
        # Copies, because what comes from another process may be read-only, and would be compiled for anew.
        _decide(x, self.vectors.copy(), self.duals.copy(), self.intercept, self.gamma, out)
        return out


@dataclass(frozen=True)
class Learned(Method):
    """LA selection with learned weights.

    Args:
        trusted: aligned pairs of good translations.
    """

    meaning = "the same features, combined by an SVM that knows a trusted corpus"
    aligned = filtered = weighted = function_words = True
    trusted: Bitext

    def scorer(self, material: Material) -> Scorer:
        """See `Method`."""
        return RankedBy(material.la, learn(self.trusted, material.la, material.collect, material.words))


def _worst(block: PairBlock, scored: Scored, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    return -scored.score[rows]


def _in_order(block: PairBlock, scored: Scored, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    return -block.line_numbers[rows].astype(np.float64)


def learn(trusted: Bitext, la: LAScorer, collect: Callable[[Scorer], Collect], words: int) -> Decision:
    """Train on a trusted corpus against the worst pairs of a pool.

    Args:
        trusted: aligned pairs; the first ones of the right length up to `words` source words are used.
        la: features and length limits.
        collect: reads the pool with a scorer.
        words: source words of either class; the larger class is cut to as many pairs as the other.

    Raises:
        UserError: one of the classes is empty.
    """
    # Score columns of other tools come with the pool alone.
    plain = LAScorer(la.function_words, la.low, la.high, la.added_sign)
    good = collector(trusted, RankedBy(plain, _in_order))(words, None).ranked()
    bad = collect(RankedBy(la, _worst))(words, None).ranked()
    if good is None:
        raise UserError("the trusted corpus has no pair of the right length", path=trusted.source)
    if bad is None:
        raise UserError("the pool has no pair of the right length")
    pairs = min(len(good), len(bad))
    return train(good.features[:pairs, : len(NAMES)], bad.features[:pairs, : len(NAMES)])


def train(good: NDArray[np.float64], bad: NDArray[np.float64]) -> Decision:
    """Train on rows of features of good (n, 12) and bad (m, 12) pairs, at least one each."""
    from sklearn.svm import SVC

    rows = np.concatenate([good, bad])
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    varies = scale > 1e-12  # a feature that is the same everywhere says nothing, and must not blow up rounding errors
    scale[~varies] = 1.0
    gamma = 1.0 / max(1, int(varies.sum()))
    machine = SVC(kernel="rbf", gamma=gamma)
    machine.fit((rows - mean) / scale, np.repeat([1, 0], [len(good), len(bad)]))
    return Decision(
        np.ascontiguousarray(machine.support_vectors_),
        np.ascontiguousarray(machine.dual_coef_[0]),
        float(machine.intercept_[0]),
        gamma,
        mean,
        scale,
    )


@borrowing
def _decide(x, vectors, duals, intercept, gamma, out):  # type: ignore[no-untyped-def]
    """Row by row and in order, so that a pair's value does not depend on the block it stands in."""
    for i in range(x.shape[0]):
        total = intercept
        for k in range(vectors.shape[0]):
            distance = 0.0
            for j in range(x.shape[1]):
                difference = x[i, j] - vectors[k, j]
                distance += difference * difference
            total += duals[k] * np.exp(-gamma * distance)
        out[i] = total
