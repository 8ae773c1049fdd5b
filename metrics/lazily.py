"""Front doors of folders: a name that a folder's `__init__` hands on is loaded when it is first asked for.

So that ``from lasw.metrics import UserError`` does not load Numba, and a door can show all that is behind it. A door
lists its names once, as imports that only type checkers carry out::

    if TYPE_CHECKING:
        from lasw.metrics.text import Corpus
    else:
        __getattr__, __dir__ = front_door(__name__, __file__)
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path

TYPE_CHECKING = False  # type checkers take this name for true


def front_door(package: str, path: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a folder's module (PEP 562).

    Args:
        package: its name.
        path: of its source, which imports the names under ``if TYPE_CHECKING:``.
    """
    homes = {
        name.asname or name.name: (node.module, name.name)
        for node in ast.walk(ast.parse(Path(path).read_bytes()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{package}.")
        for name in node.names
    }

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = homes[name]
        found: object = getattr(importlib.import_module(module), original)
        setattr(sys.modules[package], name, found)
        return found

    return load, lambda: sorted(homes)
