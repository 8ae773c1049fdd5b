"""Every command in README and docs/ runs, and prints what the page says.

Above each block of commands a comment, which readers do not see, says in which of the made folders it runs
(`folders.py`), or why it does not; ``<!-- file: FOLDER NAME -->`` above a block of any kind puts it there as a file.
Blocks of one page and folder run one after the other. A block ``<!-- prints -->`` below one is what it prints: a line
``...`` stands for any lines, ``...`` at the end of a line for the rest of it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import folders
import pytest
import shell

TOP = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>(?:run|not run|file): [^>]+?) -->\n+)?^```(?P<language>\w+)\n(?P<text>.*?)^```$"
    r"(?:\n+<!-- prints -->\n+```text\n(?P<printed>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """Commands of a page."""

    line: int
    mark: str
    text: str
    printed: str | None


def pages() -> list[str]:
    return ["README.md", *(str(path.relative_to(TOP)) for path in sorted((TOP / "docs").rglob("*.md")))]


def blocks(page: str) -> Iterator[Block]:
    text = (TOP / page).read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        if found["language"] == "sh" or (found["mark"] or "").startswith("file:"):
            line = text.count("\n", 0, found.start()) + 1
            yield Block(line, found["mark"] or "", found["text"], found["printed"])


PAGES = {page: found for page in pages() if (found := list(blocks(page)))}
RUNS = sorted({(page, one.mark[5:]) for page, found in PAGES.items() for one in found if one.mark[:4] == "run:"})


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


def fits(text: str, printed: str) -> bool:
    """Whether a page's text is what is printed."""
    lines = []
    for line in text.splitlines():
        if line == "...":
            lines.append(r"(?:.*\n)*?")
        elif line.endswith("..."):
            lines.append(re.escape(line.removesuffix("...")) + r".*\n")
        else:
            lines.append(re.escape(line.rstrip()) + r" *\n")
    return re.fullmatch("".join(lines), printed) is not None
