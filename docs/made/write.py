"""``python docs/made/write.py``: renews the made parts of all pages, and tells which have changed."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from made.regions import DOCS, pages, renewed

for page in pages():
    before = page.read_text(encoding="utf-8")
    after = renewed(before)
    if after != before:
        page.write_text(after, encoding="utf-8")
        print(page.relative_to(DOCS.parent))
