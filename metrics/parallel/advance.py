"""An iterator that a thread of its own goes through ahead of whoever takes its items."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import closing
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")

_PATIENCE = 1.0  # seconds for an item that is being made, should it come from a slow pipe


def ahead(items: Generator[T, None, None], most: int = 2) -> Iterator[T]:
    """The same items, up to `most` of them made in advance while the one before is worked on.

    Worth it where both sides let go of Python's lock: decompression, reading, kernels. Items that nobody takes any more
    are not made, and whatever `items` holds open is closed when this is.

    Raises:
        BaseException: what making an item raised, in its place.
    """
    made: SimpleQueue[tuple[T] | BaseException | None] = SimpleQueue()
    room, over = threading.Semaphore(most), threading.Event()

    def make() -> None:
        ended: BaseException | None = None
        try:
            with closing(items):
                room.acquire()
                for item in items:
                    made.put((item,))
                    room.acquire()
                    if over.is_set():
                        break
        except BaseException as error:
            ended = error
        made.put(ended)

    thread = threading.Thread(target=make, daemon=True)
    thread.start()
    try:
        while isinstance(one := made.get(), tuple):
            room.release()
            yield one[0]
        if one is not None:
            raise one
    finally:
        over.set()
        room.release()
        thread.join(_PATIENCE)
