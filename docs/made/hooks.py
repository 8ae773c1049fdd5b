"""What mkdocs does to pages that forges do otherwise."""

from __future__ import annotations

import re
from typing import Any


def on_page_markdown(markdown: str, **_: Any) -> str:
    """In tables forges want a bar in code escaped, Python-Markdown does not."""

    def plain(line: re.Match[str]) -> str:
        return re.sub(r"`[^`]+`", lambda code: code[0].replace("\\|", "|"), line[0])

    return re.sub(r"^\|.*$", plain, markdown, flags=re.MULTILINE)
