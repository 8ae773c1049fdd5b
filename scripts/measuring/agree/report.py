"""The page of `lasw agree --report`: which metric to tune with, how sure that is, where metrics and people disagree."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import (
    SEGMENTS,
    Judged,
    Key,
    Panel,
    Translation,
    dots,
    largest_disagreements,
    panel_title,
    people_of,
    picture,
    scrolling,
)
from lasw.scripts.measuring.agree.results import Results
from lasw.tuning import document, html_table, number_html

_SHOWN = 5  # disagreements of a kind and metric
_DOTS = 2000  # at most, in a picture
_ORDER = ("acc-eq", "accuracy", "tau13", "tau14", "tau12", "darr", "tau-b", "tau-c", "pearson", "spearman")


def report_page(results: Results, data: Sequence[Judged], tunable: int) -> str:
    """The HTML.

    Args:
        results: with significance.
        data: the sets.
        tunable: how many of the metrics, from the first, lasw can tune with.
    """
    body = ["<h1>Metrics against people</h1>", *(f"<p>{advice(results, f, tunable)}</p>" for f in range(len(data)))]
    body.append(_averages(results))
    for f, one in enumerate(data):
        body.append(f"<section><h2>{escape(results.names[f])}</h2>")
        body += [_values(results, f), _matrices(results, f), _dots(results, f, one), _largest(results, f, one)]
        body.append("</section>")
    signatures = "".join(f"<li><code>{escape(x)}</code></li>" for x in results.signatures)
    body.append(f"<h2>How it was made</h2><ul>{signatures}</ul>")
    return document("Metrics against people", body)


def advice(results: Results, f: int, tunable: int) -> str:
    """One sentence: the metric to tune with, its statistic and interval, and which ones are not surely worse."""
    name = escape(results.names[f])
    keys = [key for key in results.measured() if key[0] == SEGMENTS and key in results.agreements[f][0].measures]
    keys.sort(key=lambda key: (_few(results, f, key), _ORDER.index(key[1]) if key[1] in _ORDER else len(_ORDER)))
    values = [results.agreements[f][k][keys[0]].value for k in range(tunable)] if keys else []
    there = [k for k, value in enumerate(values) if value is not None]
    if not there:
        return f"{name}: no metric that lasw can tune with has a statistic of segments."
    key, best = keys[0], max(there, key=lambda k: float(values[k] or 0))
    significance = results.significance[f][key]
    interval = significance.intervals[best]
    told = f"{key[1]} {values[best]:.3f}" + (
        f", 95 % interval {interval.low:.3f} to {interval.high:.3f}" if interval else ""
    )
    p_values = significance.p_values[best]
    alike = [escape(results.labels[k]) for k in there if k != best and not p_values[k] <= results.level]
    others = f"not surely worse: {', '.join(alike)}" if alike else "all others are surely worse"
    n = results.agreements[f][best][key].n
    return f"<strong>{name}: tune with {escape(results.labels[best])}</strong> ({told}, n = {n}; {others})."


def _few(results: Results, f: int, key: Key) -> bool:
    """Whether so few pairs are inside segments that a statistic of all translations says more."""
    return (
        results.agreements[f][0][key].n
        < max(results.agreements[f][0][other].n for other in results.significance[f]) / 4
    )


def _averages(results: Results) -> str:
    rows = [
        [escape(label), number_html(rank, ".2f")]
        for label, rank in zip(results.labels, results.mean_ranks(), strict=True)
    ]
    rows.sort(key=lambda row: (row[1] == "", row[1]))
    tasks = sum(len(column) for column in results.significance)
    note = (
        f"<p>A rank is the number of the cluster that a metric is in; the mean is over {tasks} statistics and sets.</p>"
    )
    return f"<h2>Mean rank</h2>{html_table(['metric', 'mean rank'], rows)}{note}"


def _values(results: Results, f: int) -> str:
    keys = [key for key in results.measured() if key in results.significance[f]]
    rows = []
    for k, label in enumerate(results.labels):
        cells = [escape(label)]
        for key in keys:
            x, interval = results.agreements[f][k][key], results.significance[f][key].intervals[k]
            rank = results.ranks(f, key)[k]
            radius = f" ± {interval.radius:.3f}" if interval is not None else ""
            shown = escape(str(x)) if x.value is None else f"{number_html(x.value, '.3f')}{radius} ({rank})"
            cells.append(f'<span title="n = {x.n}">{shown}</span>')
        rows.append(cells)
    counts = ["n", *(str(results.agreements[f][0][key].n) for key in keys)]
    header = ["metric", *(f"{level}:<br>{escape(coefficient)}" for level, coefficient in keys)]
    return html_table(header, [counts, *rows]) + "<p>In brackets: the metric's cluster, 1 is best.</p>"


def _matrices(results: Results, f: int) -> str:
    panels = []
    for key, significance in results.significance[f].items():
        correlations = [agreement[key] for agreement in results.agreements[f]]
        title = panel_title(*key, results.names[f], significance.test)
        panels.append(Panel(title, correlations, significance, results.ranks(f, key)))
    svg = picture(results.labels, [panels[k : k + 2] for k in range(0, len(panels), 2)])
    return f"<h3>Who is significantly better</h3>{scrolling(svg, 'heat maps of significance')}"


def _dots(results: Results, f: int, data: Judged) -> str:
    """The metric's scores against people's: of segments where there are marks, else of systems."""
    people, pictures = people_of(data, results.wins_by), []
    systems = None if people.human is None else people.human(np.ones((1, people.rated.units)))[0]
    for k, label in enumerate(results.labels):
        for level, marks in ((SEGMENTS, people.rated.marks), ("systems", systems)):
            key = next((x for x in results.significance[f] if x[0] == level), None)
            values = None if key is None else results.agreements[f][k].measures[key].values
            if marks is None or values is None or np.isnan(values.metric).any():
                continue
            x, y = _as_told(results, k, values.metric), marks[~np.isnan(marks)]
            step = max(1, -(-len(y) // _DOTS))
            points = list(zip(x[::step].tolist(), y[::step].tolist(), strict=True))
            unit = f"{label} of {level}" + (f", every {step}th" if step > 1 else "")
            by = results.of_segments if level == SEGMENTS else results.of_systems
            pictures.append(dots(f"{unit}, against people", points, unit, f"people: {by}"))
    return f'<h3>Scores against people</h3><div class="charts">{"".join(pictures)}</div>'


def _as_told(results: Results, k: int, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of a metric as its label says which way they go: an error rate's are one minus it."""
    return 1 - scores if results.better[k] == "lower" else scores


def _largest(results: Results, f: int, data: Judged) -> str:
    parts = ["<h3>Where metrics and people disagree most</h3>"]
    for k, label in enumerate(results.labels):
        key: Key | None = next((x for x in results.significance[f] if x[0] == SEGMENTS), None)
        values = None if key is None else results.agreements[f][k].measures[key].values
        if values is None or np.isnan(values.metric).any():
            continue
        kinds = largest_disagreements(data, values.metric, _SHOWN)
        kinds_of = ("the metric is too kind", "the metric is too strict")
        titles = kinds_of if len(kinds) == 2 else ("it prefers the worse one",)
        for title, found in zip(titles, kinds, strict=True):
            rows = [
                _row(one, place, float(_as_told(results, k, np.array(one.score))))
                for several in found
                for place, one in enumerate(several)
            ]
            if rows:
                parts.append(f"<h4>{escape(label)}: {title}</h4>")
                parts.append(html_table(["segment", "system", "score", "people", "translation", "reference"], rows))
    return "".join(parts)


def _row(one: Translation, place: int, score: float) -> list[str]:
    mark = ("better", "worse")[place] if one.mark is None else number_html(one.mark, ".2f")
    texts = [escape(one.text), escape(one.reference)]
    return [str(one.segment + 1), escape(one.system), number_html(score, ".3f"), mark, *texts]
