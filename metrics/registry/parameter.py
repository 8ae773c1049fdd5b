"""The constructor arguments of a class as keys of a configuration: name, kind, default and description.

A decoder or optimiser declares its settings once, as the typed arguments of its constructor, described in the ``Args:``
part of its docstring.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import os
import re
import tomllib
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lasw.metrics.errors import UserError

_WORDS = {int: "a whole number", float: "a finite number", bool: "true or false", str: "text", Path: "a path"}


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
    """

    name: str
    kind: type
    default: Any
    required: bool
    help: str
    several: bool = False

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
        if self.kind is float:
            fits = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
            value = float(value) if fits else value
        elif self.kind is Path and isinstance(value, str) and value:
            fits, value = True, folder / value
        if not fits:
            raise UserError(f"{shown} is {value!r}", path=path, line=line, expected=_WORDS[self.kind])
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
        except tomllib.TOMLDecodeError:
            content = {}
        return self.checked(content["value"] if len(content) == 1 else text, Path(), shown)


def parameters(owner: type[Any]) -> dict[str, Parameter]:
    """The arguments of a class's constructor that a configuration can give, in their order.

    Arguments of other types than numbers, truth values, text and paths (and tuples of these) are left out if they
    have a default.

    Raises:
        TypeError: an argument without a default is of another type.
    """
    # A dataclass's fields are to be understood where each was declared, which may be the module of a base class.
    hints = typing.get_type_hints(owner if dataclasses.is_dataclass(owner) else owner.__init__)
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
        found[name] = Parameter(name, kind, default, required, described.get(name, ""), several)
    return found


def _kind(hint: Any) -> tuple[type | None, bool]:
    """The simplest type a value can have under a hint, and whether it takes several."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
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


def _described(owner: type[Any]) -> dict[str, str]:
    """The ``Args:`` of the docstrings of a class and what it inherits from, the nearest first."""
    found: dict[str, str] = {}
    for one in inspect.getmro(owner):
        text = inspect.cleandoc(one.__doc__ or "")
        part = re.search(r"^Args:\n((?:[ ]+.*\n?|\n)*)", text, re.MULTILINE)
        for item in re.finditer(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", part[1] if part else "", re.MULTILINE):
            found.setdefault(item[1], " ".join(item[2].split()).replace("``", "").replace("`", ""))
    return found
