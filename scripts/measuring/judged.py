"""Sets of judged translations, looked at before metrics are compared with people or learn from them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lasw.metrics import Judged, Sees, check_evaluation, refuse_or_warn
from lasw.scripts.command_line import note, warn


def check_judged(
    arguments: argparse.Namespace,
    data: Sequence[Judged],
    metrics: Sequence[Sees],
    names: Sequence[str] = (),
) -> list[list[list[dict[str, Any]]]]:
    """Tell what is suspicious about the text of each set; how many of its words have vectors, by metric, as JSON.

    Args:
        arguments: of the command.
        data: the sets.
        metrics: that look at them.
        names: of the sets, where their own do not tell them apart.

    Raises:
        UserError: it is surely not what it seems, and there is no `--force`; vectors that cannot be read.
    """
    coverage = []
    for one, name in zip(data, names or [one.name for one in data], strict=True):
        checked = check_evaluation(one.evaluation, metrics, together=True)
        findings = [replace(finding, path=finding.path or name) for finding in checked.findings]
        warn(arguments.command, refuse_or_warn(findings, force=arguments.force))
        for line in checked.notes():
            note(arguments.quiet, f"{name}: {line}")
        coverage.append([[part.as_json() for part in of_metric] for of_metric in checked.coverage[0]])
    return coverage
