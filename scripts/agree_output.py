"""What `lasw agree` prints: tables for people, a line a number, or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lasw.metrics.agreement import SEGMENTS, Agreement, Key
from lasw.metrics.correlation import Correlation


@dataclass(frozen=True)
class Results:
    """M metrics on F sets of judgements.

    Attributes:
        labels, specs, signatures: M, what tables call the metrics, what was asked for, and all their settings.
        names: F, of the sets.
        agreements: F lists of M.
        tau: the year of Kendall's tau; None for direct assessment.
    """

    labels: Sequence[str]
    specs: Sequence[str]
    signatures: Sequence[str]
    names: Sequence[str]
    agreements: Sequence[Sequence[Agreement]]
    tau: int | None

    def measured(self) -> list[Key]:
        """What there is of at least one set."""
        return list(dict.fromkeys(key for column in self.agreements for one in column for key in one.measures))

    def title(self, key: Key) -> str:
        """Of a table."""
        level, coefficient = key
        if coefficient == "kendall":
            return f"segments: Kendall's tau, WMT{self.tau}"
        if level == SEGMENTS:
            return f"segments: {coefficient.title()}, sentence score with mark"
        return f"systems: {coefficient.title()}, corpus score with {'expected wins' if self.tau else 'mean mark'}"


def as_tables(results: Results) -> str:
    """A table a correlation: a row a metric, a column a set, their mean last; then the signatures."""
    parts = [f"{results.title(key)}\n{_table(results, key)}" for key in results.measured()]
    return "\n".join([*parts, "".join(f"{signature}\n" for signature in results.signatures)])


def _table(results: Results, key: Key) -> str:
    several = len(results.names) > 1
    rows = [["", *results.names, *(["mean"] if several else [])]]
    for k, label in enumerate(results.labels):
        found = [column[k].measures.get(key) for column in results.agreements]
        cells = ["" if x is None else str(x.correlation) for x in found]
        rows.append([label, *cells, *([_mean([x.correlation for x in found if x])] if several else [])])
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(size) for cell, size in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _mean(row: Sequence[Correlation]) -> str:
    values = [x.value for x in row if x.value is not None]
    return f"{sum(values) / len(values):.3f}" if values and len(values) == len(row) else "undefined"


def as_tsv(results: Results) -> str:
    """A line a number, in full precision, under a line that names the columns; empty where there is none."""
    rows = [["level", "coefficient", "set", "metric", "value", "n", "undefined", "signature"]]
    for key in results.measured():
        for name, column in zip(results.names, results.agreements, strict=True):
            for spec, signature, one in zip(results.specs, results.signatures, column, strict=True):
                if key in one.measures:
                    x = one[key]
                    value = "" if x.value is None else repr(x.value)
                    rows.append([*_key(results, key), name, spec, value, str(x.n), x.reason, signature])
    return "".join("\t".join(row) + "\n" for row in rows)


def _key(results: Results, key: Key) -> list[str]:
    level, coefficient = key
    return [level, f"kendall{results.tau}" if coefficient == "kendall" else coefficient]


def as_json(results: Results) -> dict[str, Any]:
    """All that is known."""
    metrics = []
    for k, (spec, signature) in enumerate(zip(results.specs, results.signatures, strict=True)):
        sets = [_one(name, column[k]) for name, column in zip(results.names, results.agreements, strict=True)]
        metrics.append({"metric": spec, "signature": signature, "sets": sets})
    return {**({"tau": results.tau} if results.tau else {}), "metrics": metrics}


def _one(name: str, one: Agreement) -> dict[str, Any]:
    entry: dict[str, Any] = {"set": name}
    for level, coefficient in one.measures:
        entry.setdefault(level, {})[coefficient] = _number(one[level, coefficient])
    if one.ties is not None:
        entry["metric_ties"] = one.ties
    return entry


def _number(x: Correlation) -> dict[str, Any]:
    return {"value": x.value, "n": x.n, **({"undefined": x.reason} if x.reason else {})}
