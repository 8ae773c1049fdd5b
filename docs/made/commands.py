"""The options of every command, from its parser."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Iterator
from typing import Any, cast

from lasw.scripts.command_line import Command, Parser
from lasw.scripts.main import COMMANDS
from lasw.scripts.mert_moses.options import OURS, THEIRS
from made.tables import code, default, sentence, table

_DEFAULT = re.compile(r"\s*\(default: (?P<value>.*)\)$")


def parser_of(name: str) -> Parser:
    """The parser of a command, as `lasw` makes it."""
    module, text = COMMANDS[name]
    parser = Parser(prog=f"lasw {name}", description=text)
    cast(Command, importlib.import_module(module)).add_arguments(parser)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def parsers(name: str) -> Iterator[Parser]:
    """The parser of a command, and those of its actions."""
    parser = parser_of(name)
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def command(name: str) -> str:
    """Usage, options and examples of a command."""
    first, *actions = parsers(name)
    parts = [_page(first)]
    for action in actions:
        parts.append(f"## {action.prog}\n\n{sentence(action.description or '')}.\n\n{_page(action)}")
    return "\n".join(parts)


def mert_moses() -> str:
    """The options of lasw-mert-moses."""
    rows = []
    for option in (*THEIRS, *OURS):
        names = [f"--{option.name}", *([f"--no-{option.name}"] if option.kind == "negatable" else [])]
        rows.append((", ".join(map(code, names)), option.fate, option.told))
    return table(["option", "", ""], rows)


def summary() -> str:
    """All commands in a table."""
    return table(["command", ""], [(f"[`lasw {name}`]({name}.md)", text) for name, (_, text) in COMMANDS.items()])


def shown_default(action: argparse.Action) -> str:
    """The default of an option: what its help says, else what its parser has."""
    said = _DEFAULT.search(action.help or "")
    if said:
        return said["value"].replace("%(default)s", str(action.default)).replace("%%", "%")
    if action.required:
        return "needed"
    if action.nargs == 0:
        return "off"
    return default(None if action.default is argparse.SUPPRESS else cast(Any, action.default))


def _page(parser: Parser) -> str:
    usage = parser.format_full_help().partition("\n\n")[0]
    parts = [f"```text\n{usage}\n```\n"]
    for group in parser._action_groups:
        rows = [_row(action) for action in group._group_actions if action.help != argparse.SUPPRESS]
        rows = [row for row in rows if row is not None]
        if rows:
            parts.append(f"**{group.title}**\n\n{table(['option', 'default', 'what it does'], rows)}")
    if parser.epilog:
        parts.append(f"```text\n{parser.epilog.strip()}\n```\n")
    return "\n".join(parts)


def _row(action: argparse.Action) -> tuple[str, str, str] | None:
    if isinstance(action, argparse._SubParsersAction):
        return code(action.metavar or action.dest), "needed", ", ".join(map(code, action.choices))
    text = _DEFAULT.sub("", action.help or "") % {"default": action.default, "prog": ""}
    if action.choices is not None and not re.search(r"\bof\b.*,", text):
        text = f"{text}: {', '.join(map(str, action.choices))}"
    if not action.option_strings:
        needed = action.nargs not in (argparse.OPTIONAL, argparse.ZERO_OR_MORE)
        return code(action.metavar or action.dest), "needed" if needed else "–", sentence(text)
    value = "" if action.nargs == 0 else f" {_metavar(action)}"
    names = ", ".join(
        code(f"{one}{value if one == action.option_strings[-1] else ''}") for one in action.option_strings
    )
    return names, shown_default(action), sentence(text)


def _metavar(action: argparse.Action) -> str:
    if isinstance(action.metavar, tuple):
        return " ".join(action.metavar)
    word = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper())
    return f"{word} ..." if action.nargs in ("+", "*") else word
