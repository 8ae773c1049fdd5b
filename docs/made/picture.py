"""``python docs/made/picture.py REPORT.html PICTURE.svg``: the first chart of a report, its legend below it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

_CHART = re.compile(
    r'<svg viewBox="0 0 (\d+) (\d+)"[^>]*aria-label="([^"]*)">(.*?)</svg>(?:</div>)?(<ul class="legend">.*?</ul>)?',
    re.S,
)
_ITEM = re.compile(r"<li><svg[^>]*>(.*?)</svg> (.*?)</li>", re.S)
_STYLE = "svg { font: 12px system-ui, sans-serif; } .grid { stroke: #e3e6e9; }"


def picture(page: str) -> str:
    """The chart, on white."""
    found = _CHART.search(page)
    if not found:
        raise SystemExit("no chart in this report")
    width, height, label, parts, legend = int(found[1]), int(found[2]), found[3], found[4], found[5] or ""
    rows = [
        f'<g transform="translate(70 {height + 18 * k + 2})">{line}<text x="30" y="10">{name}</text></g>'
        for k, (line, name) in enumerate(_ITEM.findall(legend))
    ]
    height += 18 * len(rows) + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{label}"><style>{_STYLE}</style><rect width="100%" height="100%" fill="#ffffff"/>\n'
        + "\n".join([re.sub("><(?=line|text|circle|polyline|rect)", ">\n<", parts), *rows])
        + "\n</svg>\n"
    )


report, target = map(Path, sys.argv[1:])
target.write_text(picture(report.read_text(encoding="utf-8")), encoding="utf-8")
