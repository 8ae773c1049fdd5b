"""Scoring as a map over parts of the pool, on the workers of any `concurrent.futures.Executor`; the choice stays here.

Every part gives one `Collection`: counts, and the candidates that can still be selected. Each is merged once, whatever
became of workers on the way, and merging does not depend on the order, so the result is that of one thread. A part
whose worker died or failed is done again, up to `ATTEMPTS` times; a user's mistake is not: of several that of the first
part is reported.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from lasw.metrics import Here, UserError, dask_client, process_pool
from lasw.selection.choice.candidates import Collection, Rank
from lasw.selection.choice.la import Collect
from lasw.selection.pool import PAIRS, Bitext, Part, Scorer, ShardedBitext, pair_count, parts_of

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
def workers(n: int = 1, *, apart: bool = False, scheduler: str | None = None) -> Iterator[Workers]:
    """Where a pool is scored; at the end of the block nothing is left behind but what is under way.

    Args:
        n: threads of this process; 1 is none but this one.
        apart: whether processes of this machine take the place of threads.
        scheduler: address of a Dask scheduler, ``tcp://head:8786``; its workers take the place of both.

    Raises:
        UserError: Dask is not installed, or no scheduler is there.
    """
    with contextlib.ExitStack() as stack:
        if scheduler is not None:
            client = stack.enter_context(dask_client(scheduler))
            n = max(2, sum(client.nthreads().values()))
            start: Callable[[], Executor] = partial(client.get_executor, pure=False)
        elif n == 1:
            start = Here
        elif apart:
            start = partial(process_pool, n)
        else:
            start = partial(ThreadPoolExecutor, n)
        started = Workers(start, 2 * n)
        stack.callback(started.close)
        yield started


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
        each_once(
            workers or Workers(Here, 1), score_part, parts_of(bitext, pairs), lambda: (scorer, whole.part()), merge
        )
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
