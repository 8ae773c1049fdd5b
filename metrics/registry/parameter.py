"""The constructor arguments of a class as options and as keys of a configuration: name, kind, default, description.

A metric, decoder or optimiser declares its settings once, as the typed arguments of its constructor, described in the
``Args:`` part of its docstring. What a type does not say stands beside it: ``Annotated[float, Limits(...)]``; the words
that an option may be are a ``Literal``.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import os
import re
import sys
import tomllib
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from lasw.metrics.errors import UserError, unknown

T = TypeVar("T")

_WORDS = {int: "a whole number", float: "a finite number", bool: "true or false", str: "text", Path: "a path"}
_MOST_INT = (1 << 63) - 1
_TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True)
class Limits:
    """Which values of its type an option takes.

    Attributes:
        expected: they, in words.
        least, most: of the value; by default any that is finite.
        above: the value is larger.
        unreadable: what messages expect in place of text that is of another type; by default the type says it.
        shown: how messages show the option.
    """

    expected: str
    least: float = -sys.float_info.max
    most: float = sys.float_info.max
    above: float = -math.inf
    unreadable: str = ""
    shown: str = "{name}:{key}={value}"


_AT_LEAST_0 = "a number of at least 0"
NotNegative = Annotated[
    float, Limits(_AT_LEAST_0, least=0, unreadable=_AT_LEAST_0, shown="metric {name}: {key}={value}")
]
Seed = Annotated[int, Limits("a whole number of at least 0", least=0)]


@dataclass(frozen=True)
class Parameter:
    """One argument.

    Attributes:
        name: of the argument.
        kind: int, float, bool, str, or Path.
        default: None if there is none.
        required: there is no default.
        help: from the docstring, in one line.
        several: a tuple of `kind`.
        choices: the values there are, if they are listed.
        limits: of the value, if there are any.
    """

    name: str
    kind: type
    default: Any
    required: bool
    help: str
    several: bool = False
    choices: tuple[Any, ...] = ()
    limits: Limits | None = None

    def checked(self, value: Any, folder: Path, shown: str, *, path: str | None = None, line: int | None = None) -> Any:
        """`value` as the constructor wants it; a relative path is meant from `folder`.

        Args:
            value: as TOML gave it.
            folder: where relative paths start.
            shown: the key's name in messages.
            path: the file it stands in.
            line: where in it.

        Raises:
            UserError: a value of another kind.
        """
        if self.several:
            values = value if isinstance(value, list) else [value]
            one = Parameter(self.name, self.kind, None, True, self.help)
            return tuple(one.checked(v, folder, shown, path=path, line=line) for v in values)
        fits: bool = isinstance(value, self.kind) and not (self.kind is int and isinstance(value, bool))
        if isinstance(value, str) and "\0" in value:
            raise UserError(f"a NUL in {shown}", path=path, line=line, expected=_WORDS[self.kind])
        if self.kind is int and fits:
            fits = abs(value) <= _MOST_INT
        if self.kind is float:
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            fits = number and abs(value) <= sys.float_info.max  # NaN is not
            value = float(value) if fits else value
        elif self.kind is Path and isinstance(value, str) and value:
            fits, value = True, folder / value
        if not fits:
            raise UserError(f"{shown} is {_short(value)}", path=path, line=line, expected=_WORDS[self.kind])
        return value

    def parsed(self, text: str, shown: str) -> Any:
        """The value that a word of the command line stands for.

        Raises:
            UserError: it is of another kind.
        """
        if self.kind in (str, Path):
            return self.checked(text, Path(), shown)
        try:
            content = tomllib.loads(f"value = {text}")
        except (ValueError, RecursionError):
            content = {}
        return self.checked(content["value"] if len(content) == 1 else text, Path(), shown)

    def given(self, words: Sequence[str], shown: str) -> Any:
        """The value that words of the command line stand for, a tuple of theirs if it takes several.

        Raises:
            UserError: one is of another kind.
        """
        one = dataclasses.replace(self, several=False)
        values = [one.parsed(word, shown) for word in words]
        return tuple(values) if self.several else values[0]


def parameters(owner: Callable[..., Any]) -> Mapping[str, Parameter]:
    """The arguments of a class's constructor, or of a function, that a configuration can give, in their order.

    Arguments of other types than numbers, truth values, text and paths (and tuples of these) are left out if they
    have a default.

    Raises:
        TypeError: an argument without a default is of another type.
    """
    return _parameters(cast(Any, owner))


@cache
def _parameters(owner: Callable[..., Any]) -> Mapping[str, Parameter]:
    # A dataclass's fields are to be understood where each was declared, which may be the module of a base class.
    plain = isinstance(owner, type) and not dataclasses.is_dataclass(owner)
    hints = typing.get_type_hints(owner.__init__ if plain else owner, include_extras=True)
    described = _described(owner)
    found = {}
    for name, argument in inspect.signature(owner).parameters.items():
        if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            continue
        required = argument.default is argument.empty
        kind, several = _kind(hints.get(name))
        if kind is None:
            if required:
                raise TypeError(f"{owner.__name__}({name}) is no number, text or path")
            continue
        default = None if required else argument.default
        choices, limits = _restrictions(hints[name])
        found[name] = Parameter(name, kind, default, required, described.get(name, ""), several, choices, limits)
    return types.MappingProxyType(found)


def options_of(shown: str, parts: Iterable[str]) -> dict[str, str]:
    """The parts ``key=value`` of a specification, which messages call `shown`.

    Raises:
        UserError: a part of another form, or a key that comes twice.
    """
    options: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise UserError(f"{shown}: {part!r}", expected="key=value")
        if key in options:
            raise UserError(f"{shown}: {key!r} is given twice")
        options[key] = value
    return options


def construct(
    made: Callable[..., T],
    options: Mapping[str, object],
    name: str,
    *,
    given: Mapping[str, object] | None = None,
    shown: str = Limits.shown,
) -> T:
    """What a class or function makes of options that a person gave.

    Args:
        made: its arguments are the options.
        options: by name, as text or as values.
        name: what messages call it.
        given: arguments that are no options.
        shown: how messages show an option whose `Limits` do not say it.

    Raises:
        UserError: an option that does not exist (with the nearest that does), or a value of another type.
        ValueError: as `made` raises it.
    """
    given = given or {}
    own = {key: parameter for key, parameter in parameters(made).items() if key not in given}
    for key in options:
        if key not in own:
            raise unknown(f"option of {name}", key, list(own))
    values = {key: _converted(own[key], value, name, shown) for key, value in options.items()}
    return made(**given, **values)


def _short(value: object) -> str:
    """As messages show it."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or of brackets
        text = f"a {type(value).__name__} of thousands of characters"
    return text if len(text) <= 60 else f"{text[:60]} ..."


def _converted(own: Parameter, value: object, name: str, shown: str) -> Any:
    """`value` as the type of the argument."""
    try:
        if own.kind is bool:
            return _TRUTH[str(value).lower()]
        if isinstance(value, str) or not (own.kind is str or isinstance(value, bool)):
            converted = own.kind(str(value))
            if own.kind is not int or abs(converted) <= _MOST_INT:
                return converted
    except (KeyError, ValueError):
        pass
    limits = own.limits or Limits("", shown=shown)
    expected = limits.unreadable or ("a number" if own.kind is float else _WORDS[own.kind])
    raise UserError(limits.shown.format(name=name, key=own.name, value=value), expected=expected)


def check_options(owner: Any) -> None:
    """Look at the fields of a dataclass with a name, a metric say; a default is always right.

    Raises:
        UserError: one is not among its choices (with the nearest that is), or outside its limits.
    """
    for key, default, choices, limits in _restricted(owner.__class__):
        value = getattr(owner, key)
        if value == default:
            continue
        if choices and value not in choices:
            raise unknown(f"value of {owner.name}:{key}", str(value), list(choices))
        if limits and not (limits.least <= value <= limits.most and value > limits.above):
            raise UserError(limits.shown.format(name=owner.name, key=key, value=value), expected=limits.expected)


@cache
def _restricted(owner: type[Any]) -> list[tuple[str, Any, tuple[Any, ...], Limits | None]]:
    """Name, default, choices and limits of each field."""
    hints = typing.get_type_hints(owner, include_extras=True)
    return [(field.name, field.default, *_restrictions(hints[field.name])) for field in dataclasses.fields(owner)]


def _restrictions(hint: Any) -> tuple[tuple[Any, ...], Limits | None]:
    """The choices and limits that a hint has, at any depth."""
    choices: tuple[Any, ...] = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
    limits = next((x for x in getattr(hint, "__metadata__", ()) if isinstance(x, Limits)), None)
    for inner in () if choices else typing.get_args(hint):
        inner_choices, inner_limits = _restrictions(inner)
        choices, limits = choices or inner_choices, limits or inner_limits
    return choices, limits


def _kind(hint: Any) -> tuple[type | None, bool]:
    """The simplest type a value can have under a hint, and whether it takes several."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _kind(inner[0])
    if origin in (types.UnionType, typing.Union):
        for one in inner:
            kind, several = _kind(one)
            if kind is not None and one is not str:
                return kind, several
        return (str, False) if str in inner else (None, False)
    if origin in (tuple, list, Sequence):
        return _kind(inner[0])[0], True
    if origin is typing.Literal:
        return type(inner[0]), False
    if origin is os.PathLike or hint is os.PathLike:
        return Path, False
    return (hint, False) if hint in _WORDS else (None, False)


def _described(owner: Callable[..., Any]) -> dict[str, str]:
    """The ``Args:`` of the docstrings of a class and what it inherits from, the nearest first, or of a function."""
    found: dict[str, str] = {}
    for one in inspect.getmro(owner) if isinstance(owner, type) else (owner,):
        text = inspect.cleandoc(one.__doc__ or "")
        part = re.search(r"^Args:\n((?:[ ]+.*\n?|\n)*)", text, re.MULTILINE)
        for item in re.finditer(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", part[1] if part else "", re.MULTILINE):
            found.setdefault(item[1], " ".join(item[2].split()).replace("``", "").replace("`", ""))
    return found
