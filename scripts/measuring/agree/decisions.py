"""`lasw agree --decisions`: what networks that compare two translations say of the very pairs that people compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lasw.metrics import TAUS, Judged, Judgements, Metric, Pairwise, UserError, comparisons

_HEAD = "decisions between the two translations of each preference, and mean wins among all systems of its segment"


def decisions(
    specs: Sequence[str], metrics: Sequence[Metric], data: Sequence[Judged], names: Sequence[str]
) -> list[dict[str, Any]]:
    """An entry for each network and set: Kendall's taus of decisions and of mean wins.

    Raises:
        UserError: no metric is a network, or people gave marks.
    """
    networks = [(spec, m) for spec, m in zip(specs, metrics, strict=True) if isinstance(m, Pairwise)]
    if not networks:
        raise UserError("--decisions without a network", expected="-m PAIRWISE:model=FILE with it")
    entries = []
    for spec, network in networks:
        for name, judgements in zip(names, data, strict=True):
            if not isinstance(judgements, Judgements):
                raise UserError("--decisions of marks", expected="folders of preferences")
            found = comparisons(network, judgements)
            kinds = {"decisions": found.decisions, "mean_wins": found.mean_wins}
            taus = {kind: {f"tau{t}": x.value for t, x in by_year.items()} for kind, by_year in kinds.items()}
            entries.append({"metric": spec, "set": name, "n": len(judgements.segment), **taus})
    return entries


def as_table(entries: Sequence[dict[str, Any]]) -> str:
    """A row for each network and set."""
    columns = [(kind, f"tau{t}") for kind in ("decisions", "mean_wins") for t in TAUS]
    rows = [["metric", "set", "n", *(f"{kind.replace('_', ' ')} {tau}" for kind, tau in columns)]]
    for entry in entries:
        values = [entry[kind][tau] for kind, tau in columns]
        shown = ["undefined" if x is None else f"{x:.3f}" for x in values]
        rows.append([entry["metric"], entry["set"], str(entry["n"]), *shown])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([_HEAD, *lines]) + "\n"
