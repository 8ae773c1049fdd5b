"""Finds the made parts of pages and makes them anew."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from made import api, commands, settings

DOCS = Path(__file__).resolve().parents[1]
REGION = re.compile(
    r"(<!-- made: (?P<kind>[\w-]+)(?P<words>(?: [^\s>]+)*) -->\n)(?P<body>.*?)(<!-- end made -->)", re.DOTALL
)
KINDS: dict[str, Callable[..., str]] = {
    "command": commands.command,
    "mert-moses": commands.mert_moses,
    "commands": commands.summary,
    "about": settings.about,
    "metric": settings.metric,
    "optimiser": settings.optimiser,
    "decoder": settings.decoder,
    "method": settings.method,
    "methods": settings.methods,
    "la-features": settings.la_features,
    "aligners": settings.aligners,
    "section": settings.section,
    "grid": settings.grid,
    "configurations": settings.configurations,
    "api": api.folder,
    "front-door": api.front_door,
}


def pages() -> list[Path]:
    """All Markdown files of the documentation, README first."""
    return [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]


def regions(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Kind and words of every made part of a page."""
    for found in REGION.finditer(text):
        yield found["kind"], tuple(found["words"].split())


def renewed(text: str) -> str:
    """A page with its made parts as the program says now."""

    def anew(found: re.Match[str]) -> str:
        body = KINDS[found["kind"]](*found["words"].split()).strip("\n")
        return f"{found[1]}\n{body}\n\n{found[5]}"

    return REGION.sub(anew, text)
