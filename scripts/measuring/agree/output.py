"""What `lasw agree` prints: tables for people, a line a number, or JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lasw.metrics import (
    Correlation,
    Key,
    Panel,
    panel_title,
    picture,
)
from lasw.scripts.measuring.agree.means import over_sets
from lasw.scripts.measuring.agree.results import Results, p_of_difference

_LEVEL = 0.05
_LEGEND = """\
±: half the 95 % interval of the bootstrap over segments. p: one-sided, of the metric leading or trailing the first by
so much ({}); *: below 0.05
"""
_TOGETHER = "last column: of all sets, in brackets the lead over the first metric; *: its 95 % interval is without 0\n"
_TESTS = {
    "williams": "Williams' test of Pearson's correlations, else the paired bootstrap",
    "bootstrap": "the paired bootstrap",
    "perm-both": "PERM-BOTH, exchanges at random",
}
_ERROR_RATES = "↓: of an error rate, lower is better, the correlations are those of one minus it\n"


def as_tables(results: Results) -> str:
    """A table a correlation: of how many, then a row a metric, a column a set, their mean last; then the signatures."""
    parts = [f"{results.title(key)}\n{_table(results, key)}" for key in results.measured()]
    if results.significance:
        parts.append(f"clusters: rank of those that no test tells apart, 1 is best\n{_clusters(results)}")
        tests = {significance.test for column in results.significance for significance in column.values()}
        together = _TOGETHER if len(results.names) > 1 else ""
        parts.append(_LEGEND.format(next(text for name, text in _TESTS.items() if name in tests)) + together)
    if "lower" in results.better:
        parts.append(_ERROR_RATES)
    return "\n".join([*parts, "".join(f"{signature}\n" for signature in results.signatures)])


def _table(results: Results, key: Key) -> str:
    several = len(results.names) > 1
    together = [over_sets(results.agreements, results.significance, k, key) for k in range(len(results.labels))]
    pooled = any(x is not None and x.n is not None for x in together)
    rows = [["", *results.names, *(["pooled" if pooled else "mean"] if several else [])]]
    for k, label in enumerate(results.labels):
        cells = [_cell(results, f, k, key) for f in range(len(results.names))]
        rows.append([label, *cells, *([str(together[k] or "undefined")] if several else [])])
    counts = [column[0][key].n if key in column[0].measures else "" for column in results.agreements]
    rows.insert(1, ["n", *map(str, counts), *([""] if several else [])])
    return _aligned(rows)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(size) for cell, size in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _clusters(results: Results) -> str:
    """A row a metric, a column a set and statistic, their mean last."""
    keys = [(f, key) for f, column in enumerate(results.significance) for key in column]
    heads = [f"{results.names[f]} {level} {coefficient}" for f, (level, coefficient) in keys]
    columns = [results.ranks(f, key) for f, key in keys]
    rows = [["", *heads, "mean"]]
    for k, (label, mean) in enumerate(zip(results.labels, results.mean_ranks(), strict=True)):
        ranks = ["-" if column[k] is None else str(column[k]) for column in columns]
        rows.append([label, *ranks, "-" if mean is None else f"{mean:.2f}"])
    return _aligned([list(row) for row in zip(*rows, strict=True)])


def _cell(results: Results, f: int, k: int, key: Key) -> str:
    """One metric on one set: the correlation, half its interval, and how it differs from the first metric."""
    if key not in results.agreements[f][k].measures:
        return ""
    text = str(results.agreements[f][k][key])
    if not results.significance:
        return text
    significance = results.significance[f][key]
    interval, p = significance.intervals[k], p_of_difference(significance, k)
    if interval is not None:
        text += f" ± {interval.radius:.3f}"
    if p is not None:
        text += f" (p {'< 0.0001' if p < 0.0001 else f'= {p:.4f}'}){'*' if p < _LEVEL else ' '}"
    return text


def as_tsv(results: Results) -> str:
    """A line a number, in full precision, under a line that names the columns; empty where there is none."""
    rows = [["level", "coefficient", "set", "metric", "value", "n", "undefined", "low", "high", "p", "signature"]]
    for key in results.measured():
        for f, (name, column) in enumerate(zip(results.names, results.agreements, strict=True)):
            for k, agreement in enumerate(column):
                if key in agreement.measures:
                    x = agreement[key]
                    numbers = [_exact(x.value), str(x.n), x.reason, *map(_exact, _tested(results, f, k, key))]
                    rows.append([*_key(results, key), name, results.specs[k], *numbers, results.signatures[k]])
    return "".join("\t".join(row) + "\n" for row in rows)


def _exact(value: float | None) -> str:
    return "" if value is None else repr(value)


def _tested(results: Results, f: int, k: int, key: Key) -> tuple[float | None, float | None, float | None]:
    """Both ends of the interval, and the p-value against the first metric."""
    if not results.significance:
        return None, None, None
    significance = results.significance[f][key]
    interval = significance.intervals[k]
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return low, high, p_of_difference(significance, k)


def _key(results: Results, key: Key) -> list[str]:
    level, coefficient = key
    return [level, f"kendall{results.tau}" if coefficient == "kendall" else coefficient]


def as_json(results: Results) -> dict[str, Any]:
    """All that is known."""
    metrics = []
    for k, (spec, signature, better) in enumerate(zip(results.specs, results.signatures, results.better, strict=True)):
        sets = [_one(results, f, k) for f in range(len(results.names))]
        entry = {"metric": spec, "signature": signature, "better": better, "sets": sets}
        metrics.append(entry | _together(results, k))
    kappas = [
        {"set": name, "kappa": {kind: _number(x) for kind, x in judges.items()}}
        for name, judges in zip(results.names, results.judges, strict=False)
        if any(x.n for x in judges.values())
    ]
    out: dict[str, Any] = {
        **({"judges": kappas} if kappas else {}),
        **({"tau": results.tau} if results.tau else {}),
        "metrics": metrics,
    }
    if not results.significance:
        return out
    clusters = [
        {
            "set": results.names[f],
            "level": level,
            "coefficient": coefficient,
            "ranks": results.ranks(f, (level, coefficient)),
        }
        for f, column in enumerate(results.significance)
        for level, coefficient in column
    ]
    return out | {"comparisons": _comparisons(results), "clusters": clusters, "mean_ranks": results.mean_ranks()}


def _together(results: Results, k: int) -> dict[str, Any]:
    """What there is of several sets: `pooled` statistics, and means of the others by level."""
    entry: dict[str, Any] = {}
    for level, coefficient in results.measured():
        x = over_sets(results.agreements, results.significance, k, (level, coefficient))
        if x is not None and x.n is not None:
            entry.setdefault("pooled", {})[coefficient] = x.as_json()
        elif x is not None:
            entry.setdefault("means", {}).setdefault(level, {})[coefficient] = x.as_json()
    return entry


def _one(results: Results, f: int, k: int) -> dict[str, Any]:
    agreement = results.agreements[f][k]
    entry: dict[str, Any] = {"set": results.names[f]}
    for level, coefficient in agreement.measures:
        low, high, _ = _tested(results, f, k, (level, coefficient))
        interval = {} if low is None else {"low": low, "high": high}
        measure = agreement.measures[level, coefficient]
        number = _number(measure.correlation) | interval
        if measure.average != "none":
            number |= {"average": measure.average, "groups": measure.groups}
        entry.setdefault(level, {})[coefficient] = number | measure.details
    if agreement.ties is not None:
        entry["metric_ties"] = agreement.ties
    if results.without_score[f]:
        entry["systems_without_score"] = list(results.without_score[f])
    coverage = results.coverage[f] if results.coverage else []
    if k < len(coverage) and coverage[k]:
        entry["coverage"] = coverage[k]
    return entry


def _comparisons(results: Results) -> list[dict[str, Any]]:
    """Every ordered pair of metrics: the one-sided p-value of the first being better, null where it has none."""
    comparisons = []
    for name, by_key in zip(results.names, results.significance, strict=True):
        for (level, coefficient), significance in by_key.items():
            what = {"set": name, "level": level, "coefficient": coefficient, "test": significance.test}
            for i, first in enumerate(results.specs):
                for j, second in enumerate(results.specs):
                    p = float(significance.p_values[i, j])
                    if i != j:
                        comparisons.append(
                            {**what, "better": first, "worse": second, "p": None if math.isnan(p) else p}
                        )
    return comparisons


def as_picture(results: Results) -> str:
    """SVG: a row of panels a correlation, a panel a set."""
    rows = []
    for key in results.measured():
        row = []
        for name, column, significance in zip(results.names, results.agreements, results.significance, strict=True):
            if key in significance:
                title = panel_title(*key, name, significance[key].test)
                row.append(Panel(title, [agreement[key] for agreement in column], significance[key]))
        rows.append(row)
    return picture(results.labels, rows)


def _number(x: Correlation) -> dict[str, Any]:
    return {"value": x.value, "n": x.n, **({"undefined": x.reason} if x.reason else {})}
