"""Every command in README and docs/ runs, and prints what the page says; `blocks` says how pages are marked."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import folders
import pytest
import shell
from blocks import BLOCK, PAGES, RUNS, TOP, fits, pages


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Path], Path]:
    """A folder of a kind, made once and copied."""
    made: dict[str, Path] = {}

    def copy(kind: str, place: Path) -> Path:
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp(kind)
            folders.make(kind, made[kind])
        return Path(shutil.copytree(made[kind], place / kind))

    return copy


def test_every_block_of_commands_says_whether_it_runs() -> None:
    silent = [f"{page}:{one.line}" for page, found in PAGES.items() for one in found if not one.mark]
    assert silent == []


def test_no_command_is_hidden_from_the_tests() -> None:
    """An indented block, or one in another language, is not looked at, so none of them may be a command."""
    hidden = []
    for page in pages():
        text = BLOCK.sub(
            lambda found: found[0] if found["language"] not in ("sh", "text") else "", (TOP / page).read_text()
        )
        hidden += [f"{page}: {line}" for line in text.splitlines() if re.match(r"(    |\$ ?)\s*(lasw|scripts/)", line)]
    assert hidden == []


@pytest.mark.parametrize(("page", "kind"), RUNS, ids=lambda one: one.removesuffix(".md"))
def test_commands_run(
    page: str, kind: str, fresh: Callable[[str, Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fresh(kind, tmp_path))
    for one in PAGES[page]:
        if one.mark.startswith(f"file: {kind} "):
            Path(one.mark.split()[2]).write_text(one.text, encoding="utf-8")
        if one.mark == f"run: {kind}":
            printed = shell.run(one.text)
            if one.printed is not None:
                assert fits(one.printed, printed), f"{page}:{one.line} (accept.py renews it) prints\n{printed}"


def test_what_a_run_leaves_is_described(
    fresh: Callable[[str, Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every key of the log and of the result, and every file."""
    monkeypatch.chdir(fresh("lists", tmp_path))
    shell.run(
        "lasw tune --decoder fixed --lists run1.best100.out.gz --initial run1.moses.ini --source dev.de "
        "--references dev.en --run run --iterations 1 --perturbed 1 --quiet"
    )
    page = (TOP / "docs/reference/files/run-directory.md").read_text(encoding="utf-8")
    log = json.loads(Path("run/log.jsonl").read_text().splitlines()[0])
    keys = [*log, *log.get("step", {}), *json.loads(Path("run/result.json").read_text())]
    files = [path.name for path in Path("run").rglob("*") if path.is_file()]
    assert [name for name in (*keys, *files) if f"`{name}`" not in page and f"/{name}`" not in page] == []
