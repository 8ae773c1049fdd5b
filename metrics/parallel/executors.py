"""Where tasks run: here, in other processes, on a Dask cluster; each is a `concurrent.futures.Executor`.

What an `Executor` carries out depends on nothing but itself, so the result never depends on where it runs.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from typing import TYPE_CHECKING, Any, TypeVar

from lasw.metrics.errors import UserError
from lasw.metrics.parallel.processes import watch_parent

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

T = TypeVar("T")
R = TypeVar("R")

_WITHOUT_PORT = ("inproc:", "ucx:")
_PATIENCE = 10.0  # seconds for a scheduler to answer
_GRACE = 5.0  # seconds for a task to clean up


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
        raise UserError("Dask is not installed", remedy="pip install distributed") from None
    # A client that finds its address faulty only when it is half made ends in a traceback of its own.
    if not address.startswith(_WITHOUT_PORT):
        try:
            importlib.import_module("distributed.comm").get_address_host_port(address)
        except ValueError as error:
            raise UserError(f"no Dask scheduler at {address} ({error})", expected="HOST:PORT") from None
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UserError(f"no Dask scheduler at {address} ({error or type(error).__name__})") from None
    with client:
        yield client


def worker_address() -> str:
    """Of the Dask worker that this is called on."""
    try:
        return str(importlib.import_module("distributed").get_worker().address)
    except (ImportError, ValueError):
        return "of this process"


def process_pool(n: int, clean_up: Callable[[], None] | None = None) -> ProcessPoolExecutor:
    """`n` processes of this machine, which end with this one; what they are at is cleaned up by `clean_up`."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Fresh processes: a forked one would share locks and threads of numerical libraries.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(n, mp_context=context, initializer=watch_parent, initargs=(os.getpid(), clean_up))


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
    pool = process_pool(jobs, _interrupt)
    try:
        yield pool
    except BaseException:
        _stop(pool)
        raise
    pool.shutdown()


def run_all(
    where: Executor, work: Callable[[T], R], tasks: Sequence[T], ended: Callable[[R], None]
) -> list[tuple[T, Exception]]:
    """Carry out all tasks; a task that fails does not keep the others from being done.

    Args:
        where: they run.
        work: what is done with each.
        tasks: in the order in which they begin.
        ended: called in this thread with each result, in the order in which they end.

    Returns:
        The tasks that failed, in their order, and how.
    """
    if isinstance(where, Here):
        futures = ((where.submit(work, task), k) for k, task in enumerate(tasks))
    else:
        numbers = {where.submit(work, task): k for k, task in enumerate(tasks)}
        futures = ((future, numbers[future]) for future in as_completed(numbers))
    failed: dict[int, Exception] = {}
    for future, number in futures:
        try:
            ended(future.result())
        except Exception as error:
            failed[number] = error
    return [(tasks[number], failed[number]) for number in sorted(failed)]


def _stop(pool: ProcessPoolExecutor) -> None:
    """End the processes now: what they were at is done again another time."""
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(_GRACE)


def _interrupt() -> None:
    """Clean up as for Ctrl-C."""
    import _thread

    _thread.interrupt_main()
    time.sleep(_GRACE)
