"""The layouts by name. A new one is a file with a reader, a line here and an option of `lasw agree`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lasw.metrics.registry import Registry

_HERE = "lasw.metrics.agreement"
LAYOUTS: Registry[Callable[..., Any]] = Registry(
    "layout",
    {
        "FOLDER": f"{_HERE}.judgements:read_judgements",
        "--da": f"{_HERE}.direct_assessment:read_direct_assessment",
        "--rankings": f"{_HERE}.layouts.rankings:read_rankings",
        "--marks": f"{_HERE}.layouts.marks:read_marks",
        "--mtme": f"{_HERE}.layouts.mtme:read_mtme",
    },
)
LOOKS = {
    "FOLDER": "ref.txt, hyp/SYSTEM.txt, pairs.tsv",
    "--da": "a table with the columns human hyp ref",
    "--rankings": "a CSV with the columns srcIndex judgeId system1Id system1rank ..., and a FOLDER of texts",
    "--marks": "a CSV with the columns system segment score, and a FOLDER of texts",
    "--mtme": "FOLDER:LP with references/LP.NAME.txt, system-outputs/LP/SYSTEM.txt, human-scores/LP.NAME.seg.score",
}


def other_layouts(but: str) -> str:
    """What there is besides the layout `but`, as a remedy says it."""
    return "other layouts: " + "; ".join(f"{name}, {looks}" for name, looks in LOOKS.items() if name != but)
