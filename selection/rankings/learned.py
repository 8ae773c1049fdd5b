"""LA selection with learned weights (Song 2015, section 4.4.5): which pairs look like those of a trusted corpus?

A support vector machine with an RBF kernel tells pairs of a trusted corpus from the worst ones of the pool by LA's
score, the same number of each, and pairs are ranked by its decision value. The thesis has SVMlight's defaults; here
features are standardised, C is 1 and gamma is 1 / number of features, as scikit-learn has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError, borrowing
from lasw.selection.choice import Candidates, Collect, collect
from lasw.selection.features import NAMES, LAScorer, Scored, Scorer, refuse_faults
from lasw.selection.pool import Bitext, PairBlock


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
        """(m,) decision values, see `ranked.Ranking`."""
        return self.values(scored.features[rows, : len(NAMES)])

    def values(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) decision values of n rows of features (n, 12)."""
        x = np.ascontiguousarray((features - self.mean) / self.scale)
        out = np.empty(len(x))
        # Copies, because what comes from another process may be read-only, and would be compiled for anew.
        _decide(x, self.vectors.copy(), self.duals.copy(), self.intercept, self.gamma, out)
        return out


@dataclass(frozen=True)
class Worst:
    """The opposite of a scorer.

    Args:
        scorer: whose worst pairs come first.
    """

    scorer: Scorer

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Those of the scorer."""
        return self.scorer.feature_names

    def score(self, block: PairBlock) -> Scored:
        """See `la_features.Scorer`."""
        scored = self.scorer.score(block)
        return replace(scored, score=-scored.score)


def learn(
    trusted: Bitext,
    la: LAScorer,
    collector: Callable[[Scorer], Collect],
    words: int,
    *,
    c: float = 1.0,
    gamma: float | None = None,
) -> Decision:
    """Train on a trusted corpus against the worst pairs of a pool.

    Args:
        trusted: aligned pairs; the first ones of the right length up to `words` source words are used.
        la: features and length limits.
        collector: reads the pool with a scorer.
        words: source words of either class; the larger class is cut to as many pairs as the other.
        c: penalty of the machine.
        gamma: of its kernel; by default 1 / number of features that vary.

    Raises:
        UserError: one of the classes is empty.
    """
    good = _first(trusted, la, words)
    bad = collector(Worst(la))(words, None).ranked()
    if good is None:
        raise UserError("the trusted corpus has no pair of the right length", path=trusted.source)
    if bad is None:
        raise UserError("the pool has no pair of the right length")
    pairs = min(len(good), len(bad))
    return train(good.features[:pairs, : len(NAMES)], bad.features[:pairs, : len(NAMES)], c=c, gamma=gamma)


def train(
    good: NDArray[np.float64], bad: NDArray[np.float64], *, c: float = 1.0, gamma: float | None = None
) -> Decision:
    """Train on rows of features of good (n, 12) and bad (m, 12) pairs.

    Args:
        good, bad: at least one row each.
        c, gamma: see `learn`.
    """
    from sklearn.svm import SVC

    rows = np.concatenate([good, bad])
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    varies = scale > 1e-12  # a feature that is the same everywhere says nothing, and must not blow up rounding errors
    scale[~varies] = 1.0
    gamma = 1.0 / max(1, int(varies.sum())) if gamma is None else gamma
    machine = SVC(C=c, kernel="rbf", gamma=gamma)
    machine.fit((rows - mean) / scale, np.repeat([1, 0], [len(good), len(bad)]))
    return Decision(
        np.ascontiguousarray(machine.support_vectors_),
        np.ascontiguousarray(machine.dual_coef_[0]),
        float(machine.intercept_[0]),
        float(gamma),
        mean,
        scale,
    )


@dataclass(frozen=True)
class _InOrder:
    """Ranks by place in the input."""

    la: LAScorer

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.la.feature_names

    def score(self, block: PairBlock) -> Scored:
        scored = self.la.score(block)
        return replace(scored, score=-block.line_numbers.astype(np.float64))


def _first(trusted: Bitext, la: LAScorer, words: int) -> Candidates | None:
    # Score columns of other tools come with the pool alone.
    scorer = _InOrder(replace(la, extra=(), extra_weights=()))

    def scored() -> Iterator[tuple[PairBlock, Scored]]:
        for block in trusted.blocks():
            result = scorer.score(block)
            if not trusted.skip_bad:
                refuse_faults(block, result.verdicts, trusted.paths)
            yield block, result

    return collect(scored(), words).ranked()


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
