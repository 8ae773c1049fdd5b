"""What trained metrics learn from."""

from __future__ import annotations

import argparse

from lasw.metrics import Judgements, read_preferences
from lasw.scripts.command_line import note, reading


def preferences(arguments: argparse.Namespace, folders: list[str]) -> list[Judgements]:
    """People's preferences in folders of judgements; a note says how many."""
    data = read_preferences(folders, **reading(arguments))
    for x in data:
        note(arguments.quiet, f"{x.name}: {len(x.segment)} preferences, {x.ties} ties left out")
    return data
