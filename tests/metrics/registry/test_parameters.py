from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from lasw.metrics import UserError, parameters


@dataclass
class Base:
    """Something.

    Args:
        share: how much of it,
            in parts of ``one``.
        files: one or more.
    """

    share: float = 0.5
    files: tuple[Path, ...] = ()


@dataclass
class Decoder(Base):
    """More.

    Args:
        beam: how wide.

    Raises:
        ValueError: never.
    """

    beam: int = 4
    fast: bool = False
    name: str | None = None
    model: Path | None = None
    words: Sequence[str] = ()
    hook: Callable[[int], int] | None = None


def test_arguments_of_a_class() -> None:
    found = parameters(Decoder)
    assert list(found) == ["share", "files", "beam", "fast", "name", "model", "words"]
    assert [p.kind for p in found.values()] == [float, Path, int, bool, str, Path, str]
    assert [key for key, p in found.items() if p.several] == ["files", "words"]
    assert found["share"].help == "how much of it, in parts of one."
    assert found["beam"].help == "how wide."
    assert (found["beam"].default, found["beam"].required) == (4, False)


def test_a_needed_argument_of_a_strange_type_is_a_programming_mistake() -> None:
    class Strange:
        def __init__(self, hook: Callable[[], int]) -> None:
            self.hook = hook

    with pytest.raises(TypeError, match=r"Strange\(hook\)"):
        parameters(Strange)


def test_values() -> None:
    found = parameters(Decoder)
    here = Path("/data")
    assert found["share"].checked(1, here, "x") == 1.0
    assert isinstance(found["share"].checked(1, here, "x"), float)
    assert found["model"].checked("m", here, "x") == Path("/data/m")
    assert found["model"].checked("/m", here, "x") == Path("/m")
    assert found["files"].checked(["a", "b"], here, "x") == (Path("/data/a"), Path("/data/b"))
    assert found["files"].checked("a", here, "x") == (Path("/data/a"),)
    assert found["fast"].parsed("true", "--fast") is True
    assert found["beam"].parsed("7", "--beam") == 7
    assert found["name"].parsed("7", "--name") == "7"
    for key, wrong, expected in (
        ("beam", 1.5, "a whole number"),
        ("beam", True, "a whole number"),
        ("share", "0.1", "a finite number"),
        ("share", float("nan"), "a finite number"),
        ("share", float("inf"), "a finite number"),
        ("share", True, "a finite number"),
        ("fast", 1, "true or false"),
        ("fast", "true", "true or false"),
        ("name", 3, "text"),
        ("model", "", "a path"),
        ("files", ["a", 3], "a path"),
    ):
        with pytest.raises(UserError, match=f"f:3: x.y is .*; expected {expected}"):
            found[key].checked(wrong, here, "x.y", path="f", line=3)
    for key, wrong in (("beam", "7.0"), ("beam", "seven"), ("fast", "yes"), ("share", "inf"), ("beam", "1\nx = 2")):
        with pytest.raises(UserError, match="--it is"):
            found[key].parsed(wrong, "--it")
