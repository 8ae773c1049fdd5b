"""How the command line of mert-moses.pl is read.

The rules are those of Perl's Getopt::Long: one or two dashes, the value behind ``=`` or in the next word whatever that
begins with, any abbreviation that only one option has, upper or lower case, ``--no-X`` for the options that can be
negated, arguments and options in any order, nothing but arguments behind ``--``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from lasw.metrics import UserError
from lasw.scripts.mert_moses.option_table import (
    FLAG,
    FLOAT,
    INT,
    LIST,
    NEGATABLE,
    NO_EFFECT,
    OURS,
    REFUSED,
    THEIRS,
    Option,
)

_NUMBERS = {
    INT: (re.compile(r"[-+]?\d{1,18}"), "a whole number"),
    FLOAT: (re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"), "a number"),
}

Value = str | int | float | bool | list[str]


_ARGUMENTS = ("input", "refs", "decoder", "config")


class UsageError(UserError):
    """A command line that cannot be read."""


@dataclass
class Given:
    """What a command line says.

    Attributes:
        values: by the name of the option; flags are True or False.
        arguments: words that belong to no option.
    """

    values: dict[str, Value] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)

    def flag(self, name: str, default: bool = False) -> bool:
        """Whether a flag is set."""
        return bool(self.values.get(name, default))

    def text(self, name: str) -> str | None:
        """The value of an option."""
        value = self.values.get(name)
        return None if value is None else str(value)

    def number(self, name: str, default: int) -> int:
        """A whole number."""
        value = self.values.get(name, default)
        assert isinstance(value, int)  # for mypy: the option's kind
        return value

    def texts(self, name: str) -> list[str]:
        """All values of an option that may be given several times."""
        value = self.values.get(name, [])
        assert isinstance(value, list)  # for mypy: the option's kind
        return value


def read_options(words: Sequence[str]) -> Given:
    """Read a command line; the four arguments stand in `values` by their names afterwards.

    Raises:
        UsageError: an option that does not exist or that an abbreviation could mean several of, a value that is
            missing, of another kind or too much, another number of arguments.
    """
    given = Given()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            given.arguments += rest
            break
        if re.match(r"--?[^-\s]", word):
            _take(word, rest, given)
        else:
            given.arguments.append(word)
    if not any(given.flag(name) for name in ("help", "version")):
        _place_arguments(given)
    return given


def refuse_and_remark(given: Given) -> list[str]:
    """One line for every option that is given and has no effect.

    Raises:
        UserError: one that is refused.
    """
    remarks = []
    for option in (*THEIRS, *OURS):
        if not given.values.get(option.name):
            continue
        if option.fate == REFUSED:
            raise UserError(f"--{option.name} is refused", remedy=option.told)
        if option.fate == NO_EFFECT:
            remarks.append(f"--{option.name} has no effect: {option.told}")
    return remarks


def usage() -> str:
    """What ``--help`` prints."""
    lines = [
        "usage: lasw-mert-moses INPUT REFS DECODER CONFIG [options]",
        "",
        "Tunes the weights of a Moses system; takes the command line of mert-moses.pl and leaves the same files.",
        "",
        "example:",
        "  lasw-mert-moses dev.de dev.en bin/moses model/moses.ini --working-dir tune --batch-mira \\",
        "      --decoder-flags '-threads 4' --return-best-dev --no-filter-phrase-table",
    ]
    for title, options in (("options of mert-moses.pl:", THEIRS), ("more:", OURS)):
        lines += ["", title]
        for option in options:
            shown = {FLAG: "", NEGATABLE: ", --no-" + option.name}.get(option.kind, f" {option.kind.upper()}")
            lines.append(f"  --{option.name}{shown}")
            fate = {NO_EFFECT: "no effect: ", REFUSED: "refused: "}.get(option.fate, "")
            lines.append(f"      {fate}{option.told}")
    return "\n".join(lines)


def as_table() -> str:
    """All options as a table for the documentation."""
    rows = ["| option | | |", "| --- | --- | --- |"]
    for option in (*THEIRS, *OURS):
        name = f"`--{option.name}`" + (f", `--no-{option.name}`" if option.kind == NEGATABLE else "")
        rows.append(f"| {name} | {option.fate} | {option.told} |")
    return "\n".join(rows)


def _take(word: str, rest: list[str], given: Given) -> None:
    """Read the option in `word`, and its value from `rest` if it stands there."""
    name, equals, value = word.lstrip("-").partition("=")
    option, negated = _found(name)
    shown = f"--{option.name}"
    if option.kind in (FLAG, NEGATABLE):
        if equals:
            raise UsageError(f"{shown} takes no value", expected=shown)
        given.values[option.name] = not negated
        return
    if not equals:
        if not rest:
            raise UsageError(f"{shown} without a value")
        value = rest.pop(0)
    if option.kind in _NUMBERS:
        pattern, expected = _NUMBERS[option.kind]
        if not pattern.fullmatch(value):
            raise UsageError(f"{shown} is {value!r}", expected=expected)
        given.values[option.name] = int(value) if option.kind == INT else float(value)
    elif option.kind == LIST:
        given.values[option.name] = [*given.texts(option.name), value]
    else:
        given.values[option.name] = value


def _found(name: str) -> tuple[Option, bool]:
    """The option that a name or an abbreviation means, and whether it is negated."""
    wanted = name.lower()
    spelled = [_spellings(THEIRS), _spellings(OURS)]
    for names in spelled:
        if wanted in names:
            return names[wanted]
    for names in spelled:
        meant = {spelling: found for spelling, found in names.items() if spelling.startswith(wanted)}
        if len(set(meant.values())) == 1:
            return next(iter(meant.values()))
        if meant:
            candidates = ", ".join(f"--{spelling}" for spelling in meant)
            raise UsageError(f"--{name} could mean {candidates}", remedy="write more of it")
    near = difflib.get_close_matches(wanted, [*spelled[0], *spelled[1]], n=1)
    raise UsageError(f"unknown option --{name}", remedy=f"did you mean --{near[0]}?" if near else "see --help")


def _spellings(options: Sequence[Option]) -> dict[str, tuple[Option, bool]]:
    names = {option.name: (option, False) for option in options}
    for option in options:
        if option.kind == NEGATABLE:
            names |= {f"no-{option.name}": (option, True), f"no{option.name}": (option, True)}
    return names


def _place_arguments(given: Given) -> None:
    if len(given.arguments) == len(_ARGUMENTS):
        given.values.update(zip(_ARGUMENTS, given.arguments, strict=True))
    elif given.arguments:
        raise UsageError(
            f"{len(given.arguments)} arguments ({' '.join(given.arguments)})", expected="INPUT REFS DECODER CONFIG"
        )
    missing = [name for name in _ARGUMENTS if name not in given.values]
    if missing:
        raise UsageError(f"no {' and no '.join(missing)}", expected="INPUT REFS DECODER CONFIG", remedy="see --help")
