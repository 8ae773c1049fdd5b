"""What a user is told when something they gave is wrong."""

from __future__ import annotations

import difflib
import os
import re
from functools import partial

_QUOTED = 60  # characters of what is quoted from a file
_PART = 1500  # of a part of a message: the last lines of a program that failed are the longest
_QUOTATION = re.compile(rf"(['\"])([^'\"/]{{{_QUOTED + 1},}})\1")  # paths are told whole
_WORD = re.compile(r"\S{300,}")


class UserError(Exception):
    """A mistake in what the user gave, told in one line: where, what was found, what was expected, what to do.

    Args:
        found: what is wrong, in plain words ("4 references for 5 hypotheses").
        path: the file it was found in, if any.
        line: 1-based line number in `path`, if any.
        expected: what would have been right.
        remedy: what the user can do about it.

    `str(error)` is the whole line: ``PATH:LINE: FOUND; expected EXPECTED; REMEDY``.
    """

    def __init__(
        self,
        found: str,
        *,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.found = found
        self.path = None if path is None else os.fspath(path)
        self.line = line
        self.expected = expected
        self.remedy = remedy
        super().__init__(self._one_line())

    def _one_line(self) -> str:
        where = self.path or ""
        if self.line is not None:
            where += f":{self.line}"
        parts = [_short(self.found)]
        if self.expected:
            parts.append(f"expected {_short(self.expected)}")
        if self.remedy:
            parts.append(_short(self.remedy))
        text = "; ".join(parts)
        text = f"{where}: {text}" if where else text
        return " ".join(text.split())

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders when work is parallel; keyword-only arguments need a hand.
        return partial(UserError, path=self.path, line=self.line, expected=self.expected, remedy=self.remedy), (
            self.found,
        )


def _short(text: str) -> str:
    """A part of a message, of what stands in files no more than a person needs to find it again."""
    if len(text) <= _QUOTED:
        return text
    text = _QUOTATION.sub(lambda found: f"{found[1]}{found[2][:_QUOTED]} ...{found[1]}", text)
    text = _WORD.sub(lambda found: f"{found[0][:_QUOTED]} ...", text)
    return text if len(text) <= _PART else f"{text[:_PART]} ..."


def unknown(kind: str, name: str, valid: list[str]) -> UserError:
    """The error for a name that does not exist, with the nearest one that does."""
    near = difflib.get_close_matches(name.upper(), [v.upper() for v in valid], n=1, cutoff=0.5)
    close = next((v for v in valid if near and v.upper() == near[0]), None)
    return UserError(
        f"unknown {kind} {name!r}",
        expected=", ".join(valid),
        remedy=f"did you mean {close!r}?" if close else None,
    )
