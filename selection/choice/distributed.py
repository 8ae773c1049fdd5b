"""Scoring as a map over parts of the pool, on the workers of any `concurrent.futures.Executor`; the choice stays here.

Every part gives one `Collection`: counts, and the candidates that can still be selected. Each is merged once, whatever
became of workers on the way, and merging does not depend on the order, so the result is that of one thread. A part
whose worker died or failed is done again, up to `ATTEMPTS` times; a user's mistake is not: of several that of the first
part is reported.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, replace
from typing import Any

from lasw.metrics import UserError, dask_client, process_pool
from lasw.selection.choice.candidates import Collection, Rank
from lasw.selection.choice.la import Collect
from lasw.selection.choice.shards import PAIRS, Part, ShardedBitext, pair_count, parts_of
from lasw.selection.features import Scorer, refuse_faults
from lasw.selection.pool import Bitext

ATTEMPTS = 5  # at one part; Dask itself tries a task four times on workers that die before it gives up

_FIRST = 8  # parts under way until so many have come back


class Workers:
    """Where parts are scored.

    Args:
        start: gives an executor; called again when that has broken.
        at_once: parts that are under way or waiting at a time.
    """

    def __init__(self, start: Callable[[], Executor], at_once: int) -> None:
        self.at_once = at_once
        self._start = start
        self._executor: Executor | None = None

    def submit(self, work: Callable[..., Any], *arguments: Any) -> tuple[Future[Any], Executor]:
        """The future of a call, and the executor that has it."""
        if self._executor is None:
            self._executor = self._start()
        executor = self._executor
        try:
            return executor.submit(work, *arguments), executor
        except BrokenExecutor:
            self.give_up(executor)
            return self.submit(work, *arguments)

    def give_up(self, broken: Executor) -> None:
        """Do without an executor; if it is the one in use, the next call starts another."""
        if self._executor is broken:
            self.close()

    def close(self) -> None:
        """Leave nothing behind but what is under way."""
        if self._executor is not None:
            self._executor.shutdown(wait=False)
            self._executor = None


@contextlib.contextmanager
def processes(n: int) -> Iterator[Workers]:
    """Processes on this machine.

    Args:
        n: how many, at least 1.
    """
    workers = Workers(lambda: process_pool(n), 2 * n)
    try:
        yield workers
    finally:
        workers.close()


@contextlib.contextmanager
def dask(address: str) -> Iterator[Workers]:
    """The workers of a Dask cluster.

    Args:
        address: of its scheduler, ``tcp://head:8786``.

    Raises:
        UserError: Dask is not installed, or no scheduler is there.
    """
    with dask_client(address) as client:
        threads = sum(client.nthreads().values())
        workers = Workers(lambda: client.get_executor(pure=False), max(4, 2 * threads))
        try:
            yield workers
        finally:
            workers.close()


def distributed_collector(
    bitext: Bitext,
    scorer: Scorer,
    workers: Workers,
    *,
    pairs: int = PAIRS,
    watch: Callable[[int], object] | None = None,
) -> Collect:
    """Reads a pool with other processes; takes the place of `la.pool_collector`.

    Args:
        bitext: the pool; of a `ShardedBitext` the files must be where workers see them.
        scorer: sent to the workers.
        workers: see `processes` and `dask`.
        pairs: of a part, where one stream is cut up.
        watch: told after each part how many pairs it had.
    """

    def collect_pool(budget: int, after: Rank | None) -> Collection:
        whole = Collection(budget, after)

        def merge(part: Collection) -> None:
            whole.merge(part)
            if watch is not None:
                watch(part.profile.pairs)

        # An empty collection made now knows what need not be sent: pairs that rank behind enough others already here.
        each_once(workers, score_part, parts_of(bitext, pairs), lambda: (scorer, whole.part()), merge)
        return whole

    return collect_pool


def counted(bitext: ShardedBitext, workers: Workers) -> ShardedBitext:
    """The same pool, its shards counted by workers, so that line numbers are known.

    Args:
        bitext: the pool.
        workers: see `processes` and `dask`.

    Raises:
        UserError: a shard cannot be read, or its files differ in length.
    """
    counts = [0] * len(bitext.shards)

    def keep(result: tuple[int, int]) -> None:
        counts[result[0]] = result[1]

    each_once(workers, _count, enumerate(bitext.shards), tuple, keep)
    return replace(bitext, counts=tuple(counts))


def _count(numbered: tuple[int, Bitext]) -> tuple[int, int]:
    return numbered[0], pair_count(numbered[1])


def score_part(part: Part, scorer: Scorer, collection: Collection) -> Collection:
    """What a worker does: score a part and keep its best candidates.

    Args:
        part: of the pool.
        scorer: of its pairs.
        collection: an empty one.

    Returns:
        The collection.

    Raises:
        UserError: a fault in the part, unless it is tolerant.
    """
    for block in part.blocks():
        numbered = replace(block, first_line=block.first_line + part.shift)
        scored = scorer.score(numbered)
        if not part.tolerant:
            refuse_faults(block, scored.verdicts, part.paths)
        collection.add(numbered, scored)
    collection.ranked()  # what is behind the budget does not travel
    return collection


@dataclass(frozen=True)
class _Task:
    number: int
    part: Any
    attempt: int
    executor: Executor


def each_once(
    workers: Workers,
    work: Callable[..., Any],
    parts: Iterator[Any],
    arguments: Callable[[], tuple[Any, ...]],
    merge: Callable[[Any], None],
) -> None:
    """Call `work` for every part on the workers, and `merge` here with each result, once, in any order.

    Args:
        workers: where.
        work: called as work(part, *arguments()).
        parts: read on as workers get free.
        arguments: asked for as a part is sent off.
        merge: gets the results.

    Raises:
        UserError: that of the first part that has one, be it in reading or in scoring.
        Exception: what a part failed with `ATTEMPTS` times.
    """
    waiting: dict[Future[Any], _Task] = {}
    failed: tuple[int, UserError] | None = None

    def send(number: int, part: Any, attempt: int) -> None:
        future, executor = workers.submit(work, part, *arguments())
        waiting[future] = _Task(number, part, attempt, executor)

    sent, merged, more = 0, 0, True
    try:
        while True:
            # Few at first: what comes back tells later parts what they need not send.
            while more and len(waiting) < min(workers.at_once, max(_FIRST, 2 * merged)):
                try:
                    send(sent, next(parts), 1)
                    sent += 1
                except StopIteration:
                    more = False
                except UserError as error:
                    more, failed = False, (sent, error)
            # After a fault only earlier parts matter, which may have one too.
            if not any(failed is None or task.number < failed[0] for task in waiting.values()):
                break
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                task = waiting.pop(future)
                try:
                    result = future.result()
                except UserError as error:
                    more = False
                    if failed is None or task.number < failed[0]:
                        failed = task.number, error
                except (Exception, CancelledError) as error:
                    if task.attempt >= ATTEMPTS:
                        raise
                    if isinstance(error, BrokenExecutor):
                        workers.give_up(task.executor)
                    send(task.number, task.part, task.attempt + 1)
                else:
                    merge(result)
                    merged += 1
    finally:
        for future in waiting:
            future.cancel()
    if failed is not None:
        raise failed[1]
