"""`lasw man`: the manual page, made of what the help is made of."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterable, Iterator

from lasw.metrics import version
from lasw.scripts.command_line import Parser
from lasw.scripts.main import COMMANDS, parsers

_EPILOG = """\
examples:
  lasw man > lasw.1 && man ./lasw.1
  lasw man > ~/.local/share/man/man1/lasw.1         # from then on: man lasw
"""
_EXIT_CODES = (
    ("0", "done"),
    ("1", "failed: one line on standard error says why"),
    ("2", "wrong usage"),
    ("128 + N", "stopped by signal N (130 by Ctrl-C)"),
)
_VARIABLES = (
    ("NUMBA_CACHE_DIR", "where compiled kernels are kept; without it beside the program, or in the user's cache"),
    ("NO_COLOR", "if it is set, nothing is coloured, not even on a terminal"),
)


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG


def run(arguments: argparse.Namespace) -> int:
    """Print the page; 0."""
    print("\n".join(_page()))
    return 0


def _page() -> Iterator[str]:
    yield f'.TH LASW 1 "" "lasw {version()}" "User Commands"'
    yield from (".SH NAME", _text("lasw - tunes the weights of log-linear translation systems"))
    yield from (".SH SYNOPSIS", r"\fBlasw\fR \fICOMMAND\fR [\fIoptions\fR]")
    yield from (".SH COMMANDS", *_list((name, text) for name, (_, text) in COMMANDS.items()))
    for words, parser in parsers():
        yield f'.SH "LASW {words.upper()}"'
        yield from _command(parser)
    yield from (".SH EXIT STATUS", *_list(_EXIT_CODES))
    yield from (".SH ENVIRONMENT", *_list(_VARIABLES))


def _command(parser: Parser) -> Iterator[str]:
    yield _text(parser.description or "")
    formatter = parser._get_formatter()
    for group in parser._action_groups:
        shown = [action for action in group._group_actions if action.help != argparse.SUPPRESS]
        if shown:
            yield f'.SS "{_text(group.title or "")}"'
            yield from _list(
                (formatter._format_action_invocation(action), formatter._expand_help(action) if action.help else "")
                for action in shown
            )
    if parser.epilog:
        yield from (".PP", ".nf", *map(_text, parser.epilog.rstrip().split("\n")), ".fi")


def _list(items: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in items:
        yield from (".TP", rf"\fB{_text(name)}\fR", *map(_text, textwrap.wrap(text, 70, break_on_hyphens=False)))


def _text(text: str) -> str:
    """Text as roff takes it for text: backslashes, dashes that can be copied, no line that looks like a request."""
    text = re.sub(r"[-^~`']", lambda found: _MARKS[found[0]], text.replace("\\", r"\e"))
    return rf"\&{text}" if text.startswith(".") else text


_MARKS = {"-": r"\-", "^": r"\(ha", "~": r"\(ti", "`": r"\(ga", "'": r"\(aq"}
