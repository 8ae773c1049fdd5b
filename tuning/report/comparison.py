"""The report of a comparison: its table, every run's score, significance, weights, sentences, and how it was made."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import (
    Display,
    Evaluation,
    Preprocessing,
    References,
    Series,
    UserError,
    display_of,
    document,
    dot_rows,
    facts_table,
    first_screen,
    html_table,
    labels,
    line_chart,
    metric,
    number_html,
    parse_json,
    read_corpora,
    read_lines,
    unknown,
    write_text,
)
from lasw.tuning.formats import read_weights
from lasw.tuning.report.page import flat_pairs, plain_text
from lasw.tuning.report.sentences import METRIC, Sentences, sentences_html
from lasw.tuning.run_directory import Json, read_json

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class ComparisonData:
    """What a comparison's directory says: `table` is its `table.json`, `description` its `comparison.json`."""

    folder: Path
    table: Json
    description: Json


def is_comparison(path: str | os.PathLike[str]) -> bool:
    """Whether a folder is that of a comparison."""
    return (Path(path) / "comparison.json").exists()


def read_comparison_data(path: str | os.PathLike[str]) -> ComparisonData:
    """What stands in a comparison's directory.

    Raises:
        UserError: it is none, or has no table yet.
    """
    folder = Path(path)
    description = _read(folder / "comparison.json", "rows", "tests")
    if description is None:
        raise UserError("no comparison (there is no comparison.json)", path=folder)
    table = _read(folder / "table.json", "rows", "columns", "notes")
    if table is None:
        raise UserError(
            "the comparison has no table yet", path=folder, remedy="the command that began it goes on with it"
        )
    return ComparisonData(folder, table, description)


def _read(path: Path, *needs: str) -> Json | None:
    try:
        return read_json(path, needs)
    except UserError as error:
        raise UserError(error.found, path=error.path, remedy="the same lasw compare makes it again") from None


def write_comparison_report(
    path: str | os.PathLike[str], data: ComparisonData, title: str = "", system: str | None = None
) -> None:
    """Write the HTML file, whole or not at all.

    Args:
        path: where.
        data: of the comparison.
        title: of the page; by default the comparison's.
        system: row whose sentences are shown beside the first one's; by default the best by the first column.

    Raises:
        UserError: there is no such row, or a file is damaged or of another version.
    """
    try:
        with told_of_runs(data.folder):
            page = comparison_page(data, title, system)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise UserError(
            f"its files are not what this version writes ({type(error).__name__}: {error})",
            path=data.folder,
            remedy="give the command that made it a new --run",
        ) from error
    write_text(path, page)


@contextlib.contextmanager
def told_of_runs(folder: Path) -> Iterator[None]:
    """Say what to do about damaged files of finished runs in a comparison's folder."""
    try:
        yield
    except UserError as error:
        whole, runs = os.path.abspath(error.path or ""), os.path.abspath(folder / "runs") + os.sep
        if not whole.startswith(runs):
            raise
        run = whole[len(runs) :].partition(os.sep)[0]
        raise UserError(
            error.found,
            path=error.path,
            line=error.line,
            expected=error.expected,
            remedy=f"delete {folder / 'runs' / run} and the same lasw compare does that run again",
        ) from error


def comparison_page(data: ComparisonData, title: str = "", system: str | None = None) -> str:
    """The HTML of the report."""
    table = data.table
    title = title or str(table["title"])
    rows = [row["row"] for row in table["rows"]]
    if system is not None and system not in rows:
        raise unknown("row", system, rows)
    notes = "".join(f"<p>{escape(note)}</p>" for note in table["notes"])
    body = [_first(data, title), f"<section>{_matrix(table)}{notes}</section>", _dots(table)]
    body += [
        _significance(table),
        _curves(data),
        _locality(data),
        _weights(data),
        _runs(data),
    ]
    body += _sentences(data, system or _best(table))
    body.append(_how(data))
    return document(title, [part for part in body if part])


def _first(data: ComparisonData, title: str) -> str:
    """What was compared on which test sets, who is best by the first measure and by how much, what to do next."""
    table, column = data.table, data.table["columns"][0]
    rows = {row["row"]: row for row in table["rows"]}
    tests = ", ".join(dict.fromkeys(str(one["test"]) for one in table["columns"]))
    measures = ", ".join(dict.fromkeys(str(one["measure"]) for one in table["columns"]))
    runs = len(table["seeds"])
    done = f"{len(rows)} systems, {runs} run{'' if runs == 1 else 's'} each, were measured on {tests} by {measures}."
    name = str(column["measure"]) + (" (an error rate, lower is better)" if column.get("better") == "lower" else "")
    best, baseline = rows[_best(table)], rows[table["baseline"]]
    cell = best["cells"][0]
    if best is baseline:
        gained = f"{best['row']} has a {name} of {cell['mean']:.2f}."
        return first_screen(title, done, gained, "give the comparison a system beside the first one.")
    better = column.get("better") == "lower"
    risen = cell["difference"] is not None and (cell["difference"] < 0 if better else cell["difference"] > 0)
    sure = risen and cell["p_value"] is not None and cell["p_value"] < SIGNIFICANT
    change = "" if cell["difference"] is None else f", {cell['difference']:+.2f} from {baseline['row']}"
    interval = (
        " (no interval from so few runs)"
        if cell["low"] is None
        else f" (95 % interval {cell['low']:+.2f} to {cell['high']:+.2f})"
    )
    gained = f"Best beside {baseline['row']} by {name} is {best['row']}: {cell['mean']:.2f}{change}{interval}."
    folder = next(row["runs"][0] for row in data.description["rows"] if row["row"] == best["row"])
    if sure:
        after = f"use {best['row']}; the weights of its first run are {folder}/weights.json."
    else:
        after = (
            f"keep {baseline['row']}, or compare on more sentences or with more seeds: the difference may be chance."
        )
    return first_screen(title, done, gained, after)


def column_names(table: Json) -> list[str]:
    """What the columns of a comparison's table are called: the measure, behind its test set where there are several."""
    several = len({column["test"] for column in table["columns"]}) > 1
    displays = [Display(lower=column.get("better") == "lower") for column in table["columns"]]
    names = labels([column["measure"] for column in table["columns"]], displays)
    return [
        f"{column['test']} {name}" if several else name for column, name in zip(table["columns"], names, strict=True)
    ]


def _matrix(table: Json) -> str:
    """Tuned for the row, measured by the column; the best of a column is bold."""
    means = [[row["cells"][j]["mean"] for row in table["rows"]] for j in range(len(table["columns"]))]
    best = [_best_of(column)(of_column) for column, of_column in zip(table["columns"], means, strict=True)]
    rows = [
        [escape(row["row"]), *(_cell(cell, best[j]) for j, cell in enumerate(row["cells"]))] for row in table["rows"]
    ]
    header = ["tuned for \\ measured by", *map(escape, column_names(table))]
    tests = ", ".join(dict.fromkeys(str(column["test"]) for column in table["columns"]))
    return f"<h2>Scores on {escape(tests)}</h2>{html_table(header, rows, 'sortable')}"


def _best_of(column: Json) -> Callable[..., Any]:
    """`max` or `min`, as is better there."""
    return min if column.get("better") == "lower" else max


def _cell(cell: Json, best: float) -> str:
    text = number_html(cell["mean"], ".2f")
    if cell["mean"] == best:
        text = f"<b>{text}</b>"
    if cell["deviation"] is not None:
        text += f" ± {cell['deviation']:.2f}"
    if cell["identical"]:
        text += " <small>identical</small>"
    elif cell["p_value"] is not None and cell["p_value"] < SIGNIFICANT:
        text += "*"
    return text


def _dots(table: Json) -> str:
    charts = []
    for j, name in enumerate(column_names(table)):
        rows = [(row["row"], row["cells"][j]["scores"]) for row in table["rows"]]
        unit = "error rate in %" if table["columns"][j].get("better") == "lower" else "score"
        charts.append(f"<h3>{escape(name)}</h3>{dot_rows(f'{name} of every run', rows, f'{name} ({unit})')}")
    return (
        "<section><h2>Every run</h2><p>A dot a run, the stroke is their mean; the dashed line is the mean of the first "
        f"row.</p>{''.join(charts)}</section>"
    )


def _significance(table: Json) -> str:
    rows = []
    for row in table["rows"][1:]:
        for name, cell in zip(column_names(table), row["cells"], strict=True):
            cells = [escape(row["row"]), escape(name), number_html(cell["difference"], "+.2f")]
            interval = "" if cell["low"] is None else _interval(cell)
            p_value = "identical" if cell["identical"] else number_html(cell["p_value"], ".4f")
            rows.append([*cells, interval, p_value])
    if not rows:
        return ""
    header = ["row", "measure", f"difference from {escape(table['baseline'])}", "95 % interval", "p"]
    return f"<section><h2>Significance</h2>{html_table(header, rows, 'sortable')}</section>"


def _interval(ends: Json, scale: float = 1) -> str:
    return f"{number_html(ends['low'], '+.2f', scale)} to {number_html(ends['high'], '+.2f', scale)}"


def _curves(data: ComparisonData) -> str:
    """Development scores of each row's first run, where runs have iterations."""
    series = []
    for row in data.description["rows"]:
        log = data.folder / row["runs"][0] / "tuning" / "log.jsonl"
        lines = enumerate(read_lines(log), 1) if log.exists() else ()
        records = [parse_json(line, log, line=number) for number, line in lines]
        described = read_json(log.with_name("run.json")) or {}
        display = display_of(str(described.get("settings", {}).get("run", {}).get("dev_metric", "BLEU")))
        points = [(record["iteration"] - 1, display.score(record["dev_score"])) for record in records]
        if points:
            series.append(Series(row["row"], points))
    if not series:
        return ""
    chart = line_chart("development score of every row's first run", series, "iteration", "development score")
    return f"<section><h2>Development score, first run of every row</h2>{chart}</section>"


def _locality(data: ComparisonData) -> str:
    """What rows with local weights (WRO-local) chose, and of each row's first run the scores that it chose by."""
    lines, curves = [], []
    for row in data.description["rows"]:
        for seed, run in zip(data.table["seeds"], row["runs"], strict=True):
            # The choice is made on the development set: it is the same for all test sets.
            choice = read_json((data.folder / run / row["files"][0]).with_suffix(".json"))
            if choice is None:
                continue
            cells = [escape(row["row"]), str(seed), f"<code>{escape(choice['setting'])}</code>"]
            if "curve" in choice:
                best = max(choice["curve"], key=lambda point: point["score"])
                display = display_of(choice["measure"])
                told = number_html(display.value(choice["global_score"]), ".2f", display.scale)
                cells += [told, f"<code>{escape(best['setting'])}</code>"]
                cells += [number_html(best["lead"], "+.2f", display.scale), number_html(best["p_value"], ".3f")]
                if run == row["runs"][0]:
                    curves.append(_setting_curve(f"{row['row']}, seed {seed}", choice))
            lines.append(cells + [""] * (7 - len(cells)))
    if not lines:
        return ""
    header = ["row", "seed", "setting", "global, leaving one out", "best", "its lead", "p"]
    return (
        "<section><h2>Local weights</h2><p>Settings are tried on the development set, each sentence with weights that "
        "ignore its own pairs; auto takes the best of those whose lead is more than chance (p corrected for their "
        f"number), else the global weights.</p>{html_table(header, lines, 'sortable')}{''.join(curves)}</section>"
    )


def _setting_curve(title: str, choice: Json) -> str:
    display = display_of(choice["measure"])
    (name,) = labels([choice["measure"]], [display])
    rows = [
        [
            f"<code>{escape(point['setting'])}</code>",
            number_html(display.value(point["score"]), ".2f", display.scale),
            number_html(point["lead"], "+.2f", display.scale),
            _interval(point, display.scale),
            number_html(point["p_value"], ".3f"),
        ]
        for point in choice["curve"]
    ]
    header = ["setting", escape(name), "lead", "between (95 % each, all settings at once)", "p"]
    return f"<details><summary>{escape(title)}</summary>{html_table(header, rows, 'sortable')}</details>"


def _weights(data: ComparisonData) -> str:
    """Mean share of each dense feature in the L1 norm."""
    names: list[str] = []
    columns: list[dict[str, float]] = []
    for row in data.description["rows"]:
        shares: dict[str, list[float]] = {}
        for run in row["runs"]:
            weights = read_weights(data.folder / run / "weights.json")
            total = float(np.abs(weights.dense).sum()) or 1.0
            for name, value in zip(weights.names.components, weights.dense.tolist(), strict=True):
                shares.setdefault(name, []).append(value / total)
        names += [name for name in shares if name not in names]
        columns.append({name: float(np.mean(values)) for name, values in shares.items()})
    rows = [[escape(name), *(number_html(own.get(name), ".3f") for own in columns)] for name in names]
    header = ["feature", *(escape(row["row"]) for row in data.description["rows"])]
    return (
        "<section><h2>Weights</h2><p>Share of the L1 norm of the dense weights, mean of the runs.</p>"
        f"{html_table(header, rows)}</section>"
    )


def _runs(data: ComparisonData) -> str:
    """Seconds and what tuning said, a line a run."""
    rows = []
    seeds = data.table["seeds"]
    warnings: dict[str, int] = {}
    for row in data.description["rows"]:
        for seed, run in zip(seeds, row["runs"], strict=True):
            fit = read_json(data.folder / run / "fit.json") or {}
            for warning in fit.get("warnings", []):
                warnings[f"{row['row']}: {warning}"] = warnings.get(f"{row['row']}: {warning}", 0) + 1
            rows.append(
                [
                    escape(row["row"]),
                    str(seed),
                    number_html(fit.get("seconds"), ".1f"),
                    escape(str(fit.get("iterations", ""))),
                    escape(str(fit.get("reason", ""))),
                    f"<code>{escape(run)}</code>",
                ]
            )
    header = ["row", "seed", "seconds of tuning", "iterations", "ended", "folder"]
    used = [j for j in range(len(header)) if any(row[j] for row in rows)]
    header, rows = [header[j] for j in used], [[row[j] for j in used] for row in rows]
    said = "".join(
        f"<li>{escape(text)}{f' ({count} runs)' if count > 1 else ''}</li>" for text, count in warnings.items()
    )
    listed = f"<h3>Warnings</h3><ul>{said}</ul>" if said else ""
    return f"<section><h2>Runs</h2>{html_table(header, rows, 'sortable')}{listed}</section>"


def _best(table: Json) -> str:
    others = table["rows"][1:] or table["rows"]
    return str(_best_of(table["columns"][0])(others, key=lambda row: row["cells"][0]["mean"])["row"])


def _sentences(data: ComparisonData, system: str) -> list[str]:
    """Gains and losses of one row against the first on every test set, while the references are there."""
    rows = {row["row"]: row for row in data.description["rows"]}
    first = rows[data.table["baseline"]]
    if system == first["row"]:
        return []
    parts = [f"<h2>Sentences: {escape(first['row'])} and {escape(system)}</h2>"]
    for number, test in enumerate(data.description["tests"]):
        try:
            parts.append(sentences_html(_of_test(data, test, number, first, rows[system])))
        except UserError as error:
            parts.append(f"<p>{escape(test['test'])}: no sentences, {escape(str(error))}</p>")
    return parts


def _of_test(data: ComparisonData, test: Json, number: int, first: Json, second: Json) -> Sentences:
    text = Preprocessing.of(test).function()
    references = References.read(test["references"], preprocess=text, encoding=test["encoding"])
    of = metric(METRIC)
    means: list[NDArray[np.float64]] = []
    texts: list[list[str]] = []
    for row in (first, second):
        paths = [data.folder / run / row["files"][number] for run in row["runs"]]
        systems = read_corpora(paths, references.vocabulary, preprocess=text)
        means.append(Evaluation(references, systems).sentence_scores(of).mean(axis=0))
        texts.append([systems[0].text(k) for k in range(len(references))])
    runs = len(first["runs"])
    source = test["source"]
    return Sentences(
        str(test["test"]),
        str(first["row"]),
        str(second["row"]),
        means[0],
        means[1],
        (texts[0], texts[1]),
        [[corpus.text(k) for k in range(len(corpus))] for corpus in references.corpora],
        read_lines(source, encoding=test["encoding"]) if source and Path(source).exists() else None,
        f"Scores are sentence {METRIC}, mean of {runs} runs; the translations are those of the first run."
        if runs > 1
        else f"Scores are sentence {METRIC}.",
    )


def _how(data: ComparisonData) -> str:
    said = data.description
    rows = [("command", f"<code>{escape(said['command'])}</code>")] if said.get("command") else []
    rows.append(("seeds", f"<code>{escape(', '.join(map(str, data.table['seeds'])))}</code>"))
    rows += [
        (f"measure {escape(name)}", f"<code>{escape(column['signature'])}</code>")
        for name, column in zip(column_names(data.table), data.table["columns"], strict=True)
    ]
    rows += [(escape(row["row"]), f"<code>{escape(row['signature'])}</code>") for row in said["rows"]]
    told = {"versions": said.get("versions", {}), "significance": data.table.get("significance", {})}
    rows += [(escape(key), f"<code>{escape(plain_text(value))}</code>") for key, value in flat_pairs(told)]
    rows += _files(said["tests"])
    return f"<section><h2>How it was made</h2>{facts_table(rows, 'command and settings')}</section>"


def _files(tests: Sequence[Json]) -> list[tuple[str, str]]:
    return [
        (
            f"test set {escape(test['test'])}",
            f"<code>{escape(' '.join([test['source'] or '', *test['references']]).strip())}</code>",
        )
        for test in tests
    ]
