"""Colours, on terminals alone and only where nobody has set NO_COLOR."""

from __future__ import annotations

import os
from typing import IO

_CODES = {"red": 31, "green": 32, "yellow": 33}


def coloured(text: str, colour: str, stream: IO[str]) -> str:
    """`text` in a colour where it is going to be printed, or as it is.

    Args:
        text: of a line.
        colour: ``red``, ``green`` or ``yellow``.
        stream: where it goes.
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"
