"""Options that are given and change nothing: one line each, in every command."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from lasw.scripts.command_line.options import warn
from lasw.scripts.command_line.sections import option_name
from lasw.tuning import CONFIGURATION, Sections

# An option or several, whether they change anything, and if not: why.
Rule = tuple[str | Sequence[str], bool, str]


def idle_options(arguments: argparse.Namespace, rules: Iterable[Rule]) -> list[str]:
    """A line for every option on the command line that changes nothing, its first reason."""
    lines: dict[str, str] = {}
    for options, matters, why in rules:
        for option in [options] if isinstance(options, str) else options:
            if not matters and option in arguments.typed:
                lines.setdefault(option, f"{option} has no effect: {why}")
    return list(lines.values())


def tell_idle(arguments: argparse.Namespace, *rules: Rule) -> None:
    """Say it on stderr, unless ``--quiet``."""
    warn(arguments.command, idle_options(arguments, rules), arguments.quiet)


def idle_settings(arguments: argparse.Namespace, sections: Sections) -> list[str]:
    """A line for every given setting of a decoder, an optimiser or a run that changes nothing beside the others.

    Args:
        arguments: of the command, which tell whether a setting is an option of the command line.
        sections: the settings that are given, on the command line or in a file.
    """
    found = CONFIGURATION.without_effect(sections)
    return [f"{shown_setting(arguments, section, key)} has no effect: {why}" for section, key, why in found]


def shown_setting(arguments: argparse.Namespace, section: str, key: str) -> str:
    """A setting as it was given: as an option, or in a file."""
    option = f"--{option_name(section, key)}"
    return option if option in arguments.typed else f"{section}.{key}"
