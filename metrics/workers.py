"""Work in other processes: of this machine or of a Dask cluster, through `concurrent.futures.Executor`, and workers.

What an `Executor` carries out depends on nothing but itself, so the result never depends on where it runs.

A `Worker` is ``python -m MODULE ARGUMENTS``, started once and asked many times: it reads pickled requests from standard
input and writes one pickled answer to each, until its input ends. What it prints to stderr is kept in a file and shown
when it dies.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from lasw.metrics.errors import UserError

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

T = TypeVar("T")
R = TypeVar("R")

_WITHOUT_PORT = ("inproc:", "ucx:")
_TOLD = 0.5  # seconds between two words of how far work is
_WATCH = 0.5  # seconds between looks at whether the parent is there
_GRACE = 5.0  # seconds for a task to clean up
_LAST_LINES = 5


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
        raise UserError("Dask is not installed", remedy="pip install distributed") from None
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


class Worker:
    """One process.

    Args:
        died: what is said when it dies, with ``{code}`` for its exit code.
        module: what it runs, with `arguments`; see `serve`.
        environment: variables set for it.
    """

    def __init__(self, died: str, module: str, arguments: Sequence[str], environment: dict[str, str]) -> None:
        self._died = died
        self._log = cast(IO[bytes], tempfile.TemporaryFile())  # noqa: SIM115 - closed with the worker
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, **environment},
        )

    def ask(self, request: Any) -> Any:
        """Its answer.

        Raises:
            UserError: the worker died, or answers with one.
        """
        try:
            pickle.dump(request, cast(IO[bytes], self._process.stdin), protocol=5)
            cast(IO[bytes], self._process.stdin).flush()
            answer = pickle.load(cast(IO[bytes], self._process.stdout))
        except (OSError, EOFError, pickle.UnpicklingError):
            code = self._process.wait()
            raise UserError(f"{self._died.format(code=code)}; its last lines: {self._last_lines()}") from None
        if isinstance(answer, UserError):
            raise answer
        return answer

    def _last_lines(self) -> str:
        """The end of what it printed to stderr, in one line."""
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", errors="replace").splitlines()
        return " / ".join(lines[-_LAST_LINES:]) or "none"

    def close(self) -> None:
        """Stop it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            with contextlib.suppress(OSError, AttributeError):
                cast(IO[bytes], stream).close()


def ask_all(
    workers: Sequence[Worker], requests: Sequence[Any], told: Callable[[int, int], object] | None = None
) -> list[Any]:
    """The answers to `requests` in order; each goes to the next free worker.

    Args:
        workers: that are asked.
        requests: what for.
        told: gets now and then how many are answered of how many.

    Raises:
        UserError: a worker failed; the first failure in the order of requests.
    """
    answers: list[Any] = [None] * len(requests)
    errors: dict[int, BaseException] = {}
    todo = iter(range(len(requests)))
    lock = threading.Lock()

    def ask_on(worker: Worker) -> None:
        while not errors:
            with lock:
                number = next(todo, None)
            if number is None:
                return
            try:
                answers[number] = worker.ask(requests[number])
            except BaseException as error:
                errors[number] = error

    threads = [threading.Thread(target=ask_on, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(None if told is None else _TOLD)
            if told is not None:
                told(sum(answer is not None for answer in answers), len(answers))
    if errors:
        raise errors[min(errors)]
    return answers


def serve(answer: Callable[[Any], Any]) -> None:
    """A worker's whole life: answer requests until there are no more, or who asks is gone; a `UserError` is an answer.

    What libraries print to standard output must not get between the answers, so that goes to stderr.
    """
    watch_parent(os.getppid())
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            result = answer(request)
        except UserError as error:
            result = error
        pickle.dump(result, out, protocol=5)
        out.flush()
