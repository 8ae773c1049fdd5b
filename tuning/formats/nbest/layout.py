"""What a layout of N-best lists is, and which there are. A new one is one file, one line here, and one test."""

from __future__ import annotations

import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Registry, UserError
from lasw.tuning.nbest import NBest
from lasw.tuning.weights import FeatureNames

MAX_ID = 2**31 - 1
_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan(?:\(\w*\))?)", re.I | re.A)


@dataclass(frozen=True)
class Place:
    """A line of a file, for messages."""

    path: str | None
    line: int | None

    def error(self, found: str, expected: str | None = None, remedy: str | None = None) -> UserError:
        """What is wrong there."""
        return UserError(found, path=self.path, line=self.line, expected=expected, remedy=remedy)


@dataclass(frozen=True)
class Group:
    """Numbers under one name.

    `joined`: the first stands in the name's own token (``LM=-1``), as in lists of decoders that leave zeros out: then a
    dense feature may be absent, and ``NAME_0`` is the dense feature NAME. A layout that always writes all has it False.
    """

    name: str
    values: list[str]
    joined: bool = False


@dataclass(frozen=True)
class Fields:
    """What a list says of one hypothesis, numbers as they are written.

    Attributes:
        owner: the sentence id.
        text: the hypothesis.
        groups: named features in the order of the line; None if the list has numbers without names.
        numbers: the features if they have no names.
        score: the total, None if there is none.
    """

    owner: int
    text: str
    groups: list[Group] | None
    numbers: list[str]
    score: str | None


@dataclass(frozen=True)
class Pattern:
    """What all hypotheses of a list have in common with the first.

    Attributes:
        names: the dense features, in the order of the columns.
        order: the dense ones in the order of the lines, if they have names.
        first: the first hypothesis.
    """

    names: FeatureNames
    order: tuple[str, ...]
    first: Fields

    @property
    def named(self) -> bool:
        """Whether the features have names."""
        return self.first.groups is not None

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of values by name."""
        return dict(self.names.groups)

    @cached_property
    def zeros_left_out(self) -> bool:
        """Whether an absent dense feature is 0: decoders that write name and number as one token leave zeros out."""
        return len(self.order) > 1 and all(group.joined for group in self.first.groups or ())


class LayoutArrays(NamedTuple):
    """A `Pattern` as the compiled reader sees it.

    `labels`: names with their separators, one behind the other, group g is `labels[starts[g]:starts[g + 1]]`. `sizes`,
    `columns`: number of values of each group and column of the first. `facts`: separator, zeros left out, index of the
    feature field and of the total, number of fields, number of nameless features.
    """

    labels: NDArray[np.uint8]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    columns: NDArray[np.int64]
    facts: NDArray[np.int64]


class NBestLayout(ABC):
    """How the lines of a list are made; one object for every list that is read.

    It can hold features of several values and sparse ones. Of several layouts that detect a line, the first in
    `NBEST_LAYOUTS` has it.
    """

    @classmethod
    @abstractmethod
    def detects(cls, line: str) -> bool:
        """Whether the first line of a list is of this layout."""

    @abstractmethod
    def hypotheses(self, line: str, place: Place) -> Sequence[Fields]:
        """What a line, without its end, says: none, one or several hypotheses.

        Raises:
            UserError: it is no line of this layout.
        """

    @abstractmethod
    def text(self, nbest: NBest, path: str | os.PathLike[str] | None) -> Iterator[str]:
        """The content of a file, some thousand hypotheses at a time, so that reading it gives the same bits.

        Raises:
            UserError: a word or name that such a file cannot hold; `path` is for the message.
        """

    def arrays(self, pattern: Pattern) -> LayoutArrays | None:
        """For the compiled reader, if it can read lines of this layout."""
        return None


MOSES = "moses"
NBEST_LAYOUTS: Registry[type[NBestLayout]] = Registry(
    "layout of N-best lists",
    {
        MOSES: "lasw.tuning.formats.nbest.moses:MosesLayout",
    },
)


def layout_of(line: str) -> NBestLayout:
    """The layout of a list with this first line; for one that nobody knows Moses', which says what it expects."""
    layouts = map(NBEST_LAYOUTS.find, NBEST_LAYOUTS)
    return next((layout for layout in layouts if layout.detects(line)), NBEST_LAYOUTS.find(MOSES))()


def is_number(token: str) -> bool:
    """Whether a token is a number as C's printf writes them; infinities and NaN too, which `finite` refuses."""
    return _NUMBER.fullmatch(token) is not None


def finite(token: str, what: str, place: Place) -> float:
    """The number that `token` is.

    Raises:
        UserError: it is infinite or not a number.
    """
    value = float(token.partition("(")[0])
    if not math.isfinite(value):
        raise place.error(f"{what} is {token}", expected="a finite number", remedy="mend the scorer that gave it")
    return value
