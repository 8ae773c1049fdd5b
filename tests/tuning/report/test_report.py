from __future__ import annotations

import dataclasses
import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from lasw.metrics import UserError
from lasw.metrics.text.pages.charts import Series, line_chart, stacked_bars
from lasw.scripts.main import main
from lasw.tuning import Development, RunDirectory, Table, Weights, read_run, write_weights
from lasw.tuning.report.page import page
from lasw.tuning.run_directory import write_json

VOID = {"meta", "br", "img", "link", "input", "line", "circle", "rect", "polyline"}


class Page(HTMLParser):
    """Tables as rows of (text, exact value or None), links, and whether every element is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[tuple[str, str | None]]]] = []
        self.links: list[str] = []
        self.names: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self._value: str | None = None
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        found = dict(attributes)
        self.links += [str(v) for k, v in attributes if k in ("src", "href", "xlink:href", "action", "data")]
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append(("", None))
        elif tag == "data":
            self._value = found["value"]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._open and self._open[-1] in ("td", "th", "data", "code") and self.tables and self.tables[-1]:
            text, value = self.tables[-1][-1][-1]
            self.tables[-1][-1][-1] = (text + data, self._value if self._value is not None else value)
            self._value = None


def make_run(path: Path, *, finished: bool = True, name: str = "TM<0>") -> list[dict[str, Any]]:
    """A run directory of two iterations, written without the loop."""
    weights = [Weights.from_groups({"LM": [0.1 + k / 7], name: [0.5, -k / 3]}, {"WT_a~b": 0.25}) for k in range(3)]
    records: list[dict[str, Any]] = [
        {
            "iteration": k + 1,
            "dev_score": 0.3 + k / 70,
            "hypotheses": 500,
            "seconds": {"decode": 1.25 + k, "write": 0.1},
            "warnings": ["the list <b>is</b> short & odd"] if k == 1 else [],
        }
        for k in range(3)
    ]
    for k, record in enumerate(records[:2]):
        record |= {"pool_bleu": 0.35 + k / 90, "objective": 1.5, "moved": 1 / (k + 3), "candidates": 1000 + 999 * k}
        record |= {"new_candidates": 1000 - k, "seed": k}
        record["seconds"] |= {"pool": 0.02, "optimise": 0.75}
    with RunDirectory(path) as run:
        run.describe(
            {
                "command": "lasw tune 'a b' --seed 1",
                "signature": "WRO|metric:PABC4|version:0.1.0",
                "seed": 1,
                "settings": {"run": {"iterations": 2}, "decoder": {"name": "</td>"}},
                "inputs": {"source": "ab12"},
                "versions": {"lasw": "0.1.0"},
            }
        )
        for k in range(3):
            run.iteration(k + 1).mkdir(parents=True)
            write_weights(run.iteration(k + 1) / "before.json", weights[k])
        run.write_log(records)
        if finished:
            write_weights(path / "weights.json", weights[2])
            write_json(
                path / "result.json",
                {"reason": "enough", "iterations": 2, "keep": "best", "chosen": 2, "dev_score": 0.35},
            )
    return records


def test_numbers_are_those_of_the_log(tmp_path: Path) -> None:
    records = make_run(tmp_path / "run")
    found = Page(page([read_run(tmp_path / "run")]))
    iterations, final, how = found.tables
    assert [cell for cell, _ in iterations[0]][:3] == ["iteration", "development BLEU before it", "pool BLEU after it"]
    for row, record in zip(iterations[1:], records, strict=True):
        assert row[0][0] == str(record["iteration"])
        assert row[1] == (f"{100 * record['dev_score']:.2f}", repr(record["dev_score"]))
        pool = record.get("pool_bleu")
        assert row[2] == ("", None) if pool is None else (f"{100 * pool:.2f}", repr(pool))
        for cell, key in ((3, "candidates"), (4, "new_candidates")):
            assert row[cell][1] == (str(record[key]) if key in record else None)
        for cell, step in ((6, "decode"), (9, "optimise")):
            assert row[cell][1] == (repr(record["seconds"][step]) if step in record["seconds"] else None)
    exact = {cells[0][0]: float(cells[1][1] or "nan") for cells in final[1:]}
    assert exact == {"LM": 0.1 + 2 / 7, "TM<0>_0": 0.5, "TM<0>_1": -2 / 3, "WT_a~b": 0.25}
    said = {cells[0][0]: cells[1][0] for cells in how}
    assert said["command"] == "lasw tune 'a b' --seed 1"
    assert said["signature"] == "WRO|metric:PABC4|version:0.1.0"
    assert (said["seed"], said["versions.lasw"], said["inputs.source"]) == ("1", "0.1.0", "ab12")
    assert said["settings.decoder.name"] == "</td>"
    assert "the list <b>is</b> short & odd" in found.text
    assert "was tuned in 2 iterations; it ended with: enough. Development BLEU went from 30.00" in found.text
    assert "with those of iteration 2: " in found.text


def test_the_points_of_the_charts_are_those_of_the_log(tmp_path: Path) -> None:
    records = make_run(tmp_path / "run")
    html = page([read_run(tmp_path / "run")])
    tips = re.findall(r"<title>([^<]*), iteration (\d+): ([-\d.]+)</title>", html)
    scores = [(int(x), y) for name, x, y in tips if name.startswith("development BLEU")]
    assert scores == [(r["iteration"] - 1, f"{100 * r['dev_score']:.2f}") for r in records]
    pool = [(int(x), y) for name, x, y in tips if name.startswith("pool BLEU")]
    assert pool == [(r["iteration"], f"{100 * r['pool_bleu']:.2f}") for r in records[:2]]
    lm = [y for name, _, y in tips if name == "LM"]
    assert lm == [f"{(0.1 + k / 7) / (0.1 + k / 7 + 0.5 + k / 3):.4f}" for k in range(3)]


def test_one_file_that_needs_nothing_else(tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    html = page([read_run(tmp_path / "run")], "A & B", [Table("Test", ["system", "BLEU"], [["x<y", 41.23456]])])
    found = Page(html)
    assert found.links == ["data:,"]  # an empty icon: browsers ask for one otherwise
    assert not {"script", "img", "iframe", "object"} & set(found.names)
    assert "url(" not in html
    assert "@import" not in html
    assert '<meta name="viewport" content="width=device-width' in html
    assert "@media print" in html
    assert found.tables[0] == [[("system", None), ("BLEU", None)], [("x<y", None), ("41.23", "41.23456")]]


def test_candidates_and_oracles_per_iteration(tmp_path: Path) -> None:
    records = make_run(tmp_path / "run")
    run = dataclasses.replace(read_run(tmp_path / "run"), development=Development([(1, 0.5), (2, 0.625)], None))
    html = page([run])
    assert re.findall(r"<title>oracle[^<]*, iteration (\d): ([\d.]+)</title>", html) == [("1", "50.00"), ("2", "62.50")]
    new = re.findall(r"<title>(\d), new in this iteration: (\d+) candidates", html)
    assert new == [(str(r["iteration"]), str(r["new_candidates"])) for r in records[:2]]


def test_a_run_under_way_and_one_that_has_not_begun(tmp_path: Path) -> None:
    make_run(tmp_path / "run", finished=False)
    assert "under way: 3 iterations so far" in Page(page([read_run(tmp_path / "run")])).text
    with RunDirectory(tmp_path / "new") as run:
        run.describe({"settings": {}, "inputs": {}})
    assert "under way: 0 iterations so far" in Page(page([read_run(tmp_path / "new")])).text


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        make_run(tmp_path / name)
    assert main(["report", str(tmp_path / "a")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'a' / 'report.html'}\n"
    assert main(["report", str(tmp_path / "a"), str(tmp_path / "b"), "--output", str(tmp_path / "ab.html")]) == 0
    both = Page((tmp_path / "ab.html").read_text())
    assert "Run a" in both.text
    assert "Run b" in both.text
    assert len(both.tables) == 6
    assert main(["report", str(tmp_path / "a"), str(tmp_path / "b")]) == 1
    assert "give --output" in capsys.readouterr().err
    assert main(["report", str(tmp_path)]) == 1
    assert "no run directory" in capsys.readouterr().err


def test_a_log_that_somebody_changed(tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    for text in ('{"iteration": 1\n', "{}\n", "[]\n", '{"iteration": "x"}\n'):
        (tmp_path / "run" / "log.jsonl").write_text(text)
        with pytest.raises(UserError, match=r"log.jsonl:1: this is no record of an iteration; delete it, and the same"):
            read_run(tmp_path / "run")


def test_files_that_somebody_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(tmp_path / "run")
    for name in ("run.json", "result.json"):
        whole = (tmp_path / "run" / name).read_bytes()
        for text in ("{", "", "[]"):
            (tmp_path / "run" / name).write_text(text)
            assert main(["report", str(tmp_path / "run")]) == 1
            said = capsys.readouterr().err
            assert re.search(rf"{name}(:1)?: this is no JSON( object| \([^)]*\)); delete the run", said)
        (tmp_path / "run" / name).write_bytes(whole)
    (tmp_path / "run" / "run.json").write_text('{"settings": 3}')
    assert main(["report", str(tmp_path / "run")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"lasw report: {tmp_path / 'run/run.json'}: this does not describe a run")
    (tmp_path / "ref").write_text("a\n")
    held = ["--held-out", "n", "--held-out-references", str(tmp_path / "ref"), "--output", str(tmp_path / "ref")]
    assert main(["report", str(tmp_path / "run"), *held]) == 1
    assert "ref: the output would overwrite what is read" in capsys.readouterr().err
    assert (tmp_path / "ref").read_text() == "a\n"


@pytest.mark.parametrize("values", [[0.0], [5.0, 5.0], [-1e-9, 1e-9], [1e4, -3.5], [30.61, 30.62, 41.7]])
def test_charts_of_any_numbers_stay_in_the_frame(values: list[float]) -> None:
    svg = line_chart("x", [Series("a", list(enumerate(values)))], "x", "y")
    places = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([^"]*)" cy="([^"]*)"', svg)]
    assert len(places) == len(values)
    assert all(76 <= x <= 614 and 40 <= y <= 274 for x, y in places)
    order = sorted(range(len(values)), key=values.__getitem__)
    assert all(places[i][1] >= places[j][1] for i, j in itertools.pairwise(order))


def test_bars_stack_to_their_sum() -> None:
    svg = stacked_bars("x", ["1", "2"], [("a", [1.0, 0.0]), ("b", [3.0, 2.0])], "seconds")
    heights = [float(h) for h in re.findall(r'height="([\d.]+)" class', svg)]
    assert heights[0] * 3 == pytest.approx(heights[1], abs=0.2)
    assert heights[2] == 0
    assert heights[3] * 2 == pytest.approx(heights[0] + heights[1], abs=0.2)


def test_json_of_the_log_is_one_object_a_line(tmp_path: Path) -> None:
    records = make_run(tmp_path / "run")
    assert [json.loads(line) for line in (tmp_path / "run/log.jsonl").read_text().splitlines()] == records
