"""The house: a folder holds one idea and few entries, and is entered by its front door; setup.cfg knows every folder.

That arrows run down only is checked by `lint-imports` (the layers stand in .importlinter).
"""

from __future__ import annotations

import ast
import configparser
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
ROOMS = ("metrics", "tuning", "selection", "scripts")
MOST_ENTRIES = 15


def folders() -> list[Path]:
    return [path.parent for room in ROOMS for path in sorted((TOP / room).rglob("__init__.py"))]


def dotted(path: Path) -> str:
    return ".".join(("lasw", *path.relative_to(TOP).with_suffix("").parts)).removesuffix(".__init__")


def imports(path: Path) -> Iterator[ast.ImportFrom]:
    """What a file imports of lasw, inside functions too."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "lasw":
            yield node
        assert not (isinstance(node, ast.Import) and any(x.name.startswith("lasw.") for x in node.names)), path


def setup() -> configparser.ConfigParser:
    options = configparser.ConfigParser()
    options.read(TOP / "setup.cfg")
    return options


def test_the_programs_can_be_started() -> None:
    for line in setup()["options.entry_points"]["console_scripts"].split("\n"):
        module, _, name = line.partition("=")[2].strip().partition(":")
        assert not line or callable(getattr(importlib.import_module(module), name))


def test_setup_knows_every_folder() -> None:
    options = setup()
    listed = options["options"]["packages"].split()
    assert sorted(listed) == sorted([*map(dotted, folders()), "lasw.configs"])


@pytest.mark.parametrize("folder", folders(), ids=dotted)
def test_a_folder_is_one_idea(folder: Path) -> None:
    entries = [path for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    assert len(entries) - 1 <= MOST_ENTRIES
    assert ast.get_docstring(ast.parse((folder / "__init__.py").read_bytes()))


@pytest.mark.parametrize("folder", folders(), ids=dotted)
def test_a_front_door_hands_on_what_it_lists(folder: Path) -> None:
    """Every name can be had, and none is hidden behind a file of the same name."""
    door = importlib.import_module(dotted(folder))
    inside = {path.stem for path in folder.iterdir()}
    for node in imports(folder / "__init__.py"):
        if node.module != "lasw.metrics.lazily":
            for name in node.names:
                assert getattr(door, name.name) is not None
                assert name.name not in inside


@pytest.mark.parametrize("room", ROOMS)
def test_who_comes_from_outside_comes_by_the_front_door(room: str) -> None:
    """A file imports from what stands beside it, or beside a folder that it is in, and from nothing deeper."""
    past = []
    for path in (TOP / room).rglob("*.py"):
        importer = f"{dotted(path)}." if path.name == "__init__.py" else dotted(path)
        for node in imports(path):
            for name in node.names:
                file = TOP.joinpath(*f"{node.module}.{name.name}".split(".")[1:])
                module = f"{node.module}.{name.name}" if file.with_suffix(".py").exists() else str(node.module)
                beside = importer.startswith(f"{module.rpartition('.')[0]}.")
                if (not beside or importer.startswith(f"{module}.")) and module != "lasw.metrics.lazily":
                    past.append(f"{importer.rstrip('.')} -> {module}")
    assert past == []


def test_no_test_imports_another() -> None:
    for path in (TOP / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [name.name for name in node.names] if isinstance(node, ast.Import) else []
            assert not [name for name in names if name.startswith("test_")], path
