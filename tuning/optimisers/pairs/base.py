"""What PRO and WRO share: sample pairs from a pool, fit a regression to them, bring the weights to size."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import NDArray

from lasw.metrics import Metric, unknown
from lasw.tuning.optimisers.base import DEFAULT_SEED, Fit, Optimiser, above_zero, unchanged
from lasw.tuning.optimisers.pairs.length import lengthening, shortness
from lasw.tuning.optimisers.pairs.losses import LOSSES, Matrix
from lasw.tuning.optimisers.pairs.ranking import L2, Ranking, fit_ranking
from lasw.tuning.optimisers.pairs.sampling import DRAWS, PAIRS, THRESHOLD, Pairs, PairSampler
from lasw.tuning.pool import Floats, at_norm, with_values
from lasw.tuning.weights import Weights

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool


@dataclass(frozen=True)
class Samples:
    """The pairs of a pool as a regression sees them; drawn once, they can be fitted under many sentence weights.

    Attributes:
        pairs: m pairs.
        differences: (m, d) feature differences better - worse, or (m, d + p) CSR with the p sparse features behind.
        magnitude: (d + p,) largest absolute value of each feature in the pool.
        sentence_weights: (S,) instance weight of each sentence's pairs.
        sparse_names: of the p sparse features.
    """

    pairs: Pairs
    differences: Matrix
    magnitude: Floats
    sentence_weights: Floats
    sparse_names: tuple[str, ...]


@dataclass(frozen=True)
class PairwiseOptimiser(Optimiser):
    """Ranks sampled pairs of candidates as the metric does.

    Args:
        metric: the sentence metric, a `Metric` or its specification.
        draws: Gamma, draws a sentence.
        pairs: Xi, pairs kept a sentence.
        threshold: smallest metric difference of a pair.
        psi: share of the new weights in the result, the rest is the previous ones (0.1 in Hopkins & May 2011, 1 in
            Moses). Both are brought to the same norm first, if there is one.
        loss: ``logistic`` or ``linear`` (regression on the metric difference, Bazrafshan et al. 2012).
        l2: strength of the penalty (see `lasw.tuning.optimisers.pairs.ranking`).
        fit_length: behind the regression, move the weights to the length of translations with the best corpus score
            (see `lasw.tuning.optimisers.pairs.length`); pools of few sentences are left alone. Not in the
            papers.
        norm: ``l1``: the dense weights that were learnt have absolute sum 1, as Moses' tuning leaves them, sparse
            weights are divided by the same number; ``none``: as the regression gives them.
        seed: of the draws.

    `Fit.objective` is the regression's penalised loss, `Fit.iterations` its steps.

    Raises:
        ValueError: a hyper-parameter out of its range.
        UserError: an unknown metric, loss or norm.
    """

    metric: Metric | str = "BLEU+1"
    draws: int = DRAWS
    pairs: int = PAIRS
    threshold: float = THRESHOLD
    psi: float = 1.0
    loss: str = "logistic"
    l2: float = L2
    fit_length: bool = True
    norm: str = "l1"
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.psi <= 1:
            raise ValueError(f"psi is {self.psi}, expected above 0 and at most 1")
        above_zero("l2", self.l2)
        if self.loss not in LOSSES:
            raise unknown("loss", self.loss, list(LOSSES))
        self._sampler()

    def _shown(self, name: str, value: object) -> list[tuple[str, str]]:
        return super()._shown(name, ("yes" if value else "no") if name == "fit_length" else value)

    def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit | None:
        """New weights; None if no pair reaches the threshold."""
        samples = self.sample(pool)
        if not len(samples.pairs):
            return None
        ranking = self.regress(samples, start)
        fit = self._sized(ranking, samples, start, self.lengthening(pool, ranking))
        return replace(fit, warnings=(*fit.warnings, *self._shortness(pool, fit.weights)))

    def with_pairs(self, pairs: int) -> PairwiseOptimiser:
        """See `Optimiser`; those with the clearest differences stay the same share of all that are drawn."""
        times = pairs // self.pairs
        return replace(self, draws=times * self.draws, pairs=times * self.pairs) if times > 1 else self

    def _shortness(self, pool: Pool, weights: Weights) -> tuple[str, ...]:
        return shortness(pool, weights, fit_length=self.fit_length, loss=str(self.measure.signature()))

    def nothing(self) -> str:
        """See `Optimiser`."""
        return f"no two candidates of a sentence differ by {self.threshold:g} in {self.measure.name}"

    def sample(self, pool: Pool) -> Samples:
        """Draw the pairs of every sentence of the pool."""
        scores = pool.sentence_scores(self.measure)
        pairs = self._sampler().sample(scores, pool.order, pool.starts, pool.lengths)
        dense = pool.dense
        dense_part = dense[pairs.better] - dense[pairs.worse]
        differences: Matrix = dense_part
        magnitude = np.maximum(dense.max(axis=0, initial=0.0), -dense.min(axis=0, initial=0.0))
        sparse = pool.sparse
        if sparse is not None:
            differences = beside(dense_part, sparse[pairs.better] - sparse[pairs.worse])
            of_sparse = np.zeros(sparse.shape[1])
            np.maximum.at(of_sparse, sparse.indices, np.abs(sparse.data))
            magnitude = np.concatenate([magnitude, of_sparse])
        return Samples(pairs, differences, magnitude, self._sentence_weights(pool), tuple(pool.sparse_names))

    def fit_samples(self, samples: Samples, start: Weights, *, sentence_weights: Floats | None = None) -> Fit:
        """New weights from pairs drawn before; without their candidates there is no `fit_length`.

        Args:
            samples: what `sample` gave.
            start: the previous weights.
            sentence_weights: (S,) instance weight of each sentence, in the place of the optimiser's own.

        Raises:
            ValueError: sentence weights that are negative, not finite, or of another number of sentences.
        """
        if not len(samples.pairs):
            return unchanged(start, self.nothing())
        return self._sized(self.regress(samples, start, sentence_weights=sentence_weights), samples, start)

    def lengthening(self, pool: Pool, ranking: Ranking) -> Floats:
        """(d + p,) what `fit_length` adds to the weights of a regression on pairs of the pool."""
        if not self.fit_length:
            return np.zeros(len(ranking.weights))
        return np.where(ranking.moved, lengthening(pool, ranking.weights, self.measure), 0.0)

    def _sized(self, ranking: Ranking, samples: Samples, start: Weights, lengthening: Floats | float = 0.0) -> Fit:
        d = len(start.dense)
        previous = previous_vector(samples, start)
        vector = to_size(ranking.weights + lengthening, ranking.moved, previous, d, norm=self.norm, psi=self.psi)
        sparse = with_values(start.sparse, samples.sparse_names, vector[d:])
        return Fit(Weights(start.names, vector[:d], sparse), ranking.objective, ranking.steps, ranking.warnings)

    def regress(self, samples: Samples, start: Weights, *, sentence_weights: Floats | None = None) -> Ranking:
        """The regression alone, its weights not yet brought to size; arguments as `fit_samples`, at least one pair."""
        if sentence_weights is None:
            sentence_weights = samples.sentence_weights
        if sentence_weights.shape != samples.sentence_weights.shape:
            raise ValueError(f"{sentence_weights.shape} weights for {samples.sentence_weights.shape} sentences")
        return fit_ranking(
            samples.differences,
            samples.pairs.difference,
            sentence_weights[samples.pairs.sentence],
            previous_vector(samples, start),
            loss=self.loss,
            l2=self.l2,
            magnitude=samples.magnitude,
            names=start.names.components + samples.sparse_names,
        )

    @abstractmethod
    def _sampler(self) -> PairSampler: ...

    @abstractmethod
    def _sentence_weights(self, pool: Pool) -> Floats:
        """(S,) instance weights."""


def beside(dense: Floats, sparse: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """(m, d + p) CSR of (m, d) and (m, p) CSR, without the detour over coordinates and columns that `hstack` takes."""
    m, d = dense.shape
    starts = sparse.indptr + d * np.arange(m + 1, dtype=sparse.indptr.dtype)
    columns, values = np.empty(starts[-1], dtype=sparse.indices.dtype), np.empty(starts[-1])
    of_sparse = np.ones(starts[-1], dtype=bool)
    of_dense = starts[:-1, None] + np.arange(d)
    of_sparse[of_dense] = False
    columns[of_dense], values[of_dense] = np.arange(d), dense
    columns[of_sparse], values[of_sparse] = sparse.indices + d, sparse.data
    return scipy.sparse.csr_array((values, columns, starts), shape=(m, d + sparse.shape[1]))


def previous_vector(samples: Samples, start: Weights) -> Floats:
    """(d + p,) `start` over the columns of the samples."""
    return np.concatenate([start.dense, start.sparse_vector(samples.sparse_names)])


def to_size(
    weights: Floats, moved: NDArray[np.bool_], previous: Floats, d: int, *, norm: str = "l1", psi: float = 1.0
) -> Floats:
    """New weights at the wanted norm, interpolated with the previous ones; what was not learnt stays.

    Args:
        weights: (d + p,) of the regression.
        moved: (d + p,) which of them were learnt.
        previous: (d + p,) the weights before.
        d: number of dense ones.
        norm, psi: as `PairwiseOptimiser`.
    """
    dense = moved & (np.arange(len(previous)) < d)
    part = dense if dense.any() else moved  # only sparse features were learnt: theirs is the norm
    new = at_norm(weights, part, norm)
    if psi < 1:
        new = at_norm(psi * new + (1 - psi) * at_norm(previous, part, norm), part, norm)
    return np.where(moved, new, previous)
