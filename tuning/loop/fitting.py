"""The optimisation of one round: new weights of all candidates so far, as the settings of the run want them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lasw.metrics import UserError
from lasw.tuning.loop.history import same
from lasw.tuning.loop.settings import RunSettings
from lasw.tuning.optimisers import Fit, Optimiser
from lasw.tuning.pool import Columns, Pool, at_norm, pruned
from lasw.tuning.weights import Weights


def fitted(
    settings: RunSettings, optimiser: Optimiser, pool: Pool, before: Weights, iteration: int, earlier: Sequence[Weights]
) -> Fit:
    """The new weights of a round.

    Args:
        settings: of the run.
        optimiser: with the seed of this round.
        pool: all candidates.
        before: the weights of the round before.
        iteration: number of the round: 1, 2, ...
        earlier: the weights of the rounds before that one whose lists are in the pool.

    Raises:
        UserError: the weights are not finite.
    """
    kept = pruned(pool, before, settings.min_count)
    warnings = [kept.line] if kept.line else []
    fit = optimiser.fit(kept.pool, kept.start, others=earlier)
    warnings += fit.warnings
    if settings.earlier_starts and not optimiser.takes_others and iteration == 1:
        warnings.append(f"earlier_starts has no effect: {optimiser.name} has no starting points")
    weights = fit.weights
    if not np.isfinite([*weights.dense, *weights.sparse.values()]).all():
        raise UserError(f"iteration {iteration}: {optimiser.name} found weights that are not finite")
    interpolates = settings.interpolation < 1 and iteration >= settings.interpolation_from
    if interpolates and not same(kept.start, weights):
        weights = between(kept.start, weights, settings.interpolation, Columns.of(kept.pool))
    return replace(fit, weights=weights, warnings=tuple(warnings))


def between(before: Weights, after: Weights, share: float, columns: Columns) -> Weights:
    """Weights of which `share` is `after`; both are brought to the norm of `after` first.

    The norm is the absolute sum of the dense weights of columns that vary; what is not in the pool has the weights
    that `after` has.

    Args:
        before: the previous weights, at any norm.
        after: the new ones.
        share: from 0 to 1.
        columns: of the pool.
    """
    d = len(after.dense)
    varies = columns.varies & (np.arange(len(columns.varies)) < d)
    part = varies if varies.any() else columns.varies
    old, new = columns.vector(before), columns.vector(after)
    size = float(np.abs(new[part]).sum())
    mixed = share * new + (1 - share) * at_norm(old, part, "l1") * size
    mixed = at_norm(mixed, part, "l1") * size
    return columns.weights(np.where(columns.varies, mixed, new), after, norm="none")
