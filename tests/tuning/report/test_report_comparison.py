"""The report of a comparison says what its JSON files and its translations say."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_text import write_spoilt_lists

from lasw.metrics import Corpus, References, metric
from lasw.scripts.main import main

GRID = """
[comparison]
seeds = [1, 2, 3]
samples = 50

[development.dev]
source = "dev.src"
references = ["dev.ref"]
lists = ["dev.nbest"]

[test.one]
source = "dev.src"
references = ["dev.ref"]
lists = ["dev.nbest"]

[test.two]
source = "dev.src"
references = ["dev.ref"]
lists = ["dev.nbest"]
lowercase = true

[system.untuned]
optimiser = "none"

[system.PRO]
optimiser = "pro"
draws = 100

[system.local]
optimiser = "pro"
draws = 100
local = "best"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    references = write_spoilt_lists(folder, "dev", seed=5, sentences=20, words=6)
    (folder / "dev.src").write_text("\n".join(" ".join(reversed(text.split())) for text in references) + "\n")
    (folder / "grid.toml").write_text(GRID)
    assert main(["compare", str(folder / "grid.toml"), "--run", str(folder / "run"), "--quiet"]) == 0
    return folder / "run"


def read(run: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / name).read_bytes())
    return found


def test_the_report_can_be_made_again(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = (run / "report.html").read_bytes()
    assert main(["report", str(run)]) == 0
    assert (run / "report.html").read_bytes() == made
    output = run.parent / "other.html"
    assert main(["report", str(run), "--system", "local", "--title", "A < B", "--output", str(output)]) == 0
    text = output.read_text()
    assert "<h1>A &lt; B</h1>" in text
    assert "<h2>Sentences: untuned and local</h2>" in text
    capsys.readouterr()
    assert main(["report", str(run), "--system", "PRQ"]) == 1
    assert "did you mean 'PRO'" in capsys.readouterr().err
    assert main(["report", str(run), str(run), "--output", str(output)]) == 1
    assert "give it alone" in capsys.readouterr().err


def test_sentence_scores_are_means_of_the_runs(run: Path) -> None:
    said = {row["row"]: row for row in read(run, "comparison.json")["rows"]}
    text = (run / "report.html").read_text()
    other = re.findall(r"<h2>Sentences: untuned and (\w+)</h2>", text)[0]
    references = References.from_lines((run.parent / "dev.ref").read_text().splitlines())
    of = metric("BLEU+1")
    prepared, owner = of.prepare(references), np.arange(20, dtype=np.int32)
    means = []
    for row in (said["untuned"], said[other]):
        scores = []
        for folder in row["runs"]:
            lines = (run / folder / row["files"][0]).read_text().splitlines()
            corpus = Corpus.from_lines(lines, references.vocabulary)
            scores.append(of.sentence_scores(of.statistics(corpus, prepared, owner)))
        means.append(np.mean(scores, axis=0))
    table = text.split('<table class="sentences sortable">')[1].split("</table>")[0]
    rows = [re.findall(r'<data value="([^"]*)">', row)[:4] for row in table.split("<tr>")[2:]]
    assert len(rows) > 5
    for line, change, before, after in rows:
        k = int(line) - 1
        assert (float(before), float(after)) == pytest.approx((means[0][k], means[1][k]))
        assert float(change) == pytest.approx(means[1][k] - means[0][k])


def test_every_number_of_the_table_is_there_in_full(run: Path) -> None:
    text = (run / "report.html").read_text()
    values = set(re.findall(r'<data value="([^"]*)">', text))
    for row in read(run, "table.json")["rows"]:
        for cell in row["cells"]:
            shown = [cell[key] for key in ("mean", "difference", "low", "high", "p_value") if cell[key] is not None]
            assert {repr(value) for value in shown} <= values
    assert "one BLEU" in text
    assert "two BLEU" in text


def test_the_choice_of_local_weights_is_told(run: Path) -> None:
    text = unescape((run / "report.html").read_text())
    row = next(row for row in read(run, "comparison.json")["rows"] if row["row"] == "local")
    for folder in row["runs"]:
        said = json.loads((run / folder / row["files"][0]).with_suffix(".json").read_bytes())
        best = max(said["curve"], key=lambda point: point["score"])
        assert said["setting"] == best["setting"]
        assert f"<code>{said['setting']}</code>" in text
        assert f'<data value="{best["lead"]!r}">' in text
        assert f'<data value="{said["global_score"]!r}">' in text


def test_commands_versions_seeds_and_signatures_are_told(run: Path) -> None:
    text = unescape((run / "report.html").read_text())
    said, table = read(run, "comparison.json"), read(run, "table.json")
    for expected in (said["command"], said["versions"]["numpy"], "<code>1, 2, 3</code>"):
        assert expected in text
    for row in said["rows"]:
        assert row["signature"] in text
    for column in table["columns"]:
        assert column["signature"] in text


def test_references_that_are_gone_are_told(run: Path) -> None:
    reference = run.parent / "dev.ref"
    text = reference.read_text()
    reference.unlink()
    assert main(["report", str(run)]) == 0
    assert "one: no sentences, " in (run / "report.html").read_text()
    reference.write_text(text)


def test_a_folder_without_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "comparison.json").write_text('{"rows": [], "tests": []}')
    assert main(["report", str(tmp_path)]) == 1
    assert "the comparison has no table yet" in capsys.readouterr().err
