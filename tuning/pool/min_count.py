"""Leaving out rare sparse features before optimising: what few sentences have is learnt by heart, not learnt."""

from __future__ import annotations

from dataclasses import dataclass

from lasw.metrics import UserError
from lasw.tuning.pool.pool import Pool
from lasw.tuning.weights import Weights


@dataclass(frozen=True)
class Pruned:
    """What an optimiser is given.

    Attributes:
        pool: a view without the rare features.
        start: the previous weights without theirs.
        left_out: number of rare features.
        line: for the user; None if nothing was asked for.
    """

    pool: Pool
    start: Weights
    left_out: int
    line: str | None


def check_min_count(min_count: int) -> None:
    """Refuse a negative number.

    Raises:
        UserError: it is one.
    """
    if min_count < 0:
        raise UserError(f"min-count is {min_count}", expected="a whole number of at least 0")


def pruned(pool: Pool, start: Weights, min_count: int) -> Pruned:
    """The pool without sparse features that are not zero in fewer than `min_count` sentences of it.

    Sentences count, not candidates: those of one sentence are alike. The weights of what is left out are absent from
    `start`, and so from what an optimiser makes of it. A feature that becomes frequent later comes back by itself.
    """
    if min_count <= 1:
        return Pruned(pool, start, 0, None)
    view = pool.without_rare(min_count)
    rare = set(pool.sparse_names).difference(view.sparse_names)
    kept = {name: value for name, value in start.sparse.items() if name not in rare}
    line = f"{len(rare)} of {len(pool.sparse_names)} sparse features, in fewer than {min_count} sentences, are left out"
    return Pruned(view, Weights(start.names, start.dense, kept), len(rare), line)
