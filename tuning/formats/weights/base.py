"""What every format of weight files is, and the parts of text that several of them share."""

from __future__ import annotations

import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

from lasw.metrics import UserError
from lasw.tuning.weights import Weights

FilePath = str | os.PathLike[str]

# Files of Moses' tuning that have dense weights alone: those before an iteration, those that it made, the last ones.
_BEFORE = re.compile(r"run(\d+)\.(dense|init\.opt)")
_MADE = re.compile(r"run(\d+)\.(weights\.txt|mert\.log)")
_LAST = re.compile(r"run\.weights|weights\.txt|mert\.log")
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.A)


class WeightFormat(ABC):
    """How a program keeps weights in a file.

    Attributes:
        flat: its files do not say which of their features are dense.
        usual_name: of a file that goes to a decoder.
        has_comments: a file begins with the comment that it is given, a ``#`` before every line.
        nameless: its files have the weights in the order of the features, and no names.
        needs_template: a file holds more than weights, and is made of another one.
        written_by: who writes such files, if they are only read here.
    """

    flat: ClassVar[bool] = False
    usual_name: ClassVar[str] = "decoder.weights"
    has_comments: ClassVar[bool] = True
    nameless: ClassVar[bool] = False
    needs_template: ClassVar[bool] = False
    written_by: ClassVar[str] = ""

    @abstractmethod
    def fits(self, lines: Sequence[str]) -> float:
        """How many lines of a file are made in this way; infinity if its beginning tells."""

    @abstractmethod
    def read(self, lines: Sequence[str], path: FilePath) -> Weights:
        """The weights in the lines of a file; `path` is for messages.

        Raises:
            UserError: a line that gives no weight, a feature with two weights, a number that is not finite.
        """

    def sparse_file(self, lines: Sequence[str], path: FilePath) -> FilePath | None:
        """The file of sparse weights that belongs to a file, if that names one."""
        return None

    def check(self, path: FilePath, weights: Weights | None, template: FilePath | None) -> None:
        """Refuse what `write` would refuse; the numbers do not matter, and None are weights that nobody knows yet."""
        if self.written_by:
            raise UserError(f"a file as only {self.written_by} writes it", path=path, remedy="write json")

    def write(self, path: FilePath, weights: Weights, comment: Sequence[str], template: FilePath | None) -> None:
        """Write weights so that `read` gives the same numbers back, bit for bit.

        Args:
            path: the file to write.
            weights: what goes into it.
            comment: lines for its top, where the format has comments.
            template: a file whose other lines stay, for formats that hold more than weights.

        Raises:
            UserError: a feature that has no place in such a file, or no template where one is needed.
        """
        self.check(path, weights, template)
        raise NotImplementedError


def is_number(text: str) -> bool:
    """Whether `number` can read it, if only it is finite."""
    return _NUMBER.fullmatch(text) is not None


def number(
    text: str, *, path: FilePath | None = None, line: int | None = None, name: str = "", what: str = ""
) -> float:
    """The finite number that `text` is.

    Raises:
        UserError: it is none, or it is NaN or infinite; `name` is the feature whose weight it is, or `what` says what
            else it is.
    """
    value = float(text) if is_number(text) else math.nan
    if not math.isfinite(value):
        what = what or (f"the weight of {name}" if name else "")
        raise UserError(f"{what} is {text!r}" if what else repr(text), path=path, line=line, expected="a finite number")
    return value


def second_weight(name: str, path: FilePath, line: int, first: int) -> UserError:
    """The error about a feature that has a weight on line `first` already."""
    return UserError(f"{name} has a second weight", path=path, line=line, expected=f"one (the first: line {first})")


def content(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(1-based number, text without spaces around it) of each line that is neither empty nor a comment."""
    for k, line in enumerate(lines, start=1):
        stripped = line.strip(" \t\r")
        if stripped and not stripped.startswith("#"):
            yield k, stripped


def sparse_beside(path: FilePath) -> FilePath | None:
    """The file of sparse weights that belongs to the dense ones in a file of Moses' tuning, if there is one."""
    folder, name = os.path.split(os.fspath(path))
    before, made = _BEFORE.fullmatch(name), _MADE.fullmatch(name)
    number = before[1] if before else str(int(made[1]) + 1) if made else ""
    if not number and not _LAST.fullmatch(name):
        return None
    beside = os.path.join(folder, f"run{number}.sparse-weights")
    return beside if os.path.exists(beside) else None
