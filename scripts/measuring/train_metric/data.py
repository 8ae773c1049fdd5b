"""What trained metrics learn from."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from lasw.metrics import Judgements, Sees, read_preferences
from lasw.scripts.command_line import note, reading
from lasw.scripts.measuring.judged import check_judged


def preferences(arguments: argparse.Namespace, folders: list[str], metrics: Sequence[Sees] = ()) -> list[Judgements]:
    """People's preferences in folders of judgements; a note says how many.

    Raises:
        UserError: a folder that cannot be read, or whose text is surely not what it seems to `metrics`.
    """
    data = read_preferences(folders, **reading(arguments))
    for x in data:
        note(arguments.quiet, f"{x.name}: {len(x.segment)} preferences, {x.ties} ties left out")
    check_judged(arguments, data, metrics)
    return data
