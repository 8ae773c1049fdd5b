"""The public names of a folder, which are those that the front door of its room hands on."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

from lasw.metrics import Registry
from made.tables import code, sentence, table

_SHOWN = 80
TOP = Path(__file__).resolve().parents[2]
ROOMS = ("metrics", "tuning", "selection")


def public(room: str) -> dict[str, list[str]]:
    """What the front door of a room hands on, by the module behind it that it comes from."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse((TOP / room / "__init__.py").read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"lasw.{room}."):
            found.setdefault(node.module, []).extend(sorted(name.name for name in node.names))
    return {module: names for module, names in found.items() if module != "lasw.metrics.lazily"}


def folder(*modules: str) -> str:
    """What is public of some modules of one room: a table, and for the site each name with its docstring."""
    parts = []
    for module in modules:
        room = module.split(".")[1]
        door = importlib.import_module(f"lasw.{room}")
        names = public(room)[module]
        rows = [(code(name), _line(getattr(door, name))) for name in names]
        parts += [f"## {module.split('.', 2)[2]}\n", front_door(module), table(["name", ""], rows)]
        parts += [f"::: lasw.{room}.{name}\n" for name in names if is_described(getattr(door, name))]
    return "\n".join(parts)


def front_door(module: str) -> str:
    """What a folder says of itself, and its example."""
    about, _, example = (importlib.import_module(module).__doc__ or "").strip().partition("\n\n")
    shown = f"\n```pycon\n{example[example.index('>>> ') :]}\n```\n" if ">>> " in example else ""
    return f"{sentence(about)}.\n{shown}"


def is_described(thing: object) -> bool:
    """Whether it has a docstring of its own: a class or a function, not a constant."""
    return inspect.isclass(thing) or inspect.isroutine(thing)


def _line(thing: object) -> str:
    """The first line of its own docstring; a constant itself."""
    if is_described(thing):
        return sentence((inspect.getdoc(thing) or "").split("\n\n")[0])
    if isinstance(thing, Registry):
        return f"the registry of {thing.kind}s: {', '.join(map(code, thing))}"
    text = re.sub(r" at 0x[0-9a-f]+", "", repr(thing))
    return code(text.replace("`", "")) if len(text) <= _SHOWN else f"a constant ({type(thing).__name__})"
