"""Scoring as a map over parts of the pool, on the workers of any `concurrent.futures.Executor`; the choice stays here.

Every part gives one `Collection`: counts, and the candidates that can still be selected. Merging does not depend on the
order, so the result is that of one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lasw.metrics import Here, Workers, each_once
from lasw.selection.choice.candidates import Collection, Rank
from lasw.selection.choice.la import Collect
from lasw.selection.pool import PAIRS, Bitext, Part, Scorer, ShardedBitext, pair_count, parts_of


def collector(
    bitext: Bitext,
    scorer: Scorer,
    workers: Workers | None = None,
    *,
    pairs: int = PAIRS,
    watch: Callable[[int], object] | None = None,
) -> Collect:
    """What reads a pool and has its parts scored; the result is the same whatever the workers.

    Args:
        bitext: the pool; it must not be standard input if it may be read again. The files of a `ShardedBitext` must be
            where workers see them.
        scorer: of the pairs; sent to the workers.
        workers: where; by default this thread.
        pairs: of a part, where one stream is cut up.
        watch: told after each part how many pairs it had.
    """

    def collect_pool(budget: int, after: Rank | None) -> Collection:
        whole = Collection(budget, after)

        def merge(part: Collection) -> None:
            whole.merge(part)
            if watch is not None:
                watch(part.profile.pairs)

        # An empty collection made now knows what need not be kept: pairs that rank behind enough others already here.
        each_once(workers or Workers(Here), score_part, parts_of(bitext, pairs), lambda: (scorer, whole.part()), merge)
        return whole

    return collect_pool


def counted(bitext: Bitext, workers: Workers) -> Bitext:
    """The same pool, its shards (if it has some) counted by workers, so that line numbers are known.

    Args:
        bitext: the pool.
        workers: see `workers`.

    Raises:
        UserError: a shard cannot be read, or its files differ in length.
    """
    if not isinstance(bitext, ShardedBitext):
        return bitext
    counts: dict[int, int] = {}
    each_once(workers, _count, enumerate(bitext.shards), tuple, lambda numbered: counts.update([numbered]))
    return replace(bitext, counts=tuple(count for _, count in sorted(counts.items())))


def _count(numbered: tuple[int, Bitext]) -> tuple[int, int]:
    return numbered[0], pair_count(numbered[1])


def score_part(part: Part, scorer: Scorer, collection: Collection) -> Collection:
    """What a worker does: score a part, and keep its best candidates in an empty collection.

    Raises:
        UserError: see `Part.scored`.
    """
    for block, scored in part.scored(scorer):
        collection.add(block, scored)
    return collection
