"""The pages of docs/: what is made of the program is up to date, what is public has its place, no link is broken."""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "docs"))

from made import api, commands, regions  # noqa: E402

from lasw.metrics import METRICS, parameters  # noqa: E402
from lasw.scripts.main import COMMANDS  # noqa: E402
from lasw.selection import ALIGNERS, METHODS  # noqa: E402
from lasw.tuning import COMPARISON, CONFIGURATION, DECODERS, NBEST_LAYOUTS, OPTIMISERS, WEIGHT_FILES  # noqa: E402

PAGES = {str(path.relative_to(TOP)): path.read_text(encoding="utf-8") for path in regions.pages()}
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<!\\)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")


def page(name: str) -> str:
    return PAGES[f"docs/{name}.md"]


@pytest.mark.parametrize("name", [name for name, text in PAGES.items() if regions.REGION.search(text)])
def test_what_is_made_of_the_program_is_what_it_says_now(name: str) -> None:
    """If not: python docs/made/write.py."""
    assert regions.renewed(PAGES[name]) == PAGES[name]


def test_every_kind_of_thing_has_its_place() -> None:
    made = {(kind, *words) for text in PAGES.values() for kind, words in regions.regions(text)}
    wanted = {("command", name) for name in COMMANDS}
    wanted |= {("optimiser", name) for name in OPTIMISERS} | {("decoder", name) for name in DECODERS}
    same = {"PGBC4", "BLEU", "BLEU+1"}  # as PABC4: one class
    wanted |= {("metric", name) for name in METRICS if name not in same}
    wanted |= {("grid", name) for name in COMPARISON.sections if name != "decoder"}
    wanted |= {("section", name) for name in CONFIGURATION.sections if CONFIGURATION.sections[name].owner}
    wanted |= {("methods",), ("aligners",), ("mert-moses",), ("configurations",), ("la-features",)}
    assert wanted - made == set()
    assert all(f"## {name}\n" in page("reference/files/nbest-lists") for name in NBEST_LAYOUTS)
    assert all(f"| `{name}` |" in page("reference/files/weights") for name in WEIGHT_FILES)
    assert all(f"| `{name}` |" in page("reference/selection") for name in (*METHODS, *ALIGNERS))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_stands_in_the_reference_with_its_default(name: str) -> None:
    lines = page(f"reference/commands/{name}").splitlines()
    for parser in commands.parsers(name):
        for action in parser._actions:
            if action.option_strings and action.help != argparse.SUPPRESS:
                last = action.option_strings[-1]
                row = next(line for line in lines if re.match(rf"\| .*`{re.escape(last)}[` ]", line))
                default = row.split(" | ")[1]
                assert default
                if isinstance(action.default, (int, float)) and not isinstance(action.default, bool):
                    assert str(action.default) in default, row
                section, _, key = action.dest.partition(".")
                if key and key != "name":  # settings of classes, whose defaults the parser does not know
                    known = {
                        str(one[key].default).lower()
                        for one in (CONFIGURATION.keys(section, owner) for owner in _owners(section, name))
                        if key in one and one[key].default not in (None, "", ())
                    }
                    assert all(value in default.lower() for value in known), (row, known)


def _owners(section: str, command: str) -> list[str | None]:
    """The classes whose settings are options of a command."""
    if command == "local":
        return ["wro", "pro"]
    registry = CONFIGURATION.sections[section].registry
    return [None] if registry is None else list(registry)


@pytest.mark.parametrize("name", [name for name in METRICS if name not in ("MIX", "SCORES")])
def test_every_option_of_a_metric_stands_in_the_reference(name: str) -> None:
    text = page("reference/metrics")
    rows = re.findall(r"<!-- made: metric \S+ -->(.*?)<!-- end made -->", text, re.DOTALL)
    options = [key for key in parameters(METRICS.find(name)) if key not in ("name", "command")]
    assert any(all(f"| `{key}` |" in body for key in options) for body in rows)


@pytest.mark.parametrize("room", api.ROOMS)
def test_every_public_name_has_a_page(room: str) -> None:
    text = "".join(text for name, text in PAGES.items() if name.startswith(f"docs/api/{room}/"))
    names = [name for names in api.public(room).values() for name in names]
    assert [name for name in names if f"\n| `{name}` | " not in text] == []
    door = importlib.import_module(f"lasw.{room}")
    described = [name for name in names if api.is_described(getattr(door, name))]
    assert [name for name in described if f"\n::: lasw.{room}.{name}\n" not in text] == []


def anchors(text: str) -> set[str]:
    """Those of the headings, as forges and mkdocs make them."""
    heads = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", head.lower()).strip()) for head in heads}


@pytest.mark.parametrize("name", [*PAGES, "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"])
def test_no_link_leads_nowhere(name: str) -> None:
    text = PAGES.get(name) or (TOP / name).read_text(encoding="utf-8")
    broken = []
    for target in LINK.findall(FENCE.sub("", text)):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue  # of another machine
        file = (TOP / name).parent / path if path else TOP / name
        fits = file.exists() and (not anchor or anchor in anchors(file.read_text(encoding="utf-8")))
        if not fits or (name.startswith("docs/") and (TOP / "docs") not in file.resolve().parents):
            broken.append(target)
    assert broken == []


def test_files_that_messages_and_comments_name_are_there() -> None:
    """What help texts, docstrings and test files say of docs/."""
    files = [TOP / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "README.md")]
    for room in ("metrics", "tuning", "selection", "scripts", "tests", "configs", ".ci"):
        files += [path for path in (TOP / room).rglob("*") if path.is_file() and path.suffix in ("", ".py", ".toml")]
    lost = []
    for path in files:
        named = re.findall(r"docs/[\w/-]+\.md", path.read_text(encoding="utf-8"))
        lost += [f"{path.relative_to(TOP)}: {one}" for one in named if not (TOP / one).exists()]
    assert lost == []


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = set(re.findall(r"(?:: |- )([\w/-]+\.md)$", (TOP / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert listed == {name.removeprefix("docs/") for name in PAGES if name.startswith("docs/")}


def test_the_readme_is_short() -> None:
    assert len(PAGES["README.md"].splitlines()) <= 120


def test_code_that_the_pages_name_is_there() -> None:
    """Files and folders of the rooms, wherever a page has them as code."""
    lost = []
    for name, text in PAGES.items():
        for one in re.findall(r"`((?:metrics|tuning|selection|scripts|configs|tests|docs|examples)/[\w./-]*)`", text):
            lost += [] if (TOP / one).exists() else [f"{name}: {one}"]
    assert lost == []


@pytest.mark.parametrize("room", api.ROOMS)
def test_docstrings_describe_arguments_that_there_are(room: str) -> None:
    """One name a line in `Args:`, and each an argument: what the site refuses otherwise, seen here in a moment."""
    door = importlib.import_module(f"lasw.{room}")
    wrong = []
    for name in (name for names in api.public(room).values() for name in names):
        thing = getattr(door, name)
        if api.is_described(thing):
            wrong += [f"{name}: {one}" for one in _unknown(thing)]
    assert wrong == []


def _unknown(thing: Any) -> list[str]:
    """What the `Args:` of a class, its methods, or a function describe and that there is not."""
    parts = [thing]
    if inspect.isclass(thing):
        functions = (getattr(one, "__func__", one) for one in vars(thing).values())
        parts += [one for one in functions if inspect.isfunction(one) and not one.__name__.startswith("_")]
    found = []
    for part in parts:
        text = re.search(r"^Args:\n((?: .*\n?|\n)*)", inspect.getdoc(part) or "", re.MULTILINE)
        described = re.findall(r"^ {4}(\w[\w, *]*): ", text[1] if text else "", re.MULTILINE)
        known = set(inspect.signature(part).parameters) if described else set()
        found += [f"{part.__name__}({one})" for one in described if one.strip("*") not in known]
    return found
