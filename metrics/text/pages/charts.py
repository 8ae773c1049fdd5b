"""Small charts as inline SVG: lines over iterations, stacked bars. No script, no font, no outside resource.

Colours stand in the elements for who looks at a chart alone, and as classes for a page, which has others in the dark.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from lasw.metrics.text.pages.style import LIGHT

_DASHES = ("", "6 3", "2 3", "8 3 2 3")
_WIDTH, _HEIGHT = 640, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 26, 40, 66  # room for letters two thirds larger, which narrow screens get
_SIDE, _ROW = 24, 54  # margins and height of a row in charts that have one a name: the name, its dots below
_MOST_NAME = 52  # letters of a name in a chart
_MANY = 10_000  # numbers on axes are shortened from here on
_FEW = 50  # dots that hide no others


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
        y_label: on top of the y axis.
        digits: behind the point in tool tips.
    """
    xs = [x for one in series for x, _ in one.points]
    ys = [y for one in series for _, y in one.points]
    x_ticks, y_ticks = _whole_ticks(min(xs), max(xs)), _ticks(min(ys), max(ys))
    frame = _Frame(x_ticks[0], max(x_ticks[-1], x_ticks[0] + 1), y_ticks[0], y_ticks[-1])
    parts = [_axes(frame, [(x, str(x)) for x in x_ticks], y_ticks, x_label, y_label)]
    for k, one in enumerate(series):
        path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in one.points)
        parts.append(f'<polyline fill="none" {_stroke(k)} stroke-width="2" points="{path}"/>')
        parts.extend(
            f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="3" {_fill(k)}>'
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
    every = math.ceil(len(categories) / 12)
    x_ticks = [(k + 0.5, category) for k, category in enumerate(categories) if k % every == 0]
    parts = [_axes(frame, x_ticks, y_ticks, "iteration", unit)]
    for k, category in enumerate(categories):
        base = 0.0
        for colour, (name, values) in enumerate(series):
            top = base + values[k]
            tip = f"{category}, {name}: {values[k]:.{digits}f} {unit}"
            parts.append(_bar(frame, (k + 0.15, k + 0.85), (base, top), colour, tip))
            base = top
    return _svg(label, parts) + _legend([name for name, _ in series])


def histogram(
    label: str, edges: tuple[float, float], layers: Sequence[tuple[str, Mapping[int, float]]], slots: int, x_label: str
) -> str:
    """Bars of shares over slots of equal width, each layer narrower than the one behind it, with a legend below.

    Args:
        label: what it shows, for who cannot see it.
        edges: of the first and the last slot.
        layers: (name, share of its items in [0, 1] by slot).
        slots: how many there are.
        x_label: below the x axis, with the unit.
    """
    low, high = edges
    step = (high - low) / slots
    y_ticks = _ticks(0.0, 100 * max(share for _, shares in layers for share in shares.values()))
    frame = _Frame(low, high, 0.0, y_ticks[-1])
    x_ticks = _ticks(low, high)
    shown = [(value, _tick_text(value, x_ticks)) for value in x_ticks if low - 1e-9 <= value <= high + 1e-9]
    parts = [_axes(frame, shown, y_ticks, x_label, "share of pairs (%)")]
    for k, (name, shares) in enumerate(layers):
        inset = step * (0.04 + 0.22 * k)
        for slot, share in sorted(shares.items()):
            start = low + slot * step
            tip = f"{name}, {start:.2f} to {start + step:.2f}: {100 * share:.2f} %"
            parts.append(_bar(frame, (start + inset, start + step - inset), (0.0, 100 * share), k, tip))
    return _svg(label, parts) + _legend([name for name, _ in layers])


def dot_rows(label: str, rows: Sequence[tuple[str, Sequence[float]]], x_label: str) -> str:
    """One line a row: a dot a value, an upright stroke at their mean; the first row's mean is drawn through all.

    Args:
        label: what it shows, for who cannot see it.
        rows: (name, values), at least one value each.
        x_label: below the x axis.
    """
    values = [value for _, own in rows for value in own]
    ticks = _ticks(min(values), max(values))
    top = _TOP // 2
    height = top + _ROW * len(rows) + _BOTTOM

    def x(value: float) -> float:
        return _SIDE + (value - ticks[0]) / (ticks[-1] - ticks[0]) * (_WIDTH - 2 * _SIDE)

    bottom = height - _BOTTOM
    parts = []
    for value in ticks:
        parts.append(f'<line class="grid" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{top}" y2="{bottom}"/>')
        parts.append(_text(x(value), bottom + 27, _tick_text(value, ticks), "middle"))
    means = [sum(own) / len(own) for _, own in rows]
    first = f'x1="{x(means[0]):.1f}" x2="{x(means[0]):.1f}"'
    parts.append(f'<line {first} y1="{top}" y2="{bottom}" {_stroke(7)} stroke-dasharray="4 3"/>')
    for k, ((name, own), mean) in enumerate(zip(rows, means, strict=True)):
        middle = top + _ROW * (k + 0.72)
        parts.append(_text(0, middle - 16, _short(name), "start"))
        parts.append(
            f'<line x1="{x(mean):.1f}" x2="{x(mean):.1f}" y1="{middle - 8:.1f}" y2="{middle + 8:.1f}" '
            f'{_stroke(1)} stroke-width="3"><title>{escape(name)}, mean: {mean:.2f}</title></line>'
        )
        parts.extend(
            f'<circle cx="{x(value):.1f}" cy="{middle:.1f}" r="4" {_fill(0)} fill-opacity="0.7">'
            f"<title>{escape(name)}: {value:.2f}</title></circle>"
            for value in own
        )
    parts.append(_text(_WIDTH / 2, height - 8, x_label, "middle"))
    return _svg(label, parts, height)


def dots(label: str, points: Sequence[tuple[float, float]], x_label: str, y_label: str) -> str:
    """A dot a point.

    Args:
        label: what it shows, for who cannot see it.
        points: (x, y), at least one, finite.
        x_label: below the x axis.
        y_label: on top of the y axis.
    """
    x_ticks, y_ticks = (_ticks(min(values), max(values)) for values in zip(*points, strict=True))
    frame, few = _Frame(x_ticks[0], x_ticks[-1], y_ticks[0], y_ticks[-1]), len(points) < _FEW
    parts = [_axes(frame, [(x, _tick_text(x, x_ticks)) for x in x_ticks], y_ticks, x_label, y_label)]
    shown = f'r="4" {_fill(0)} fill-opacity="{0.9 if few else 0.45}"'
    parts += [f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" {shown}/>' for x, y in points]
    return _svg(label, parts)


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


def _axes(
    frame: _Frame, x_ticks: Sequence[tuple[float, str]], y_ticks: Sequence[float], x_label: str, y_label: str
) -> str:
    parts = []
    for value in y_ticks:
        y = frame.y(value)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(_LEFT - 6, y + 5, _tick_text(value, y_ticks), "end"))
    parts.extend(_text(frame.x(value), _HEIGHT - _BOTTOM + 27, text, "middle") for value, text in x_ticks)
    parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, x_label, "middle"))
    parts.append(_text(0, 18, y_label, "start"))
    return "".join(parts)


def _bar(frame: _Frame, sides: tuple[float, float], ends: tuple[float, float], colour: int, tip: str) -> str:
    left, right = map(frame.x, sides)
    bottom, top = map(frame.y, ends)
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 1):.1f}" height="{bottom - top:.1f}" '
        f"{_fill(colour)}><title>{escape(tip)}</title></rect>"
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _tick_text(value: float, ticks: Sequence[float]) -> str:
    step = ticks[1] - ticks[0]
    for letter, size in (("M", 1e6), ("k", 1e3)):
        if abs(ticks[-1]) >= max(_MANY, 10 * size) and step >= size / 10:
            return f"{value / size:.{_digits(step / size)}f}{letter}" if value else "0"
    return f"{value:.{_digits(step)}f}"


def _digits(step: float) -> int:
    return max(0, -math.floor(math.log10(step) + 1e-9))


def _short(name: str) -> str:
    return name if len(name) <= _MOST_NAME else f"{name[: _MOST_NAME - 1]}…"


def _svg(label: str, parts: Sequence[str], height: int = _HEIGHT) -> str:
    return (
        f'<div class="chart"><svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg></div>"
    )


def _legend(names: Sequence[str]) -> str:
    items = []
    for k, name in enumerate(names):
        line = f'<line x1="0" x2="22" y1="6" y2="6" {_stroke(k)} stroke-width="4"/>'
        items.append(f'<li><svg viewBox="0 0 22 12" aria-hidden="true">{line}</svg> {escape(name)}</li>')
    return f'<ul class="legend">{"".join(items)}</ul>'


def _stroke(index: int) -> str:
    """Attributes of a line."""
    colour, dash = index % len(LIGHT), _DASHES[index // len(LIGHT) % len(_DASHES)]
    return f'class="c{colour}" stroke="{LIGHT[colour]}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _fill(index: int) -> str:
    """Attributes of an area."""
    return f'class="c{index % len(LIGHT)}" fill="{LIGHT[index % len(LIGHT)]}"'


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
