"""TOML files that people write: read, and where in them a key stands."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from lasw.metrics import UserError


def parse(text: str, path: str) -> dict[str, Any]:
    """The content of a TOML text.

    Raises:
        UserError: it is none; the line is named where Python tells it.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+)", str(error))
        said = str(error).partition(" (at")[0]
        raise UserError(f"this is not TOML ({said})", path=path, line=int(at[1]) if at else None) from None


def line_of(text: str, section: str | None, key: str) -> int | None:
    """Where a key of a section of a TOML text stands, or the section itself; None if that cannot be said."""
    current: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        header = re.match(r"\s*\[+\s*([^\[\]]+?)\s*\]", line)
        if header:
            current = re.sub(r"[\"']", "", header[1])
            if section is None and current.partition(".")[0] == key:
                return number
        elif current == section and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line):
            return number
    return None
