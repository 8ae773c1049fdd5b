"""The optimisation of one round: new weights of all candidates so far, as the settings of the run want them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lasw.metrics import UserError
from lasw.tuning.loop.history import same
from lasw.tuning.loop.settings import RunSettings
from lasw.tuning.optimisers import Fit, Optimiser
from lasw.tuning.pool import Columns, Pool, at_norm, pruned
from lasw.tuning.weights import Weights


@dataclass(frozen=True)
class Proposal:
    """What the optimiser of a round wants.

    Attributes:
        fit: its weights and warnings.
        centre: the weights where the step begins, without the rare features that the optimiser did not see.
        pool: what it learnt from.
    """

    fit: Fit
    centre: Weights
    pool: Pool

    @property
    def moves(self) -> bool:
        """Whether the weights are others than where the step begins."""
        return not same(self.centre, self.fit.weights)

    def at(self, share: float) -> Weights:
        """The weights behind a part of the step; see `between`."""
        if share >= 1 or not self.moves:
            return self.fit.weights
        return between(self.centre, self.fit.weights, share, Columns.of(self.pool))


def proposed(
    settings: RunSettings, optimiser: Optimiser, pool: Pool, centre: Weights, iteration: int, earlier: Sequence[Weights]
) -> Proposal:
    """The new weights that an optimiser proposes.

    Args:
        settings: of the run.
        optimiser: with the seed of this round.
        pool: all candidates.
        centre: the weights where the step begins.
        iteration: number of the round: 1, 2, ...
        earlier: the weights of the rounds before that one whose lists are in the pool.

    Raises:
        UserError: the weights are not finite.
    """
    kept = pruned(pool, centre, settings.min_count)
    warnings = [kept.line] if kept.line else []
    fit = optimiser.fit(kept.pool, kept.start, others=earlier)
    warnings += fit.warnings
    if settings.earlier_starts and not optimiser.takes_others and iteration == 1:
        warnings.append(f"earlier_starts has no effect: {optimiser.name} has no starting points")
    weights = fit.weights
    if not np.isfinite([*weights.dense, *weights.sparse.values()]).all():
        raise UserError(f"iteration {iteration}: {optimiser.name} found weights that are not finite")
    return Proposal(replace(fit, warnings=tuple(warnings)), kept.start, kept.pool)


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
