"""The layout of Moses and many others: ``ID ||| text ||| features ||| total``, fields told apart by what they hold.

The features are the last field that names numbers (``LM0= -1 TM0= -2 -3``, ``lm: -1``, ``LM=-1``), else the first with
several numbers; the total is the first single number behind them (Moses, Marian, cdec, Joshua), else before them
(Travatar). Alignments, segmentations, word scores and trees are ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lasw.metrics import UserError
from lasw.tuning.formats.nbest.layout import (
    MAX_ID,
    Fields,
    Group,
    LayoutArrays,
    NBestLayout,
    Pattern,
    Place,
    is_number,
)
from lasw.tuning.formats.nbest.writing import Spelt, list_lines
from lasw.tuning.nbest import NBest

_NUMBER_START = re.compile(r"[+-]?\.?\d", re.A)
_POINT = re.compile(r"\d[\d.,:;=?+\-]*", re.A)  # the first of an alignment, soft ones too, or of a segmentation
_SEPARATORS = "=:"


@dataclass(frozen=True)
class BarFields(Fields):
    """One line.

    Attributes:
        count: number of fields.
        separator: what stands behind a name.
        features_at, score_at: which field they were, -1 for none.
    """

    count: int
    separator: str
    features_at: int
    score_at: int


class MosesLayout(NBestLayout):
    """Fields between ``|||``; written as Moses does, numbers as repr gives them.

    Sparse features stand behind the dense ones in the order of their names.
    """

    @classmethod
    def detects(cls, line: str) -> bool:
        """See `NBestLayout`."""
        return "|||" in line

    def hypotheses(self, line: str, place: Place) -> Sequence[Fields]:
        """The one on the line."""
        if self.options.source_ids is not None:
            owner, bars, rest = line.partition("|||")
            line = f"{self.sentence(owner.strip(), place)} {bars}{rest}"
        return (split_line(line, place),)

    def text(self, nbest: NBest, path: str | os.PathLike[str] | None) -> Iterator[str]:
        """See `NBestLayout`."""
        return list_lines(nbest, path)

    def arrays(self, pattern: Pattern) -> LayoutArrays | None:
        """See `NBestLayout`; only ids that are numbers are compiled."""
        if self.options.source_ids is not None:
            return None
        first = pattern.first
        assert isinstance(first, BarFields)
        labels = Spelt.of([name + first.separator for name in pattern.order])
        nameless = len(first.numbers)
        where = (first.features_at, first.score_at, first.count, nameless)
        return LayoutArrays(
            labels.data,
            labels.starts,
            np.array([pattern.sizes[name] for name in pattern.order], dtype=np.int64),
            np.array([pattern.names.slices[name].start for name in pattern.order], dtype=np.int64),
            np.array([ord(first.separator), pattern.zeros_left_out, *where], dtype=np.int64),
        )


def split_line(line: str, place: Place) -> BarFields:
    """The fields of `line`.

    Raises:
        UserError: no id, no hypothesis, an unreadable feature field, or ``|||`` within the hypothesis.
    """
    fields = [field.strip(" \t") for field in line.split("|||")]
    owner = _owner(fields[0], place)
    if len(fields) < 2:
        raise place.error("no hypothesis", expected="ID ||| hypothesis ||| features ||| total")
    tokens = [re.split(r"[ \t]+", field) if field else [] for field in fields]
    numeric = [index for index in range(2, len(fields)) if tokens[index] and all(map(is_number, tokens[index]))]
    features_at, groups, separator = _named(tokens, place)
    if groups is None:
        several = [index for index in numeric if len(tokens[index]) > 1]
        features_at = (several or (numeric if len(numeric) > 1 else [-1]))[0]
    single = [index for index in numeric if len(tokens[index]) == 1 and index != features_at]
    score_at = next((index for index in single if index > features_at), single[0] if single else -1)
    for index in range(2, max(features_at, score_at)):
        if index not in (features_at, score_at) and not _ignored(tokens[index], features_at < 0):
            raise place.error(
                f"field {index + 1} ({_short(fields[index])}) is neither features nor a number nor an alignment",
                expected="ID ||| hypothesis ||| features ||| total",
                remedy="is there ||| within the hypothesis?",
            )
    return BarFields(
        owner,
        fields[1],
        groups,
        tokens[features_at] if groups is None and features_at >= 0 else [],
        tokens[score_at][0] if score_at >= 0 else None,
        len(fields),
        separator,
        features_at,
        score_at,
    )


def _owner(field: str, place: Place) -> int:
    if not (field.isascii() and field.isdigit()):
        raise place.error(
            f"sentence id {_short(field)}" if field else "no sentence id",
            expected="a whole number and ||| at the start of the line",
        )
    if len(field) > 10 or int(field) > MAX_ID:
        raise place.error(f"sentence id {_short(field)}", expected=f"at most {MAX_ID}")
    return int(field)


def _named(tokens: list[list[str]], place: Place) -> tuple[int, list[Group] | None, str]:
    """Index, content and separator of the last field that names numbers."""
    broken: UserError | None = None
    for index in range(len(tokens) - 1, 1, -1):
        for separator in _SEPARATORS:
            groups = _groups(tokens[index], separator, place)
            if isinstance(groups, UserError):
                broken = broken or groups
            elif groups:
                return index, groups, separator
    if broken:
        raise broken
    return -1, None, _SEPARATORS[0]


def _groups(tokens: list[str], separator: str, place: Place) -> list[Group] | UserError | None:
    """The named numbers of a field, None if it has none, an error if it begins so and then goes wrong.

    Names have letters: ``0-1=0-1 2=2`` is a segmentation, ``0:0`` an alignment; what begins with ``(`` is a tree.
    """
    if tokens and tokens[0].startswith("("):
        return None
    groups: list[Group] = []
    for token in tokens:
        name, found, value = token.rpartition(separator)
        if found and name and not value:
            groups.append(Group(name, []))
        elif found and name and is_number(value):
            groups.append(Group(name, [value], joined=True))
        elif not groups and not (found and name and _NUMBER_START.match(value)):
            return None
        elif not groups:
            return place.error(f"{_short(token)} among the features", expected="NAME and a number")
        elif is_number(token):
            groups[-1].values.append(token)
        elif groups[0].joined and len(groups) == 1 and len(groups[0].values) == 1:
            return None  # prose that begins like a feature, `4:30 in the morning`
        else:
            return place.error(f"{_short(token)} among the values of feature {groups[-1].name}", expected="a number")
    return groups if any(map(str.isalpha, "".join(group.name for group in groups))) else None


def _ignored(tokens: list[str], featureless: bool) -> bool:
    """Whether a field may stand before the features: empty, an alignment, named numbers.

    Where no other field has features (`featureless`), one with a number in it would be them, if it were in order.
    """
    if not tokens:
        return True
    if featureless:
        return not any(map(is_number, tokens)) and all(map(_POINT.fullmatch, tokens))
    return tokens[0][-1] in _SEPARATORS or (_POINT.fullmatch(tokens[0]) is not None and not is_number(tokens[0]))


def _short(field: str) -> str:
    return repr(field if len(field) <= 40 else field[:37] + "...")
