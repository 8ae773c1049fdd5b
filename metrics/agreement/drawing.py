"""A picture of which metric agrees significantly better with people than which: one SVG file that needs no other.

A panel a correlation and set of judgements, as WMT's metrics task prints them: a row and a column a metric, best first,
a cell filled where the row's metric beats the column's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from lasw.metrics.agreement.correlation import Correlation
from lasw.metrics.agreement.significance import BOOTSTRAP, PERM_BOTH, Significance

# Largest p-value, colour and words of the legend. Steps of lightness, so that it also prints in grey.
LEVELS = ((0.01, "#1b5e91", "p < 0.01"), (0.05, "#7fb2d9", "p < 0.05"))
_NONE, _SELF = "#f4f5f6", "#c9cdd1"
_CELL = 18
_LETTER = 6.7  # width of a letter of 11 px in a font that has one width, rounded up
_GAP = 28
_TITLE = 34


@dataclass(frozen=True, eq=False)
class Panel:
    """One matrix.

    Attributes:
        title: two lines at most, above it.
        correlations: M, one a metric.
        significance: of the M metrics.
        ranks: of their clusters, between which there are gaps; none if they are not to be shown.
    """

    title: str
    correlations: Sequence[Correlation]
    significance: Significance
    ranks: Sequence[int | None] = ()


def picture(labels: Sequence[str], rows: Sequence[Sequence[Panel]]) -> str:
    """The SVG document.

    Args:
        labels: M, what the metrics are called.
        rows: panels side by side, one row below the other.
    """
    side = _CELL * len(labels)
    margin = max(map(len, labels)) * _LETTER + 6
    letters = max(len(line) for row in rows for panel in row for line in panel.title.split("\n"))
    width = max(margin + 7 * _LETTER + side, letters * _LETTER) + _GAP
    height = _TITLE + margin + side + _GAP
    parts = []
    for j, row in enumerate(rows):
        for i, panel in enumerate(row):
            corner = f"{_GAP / 2 + i * width:g} {_GAP / 2 + j * height:g}"
            parts.append(f'<g transform="translate({corner})">{_panel(labels, panel, margin)}</g>')
    total_width = max(max(map(len, rows)) * width, 430) + _GAP / 2
    total_height = len(rows) * height + _GAP
    parts.append(f'<g transform="translate({_GAP / 2:g} {total_height - _GAP:g})">{_legend()}</g>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total_width:g} {total_height:g}" '
        f'width="{total_width:g}" height="{total_height:g}" role="img" class="matrix" '
        'font-family="ui-monospace, monospace" '
        'font-size="11" fill="#1d1f21">\n<title>Which metric agrees significantly better with people</title>\n'
        f'<rect width="100%" height="100%" class="page" fill="#ffffff"/>\n{"".join(parts)}</svg>\n'
    )


def _panel(labels: Sequence[str], panel: Panel, margin: float) -> str:
    """Best first; metrics whose correlation is undefined come last."""
    values = [-np.inf if x.value is None else x.value for x in panel.correlations]
    order = sorted(range(len(labels)), key=lambda k: -values[k])
    lines = panel.title.split("\n")
    weights = ["bold"] + ["normal"] * len(lines)
    rank_of = dict(enumerate(panel.ranks))
    parts = [
        f'<text y="{12 + 14 * k}" font-weight="{weights[k]}">{escape(line)}</text>' for k, line in enumerate(lines)
    ]
    left, top, side = margin + 7 * _LETTER, _TITLE + margin, _CELL * len(labels)
    for row, first in enumerate(order):
        y = top + row * _CELL
        value = panel.correlations[first].value
        shown = "-" if value is None else f"{value:.3f}"
        parts.append(f'<text x="{margin - 6:g}" y="{y + 13:g}" text-anchor="end">{escape(labels[first])}</text>')
        parts.append(f'<text x="{left - 6:g}" y="{y + 13:g}" text-anchor="end">{shown}</text>')
        x = left + row * _CELL + 13
        parts.append(f'<text transform="translate({x:g} {top - 5:g}) rotate(-90)">{escape(labels[first])}</text>')
        if row and rank_of.get(first) != rank_of.get(order[row - 1]):
            line = f'x1="0" x2="{left + side:g}" y1="{y - 0.5:g}" y2="{y - 0.5:g}"'
            parts.append(f'<line {line} class="edge" stroke="#1d1f21" stroke-dasharray="3 2"/>')
        for column, second in enumerate(order):
            p = panel.significance.p_values[first, second]
            fill = _fill(_SELF if first == second else _colour(p))
            tooltip = "" if first == second else _tooltip(labels[first], labels[second], float(p))
            box = f'x="{left + column * _CELL:g}" y="{y:g}" width="{_CELL - 1}" height="{_CELL - 1}"'
            parts.append(f"<rect {box} {fill}>{tooltip}</rect>")
    return "\n".join(parts) + "\n"


def _colour(p: float) -> str:
    return next((colour for limit, colour, _ in LEVELS if p < limit), _NONE)


def _fill(colour: str) -> str:
    """As an attribute, and as a class for a page that has other colours in the dark."""
    names = {colour: f"p{k}" for k, (_, colour, _) in enumerate(LEVELS)} | {_NONE: "none", _SELF: "self"}
    return f'class="{names[colour]}" fill="{colour}"'


def _tooltip(first: str, second: str, p: float) -> str:
    text = "undefined" if np.isnan(p) else f"p = {p:.4f}"
    return f"<title>{escape(first)} over {escape(second)}: {text}</title>"


def _legend() -> str:
    parts, x = [], 0.0
    for colour, text in [*((colour, text) for _, colour, text in LEVELS), (_NONE, "not significantly better")]:
        parts.append(f'<rect x="{x:g}" width="12" height="12" {_fill(colour)} stroke="{_SELF}"/>')
        parts.append(f'<text x="{x + 18:g}" y="10">{escape(text)}</text>')
        x += 30 + len(text) * _LETTER
    return "".join(parts)


def panel_title(level: str, coefficient: str, name: str, test: str) -> str:
    """What stands above a panel."""
    tested = {BOOTSTRAP: "paired bootstrap", PERM_BOTH: "PERM-BOTH"}.get(test, "Williams' test")
    shown = coefficient.title() if coefficient in ("kendall", "pearson", "spearman") else coefficient
    return f"{name}\n{level}, {shown}; {tested}"
