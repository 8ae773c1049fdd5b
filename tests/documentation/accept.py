"""``python tests/documentation/accept.py [PAGE ...]``: what commands print now goes into the pages where it differs.

For a change that changes numbers. Look at the difference before it is committed.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from pathlib import Path

import folders
import shell
from blocks import PAGES, RUNS, TOP, fits

_SIGNATURE = re.compile(r"^((?:signature +)?[A-Z+0-9]+\|[^|]*\|).*$", re.MULTILINE)


def accepted(before: str, printed: str) -> str:
    """What is printed, signatures cut short, and cut off where the page cuts it off."""
    lines = _SIGNATURE.sub(r"\1...", printed).splitlines()
    shown = before.splitlines()
    if "..." in shown:
        lines = [*lines[: shown.index("...")], "..."]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def renew(page: str, kind: str) -> None:
    """Run the blocks of a page in one folder, and put what they print into it."""
    path = TOP / page
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        folders.make(kind, Path(folder))
        for one in PAGES[page]:
            if one.mark.startswith(f"file: {kind} "):
                Path(one.mark.split()[2]).write_text(one.text, encoding="utf-8")
            if one.mark == f"run: {kind}":
                printed = shell.run(one.text)
                if one.printed is not None and not fits(one.printed, printed):
                    block = f"<!-- prints -->\n```text\n{one.printed}```"
                    text = path.read_text(encoding="utf-8")
                    start = text.index(block, text.index(one.text))
                    new = f"<!-- prints -->\n```text\n{accepted(one.printed, printed)}```"
                    path.write_text(text[:start] + new + text[start + len(block) :], encoding="utf-8")
                    print(f"{page}:{one.line}")


if __name__ == "__main__":
    os.chdir(TOP)
    for page, kind in RUNS:
        if not sys.argv[1:] or page in sys.argv[1:]:
            renew(page, kind)
