"""Small charts as inline SVG: lines over iterations, stacked bars. No script, no font, no outside resource."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

# Okabe & Ito's palette, told apart by people with any colour vision; after it comes round the lines are dashed.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
_DASHES = ("", "6 3", "2 3", "8 3 2 3")
_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 14, 12, 44  # room for letters of half as much again, which narrow screens get
_SIDE, _ROW = 24, 44  # margins and height of a row in charts that have one a name: the name, its dots below


@dataclass(frozen=True)
class Series:
    """One line: `points` are (x, y), x whole numbers; a missing y leaves a gap in nothing, the point is not drawn."""

    name: str
    points: Sequence[tuple[int, float]]


def line_chart(label: str, series: Sequence[Series], x_label: str, y_label: str, digits: int = 2) -> str:
    """Lines with a dot and a tool tip a point, and a legend below.

    Args:
        label: what it shows, for who cannot see it.
        series: at least one point in all.
        x_label: below the x axis.
        y_label: left of the y axis.
        digits: behind the point in tool tips.
    """
    xs = [x for one in series for x, _ in one.points]
    ys = [y for one in series for _, y in one.points]
    x_ticks, y_ticks = _whole_ticks(min(xs), max(xs)), _ticks(min(ys), max(ys))
    frame = _Frame(x_ticks[0], max(x_ticks[-1], x_ticks[0] + 1), y_ticks[0], y_ticks[-1])
    parts = [_axes(frame, x_ticks, y_ticks, x_label, y_label)]
    for k, one in enumerate(series):
        colour, dash = _style(k)
        path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in one.points)
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2"{_dashed(dash)} points="{path}"/>')
        parts.extend(
            f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="3" fill="{colour}">'
            f"<title>{escape(one.name)}, {escape(x_label)} {x}: {y:.{digits}f}</title></circle>"
            for x, y in one.points
        )
    return _svg(label, parts) + _legend([one.name for one in series])


def stacked_bars(
    label: str, categories: Sequence[str], series: Sequence[tuple[str, Sequence[float]]], unit: str, digits: int = 2
) -> str:
    """One bar a category, one layer a series (name, a value per category), with a legend below.

    `digits` are those behind the point in tool tips.
    """
    totals = [sum(values[k] for _, values in series) for k in range(len(categories))]
    y_ticks = _ticks(0.0, max(totals, default=0.0))
    frame = _Frame(0, len(categories), 0.0, y_ticks[-1])
    parts = [_axes(frame, [], y_ticks, "iteration", unit)]
    every = math.ceil(len(categories) / 16)
    for k, category in enumerate(categories):
        left, right = frame.x(k + 0.15), frame.x(k + 0.85)
        base = 0.0
        for colour_index, (name, values) in enumerate(series):
            top = base + values[k]
            parts.append(
                f'<rect x="{left:.1f}" y="{frame.y(top):.1f}" width="{right - left:.1f}" '
                f'height="{frame.y(base) - frame.y(top):.1f}" fill="{_style(colour_index)[0]}">'
                f"<title>{escape(category)}, {escape(name)}: {values[k]:.{digits}f} {escape(unit)}</title></rect>"
            )
            base = top
        if k % every == 0:
            parts.append(_text((left + right) / 2, _HEIGHT - _BOTTOM + 16, category, "middle"))
    return _svg(label, parts) + _legend([name for name, _ in series])


def dot_rows(label: str, rows: Sequence[tuple[str, Sequence[float]]], x_label: str) -> str:
    """One line a row: a dot a value, an upright stroke at their mean; the first row's mean is drawn through all.

    Args:
        label: what it shows, for who cannot see it.
        rows: (name, values), at least one value each.
        x_label: below the x axis.
    """
    values = [value for _, own in rows for value in own]
    ticks = _ticks(min(values), max(values))
    height = _TOP + _ROW * len(rows) + _BOTTOM

    def x(value: float) -> float:
        return _SIDE + (value - ticks[0]) / (ticks[-1] - ticks[0]) * (_WIDTH - 2 * _SIDE)

    bottom = height - _BOTTOM
    parts = []
    for value in ticks:
        parts.append(f'<line class="grid" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{_TOP}" y2="{bottom}"/>')
        parts.append(_text(x(value), bottom + 16, _tick_text(value, ticks), "middle"))
    means = [sum(own) / len(own) for _, own in rows]
    parts.append(
        f'<line x1="{x(means[0]):.1f}" x2="{x(means[0]):.1f}" y1="{_TOP}" y2="{bottom}" stroke="{_COLOURS[7]}" '
        f'stroke-dasharray="4 3"/>'
    )
    for k, ((name, own), mean) in enumerate(zip(rows, means, strict=True)):
        middle = _TOP + _ROW * (k + 0.7)
        parts.append(_text(0, middle - 14, name, "start"))
        parts.append(
            f'<line x1="{x(mean):.1f}" x2="{x(mean):.1f}" y1="{middle - 8:.1f}" y2="{middle + 8:.1f}" '
            f'stroke="{_COLOURS[1]}" stroke-width="3"><title>{escape(name)}, mean: {mean:.2f}</title></line>'
        )
        parts.extend(
            f'<circle cx="{x(value):.1f}" cy="{middle:.1f}" r="4" fill="{_COLOURS[0]}" fill-opacity="0.7">'
            f"<title>{escape(name)}: {value:.2f}</title></circle>"
            for value in own
        )
    parts.append(_text(_WIDTH / 2, height - 6, x_label, "middle"))
    return _svg(label, parts, height)


@dataclass(frozen=True)
class _Frame:
    """From values to places in the picture."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float

    def x(self, value: float) -> float:
        return _LEFT + (value - self.x_low) / (self.x_high - self.x_low) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return _HEIGHT - _BOTTOM - (value - self.y_low) / (self.y_high - self.y_low) * (_HEIGHT - _TOP - _BOTTOM)


def _axes(frame: _Frame, x_ticks: Sequence[int], y_ticks: Sequence[float], x_label: str, y_label: str) -> str:
    parts = []
    for value in y_ticks:
        y = frame.y(value)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(_LEFT - 6, y + 4, _tick_text(value, y_ticks), "end"))
    parts.extend(_text(frame.x(value), _HEIGHT - _BOTTOM + 16, str(value), "middle") for value in x_ticks)
    parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 6, x_label, "middle"))
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    parts.append(
        f'<text x="14" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 14 {middle:.1f})">'
        f"{escape(y_label)}</text>"
    )
    return "".join(parts)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _tick_text(value: float, ticks: Sequence[float]) -> str:
    digits = max(0, -math.floor(math.log10(ticks[1] - ticks[0]) + 1e-9))
    return f"{value:.{digits}f}"


def _svg(label: str, parts: Sequence[str], height: int = _HEIGHT) -> str:
    return (
        f'<div class="chart"><svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg></div>"
    )


def _legend(names: Sequence[str]) -> str:
    items = []
    for k, name in enumerate(names):
        colour, dash = _style(k)
        line = f'<line x1="0" x2="22" y1="6" y2="6" stroke="{colour}" stroke-width="4"{_dashed(dash)}/>'
        items.append(f'<li><svg viewBox="0 0 22 12" aria-hidden="true">{line}</svg> {escape(name)}</li>')
    return f'<ul class="legend">{"".join(items)}</ul>'


def _style(index: int) -> tuple[str, str]:
    return _COLOURS[index % len(_COLOURS)], _DASHES[index // len(_COLOURS) % len(_DASHES)]


def _dashed(dash: str) -> str:
    return f' stroke-dasharray="{dash}"' if dash else ""


def _ticks(low: float, high: float) -> list[float]:
    """Five or so round values that enclose low and high."""
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / 5
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next(scale * k for k in (1, 2, 5, 10) if scale * k >= rough * (1 - 1e-9))
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [k * step for k in range(first, last + 1)]


def _whole_ticks(low: int, high: int) -> list[int]:
    step = max(1, math.ceil((high - low) / 12))
    return list(range(low, high + step, step))
