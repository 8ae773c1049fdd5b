"""The blocks of commands in README and docs/.

Above each block of commands a comment, which readers do not see, says in which of the made folders it runs
(`folders.py`), or why it does not; ``<!-- file: FOLDER NAME -->`` above a block of any kind puts it there as a file.
Blocks of one page and folder run one after the other. A block ``<!-- prints -->`` below one is what it prints: a line
``...`` stands for any lines, ``...`` at the end of a line for the rest of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>(?:run|not run|file): [^>]+?) -->\n+)?^```(?P<language>\w+)\n(?P<text>.*?)^```$"
    r"(?:\n+<!-- prints -->\n+```text\n(?P<printed>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """Commands of a page."""

    line: int
    mark: str
    text: str
    printed: str | None


def pages() -> list[str]:
    return ["README.md", *(str(path.relative_to(TOP)) for path in sorted((TOP / "docs").rglob("*.md")))]


def blocks(page: str) -> Iterator[Block]:
    text = (TOP / page).read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        if found["language"] == "sh" or (found["mark"] or "").startswith("file:"):
            line = text.count("\n", 0, found.start()) + 1
            yield Block(line, found["mark"] or "", found["text"], found["printed"])


PAGES = {page: found for page in pages() if (found := list(blocks(page)))}
RUNS = sorted({(page, one.mark[5:]) for page, found in PAGES.items() for one in found if one.mark[:4] == "run:"})


def fits(text: str, printed: str) -> bool:
    """Whether a page's text is what is printed."""
    lines = []
    for line in text.splitlines():
        if line == "...":
            lines.append(r"(?:.*\n)*?")
        elif line.endswith("..."):
            lines.append(re.escape(line.removesuffix("...")) + r".*\n")
        else:
            lines.append(re.escape(line.rstrip()) + r" *\n")
    return re.fullmatch("".join(lines), printed) is not None
