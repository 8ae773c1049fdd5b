"""What happened in one or several runs, as one HTML file that needs nothing else.

There is no outside resource, and a script only where a table can be sorted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from lasw.metrics import (
    Display,
    Series,
    document,
    facts_table,
    first_screen,
    html_table,
    line_chart,
    number_html,
    stacked_bars,
    write_text,
)
from lasw.tuning.report.run_data import RunData, read_run
from lasw.tuning.report.sentences import sentences_html
from lasw.tuning.report.words import after, done, gained
from lasw.tuning.run_directory import Json
from lasw.tuning.weights import Weights

_STEPS = {
    "decode": "decoding",
    "write": "writing lists",
    "pool": "reading lists into the pool",
    "optimise": "optimising",
}
_SHOWN_SPARSE = 50


@dataclass(frozen=True)
class Table:
    """A table to put first: a cell that is a number is shown with two digits and keeps its full value."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str | float]]
    notes: Sequence[str] = field(default=())


def write_run_report(folder: Path, result: Json | None = None) -> None:
    """Write ``report.html`` of the run in `folder`; `result` is what ``result.json`` will say."""
    write_report(folder / "report.html", [read_run(folder, result)])


def write_report(
    path: str | os.PathLike[str], runs: Sequence[RunData], title: str = "", tables: Sequence[Table] = ()
) -> None:
    """Write the HTML file for `runs` (one or several, `tables` first), whole or not at all."""
    write_text(path, page(runs, title, tables))


def page(runs: Sequence[RunData], title: str = "", tables: Sequence[Table] = ()) -> str:
    """The HTML of a report."""
    title = title or "Tuning run " + ", ".join(run.name for run in runs)
    if len(runs) == 1:
        body = [first_screen(title, done(runs[0]), gained(runs[0]), after(runs[0]))]
    else:
        body = [first_screen(title, f"{len(runs)} tuning runs side by side; each is described below.", "")]
    body.extend(_table(table) for table in tables)
    if len(runs) > 1:
        body.append(_comparison(runs))
    body.extend(_run(run, alone=len(runs) == 1) for run in runs)
    return document(title, body)


def _comparison(runs: Sequence[RunData]) -> str:
    series = [Series(run.name, _scores(run, "dev_score")) for run in runs if _scores(run, "dev_score")]
    if not series:
        return ""
    names = {_development(run) for run in runs}
    name = names.pop() if len(names) == 1 else "development score"
    chart = line_chart(f"{name} of every run", series, "iteration", _with_unit(name, runs[0].display))
    return f"<section><h2>{escape(name[0].upper() + name[1:])}</h2>{chart}</section>"


def _run(run: RunData, *, alone: bool) -> str:
    parts = [] if alone else [f"<h2>Run {escape(run.name)}</h2><p>{escape(f'{done(run)} {gained(run)}')}</p>"]
    if run.records:
        parts += [
            *(_score_chart(run), _weight_chart(run), _time_chart(run), _candidates(run)),
            *(_iterations(run), _step_table(run), _warnings(run)),
        ]
    if run.development is not None and run.development.sentences is not None:
        parts.append(sentences_html(run.development.sentences))
    parts += [f"<p>{escape(remark)}</p>" for remark in run.remarks]
    if run.final is not None:
        parts.append(_weights_table(run.final))
    parts.append(_how(run))
    html = "\n".join(filter(None, parts))
    if alone:  # no run's name stands between the title and these; texts are escaped and have no tags
        html = html.replace("<h3>", "<h2>").replace("</h3>", "</h2>")
    return f"<section>{html}</section>"


def _scores(run: RunData, key: str) -> list[tuple[int, float]]:
    # Record i is about the weights that iteration i - 1 made; the pool BLEU is that of the weights iteration i made.
    shift = 1 if key == "dev_score" else 0
    shown = run.display.score if key == "dev_score" else Display().score
    return [(r["iteration"] - shift, shown(r[key])) for r in run.records if r.get(key) is not None]


def _development(run: RunData) -> str:
    """What the development score is called."""
    return f"development {run.dev_metric}{f' {run.display.arrow}' if run.display.lower else ''}"


def _with_unit(name: str, display: Display) -> str:
    """The title of an axis."""
    if display.lower:
        return f"{name} (error rate in %)"
    return f"{name} (0 to 100)" if display.scale == Display().scale else name


def _score_chart(run: RunData) -> str:
    series = [
        Series(f"{_development(run)}, decoded with the weights that the iteration made", _scores(run, "dev_score")),
        Series("pool BLEU of these weights", _scores(run, "pool_bleu")),
    ]
    if run.development is not None:
        oracle = [(number, run.display.score(score)) for number, score in run.development.oracle]
        series.append(Series("oracle: the best candidates up to the iteration", oracle))
        if run.development.held_out:
            held_out = [(number, run.display.score(score)) for number, score in run.development.held_out]
            series.append(Series("held-out lists reranked with the weights that the iteration made", held_out))
    axis = _with_unit("score" if run.display.lower else run.dev_metric, Display() if run.display.lower else run.display)
    chart = line_chart("scores by iteration", [s for s in series if s.points], "iteration", axis)
    return f"<h3>Score per iteration</h3>{chart}"


def _weight_chart(run: RunData) -> str:
    names = run.weights[0].names.components
    shares = [weights.dense / (np.abs(weights.dense).sum() or 1.0) for weights in run.weights]
    series = [Series(name, [(k, float(row[j])) for k, row in enumerate(shares)]) for j, name in enumerate(names)]
    chart = line_chart("weights by iteration", series, "iteration", "weight (share of the L1 norm)", digits=4)
    return f"<h3>Weights per iteration</h3>{chart}"


def _time_chart(run: RunData) -> str:
    categories = [str(record["iteration"]) for record in run.records]
    series = [(name, [record["seconds"].get(step, 0.0) for record in run.records]) for step, name in _STEPS.items()]
    return (
        f"<h3>Time per step</h3>{stacked_bars('seconds by iteration and step', categories, series, 'time (seconds)')}"
    )


def _candidates(run: RunData) -> str:
    made = [record for record in run.records if record.get("candidates") is not None]
    if not made:
        return ""
    categories = [str(record["iteration"]) for record in made]
    new = [float(record["new_candidates"]) for record in made]
    old = [record["candidates"] - count for record, count in zip(made, new, strict=True)]
    layers = [("found in earlier iterations", old), ("new in this iteration", new)]
    chart = stacked_bars("candidates by iteration", categories, layers, "candidates (number)", digits=0)
    return f"<h3>Candidates per iteration</h3>{chart}"


def _iterations(run: RunData) -> str:
    header = ["iteration", f"{_development(run)} before it", "pool BLEU after it", "candidates", "new"]
    header += ["largest move of a weight", *(f"{name} (s)" for name in _STEPS.values())]
    rows: list[list[str]] = []
    for record in run.records:
        before = number_html(run.display.value(record["dev_score"]), ".2f", run.display.scale)
        cells = [str(record["iteration"]), before, number_html(record.get("pool_bleu"), ".2f", 100)]
        cells += [number_html(record.get(key), ",") for key in ("candidates", "new_candidates")]
        cells.append(number_html(record.get("moved"), ".2g"))
        cells += [number_html(record["seconds"].get(step), ".2f") for step in _STEPS]
        rows.append(cells)
    note = ""
    if "pool_bleu" not in run.records[-1]:
        note = "<p>The last line is the decoding with the last weights.</p>"
    return "<h3>Iterations</h3>" + html_table(header, rows) + note


def _step_table(run: RunData) -> str:
    """What every round proposed, tried, took and was promised, and what came of it."""
    scores, scale = [record["dev_score"] for record in run.records], run.display.scale
    rows = []
    for k, record in enumerate(run.records):
        step = record.get("step")
        if step is None:
            continue
        asked = [
            "<br>".join(
                f"{p['share']:.3g}: {scale * p['gain']:+.2f} ± {scale * p['noise']:.2f}" for p in step.get(key, ())
            )
            for key in ("lists", "probes")
        ]
        start = "the start weights" if step["from"] == 0 else f"iteration {step['from']}"
        numbers = [record.get(key) for key in ("gain", "gain_noise", "held_out_gain", "held_out_noise")]
        gained = scores[k + 1] - scores[step["from"]] if k + 1 < len(scores) else None
        rows.append(
            [str(record["iteration"]), start, *asked, number_html(step["share"], ".3g")]
            + [number_html(number, ".2f", scale) for number in (*numbers, gained)]
        )
    if not rows:
        return ""
    header = [
        "iteration",
        "step from the weights of",
        "share of the proposal: gain on the lists",
        "on the sample decoded",
    ]
    header += ["share taken", "promised by the pool", "its standard error"]
    header += ["promised to sentences kept out", "its standard error"]
    return "<h3>Steps</h3>" + html_table([*header, "gained in the next decoding"], rows)


def _warnings(run: RunData) -> str:
    items = [f"iteration {r['iteration']}: {text}" for r in run.records for text in r["warnings"]]
    return f"<h3>Warnings</h3><ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>" if items else ""


def _weights_table(weights: Weights) -> str:
    rows = [[escape(n), number_html(v)] for n, v in zip(weights.names.components, weights.dense.tolist(), strict=True)]
    largest = sorted(weights.sparse.items(), key=lambda item: (-abs(item[1]), item[0]))
    rows += [[escape(name), number_html(value)] for name, value in largest[:_SHOWN_SPARSE]]
    more = len(largest) - _SHOWN_SPARSE
    note = f"<p>{more} smaller sparse weights are in weights.json.</p>" if more > 0 else ""
    return "<h3>Final weights</h3>" + html_table(["feature", "weight"], rows) + note


def _how(run: RunData) -> str:
    said = run.description
    rows: list[tuple[str, str]] = []
    if said.get("command"):
        rows.append(("command", f"<code>{escape(said['command'])}</code>"))
    rows += [(escape(key), f"<code>{escape(plain_text(value))}</code>") for key, value in flat_pairs(said)]
    return f"<h3>How it was made</h3>{facts_table(rows, 'command and settings')}"


def flat_pairs(content: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """(dotted key, value) of everything in a JSON object but its command."""
    pairs: list[tuple[str, Any]] = []
    for key, value in content.items():
        if isinstance(value, dict) and value:
            pairs += flat_pairs(value, f"{prefix}{key}.")
        elif prefix or key != "command":
            pairs.append((prefix + key, value))
    return pairs


def plain_text(value: Any) -> str:
    """A JSON value in one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _table(table: Table) -> str:
    rows = [[escape(c) if isinstance(c, str) else number_html(c, ".2f") for c in row] for row in table.rows]
    notes = "".join(f"<p>{escape(note)}</p>" for note in table.notes)
    header = [escape(name) for name in table.header]
    return f"<section><h2>{escape(table.title)}</h2>{html_table(header, rows)}{notes}</section>"
