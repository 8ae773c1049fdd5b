"""Reports in a real browser: what is drawn is what the JSON says, it fits the screen, and nothing goes wrong."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from made_text import write_spoilt_lists

from lasw.scripts.main import main

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")

GRID = """
[comparison]
seeds = [1, 2, 3]
measures = ["BLEU", "PABC4"]
samples = 50
title = "One & <two>"

[development.dev]
references = ["dev.ref"]
lists = ["dev.nbest"]

[system.untuned]
optimiser = "none"

[system."a system with a very long name that no narrow screen has room for"]
optimiser = "pro"
draws = 100

[system.WRO]
optimiser = "wro"
draws = 100
"""
# Holds the report in a frame as wide as a screen; what it looks like there is written down for --dump-dom.
PROBE = """<!DOCTYPE html>
<body style="margin: 0"><iframe src="PAGE" style="width: WIDTHpx; height: 900px; border: 0"></iframe>
<pre id="seen"></pre>
<script>
onload = () => {
  const page = document.querySelector("iframe").contentDocument;
  const cells = table => [...table.rows].map(row => [...row.cells].map(cell => cell.innerText.trim()));
  const seen = {
    width: page.documentElement.clientWidth,
    scrolled: page.documentElement.scrollWidth,
    tables: [...page.querySelectorAll("table")].map(cells),
    title: page.querySelector("h1").innerText,
    drawn: [...page.querySelectorAll(".chart svg")].map(svg => svg.getBoundingClientRect().width),
    dots: [...page.querySelectorAll("circle > title")].map(title => title.textContent),
    sorted: [],
  };
  for (const button of page.querySelectorAll("table.sentences button")) {
    button.click();
    const body = page.querySelector("table.sentences tbody");
    seen.sorted.push([...body.rows].map(row => [...row.querySelectorAll("data")].map(data => Number(data.value))));
  }
  document.getElementById("seen").textContent = JSON.stringify(seen);
};
</script>
"""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    write_spoilt_lists(folder, "dev", seed=6, sentences=20, words=7)
    (folder / "grid.toml").write_text(GRID)
    assert main(["compare", str(folder / "grid.toml"), "--run", str(folder / "run"), "--quiet"]) == 0
    return folder / "run"


def browse(page: Path, scratch: Path, width: int) -> tuple[dict[str, Any], list[str]]:
    """What a browser shows of a page, and the lines of its console."""
    assert BROWSER is not None
    probe = scratch / f"probe{width}.html"
    probe.write_text(PROBE.replace("PAGE", page.as_uri()).replace("WIDTH", str(width)))
    words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    words += [
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        f"--user-data-dir={scratch / 'profile'}",
    ]
    words += ["--allow-file-access-from-files", "--enable-logging=stderr", "--v=0", "--virtual-time-budget=10000"]
    words += [f"--window-size={max(width, 500)},900", "--dump-dom", probe.as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None
    seen: dict[str, Any] = json.loads(html.unescape(found[1]))
    return seen, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_comparison(comparison: Path, tmp_path: Path, width: int) -> None:
    seen, console = browse(comparison / "report.html", tmp_path, width)
    table = json.loads((comparison / "table.json").read_bytes())
    assert console == []
    assert seen["title"] == "One & <two>"
    assert seen["width"] <= width
    assert seen["scrolled"] <= seen["width"]
    assert all(0 < drawn <= width for drawn in seen["drawn"])
    matrix = seen["tables"][0]
    assert [row[0] for row in matrix[1:]] == [row["row"] for row in table["rows"]]
    for shown, row in zip(matrix[1:], table["rows"], strict=True):
        for text, cell in zip(shown[1:], row["cells"], strict=True):
            expected = f"{cell['mean']:.2f} ± {cell['deviation']:.2f}"
            assert text.rstrip("*") == expected
            assert text.endswith("*") == (cell["p_value"] is not None and cell["p_value"] < 0.05)
    significance = seen["tables"][1][1:]
    cells = [(row["row"], cell) for row in table["rows"][1:] for cell in row["cells"]]
    for shown, (name, cell) in zip(significance, cells, strict=True):
        interval = f"{cell['low']:+.2f} to {cell['high']:+.2f}"
        expected = [name, cell["measure"], f"{cell['difference']:+.2f}", interval, f"{cell['p_value']:.4f}"]
        assert shown == expected
    dots = [
        f"{row['row']}: {score:.2f}" for j in range(2) for row in table["rows"] for score in row["cells"][j]["scores"]
    ]
    assert seen["dots"] == dots


def test_sentences_are_sorted_by_exact_values(comparison: Path, tmp_path: Path) -> None:
    seen, _ = browse(comparison / "report.html", tmp_path, 1280)
    assert len(seen["sorted"]) == 5  # a click on each heading
    for column in range(4):
        values = [row[column] for row in seen["sorted"][column]]
        assert len(values) > 5
        assert values == sorted(values, reverse=True)
    assert all(row[1] == pytest.approx(row[3] - row[2]) for row in seen["sorted"][0])


@pytest.mark.parametrize("width", [1280, 390])
def test_a_run(comparison: Path, tmp_path: Path, width: int) -> None:
    folder = comparison.parent
    (folder / "dev.src").write_text("x\n" * 20)
    words = ["--decoder", "fixed", "--lists", str(folder / "dev.nbest"), "--run", str(folder / "tuned"), "--quiet"]
    words += ["--source", str(folder / "dev.src"), "--references", str(folder / "dev.ref"), "--optimiser", "pro"]
    assert main(["tune", *words]) == 0
    assert main(["report", str(folder / "tuned")]) == 0
    seen, console = browse(folder / "tuned/report.html", tmp_path, width)
    assert console == []
    assert seen["scrolled"] <= seen["width"] <= width
    records = [json.loads(line) for line in (folder / "tuned/log.jsonl").read_text().splitlines()]
    for shown, record in zip(seen["tables"][0][1:], records, strict=True):
        assert shown[1] == f"{100 * record['dev_score']:.2f}"
    assert len(seen["sorted"]) == 5


def test_a_console_that_complains_is_noticed(tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    broken.write_text("<h1>x</h1><script>nothing.there()</script>")
    _, console = browse(broken, tmp_path, 390)
    assert len(console) == 1
