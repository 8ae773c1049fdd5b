"""What is said of the package in several places is the same, and the changes stand in order."""

from __future__ import annotations

import configparser
import re
from importlib import metadata
from pathlib import Path

import yaml

TOP = Path(__file__).resolve().parents[1]
CHANGES = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")


def setup() -> configparser.ConfigParser:
    options = configparser.ConfigParser()
    options.read(TOP / "setup.cfg", encoding="utf-8")
    return options


def test_there_is_one_version() -> None:
    version = setup()["metadata"]["version"]
    assert metadata.version("lasw") == version
    assert yaml.safe_load((TOP / "CITATION.cff").read_text(encoding="utf-8"))["version"] == version
    assert f"## {version}\n" in CHANGES


def test_changes_are_newest_first() -> None:
    first, *versions = re.findall(r"^## (.*)$", CHANGES, re.MULTILINE)
    assert first == "Unreleased"
    numbers = [tuple(map(int, version.split(" ")[0].split("."))) for version in versions]
    assert numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) == len(numbers)
    for part in CHANGES.split("\n## ")[1:]:
        titles = re.findall(r"^### (.*)$", part, re.MULTILINE)
        assert len(set(titles)) == len(titles)


def test_the_five_papers_are_cited() -> None:
    cited = yaml.safe_load((TOP / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    names = sorted(f"{one['authors'][0]['family-names'].lower()}-{one['year']}" for one in cited)
    pages = sorted(path.stem for path in (TOP / "docs" / "papers").glob("*-[0-9]*.md"))
    assert [name.replace("'", "").replace("á", "a") for name in names] == pages
    for one in cited:
        page = next((TOP / "docs" / "papers").glob(f"{one['authors'][0]['family-names'][:4].lower()}*.md"))
        assert f"*{one['title']}*" in " ".join(page.read_text(encoding="utf-8").split())


def test_the_source_distribution_has_what_tests_need() -> None:
    """`.ci/package` unpacks one and looks at every file."""
    lines = (TOP / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
    named = {word for line in lines if line.startswith(("include ", "graft ")) for word in line.split()[1:]}
    rooms = {
        "metrics",
        "tuning",
        "selection",
        "scripts",
        "configs",
        "build",
        "setup.cfg",
        "pyproject.toml",
        "MANIFEST.in",
    }
    skipped = {".git", ".venv", "dist", "quickstart-run", "quickstart-lists", "PKG-INFO"}
    there = {path.name for path in TOP.iterdir() if not path.name.endswith(("_cache", ".egg-info"))}
    assert there - rooms - skipped - named - {".hypothesis", "__pycache__"} == set()
