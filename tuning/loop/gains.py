"""What other weights gain in the development metric: in translations, on the pool, on sentences kept out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Metric, bootstrap_scores
from lasw.tuning.loop.fitting import Proposal
from lasw.tuning.pool import Pool
from lasw.tuning.weights import Weights


def gained(metric: Metric, old: NDArray[Any], new: NDArray[Any], seed: int) -> tuple[float, float]:
    """The corpus score of one translation of some sentences minus that of another, and how much of it may be chance.

    Args:
        metric: of the corpus score.
        old, new: (n, k) statistics of the n sentences.
        seed: of the resampling.

    Returns:
        The gain, and the standard deviation of the difference over corpora drawn from these sentences (paired
        bootstrap, Koehn 2004).
    """
    gain = float(metric.corpus_score(new.sum(axis=0)) - metric.corpus_score(old.sum(axis=0)))
    if np.array_equal(old, new):
        return gain, 0.0
    samples = [bootstrap_scores(metric, rows, seed=seed) for rows in (old, new)]
    return gain, float(np.std(samples[1] - samples[0]))


def held_out(
    pool: Pool, metric: Metric, before: Weights, learnt: Callable[[Pool], Weights], folds: int, seed: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """What other weights choose for sentences that they were not learnt from.

    The sentences are dealt into folds; weights are learnt without each of them, and what these give for it is scored
    as one corpus.

    Args:
        pool: with candidates of two sentences at least.
        metric: of the corpus score.
        before: the weights that are compared with; they may know all sentences.
        learnt: makes weights of the candidates of some sentences.
        folds: how many, at least 2.
        seed: of the deal.

    Returns:
        (n, k) statistics of what `before` chooses for the n sentences that have candidates, and of what these choose.
    """
    parts = ((own, learnt(others)) for own, others in _dealt(pool, folds, seed))
    return _of_parts(pool, metric, before, parts)


class KeptOut:
    """What steps of any length gain on sentences that they were not learnt from; see `held_out`.

    The gain on the pool less this one is what is learnt by heart.

    Args:
        pool, metric, before, folds, seed: see `held_out`.
        proposed: what the candidates of some sentences propose.
    """

    def __init__(
        self, pool: Pool, metric: Metric, before: Weights, proposed: Callable[[Pool], Proposal], folds: int, seed: int
    ) -> None:
        self._pool, self._metric, self._before, self._seed = pool, metric, before, seed
        self._parts = [(own, proposed(others)) for own, others in _dealt(pool, folds, seed)]

    def gain(self, share: float) -> tuple[float, float]:
        """The gain of steps of this share of the proposals, and its standard error; see `gained`."""
        parts = ((own, proposal.at(share)) for own, proposal in self._parts)
        return gained(self._metric, *_of_parts(self._pool, self._metric, self._before, parts), self._seed)


def _of_parts(
    pool: Pool, metric: Metric, before: Weights, parts: Iterable[tuple[NDArray[np.bool_], Weights]]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Statistics of what `before` chooses, and of what each part's own weights choose for its sentences."""
    best = pool.best(before)
    now = np.empty_like(best)
    for own, weights in parts:
        now[own] = pool.best(weights)[own]
    return pool.statistics_of(metric, best), pool.statistics_of(metric, now)


def _dealt(pool: Pool, folds: int, seed: int) -> Iterator[tuple[NDArray[np.bool_], Pool]]:
    """Which of the n sentences that have candidates are kept out, and the pool of the others; fold by fold."""
    fold_of = np.full(len(pool.starts) - 1, -1)
    there = np.flatnonzero(np.diff(pool.starts))
    fold_of[np.random.default_rng(np.random.SeedSequence([seed, 3])).permutation(there)] = np.arange(len(there)) % folds
    for fold in range(min(folds, len(there))):
        yield fold_of[there] == fold, pool.of_sentences(fold_of != fold)


def pool_gain(pool: Pool, metric: Metric, before: Weights, after: Weights, seed: int) -> tuple[float, float]:
    """What other weights gain on a pool, and the bootstrap standard error of that.

    Args:
        pool: not empty.
        metric: of the corpus score.
        before: the weights that are compared with.
        after: the new ones.
        seed: of the resampling.
    """
    old, new = (pool.statistics_of(metric, pool.best(weights)) for weights in (before, after))
    return gained(metric, old, new, seed)
