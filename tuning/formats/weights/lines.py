"""The lines of weight files: one weight or one group of weights each, in the spellings that programs use.

=========  ======================  ===========================================================
kind       a line                  who writes it
=========  ======================  ===========================================================
groups     ``LM0= 0.5 0.1``        ``moses -show-weights``; also ``LM0 UNTUNEABLE``, ``WT=``
equals     ``lm_0 = 0.5``          Joshua; without spaces: Travatar
pairs      ``LanguageModel 0.5``   cdec, Moses' sparse weight files
=========  ======================  ===========================================================

Empty lines and lines that start with ``#`` mean nothing. Only spaces and tabs separate: names of sparse features hold
whatever words do, a no-break space too.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from lasw.metrics import UserError

Path = str | os.PathLike[str]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.A)
_UNTUNEABLE = "UNTUNEABLE"


class WeightLine(NamedTuple):
    """What one line says: `values` of the feature `name`; an empty list where it only names the feature."""

    name: str
    values: list[str]


def number(text: str, *, path: Path | None = None, line: int | None = None, name: str = "", what: str = "") -> float:
    """The finite number that `text` is.

    Raises:
        UserError: it is none, or it is NaN or infinite; `name` is the feature whose weight it is, or `what` says what
            else it is.
    """
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        what = what or (f"the weight of {name}" if name else "")
        raise UserError(f"{what} is {text!r}" if what else repr(text), path=path, line=line, expected="a finite number")
    return value


def content(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(1-based number, text without spaces around it) of each line that is neither empty nor a comment."""
    for k, line in enumerate(lines, start=1):
        stripped = line.strip(" \t\r")
        if stripped and not stripped.startswith("#"):
            yield k, stripped


def words(text: str) -> list[str]:
    """What stands between spaces and tabs."""
    return [word for word in re.split(r"[ \t]+", text) if word]


def group_line(text: str) -> WeightLine | None:
    """``NAME= v v v``, ``NAME=`` or ``NAME UNTUNEABLE``."""
    tokens = words(text)
    if len(tokens) == 2 and tokens[1] == _UNTUNEABLE:
        return WeightLine(tokens[0].removesuffix("="), [])
    if len(tokens[0]) > 1 and tokens[0].endswith("="):
        return WeightLine(tokens[0][:-1], tokens[1:])
    return None


def equals_line(text: str) -> WeightLine | None:
    """``NAME = v`` or ``NAME=v``; the last ``=`` counts, for a name may hold others."""
    name, equals, value = text.rpartition("=")
    name, value = name.strip(" \t"), value.strip(" \t")
    if not equals or not name or not value or len(words(name)) != 1 or len(words(value)) != 1:
        return None
    return WeightLine(name, [value])


def pair_line(text: str) -> WeightLine | None:
    """``NAME v``."""
    tokens = words(text)
    return WeightLine(tokens[0], tokens[1:]) if len(tokens) == 2 else None


# In the order in which they are tried; `NAME= 0.5` fits all three and is a group.
LINE_KINDS: dict[str, tuple[Callable[[str], WeightLine | None], str]] = {
    "groups": (group_line, "NAME= v v v"),
    "equals": (equals_line, "NAME = v"),
    "pairs": (pair_line, "NAME v"),
}


def line_kind(lines: Sequence[str]) -> str:
    """The kind of line that all lines are; if there is none, the kind that most of them are."""
    texts = [text for _, text in content(lines)]
    fitting = {kind: sum(parse(text) is not None for text in texts) for kind, (parse, _) in LINE_KINDS.items()}
    return max(fitting, key=lambda kind: fitting[kind])


def read_pairs(lines: Sequence[str], kind: str, path: Path | None) -> dict[str, list[float]]:
    """The values of every feature that lines of one kind name.

    Raises:
        UserError: a line of another kind, a feature that is named twice, or a value that is no finite number.
    """
    parse, shape = LINE_KINDS[kind]
    values: dict[str, list[float]] = {}
    seen: dict[str, int] = {}
    for k, text in content(lines):
        parsed = parse(text)
        if parsed is None:
            raise UserError(f"{text!r} gives no weight", path=path, line=k, expected=f"'{shape}' or a comment")
        if parsed.name in seen:
            raise UserError(
                f"{parsed.name} has a second weight",
                path=path,
                line=k,
                expected=f"one (the first: line {seen[parsed.name]})",
            )
        seen[parsed.name] = k
        if parsed.values:
            values[parsed.name] = [number(v, path=path, line=k, name=parsed.name) for v in parsed.values]
    return values
