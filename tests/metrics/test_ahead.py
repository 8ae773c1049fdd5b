"""An iterator that a thread goes through ahead: the same items, no more than asked for, nothing left open."""

from __future__ import annotations

import time
from collections.abc import Generator

import pytest

from lasw.metrics import ahead


class Numbers:
    """Counts what was made, and says whether it was closed."""

    def __init__(self, n: int, fault: int | None = None) -> None:
        self.n, self.fault = n, fault
        self.made, self.closed = 0, False

    def __iter__(self) -> Generator[int, None, None]:
        try:
            for k in range(self.n):
                if k == self.fault:
                    raise ValueError("the fault")
                self.made += 1
                yield k
        finally:
            self.closed = True


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_the_same_items(n: int) -> None:
    numbers = Numbers(n)
    assert list(ahead(iter(numbers))) == list(range(n))
    assert numbers.closed


def test_made_while_the_one_before_is_worked_on_and_no_more_than_asked_for() -> None:
    numbers = Numbers(10)
    items = ahead(iter(numbers), most=2)
    assert next(items) == 0
    deadline = time.monotonic() + 10
    while numbers.made < 3 and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.02)
    assert numbers.made == 3  # the one that was taken and two in advance
    items.close()  # type: ignore[attr-defined]
    assert numbers.closed
    assert numbers.made == 3


def test_a_fault_comes_behind_what_was_made_before_it() -> None:
    items = ahead(iter(Numbers(5, fault=3)))
    assert [next(items) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="the fault"):
        next(items)
