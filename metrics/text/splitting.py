"""Commands that a person writes, taken apart as a shell does it; no shell is involved."""

from __future__ import annotations

import os
import shlex

from lasw.metrics.errors import UserError

_LONGEST = 1 << 17  # characters, what a system starts; shlex takes quadratic time on more


def command_words(
    command: str, shown: str = "command", *, path: str | os.PathLike[str] | None = None, quotes: bool = False
) -> list[str]:
    """The words of a command.

    Args:
        command: as one would type it.
        shown: what an error calls it.
        path: of the file that it is from.
        quotes: leave quotes where they are.

    Raises:
        UserError: a quote without its other half, or it is too long.

    >>> command_words("decode --name 'two words'")
    ['decode', '--name', 'two words']
    """
    if len(command) > _LONGEST:
        expected = f"{_LONGEST} at most; put it in a script"
        raise UserError(f"a {shown} of {len(command)} characters", path=path, expected=expected)
    try:
        return shlex.split(command, posix=not quotes)
    except ValueError as error:
        raise UserError(f"{shown} {command[:60]!r} ({error})", path=path, expected="quotes in pairs") from None
