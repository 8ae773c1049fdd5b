"""Markdown made of values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars in cells are escaped."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(_cell(one) for one in line)} |\n" for line in lines)


def code(text: object) -> str:
    """As code."""
    return f"`{text}`"


def default(value: Any) -> str:
    """How a default is shown; a dash where there is none."""
    if value is None or value == () or value == "" or value == []:
        return "–"
    if isinstance(value, bool):
        return code(str(value).lower())
    if isinstance(value, (tuple, list)):
        return " ".join(map(default, value))
    return code(os.fspath(value) if isinstance(value, Path) else value)


def sentence(text: str) -> str:
    """Without the point at its end, what would be taken for a tag or a mark written out."""
    parts = text.strip().removesuffix(".").split("`")
    parts[::2] = [part.replace("<", "&lt;").replace("*", "\\*").replace("[", "\\[") for part in parts[::2]]
    return "`".join(parts)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("\\\\|", "\\|")
