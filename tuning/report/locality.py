"""How local the weights of a comparison's rows are: the part of its report on WRO-local."""

from __future__ import annotations

from html import escape
from pathlib import Path

from lasw.tuning.report.page import html_table, number_html
from lasw.tuning.run_directory import Json, read_json


def locality_html(folder: Path, table: Json, description: Json) -> str:
    """What rows with local weights chose, and of each row's first run the scores that it chose by.

    Args:
        folder: of the comparison.
        table: its `table.json`.
        description: its `comparison.json`.
    """
    lines, curves = [], []
    for row in description["rows"]:
        for seed, run in zip(table["seeds"], row["runs"], strict=True):
            # The choice is made on the development set: it is the same for all test sets.
            said = read_json((folder / run / row["files"][0]).with_suffix(".json"))
            if said is None:
                continue
            cells = [escape(row["row"]), str(seed), f"<code>{escape(said['setting'])}</code>"]
            if "curve" in said:
                best = max(said["curve"], key=lambda point: point["score"])
                cells += [_hundredfold(said["global_score"]), f"<code>{escape(best['setting'])}</code>"]
                cells += [_hundredfold(best["lead"], "+.2f"), number_html(best["p_value"], 3)]
                if run == row["runs"][0]:
                    curves.append(_curve(f"{row['row']}, seed {seed}", said))
            lines.append(cells + [""] * (7 - len(cells)))
    if not lines:
        return ""
    header = ["row", "seed", "setting", "global, leaving one out", "best", "its lead", "p"]
    return (
        "<section><h2>Local weights</h2><p>Settings are tried on the development set, each sentence with weights that "
        "ignore its own pairs; auto takes the best of those whose lead is more than chance (p corrected for their "
        f"number), else the global weights.</p>{html_table(header, lines, 'sortable')}{''.join(curves)}</section>"
    )


def _curve(title: str, said: Json) -> str:
    rows = [
        [
            f"<code>{escape(point['setting'])}</code>",
            _hundredfold(point["score"]),
            _hundredfold(point["lead"], "+.2f"),
            f"{_hundredfold(point['low'], '+.2f')} to {_hundredfold(point['high'], '+.2f')}",
            number_html(point["p_value"], 3),
        ]
        for point in said["curve"]
    ]
    header = ["setting", escape(said["measure"]), "lead", "95 % interval", "p"]
    return f"<details><summary>{escape(title)}</summary>{html_table(header, rows, 'sortable')}</details>"


def _hundredfold(value: float, form: str = ".2f") -> str:
    return f'<data value="{value!r}">{100 * value:{form}}</data>'
