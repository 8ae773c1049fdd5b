"""What processes and clusters that work for a command have in common."""

from __future__ import annotations

import contextlib
import importlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

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
