"""The house: a folder holds one idea and few entries, and is entered by its front door; setup.cfg knows every folder.

That arrows run down only is checked by `lint-imports` (the layers stand in .importlinter).
"""

from __future__ import annotations

import ast
import configparser
import functools
import importlib
import re
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


@functools.cache
def imports(path: Path) -> tuple[ast.ImportFrom, ...]:
    """What a file imports of lasw, inside functions too."""
    found = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "lasw":
            found.append(node)
        assert not (isinstance(node, ast.Import) and any(x.name.startswith("lasw.") for x in node.names)), path
    return tuple(found)


def setup() -> configparser.ConfigParser:
    options = configparser.ConfigParser()
    options.read(TOP / "setup.cfg")
    return options


def test_kernels_without_a_way_in_are_called_by_kernels_only() -> None:
    """From Python they would be looked up anew, a tenth of a millisecond each time."""
    for path in (path for room in ROOMS for path in (TOP / room).rglob("*.py") if b"kernel" in path.read_bytes()):
        module = importlib.import_module(dotted(path))
        kernels = {name: one for name, one in vars(module).items() if hasattr(one, "py_func")}
        tree = ast.parse(path.read_bytes())
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        inside = {node for one in functions if one.name in kernels for node in ast.walk(one)}
        names = {node.func.id for node in calls(tree) if node not in inside and isinstance(node.func, ast.Name)}
        assert not [name for name in names & set(kernels) if kernels[name].targetoptions.get("no_cpython_wrapper")]


def calls(tree: ast.Module) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


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
        text = path.read_bytes()
        for node in ast.walk(ast.parse(text)) if re.search(rb"import test_|from test_|, test_", text) else ():
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [name.name for name in node.names] if isinstance(node, ast.Import) else []
            assert not [name for name in names if name.startswith("test_")], path


# Where a file runs or loads what could run: what it is given there is typed by a person, or made by a process of ours.
_MAY = {
    "metrics/composed/external_program.py": {"subprocess"},  # EXTERNAL, which no file can name (`named_in`)
    "metrics/parallel/processes.py": {"pickle", "subprocess"},  # requests to our own processes and their answers
    "metrics/parallel/cluster.py": {"import_module"},  # Dask
    "metrics/parallel/executors.py": {"import_module"},  # Dask
    "tuning/decoders/program.py": {"subprocess"},  # the command of a decoder
    "tuning/decoders/parts.py": {"subprocess"},  # its type
    "scripts/mert_moses/inputs.py": {"subprocess"},  # --filtercmd
    "metrics/lazily.py": {"import_module"},  # names in our own front doors
    "metrics/registry/registry.py": {"import_module"},  # places in our own registries
    "metrics/learned/word_classes.py": {"import_module"},  # a package by its name
    "metrics/learned/tagging.py": {"import_module"},
    "scripts/main.py": {"import_module"},
    "scripts/measuring/train_metric/command.py": {"import_module"},
}
_CAN_RUN = re.compile(
    r"\b(pickle(?!=)|marshal|shelve|dill|joblib|cloudpickle|yaml|subprocess|runpy|import_module|__import__|exec|eval)\b(?!:)"
    r"|\bos\.(system|popen|exec\w*|spawn\w*|posix_spawn\w*)\b|\bpty\.spawn\b"
)
_NEVER = re.compile(
    r"shell\s*=\s*True|allow_pickle\s*=\s*True|KeyedVectors\.load|(Word2Vec|FastText)\.load|np\.load\((?!.*allow_pickle=False)"
)


def code(path: Path) -> str:
    """A file without its docstrings and comments."""
    return ast.unparse(ast.fix_missing_locations(_WithoutTexts().visit(ast.parse(path.read_bytes()))))


class _WithoutTexts(ast.NodeTransformer):
    """Texts are no code."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.Constant:
        return ast.Constant("")


def test_data_runs_no_code() -> None:
    """What can load or run code stands in few places, each of which is known."""
    found: dict[str, set[str]] = {}
    for room in ROOMS:
        for path in (TOP / room).rglob("*.py"):
            whole = path.read_text(encoding="utf-8")
            text = code(path) if _CAN_RUN.search(whole) or _NEVER.search(whole) else ""  # taking apart takes time
            assert not _NEVER.search(text), path
            words = {match[0] for match in _CAN_RUN.finditer(text)}
            if words:
                found[str(path.relative_to(TOP))] = words
    assert found == _MAY
