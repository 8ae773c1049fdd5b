"""One line of an N-best list taken apart by what its fields hold, in any layout that decoders print.

``ID ||| text ||| ...``: the features are the last field that names numbers (``LM0= -1 TM0= -2 -3``, ``lm: -1``,
``LM=-1``), else the first with several numbers; the total is the first single number behind them (Moses, Marian,
cdec, Joshua), else before them (Travatar). Alignments, segmentations, word scores and trees are ignored.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from lasw.metrics import UserError

_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan(?:\(\w*\))?)", re.I | re.A)
_NUMBER_START = re.compile(r"[+-]?\.?\d", re.A)
_POINT = re.compile(r"\d[\d.,:;=?+\-]*", re.A)  # the first of an alignment, soft ones too, or of a segmentation
SEPARATORS = "=:"
MAX_ID = 2**31 - 1


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
    """Numbers under one name; `joined` if the first stands in the name's own token (``LM=-1``)."""

    name: str
    values: list[str]
    joined: bool = False


@dataclass(frozen=True)
class Fields:
    """A line of an N-best list.

    Attributes:
        owner: the sentence id.
        text: the hypothesis.
        count: number of fields.
        groups: named features in the order of the line; None if the list has numbers without names.
        separator: what stands behind a name.
        numbers: the features if they have no names.
        score: the total as it is written, None if there is none.
        features_at, score_at: which field they were, -1 for none.
    """

    owner: int
    text: str
    count: int
    groups: list[Group] | None
    separator: str
    numbers: list[str]
    score: str | None
    features_at: int
    score_at: int


def split_line(line: str, place: Place) -> Fields:
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
    return Fields(
        owner,
        fields[1],
        len(fields),
        groups,
        separator,
        tokens[features_at] if groups is None and features_at >= 0 else [],
        tokens[score_at][0] if score_at >= 0 else None,
        features_at,
        score_at,
    )


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
        raise place.error(f"{what} is {token}", expected="a finite number", remedy="remove the line or mend the scorer")
    return value


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
        for separator in SEPARATORS:
            groups = _groups(tokens[index], separator, place)
            if isinstance(groups, UserError):
                broken = broken or groups
            elif groups:
                return index, groups, separator
    if broken:
        raise broken
    return -1, None, SEPARATORS[0]


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
    return tokens[0][-1] in SEPARATORS or (_POINT.fullmatch(tokens[0]) is not None and not is_number(tokens[0]))


def _short(field: str) -> str:
    return repr(field if len(field) <= 40 else field[:37] + "...")
