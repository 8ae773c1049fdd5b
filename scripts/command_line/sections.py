"""Options made of the settings of a decoder, an optimiser or a run, as a configuration has them in its sections."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from lasw.metrics import Parameter, UserError
from lasw.scripts.command_line.options import single_assignments, spelt_metric
from lasw.scripts.command_line.parser import Parser, say_new_word
from lasw.tuning import CONFIGURATION

# Options with other names than their keys.
_OPTION_NAMES = {("run", "directory"): "run", ("decoder", "name"): "decoder", ("optimiser", "name"): "optimiser"}
_TAKEN = {"help", "debug", "config", "json", "quiet"}
_SHORT = {"references": ("-r",), "metric": ("-m",)}
# What is said of a setting, where that is the same for all classes that have it.
_TEXTS = {
    ("optimiser", "metric"): "the loss, any metric of lasw score",
    ("optimiser", "norm"): "l1: the dense weights that vary have absolute sum 1, sparse ones are divided by the same "
    "number; none: as they come",
    (
        "decoder",
        "jobs",
    ): "processes that translate",
}
_METAVARS = {int: "N", float: "X", bool: "true|false", str: "TEXT"}


def add_section(
    parser: Parser,
    section: str,
    title: str,
    *,
    names: Sequence[str] | None = None,
    without: Collection[str] = (),
    common: Collection[str] = (),
) -> None:
    """An option for every setting of a section, its text and default from the classes that have it.

    Args:
        parser: of the command.
        section: one of a configuration.
        title: of the group of options.
        names: of decoders or optimisers; None: all there are.
        without: keys that are no options here.
        common: keys that ``--help`` shows; all others only ``--help-all`` does.
    """
    group = parser.add_argument_group(title)
    owners = {
        name: CONFIGURATION.keys(section, name)
        for name in ((CONFIGURATION.sections[section].registry or ()) if names is None else names)
    }
    for key, parameter in CONFIGURATION.keys(section).items():
        of_key = {name: own[key] for name, own in owners.items() if key in own}
        if key in without or (owners and not of_key):
            continue
        shown = _help(next(iter(of_key.values()), parameter), of_key, len(owners), _TEXTS.get((section, key)))
        several: dict[str, Any] = {"nargs": "+", "action": "extend"} if parameter.several else {}
        option = f"--{option_name(section, key)}"
        group.add_argument(
            option,
            *_SHORT.get(key, ()),
            dest=f"{section}.{key}",
            metavar=_METAVARS.get(parameter.kind, "FILE"),
            type=_type(section, key),
            help=shown.replace("%", "%%"),
            **several,
        )
        if all(one.choices for one in of_key.values()) and (of_key or parameter.choices):
            parser.suggest(option, dict.fromkeys(c for one in of_key.values() or [parameter] for c in one.choices))
        if key not in common:
            parser.further(option)


def _type(section: str, key: str) -> Callable[[str], str]:
    """What brings names into their own capitals."""
    registry = CONFIGURATION.sections[section].registry
    if registry is not None and key == "name":
        return registry.spelt
    return spelt_metric if key in ("metric", "dev_metric") else str


def given_settings(arguments: argparse.Namespace, section: str) -> dict[str, Any]:
    """The settings of a section that the command line gives, by key.

    Raises:
        UserError: a value of another kind.
    """
    settings: dict[str, Any] = {}
    for key, parameter in CONFIGURATION.keys(section).items():
        given: str | Sequence[str] | None = getattr(arguments, f"{section}.{key}", None)
        if given is not None:
            words = [given] if isinstance(given, str) else given
            settings[key] = parameter.given(words, f"--{option_name(section, key)}")
    return settings


def given_hyperparameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """The hyper-parameters by key, also those that ``--option KEY=VALUE`` gives, as in earlier releases.

    Raises:
        UserError: a value of another kind, a key that comes twice.
    """
    settings = given_settings(arguments, "optimiser")
    old = single_assignments("--option", arguments.option)
    known = CONFIGURATION.keys("optimiser")
    new = {key: f"--{option_name('optimiser', key)} {value}" for key, value in old.items() if key in known}
    if new:
        texts = " ".join(f"--option {key}={old[key]}" for key in new)
        say_new_word(f"lasw {arguments.command}", texts, " ".join(new.values()))
    twice = next((key for key in old if key in settings), None)
    if twice is not None:
        raise UserError(f"--option {twice} is given twice", expected="one value")
    return {**settings, **old}


def add_old_option(parser: Parser) -> None:
    """``--option KEY=VALUE``, as hyper-parameters were given in earlier releases."""
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help=argparse.SUPPRESS)


def option_name(section: str, key: str) -> str:
    """The option for a key, without dashes: the key, behind its section's name where an earlier section has it too."""
    name = _OPTION_NAMES.get((section, key), key).replace("_", "-")
    sections = list(CONFIGURATION.sections)
    earlier = sections[: sections.index(section)]
    if key != "name" and (name in _TAKEN or any(key in CONFIGURATION.keys(other) for other in earlier)):
        return f"{section}-{name}"
    return name


def _help(parameter: Parameter, owners: Mapping[str, Parameter], of: int, shared: str | None) -> str:
    """What the setting is, said for each class of its own where they differ."""
    texts: dict[str, list[str]] = {}
    for name, own in owners.items():
        texts.setdefault(shared or own.help.rstrip("."), []).append(name)
    if len(texts) > 1:
        text = "; ".join(f"{', '.join(names)}: {said}" for said, names in texts.items())
    else:
        text = (f"{', '.join(owners)}: " if len(owners) < of else "") + (shared or parameter.help.rstrip("."))
    defaults = {name: own.default for name, own in owners.items() if own.default is not None}
    if len(set(defaults.values())) > 1:
        by_value: dict[Any, list[str]] = {}
        for name, value in defaults.items():
            by_value.setdefault(value, []).append(name)
        each = ", ".join(f"{_shown(value)} for {' and '.join(names)}" for value, names in by_value.items())
        return f"{text} (default: {each})"
    return text if parameter.default in (None, (), "") else f"{text} (default: {_shown(parameter.default)})"


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
