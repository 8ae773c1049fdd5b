"""One HTML file about a selection: scores of pool and selection, means of the features, what was rejected and why."""

from __future__ import annotations

from collections import Counter
from html import escape

from lasw.selection.choice import BIN, Profile, Selection, score_bins
from lasw.selection.pool import REASONS
from lasw.selection.rankings import MEANINGS, NAMES

_WIDTH, _HEIGHT, _MARGIN = 640, 240, 34
_MOST_BARS = 80
_MEANING = dict(zip(NAMES, MEANINGS, strict=True))
_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; font: 16px/1.5 system-ui, sans-serif; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8886; text-align: left; }
td.number { text-align: right; }
div { overflow-x: auto; }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; fill: currentColor; }
.pool { fill: #56b4e9; } .chosen { fill: #d55e00; }
"""


def profile_rows(profile: Profile) -> list[tuple[str, int]]:
    """Counts that describe a pool: a name and a number each."""
    rows = [("pairs", profile.pairs), ("source words", profile.words), ("candidates", profile.candidates)]
    rows += [(f"no candidate: {REASONS[verdict]}", n) for verdict, n in sorted(profile.verdicts.items()) if verdict]
    return rows


def report_html(selection: Selection, title: str) -> str:
    """The whole file; the same selection gives the same bytes."""
    profile = selection.profile
    counts = [*profile_rows(profile), ("selected pairs", len(selection)), ("selected source words", selection.words)]
    counts += [("candidates looked at", selection.reached)]
    counts += [(f"rejected: {reason}", n) for reason, n in sorted(selection.reasons.items())]
    rows = "".join(f"<tr><td>{escape(name)}</td><td class=number>{n:,}</td></tr>" for name, n in counts)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>{_STYLE}</style></head>\n<body>\n<h1>{escape(title)}</h1>\n<div><table>{rows}</table></div>\n"
        f"<h2>Scores</h2>\n{_histogram(selection)}\n<h2>Features</h2>\n{_means(selection)}\n</body>\n</html>\n"
    )


def _means(selection: Selection) -> str:
    pool = selection.profile.means()
    chosen = selection.chosen.features.mean(axis=0).tolist() if len(selection) else []
    rows = []
    for k, name in enumerate(selection.feature_names):
        cells = [f"<td class=number>{values[k]:.4f}</td>" if values else "<td></td>" for values in (pool, chosen)]
        rows.append(f"<tr><td>{escape(name)}</td>{''.join(cells)}<td>{escape(_MEANING.get(name, ''))}</td></tr>")
    head = "<tr><th>feature</th><th>mean of candidates</th><th>mean of selected</th><th></th></tr>"
    return f"<div><table>{head}{''.join(rows)}</table></div>"


def _histogram(selection: Selection) -> str:
    """Two layers of bars, each with a height of its own, since the selection is a small part of the pool."""
    pool = selection.profile.histogram
    if not pool:
        return "<p>There is no candidate.</p>"
    chosen = Counter(score_bins(selection.chosen.score).tolist())
    low, high = min(pool), max(pool) + 1
    step = -(-(high - low) // _MOST_BARS)
    bars = []
    for counts, kind in ((pool, "pool"), (chosen, "chosen")):
        grouped: Counter[int] = Counter()
        for place, n in counts.items():
            grouped[(place - low) // step] += n
        bars += [_bar(slot, n, max(grouped.values()), kind, low, step, high) for slot, n in sorted(grouped.items())]
    ticks = [low + round(k * (high - low) / 6) for k in range(7)]
    labels = "".join(
        f'<text x="{_x(tick, low, high):.1f}" y="{_HEIGHT - 10}" text-anchor="middle">{tick * BIN:.2f}</text>'
        for tick in ticks
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="scores of candidates and of selected pairs">'
        f"{''.join(bars)}{labels}</svg>\n<p>Blue: all candidates; orange: the selected ones. Each is drawn to its own "
        "height.</p>"
    )


def _bar(slot: int, n: int, most: int, kind: str, low: int, step: int, high: int) -> str:
    start = low + slot * step
    left, right = _x(start, low, high), _x(start + step, low, high)
    if kind == "chosen":
        left, right = left + (right - left) / 4, right - (right - left) / 4
    height = (_HEIGHT - _MARGIN) * n / most
    return (
        f'<rect class="{kind}" x="{left:.1f}" y="{_HEIGHT - _MARGIN - height:.1f}" width="{max(right - left, 1):.1f}" '
        f'height="{height:.1f}"><title>{start * BIN:.2f} to {(start + step) * BIN:.2f}: {n:,}</title></rect>'
    )


def _x(place: float, low: int, high: int) -> float:
    return _MARGIN + (place - low) / (high - low) * (_WIDTH - 2 * _MARGIN)
