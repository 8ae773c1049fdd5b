"""The table of a comparison: what every row's runs score on every test set under every measure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lasw.metrics import (
    FEW_SEGMENTS,
    MINIMUM_RUNS,
    MINIMUM_SEGMENTS,
    Difference,
    Display,
    Evaluation,
    Metric,
    References,
    Spread,
    check_evaluation,
    differences,
    metric,
    read_corpora,
    spread,
)
from lasw.tuning.comparison.grid import Row
from lasw.tuning.comparison.settings import Comparison, ComparisonSettings
from lasw.tuning.comparison.task import Task, Translation
from lasw.tuning.report import column_names
from lasw.tuning.run_directory import Json

FEW_RUNS = f"fewer than {MINIMUM_RUNS} runs: no standard deviation and no significance"
_SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Column:
    """A measure on a test set of so many segments, with a cell a row."""

    test: str
    segments: int
    measure: str
    signature: str
    display: Display
    cells: tuple[tuple[Spread, Difference | None], ...]


def columns(comparison: Comparison, tasks: Sequence[Sequence[Task]], warnings: list[str]) -> list[Column]:
    """Measure the translations of all rows' finished runs.

    Args:
        comparison: its settings.
        tasks: of every row, one a seed.
        warnings: what should be told is put at the end.

    Raises:
        UserError: translations and references differ in number, or have nothing to do with each other.
    """
    measures = [metric(spec) for spec in comparison.settings.measures]
    found: list[Column] = []
    for number, translation in enumerate(tasks[0][0].translations):
        evaluation = _evaluation(translation, [[t.folder / t.translations[number].file for t in row] for row in tasks])
        firsts = Evaluation(evaluation.references, evaluation.systems[:: len(tasks[0])])
        warnings += translation.data.settle(check_evaluation(firsts, measures).findings)
        told = {"nrefs": str(len(translation.data.references)), **translation.data.text.settings()}
        for spec, measure in zip(comparison.settings.measures, measures, strict=True):
            signature = str(measure.displayed_signature().with_settings(told))
            cells = _cells(measure, evaluation, [len(row) for row in tasks], comparison.settings)
            found.append(Column(translation.name, len(evaluation.references), spec, signature, measure.display, cells))
    return found


def table_json(comparison: Comparison, rows: Sequence[Row], found: Sequence[Column]) -> Json:
    """The whole table with full precision, scores as people read them; `better` says which is, higher or lower."""
    settings = comparison.settings
    lines = []
    for k, row in enumerate(rows):
        lines.append(
            {
                "row": row.label,
                "system": row.system.name,
                "optimiser": row.system.settings.optimiser,
                "loss": row.loss,
                "development": row.development,
                "signature": row.signature,
                "cells": [_cell(column, *column.cells[k]) for column in found],
            }
        )
    return {
        "title": settings.title,
        "baseline": rows[0].label,
        "seeds": list(settings.seeds),
        "significance": {
            "test": settings.significance,
            "samples": settings.samples,
            "seed": settings.sampling_seed,
        },
        "columns": [
            {"test": one.test, "measure": one.measure, "better": one.display.better, "signature": one.signature}
            for one in found
        ],
        "rows": lines,
        "notes": notes(settings, {one.test: one.segments for one in found}),
    }


def notes(settings: ComparisonSettings, segments: Mapping[str, int]) -> list[str]:
    """What is to be said below the table, of test sets of so many segments."""
    runs = len(settings.seeds)
    said = [f"Mean of {runs} run{'s' if runs != 1 else ''}, seed{'s' if runs != 1 else ''} "]
    said[0] += f"{', '.join(map(str, settings.seeds))}."
    if runs < MINIMUM_RUNS:
        return [said[0][:-1] + f"; {FEW_RUNS}."]
    how = {
        "bootstrap": "bootstrap over segments and runs",
        "randomisation": "stratified approximate randomisation of all runs",
    }[settings.significance]
    said.append(
        f"± standard deviation over runs. p: two-sided, against the first row, {how}, {settings.samples} samples, "
        f"seed {settings.sampling_seed}; * p < {_SIGNIFICANT}."
    )
    return said + [f"{test}: {FEW_SEGMENTS}." for test, n in segments.items() if n < MINIMUM_SEGMENTS]


def table_tsv(table: Json) -> str:
    """The table as tab-separated values: a line a row, test set and measure."""
    header = [
        "row",
        "test",
        "measure",
        "runs",
        "mean",
        "deviation",
        "difference",
        "low",
        "high",
        "p_value",
        "identical",
    ]
    lines = ["\t".join(header)]
    for row in table["rows"]:
        for cell in row["cells"]:
            values = [row["row"], cell["test"], cell["measure"], len(cell["scores"])]
            values += [cell[key] for key in header[4:]]
            lines.append("\t".join(_plain(value) for value in values))
    return "\n".join(lines) + "\n"


def cell_text(cell: Json, width: int = 2) -> str:
    """A cell as people read it: ``40.37 ± 0.04 (p = 0.0120)*``."""
    text = f"{cell['mean']:.{width}f}"
    if cell["deviation"] is not None:
        text += f" ± {cell['deviation']:.{width}f}"
    if cell["identical"]:
        return text + " (identical)"
    if cell["p_value"] is not None:
        text += f" (p = {cell['p_value']:.4f})" + ("*" if cell["p_value"] < _SIGNIFICANT else "")
    return text


def table_text(table: Json, width: int = 2) -> str:
    """The table as text, "tuned for" the row, "measured by" the column."""
    header = ["tuned for", *column_names(table)]
    lines = [header, *([row["row"], *(cell_text(cell, width) for cell in row["cells"])] for row in table["rows"])]
    sizes = [max(len(line[j]) for line in lines) for j in range(len(header))]
    return "".join(
        "  ".join(text.ljust(size) for text, size in zip(line, sizes, strict=True)).rstrip() + "\n" for line in lines
    )


def dumped(table: Json) -> str:
    """The bytes of `table.json`."""
    return json.dumps(table, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _evaluation(translation: Translation, files: Sequence[Sequence[Path]]) -> Evaluation:
    data = translation.data
    text = data.text.function()
    references = References.read(data.references, preprocess=text, encoding=data.encoding)
    paths = (path for row in files for path in row)
    return Evaluation(references, read_corpora(paths, references.vocabulary, preprocess=text))


def _cells(
    measure: Metric, evaluation: Evaluation, runs: Sequence[int], settings: ComparisonSettings
) -> tuple[tuple[Spread, Difference | None], ...]:
    statistics = evaluation.statistics(measure)
    ends = np.cumsum(runs).tolist()
    systems = [np.stack(statistics[end - size : end]) for end, size in zip(ends, runs, strict=True)]
    against = differences(
        measure, systems, test=settings.significance, samples=settings.samples, seed=settings.sampling_seed
    )
    return tuple((spread(measure, one), difference) for one, difference in zip(systems, against, strict=True))


def _cell(column: Column, own: Spread, against: Difference | None) -> Json:
    display = column.display
    cell = {
        "test": column.test,
        "measure": column.measure,
        "scores": [display.score(score) for score in own.scores],
        "mean": display.score(own.mean),
        "deviation": None if own.deviation is None else display.scale * own.deviation,
        "difference": None,
        "low": None,
        "high": None,
        "p_value": None if against is None else against.p_value,
        "identical": against is not None and against.identical,
    }
    if against is not None:
        cell["difference"] = display.difference(against.value)
        if against.low is not None and against.high is not None:
            cell["low"], cell["high"] = sorted(map(display.difference, (against.low, against.high)))
    return cell


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
