"""What a layout of N-best lists is, and which there are. A new one is one file, one line here, and one test."""

from __future__ import annotations

import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Registry, UserError
from lasw.tuning.nbest import NBest
from lasw.tuning.weights import FeatureNames

MAX_ID = 2**31 - 1
ONLY_SCORE = "score"  # the one feature of a list that has nothing but totals
_SHOWN = 40
_NUMBER = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan(?:\(\w*\))?)", re.I | re.A)


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
    `dense`: whether it is, in a layout that says so; None: `lasw.tuning.formats.nbest.pattern` decides.
    """

    name: str
    values: list[str]
    joined: bool = False
    dense: bool | None = None


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


@dataclass(frozen=True)
class LayoutOptions:
    """What is said of a list besides its content.

    Attributes:
        name: of the layout; empty: it is found by content, or ``flat`` where `size` is given.
        size: hypotheses of every sentence, in a layout that counts lines; 0: blank lines stand between the sentences.
        columns: of a table, what is in the column of that name: ``text``, ``id``, ``score`` by its name.
        source_ids: the number of the sentence that has an id, where ids are no numbers.
        sum_scores: whether totals are means over the tokens of a hypothesis and its end, to be summed.
        no_score: whether the totals of lists without features are no feature either.
        with_score: whether the totals of lists with features are a feature ``score`` too.
        featureless: whether lists without any number are taken: their features come from elsewhere.
    """

    name: str = ""
    size: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)
    source_ids: Mapping[str, int] | None = None
    sum_scores: bool = False
    no_score: bool = False
    with_score: bool = False
    featureless: bool = False


class NBestLayout(ABC):
    """How the lines of a list are made; one object for every list that is read.

    Of several layouts that detect a line, the first in `NBEST_LAYOUTS` has it.

    Attributes:
        holds: what a file can hold besides text: ``features`` (of several values, under names), ``sparse``, ``score``.
        sums_itself: whether `hypotheses` already gives sums where these are asked for.
        only_texts: whether lines are texts and nothing else; `owners` is asked about them instead of `hypotheses`.
        has_columns: whether the first line names columns, which `LayoutOptions.columns` can tell.
    """

    holds: frozenset[str] = frozenset(("features", "sparse", "score"))
    sums_itself = False
    only_texts = False
    has_columns = False

    def __init__(self, options: LayoutOptions | None = None) -> None:
        self.options = options or LayoutOptions()

    @classmethod
    @abstractmethod
    def detects(cls, line: str) -> bool:
        """Whether the first line of a list is of this layout."""

    @classmethod
    def column_names(cls, line: str) -> Sequence[str]:
        """Those that the first line of a list names, in a layout that `has_columns`."""
        return ()

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

    def read(self, lines: Iterator[tuple[Place, str]]) -> Iterator[tuple[Place, Fields]]:
        """What all lines of a list say; override where a hypothesis needs more than its line.

        Raises:
            UserError: as `hypotheses`; a blank line, but at the end.
        """
        blank: Place | None = None
        for place, line in lines:
            if not line.strip(" \t"):
                blank = blank or place
                continue
            if blank is not None:
                raise blank.error("a blank line", remedy="remove it")
            yield from ((place, fields) for fields in self.hypotheses(line, place))

    def arrays(self, pattern: Pattern) -> LayoutArrays | None:
        """For the compiled reader, if it can read lines of this layout."""
        return None

    def owners(self, lengths: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
        """Which of the next lines are texts (n,), and the sentences of those that are.

        Args:
            lengths: (n,) tokens of each line, at least one.
        """
        raise NotImplementedError

    def finish(self, path: str) -> None:  # noqa: B027  (most have nothing to check)
        """Called behind the last line that `owners` was asked about.

        Raises:
            UserError: there should be more.
        """

    def sentence(self, text: str, place: Place) -> int:
        """The number of the sentence with this id.

        Raises:
            UserError: it is none, or not among those that there are.
        """
        if self.options.source_ids is not None:
            number = self.options.source_ids.get(text)
            if number is None:
                raise place.error(f"sentence id {shortened(text)}", expected="one of --source-ids")
            return number
        if not (text.isascii() and text.isdigit()):
            remedy = "ids of other kinds need --source-ids, a file that lists them in order"
            found = f"sentence id {shortened(text)}" if text else "no sentence id"
            raise place.error(found, expected="a whole number", remedy=remedy)
        if len(text) > 10 or int(text) > MAX_ID:
            raise place.error(f"sentence id {shortened(text)}", expected=f"at most {MAX_ID}")
        return int(text)


MOSES, FLAT = "moses", "flat"
NBEST_LAYOUTS: Registry[type[NBestLayout]] = Registry(
    "layout of N-best lists",
    {
        MOSES: "lasw.tuning.formats.nbest.layouts.moses:MosesLayout",
        "sockeye": "lasw.tuning.formats.nbest.layouts.sockeye:SockeyeLayout",
        "jsonl": "lasw.tuning.formats.nbest.layouts.json_lines:JsonLinesLayout",
        "fairseq": "lasw.tuning.formats.nbest.layouts.fairseq:FairseqLayout",
        "tsv": "lasw.tuning.formats.nbest.layouts.table:TsvLayout",
        "csv": "lasw.tuning.formats.nbest.layouts.table:CsvLayout",
        FLAT: "lasw.tuning.formats.nbest.layouts.flat:FlatLayout",
    },
)


def layout_of(line: str, options: LayoutOptions | None = None) -> NBestLayout:
    """The layout of a list with this first line; for one that nobody knows Moses', which says what it expects.

    Raises:
        UserError: `options` names one that there is not.
    """
    options = options or LayoutOptions()
    if options.name or options.size:
        return NBEST_LAYOUTS.find(options.name or FLAT)(options)
    layouts = [NBEST_LAYOUTS.find(name) for name in NBEST_LAYOUTS]
    wanted = set(options.columns.values())
    told = (layout for layout in layouts if wanted and wanted <= set(layout.column_names(line)))
    found = (layout for layout in layouts if layout.detects(line))
    return next(chain(told, found), NBEST_LAYOUTS.find(MOSES))(options)


def shortened(text: str) -> str:
    """A part of a line for a message."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")


def by_sentence(nbest: NBest) -> Iterator[tuple[int, range]]:
    """The sentences that have hypotheses, with their rows, as they follow each other in the list."""
    bounds = np.flatnonzero(np.diff(nbest.owner)) + 1
    starts = [0, *bounds.tolist(), len(nbest)]
    for first, last in pairwise(starts):
        if last > first:
            yield int(nbest.owner[first]), range(first, last)


def only_score(names: FeatureNames) -> bool:
    """Whether the list has no features but its totals."""
    return names.groups == ((ONLY_SCORE, 1),)


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
