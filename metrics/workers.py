"""Work in processes of this machine or on a Dask cluster, through `concurrent.futures.Executor`.

The result never depends on which: a task depends on nothing but itself and leaves its result in files.
"""

from __future__ import annotations

import _thread
import contextlib
import importlib
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from typing import Any, TypeVar

from lasw.metrics.errors import UserError

_WITHOUT_PORT = ("inproc:", "ucx:")
_WATCH = 0.5  # seconds between looks at whether the parent is there


def watch_parent(parent: int, clean_up: Callable[[], None] | None = None) -> None:
    """In a worker: end with the process `parent`, however that ended; it would wait for work for ever.

    Args:
        parent: its number.
        clean_up: called first.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH)
        if clean_up is not None:
            clean_up()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def dask_client(address: str) -> Iterator[Any]:
    """A client of a Dask cluster.

    Args:
        address: of its scheduler, ``tcp://head:8786``.

    Raises:
        UserError: Dask is not installed, or no scheduler is there.
    """
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise UserError("Dask is not installed", remedy="pip install 'lasw[dask]'") from None
    # A client that finds its address faulty only when it is half made ends in a traceback of its own.
    if not address.startswith(_WITHOUT_PORT):
        try:
            importlib.import_module("distributed.comm").get_address_host_port(address)
        except ValueError as error:
            raise UserError(f"no Dask scheduler at {address} ({error})", expected="HOST:PORT") from None
    try:
        client = distributed.Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UserError(f"no Dask scheduler at {address} ({error or type(error).__name__})") from None
    with client:
        yield client


T = TypeVar("T")
R = TypeVar("R")

_GRACE = 5.0  # seconds for a task to clean up


class Here(Executor):
    """Runs what it is given at once, in this thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The finished future of `fn`."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextlib.contextmanager
def executor(jobs: int = 1, dask: str | None = None) -> Iterator[Executor]:
    """Where tasks run; at the end of the block nothing of them is left behind.

    Args:
        jobs: processes on this machine; 1: this one.
        dask: address of a Dask scheduler, whose workers see the same files; then `jobs` does not count.

    Raises:
        UserError: Dask is not installed, or no scheduler is there.
    """
    if dask is not None:
        with dask_client(dask) as client:
            yield client.get_executor(pure=False)
        return
    if jobs == 1:
        yield Here()
        return
    # Fresh processes: a forked one would share locks and threads of numerical libraries.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_watch, initargs=(os.getpid(),))
    try:
        yield pool
    except BaseException:
        _stop(pool)
        raise
    pool.shutdown()


def run_all(
    where: Executor, work: Callable[[T], R], tasks: Sequence[T], told: Callable[[R], None]
) -> list[tuple[T, Exception]]:
    """Carry out all tasks; a task that fails does not keep the others from being done.

    Args:
        where: they run.
        work: what is done with each.
        tasks: in the order in which they begin.
        told: called in this thread with each result, in the order in which they end.

    Returns:
        The tasks that failed, in their order, and how.
    """
    if isinstance(where, Here):
        futures = ((where.submit(work, task), k) for k, task in enumerate(tasks))
        ended = futures
    else:
        numbered = {where.submit(work, task): k for k, task in enumerate(tasks)}
        ended = ((future, numbered[future]) for future in as_completed(numbered))
    failed: list[tuple[int, Exception]] = []
    for future, number in ended:
        try:
            told(future.result())
        except Exception as error:
            failed.append((number, error))
    return [(tasks[number], error) for number, error in sorted(failed, key=lambda pair: pair[0])]


def _stop(pool: ProcessPoolExecutor) -> None:
    """End the processes now: what they were at is done again another time."""
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(_GRACE)


def _watch(parent: int) -> None:
    """In a worker: end with the parent, after cleaning up as for Ctrl-C."""

    def clean_up() -> None:
        _thread.interrupt_main()
        time.sleep(_GRACE)

    watch_parent(parent, clean_up)
