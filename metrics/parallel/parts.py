"""A map over parts of something large, on workers some of which may die; what comes of it is put together here.

Each result is merged once, whatever became of workers on the way. A part whose worker died or failed is done again, up
to `ATTEMPTS` times; a user's mistake is not: of several that of the first part is reported.
"""

from __future__ import annotations

import contextlib
import time
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
from dataclasses import dataclass
from functools import partial
from typing import Any

from lasw.metrics.errors import UserError
from lasw.metrics.parallel.executors import Here, dask_client, process_pool

ATTEMPTS = 5  # at one part; Dask itself tries a task four times on workers that die before it gives up

_FIRST = 8  # parts under way until so many have come back
_COUNTED = 2.0  # seconds for which a number of workers is believed


class Workers:
    """Where parts are worked on.

    Args:
        start: gives an executor; called again when that has broken.
        threads: of all workers; asked for now and then, as workers come and go.
    """

    def __init__(
        self,
        start: Callable[[], Executor],
        threads: Callable[[], int] = lambda: 1,
    ) -> None:
        self._start = start
        self._threads = threads
        self._counted = (-_COUNTED, 0)
        self._executor: Executor | None = None

    @property
    def threads(self) -> int:
        """How many parts can be worked on at a time; at least 1, be it that workers are still to come."""
        when, number = self._counted
        if time.monotonic() - when > _COUNTED:
            number = self._threads()
            self._counted = time.monotonic(), number
        return max(1, number)

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
    """Where parts are worked on; at the end of the block nothing is left behind but what is under way.

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
            started = Workers(
                partial(client.get_executor, pure=False),
                lambda: sum(client.nthreads().values()),
            )
        elif n == 1:
            started = Workers(Here)
        elif apart:
            started = Workers(partial(process_pool, n), lambda: n)
        else:
            started = Workers(partial(ThreadPoolExecutor, n), lambda: n)
        stack.callback(started.close)
        yield started


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
            while more and len(waiting) < _at_once(workers, merged):
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


def _at_once(workers: Workers, merged: int) -> int:
    """How many parts are under way or waiting: few at first, as what comes back tells later ones what to leave out."""
    return min(2 * workers.threads, max(_FIRST, 2 * merged))
