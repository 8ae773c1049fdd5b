"""`lasw quickstart`: which of the two it is."""

from __future__ import annotations

import argparse

from lasw.metrics import UserError
from lasw.scripts.command_line import Parser
from lasw.scripts.quickstarts import rerankers, system

_OF_TEXT = ("--help-pages", "--source", "--target", "--jobs", "--dev", "--test", "--iterations")
_LISTS = "quickstart-lists"  # instead of the folder of a system


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    system.add_arguments(parser)
    parser.add_argument(
        "--rerank",
        action="store_true",
        help="rerankers of made-up lists instead of a system: no text, no decoder, seconds (docs/how-to/reranking.md)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run it; 0 if the end is reached."""
    if not arguments.rerank:
        return system.run(arguments)
    given = [option for option in _OF_TEXT if option in arguments.typed]
    if given:
        raise UserError(f"{given[0]} beside --rerank", expected="lists of its own need no text")
    return rerankers.run(arguments.run if "--run" in arguments.typed else _LISTS, arguments.seed)
