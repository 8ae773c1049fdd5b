"""A map over parts on the workers of a Dask cluster; values that all parts need travel once a worker."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any
from uuid import uuid4

from lasw.metrics.errors import UserError
from lasw.metrics.parallel.executors import dask_client
from lasw.metrics.parallel.parts import ATTEMPTS


class Cluster:
    """The workers of a scheduler.

    Args:
        client: of it, see `on_dask`.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def threads(self) -> int:
        """How many parts can be worked on at a time; at least 1, be it that workers are still to come."""
        return max(1, int(sum(self._client.nthreads().values())))

    def share(self, value: Any) -> Any:
        """What stands for a value among the arguments that parts have in common."""
        return self._client.submit(_itself, value, pure=False)

    def everywhere(self, work: Callable[..., Any], *arguments: Any) -> None:
        """Call `work` on all workers that there are, if they can be reached."""
        with contextlib.suppress(Exception):
            self._client.run(work, *arguments)

    def each(self, work: Callable[..., Any], parts: Sequence[Any], shared: Sequence[Any]) -> Iterator[Any]:
        """The results of ``work(part, *shared)``, each once, as they come; parts begin in their order.

        A part whose worker died is done again; Dask tries four times before it says so here, and then it is given to
        Dask again.

        Raises:
            UserError: that of the first part that has one, or the same part failed `ATTEMPTS` times.
        """
        as_completed: Any = importlib.import_module("distributed").as_completed
        # One beginning makes them one group, which the scheduler hands out as workers get free, wherever the shared
        # values are, in the order of the names.
        name = f"lasw{uuid4().hex}"
        keys = [f"{name}-{number:09d}" for number in range(len(parts))]
        common = [[value] * len(parts) for value in shared]
        waiting = dict(enumerate(self._client.map(work, parts, *common, key=keys)))
        numbers = {future: (number, 1) for number, future in waiting.items()}
        failed: tuple[int, UserError] | None = None
        ending: Any = as_completed(list(numbers), loop=self._client.loop)
        try:
            for future in ending:
                number, attempt = numbers.pop(future)
                if number not in waiting:
                    continue
                try:
                    result = future.result()
                except UserError as error:
                    # Of what went out before it may come a fault as well, and then that is told.
                    failed = number, error
                    for later in [k for k in waiting if k >= number]:
                        waiting.pop(later).cancel()
                    if not waiting:
                        raise
                except (Exception, CancelledError) as error:
                    if attempt == ATTEMPTS:
                        raise _given_up(error) from None
                    key = f"{keys[number]}-{attempt}"
                    waiting[number] = self._client.submit(work, parts[number], *shared, key=key)
                    numbers[waiting[number]] = number, attempt + 1
                    ending.add(waiting[number])
                else:
                    del waiting[number]
                    if failed is None:
                        yield result
                    elif not waiting:
                        raise failed[1]
        finally:
            self._client.cancel(list(waiting.values()))


@contextlib.contextmanager
def on_dask(address: str) -> Iterator[Cluster]:
    """The workers of the scheduler at an address, ``tcp://head:8786``.

    Raises:
        UserError: Dask is not installed, or no scheduler is there.
    """
    with dask_client(address) as client:
        yield Cluster(client)


def _given_up(error: BaseException) -> UserError:
    found = f"the workers failed {ATTEMPTS} times on the same part ({type(error).__name__}: {error})"
    return UserError(found, remedy="see what they print; each needs lasw, and the files that are named")


def _itself(value: Any) -> Any:
    """A value as a task of its own: a worker that has lost it is given it again."""
    return value
