"""`lasw compare`: the grid, its runs and its table, with made-up N-best lists and a decoder made of a formula."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.ter import TER

from lasw.metrics import UserError
from lasw.scripts.main import main
from lasw.tuning import read_comparison, read_weights
from lasw.tuning.comparison.grid import rows
from lasw.tuning.loop.shared_files import SharedFiles

WORDS = ["red", "blue", "house", "tree", "runs", "sees", "the", "a", "slowly", "today"]
DEV_FILES = (("source", "dev.src"), ("references", "dev.ref"), ("lists", "dev.nbest"))
TEST_FILES = (("source", "test.src"), ("references", "test.ref"), ("lists", "test.nbest"))
GRID = """
[comparison]
seeds = [1, 2, 3]
measures = ["BLEU", "PABC4"]
samples = 50

[development.dev]
references = ["dev.ref"]
lists = ["dev.nbest"]
start = "ones.json"

[test.news]
references = ["test.ref"]
lists = ["test.nbest"]

[system.untuned]
optimiser = "none"

[system.PRO]
optimiser = "pro"
draws = 200

[system.WRO]
optimiser = "wro"
losses = ["PABC4", "BLEU+1"]
draws = 200
"""


def write_lists(folder: Path, name: str, sentences: int, seed: int) -> None:
    """References, and lists whose second feature tells how spoilt a hypothesis is, roughly."""
    draw = random.Random(seed)
    references, lines = [], []
    for owner in range(sentences):
        reference = [draw.choice(WORDS) for _ in range(draw.randint(4, 9))]
        references.append(" ".join(reference))
        for _ in range(12):
            spoilt = 0.7 * draw.random()
            words = [w if draw.random() > spoilt else draw.choice(WORDS) for w in reference]
            first, second = draw.gauss(0, 1), draw.gauss(-spoilt, 0.15)
            text = " ".join(words)
            lines.append(
                f"{owner} ||| {text} ||| LM= {first:.4f} TM= {second:.4f} {len(words)} ||| {first + second:.4f}"
            )
    (folder / f"{name}.ref").write_text("\n".join(references) + "\n")
    (folder / f"{name}.nbest").write_text("\n".join(lines) + "\n")


def write_sources(folder: Path) -> None:
    """Sources that have nothing to do with how good the hypotheses are."""
    draw = random.Random(8)
    for name, sentences in (("dev", 25), ("test", 20)):
        lines = [" ".join(draw.choice(WORDS) for _ in range(6)) for _ in range(sentences)]
        (folder / f"{name}.src").write_text("\n".join(lines) + "\n")


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    write_lists(tmp_path, "dev", 25, 1)
    write_lists(tmp_path, "test", 20, 2)
    (tmp_path / "grid.toml").write_text(GRID)
    (tmp_path / "ones.json").write_text('{"dense": {"LM": [1], "TM": [1, 1]}, "sparse": {}}')
    return tmp_path / "grid.toml"


def compare(grid: Path, name: str, *options: str) -> dict[str, Any]:
    directory = grid.parent / name
    assert main(["compare", str(grid), "--run", str(directory), "--quiet", *options]) == 0
    found: dict[str, Any] = json.loads((directory / "table.json").read_bytes())
    return found


def compare_named(name: str, grid: Path, *options: str) -> dict[str, Any]:
    directory = grid.parent / "named"
    assert main(["compare", name, "--run", str(directory), "--quiet", *options]) == 0
    found: dict[str, Any] = json.loads((directory / "table.json").read_bytes())
    return found


def files(directory: Path) -> dict[str, int]:
    """When each file of the runs was written."""
    found = sorted(path for path in (directory / "runs").rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.stat().st_mtime_ns for path in found}


def test_the_table_is_what_the_translations_score(grid: Path) -> None:
    table = compare(grid, "run")
    said = json.loads((grid.parent / "run/comparison.json").read_bytes())
    assert [row["row"] for row in table["rows"]] == ["untuned", "PRO", "WRO, PABC4", "WRO, BLEU+1"]
    references = (grid.parent / "test.ref").read_text().splitlines()
    for row, told in zip(table["rows"], said["rows"], strict=True):
        scores = []
        for folder in told["runs"]:
            (file,) = (grid.parent / "run" / folder).glob("news-*.txt")
            lines = file.read_text().splitlines()
            scores.append(BLEU(tokenize="none").corpus_score(lines, [references]).score)
        cell = row["cells"][0]
        assert (cell["test"], cell["measure"]) == ("news", "BLEU")
        assert cell["scores"] == pytest.approx(scores)
        assert cell["mean"] == pytest.approx(statistics.mean(scores))
        assert cell["deviation"] == pytest.approx(statistics.stdev(scores))
        assert (cell["p_value"] is None) == (row["row"] == "untuned")
    best = [row["cells"][0]["mean"] for row in table["rows"]]
    assert min(best[1:]) > best[0] + 5


def test_an_error_rate_is_lower_where_it_is_better(
    grid: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(grid.parent)
    Path("rates.toml").write_text(grid.read_text().replace('["BLEU", "PABC4"]', '["BLEU", "TER"]'))
    table = compare(Path("rates.toml"), "run")
    assert [column["better"] for column in table["columns"]] == ["higher", "lower"]
    assert table["columns"][1]["signature"].startswith("TER|")
    references = Path("test.ref").read_text().splitlines()
    said = json.loads(Path("run/comparison.json").read_bytes())
    untuned, tuned = table["rows"][0]["cells"][1], table["rows"][1]["cells"][1]
    for cell, row in ((untuned, said["rows"][0]), (tuned, said["rows"][1])):
        (file,) = Path("run", row["runs"][0]).glob("news-*.txt")
        rate = TER(case_sensitive=True).corpus_score(file.read_text().splitlines(), [references]).score
        assert cell["scores"][0] == pytest.approx(rate)
    assert tuned["mean"] < untuned["mean"]
    assert tuned["difference"] == pytest.approx(tuned["mean"] - untuned["mean"])
    assert tuned["low"] < tuned["difference"] < tuned["high"]
    capsys.readouterr()
    assert main(["compare", "rates.toml", "--run", "run", "--quiet"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split("  ")[-1].strip() == "TER ↓"
    cells = re.findall(r"<b><data[^>]*>([0-9.]+)</data></b>", Path("run/report.html").read_text())
    assert f"{min(row['cells'][1]['mean'] for row in table['rows']):.2f}" in cells  # the best of its column is bold


def test_a_run_is_what_lasw_optimise_gives(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare(grid, "run")
    said = json.loads((grid.parent / "run/comparison.json").read_bytes())
    folder = grid.parent / "run" / next(r for r in said["rows"] if r["row"] == "WRO, BLEU+1")["runs"][1]
    words = ["--optimiser", "wro", "--metric", "BLEU+1", "--draws", "200", "--seed", "2", "--quiet"]
    words += ["--start", str(grid.parent / "ones.json"), "--step", "1"]
    output = grid.parent / "weights.json"
    lists = ["--references", str(grid.parent / "dev.ref"), "--", str(grid.parent / "dev.nbest")]
    assert main(["optimise", *words, "--output", str(output), *lists]) == 0
    assert read_weights(folder / "weights.json").by_group() == read_weights(output).by_group()


def test_what_is_there_is_reused(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare(grid, "run")
    run = grid.parent / "run"
    before, table = files(run), (run / "table.json").read_bytes()
    capsys.readouterr()
    compare(grid, "run")
    assert "12 of 12 runs were there already" in capsys.readouterr().out
    assert files(run) == before
    # More seeds and a system more: what is there stays, and its rows too but for the runs that came.
    more = grid.read_text() + '[system."PRO, linear"]\noptimiser = "pro"\ndraws = 200\nloss = "linear"\n'
    grid.write_text(more)
    compare(grid, "run")
    assert "12 of 15 runs were there already" in capsys.readouterr().out
    assert before.items() <= files(run).items()
    # Another value of a setting is another run; the old value finds the old one.
    assert len(compare(grid, "run", "--set", "system.PRO.draws=100")["rows"]) == 5
    assert "12 of 15 runs" in capsys.readouterr().out
    grid.write_text(GRID)
    compare(grid, "run")
    assert (run / "table.json").read_bytes() == table


def test_a_changed_list_is_another_run(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare(grid, "run")
    nbest = grid.parent / "test.nbest"
    nbest.write_text("".join(nbest.read_text().splitlines(keepends=True)[:-1]))
    before = files(grid.parent / "run")
    compare(grid, "run")
    weights = {name: when for name, when in before.items() if name.endswith("weights.json")}
    after = files(grid.parent / "run")
    assert weights.items() <= after.items()
    assert len([name for name in after if "news-" in name]) == 24


def finished_runs(run: Path) -> set[str]:
    """Folders whose translations are there, and known to be whole: who is killed in between does them again."""
    written = {path.parent: json.loads(path.read_text()) for path in run.glob("runs/*/checksums.json")}
    return {str(folder.relative_to(run)) for folder, names in written.items() if any("news-" in k for k in names)}


def test_killed_and_started_again(grid: Path) -> None:
    compare(grid, "whole")
    run = grid.parent / "killed"
    words = [sys.executable, "-m", "lasw.scripts.main", "compare", str(grid), "--run", str(run), "--quiet"]
    process = subprocess.Popen([*words, "--jobs", "2"], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while len(finished_runs(run)) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = finished_runs(run)
    before = files(run)
    assert len(finished) >= 2
    compare(grid, "killed")
    after = files(run)
    kept = {name: when for name, when in before.items() if str(Path(name).parent) in finished}
    assert kept.items() <= after.items()
    for name in ("table.json", "table.tsv"):
        assert (run / name).read_bytes() == (grid.parent / "whole" / name).read_bytes()


def test_processes_and_dask_give_the_same_bytes(grid: Path) -> None:
    compare(grid, "one")
    compare(grid, "two", "--jobs", "2")
    expected = (grid.parent / "one/table.json").read_bytes()
    assert (grid.parent / "two/table.json").read_bytes() == expected
    distributed = pytest.importorskip("distributed", reason="Dask (extra 'dask') is not installed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, protocol="tcp", dashboard_address=None
    ) as cluster:
        compare(grid, "three", "--dask", cluster.scheduler_address)
    assert (grid.parent / "three/table.json").read_bytes() == expected


def another_digit(text: bytes) -> bytes:
    """With another one in the place of the last."""
    place = max(text.rfind(digit) for digit in b"123456789abcdef")
    return text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :]


def test_what_is_not_what_was_written_is_made_again(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A digit, a word, a whole file: changed files of a run, which can be read, count as damaged ones do."""
    expected = compare(grid, "run", "--set", "comparison.seeds=1")
    run = grid.parent / "run"
    (folder,) = run.glob("runs/pro-*")
    (translations,) = folder.glob("news-*.txt")
    words = ["compare", str(grid), "--run", str(run), "--set", "comparison.seeds=1"]
    for file in (folder / "weights.json", folder / "fit.json", translations):
        whole = file.read_bytes()
        for damage in (lambda _: b"{", lambda _: b"\xff\n", another_digit):
            file.write_bytes(damage(file.read_bytes()))  # of what is there now: fit.json says how many seconds it took
            capsys.readouterr()
            assert main(words) == 0
            said = capsys.readouterr().err
            assert f"{file} is not what was written: it is made again" in said
            assert said.count("is not what was written") == 1
            if file.name != "fit.json":
                assert file.read_bytes() == whole
            assert (run / "table.json").read_text() == json.dumps(expected, ensure_ascii=False, indent=2) + "\n"


@pytest.mark.parametrize("left", ["fit.json weights.json", "fit.json weights.json news", ""])
def test_what_a_killed_run_left_without_checksums_is_made_again(
    grid: Path, capsys: pytest.CaptureFixture[str], left: str
) -> None:
    """A kill between a file and its checksum."""
    one = ("--set", "comparison.seeds=1")
    expected = compare(grid, "run", *one)
    (folder,) = (grid.parent / "run").glob("runs/pro-*")
    whole = json.loads((folder / "checksums.json").read_text())
    known = {name: value for name, value in whole.items() if not any(map(name.startswith, left.split()))}
    (folder / "checksums.json").write_text(json.dumps(known))
    capsys.readouterr()
    assert compare(grid, "run", *one) == expected
    assert "is not what was written" not in capsys.readouterr().err
    again = json.loads((folder / "checksums.json").read_text())
    assert again == {**whole, "fit.json": again["fit.json"]}  # which says how many seconds it took


def test_damaged_files_of_runs_are_told_with_what_to_do(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = compare(grid, "run", "--set", "comparison.seeds=1")
    run = grid.parent / "run"
    (folder,) = run.glob("runs/pro-*")
    words = ["compare", str(grid), "--run", str(run), "--quiet", "--set", "comparison.seeds=1"]
    (translations,) = folder.glob("news-*.txt")
    remedy = f"; delete {folder} and the same lasw compare does that run again\n"
    (folder / "checksums.json").unlink()  # as earlier releases left it
    for file, content in (
        (folder / "weights.json", b"{"),
        (folder / "fit.json", b"["),
        (translations, b"a\n"),
        (translations, b"\xff\n"),
    ):
        whole = file.read_bytes()
        file.write_bytes(content)
        capsys.readouterr()
        assert main(words) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"lasw compare: {file}")
        assert said.endswith(remedy)
        file.write_bytes(whole)
    (folder / "fit.json").write_text('{"warnings": 3}')
    assert main(["report", str(run)]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"lasw report: {run}: its files are not what this version writes")
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    assert compare(grid, "run", "--set", "comparison.seeds=1") == expected
    for name in ("table.json", "comparison.json"):
        (run / name).write_text("{")
        assert main(["report", str(run)]) == 1
        assert re.search(rf"{name}.*: this is no JSON.*; the same lasw compare makes it again", capsys.readouterr().err)
        assert compare(grid, "run", "--set", "comparison.seeds=1") == expected


def test_what_lists_lack_is_told_once(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (grid.parent / "test.nbest").read_text().splitlines(keepends=True)
    (grid.parent / "test.nbest").write_text("".join(lines[: 18 * 12]))
    grid.write_text(GRID + "\n[run]\niterations = 3\nnbest = 10\ndev_metric = 'BLEU'\n")
    words = ["compare", str(grid), "--run", str(grid.parent / "run")]
    assert main(words) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert told == [
        "lasw compare: warning: [run] iterations, nbest: no effect without a [decoder], as the lists on disk are the "
        "pool",
        f"lasw compare: warning: untuned, seed 1: {grid.parent}/test.nbest: no hypotheses for 2 sentences (id 18, 19)",
    ]
    assert main([*words, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_fewer_than_three_runs_have_no_spread(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = compare(grid, "run", "--set", "comparison.seeds=1", "--set", "comparison.seeds=2")
    assert "fewer than 3 runs: no standard deviation and no significance" in capsys.readouterr().out
    for row in table["rows"]:
        assert all((cell["deviation"], cell["p_value"]) == (None, None) for cell in row["cells"])
        assert all(len(cell["scores"]) == 2 for cell in row["cells"])


def test_the_same_system_twice_is_identical(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid.write_text(
        GRID.replace('[system.untuned]\noptimiser = "none"', '[system.first]\noptimiser = "pro"\ndraws = 200')
    )
    table = compare(grid, "run")
    cells = {row["row"]: row["cells"][0] for row in table["rows"]}
    assert (cells["PRO"]["identical"], cells["PRO"]["p_value"]) == (True, None)
    assert not cells["WRO, PABC4"]["identical"]
    assert "(identical)" in capsys.readouterr().out
    lines = [line.split("\t") for line in (grid.parent / "run/table.tsv").read_text().splitlines()]
    assert {len(line) for line in lines} == {11}
    line = next(line for line in lines if line[:3] == ["PRO", "news", "BLEU"])
    assert (float(line[4]), line[9], line[10]) == (cells["PRO"]["mean"], "", "true")


def test_without_a_test_set_the_development_set_is_measured(grid: Path) -> None:
    grid.write_text(GRID.replace('[test.news]\nreferences = ["test.ref"]\nlists = ["test.nbest"]\n', ""))
    table = compare(grid, "run")
    assert {column["test"] for column in table["columns"]} == {"dev"}


def test_measures_want_vectors_of_the_words(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors = grid.parent / "vec"
    vectors.write_text("".join(f"{word} {k} 1\n" for k, word in enumerate(WORDS[:4])))
    words = ["--set", "comparison.measures=BLEU", "--set", f"comparison.measures=WMD:vectors={vectors}"]
    reference = (grid.parent / "test.ref").read_text().split()
    known = sum(word in WORDS[:4] for word in reference)
    assert main(["compare", str(grid), "--run", str(grid.parent / "run"), *words]) == 0
    start = f"lasw compare: warning: {vectors}: {known} of {len(reference)} words of "
    found = [line for line in capsys.readouterr().err.splitlines() if line.startswith(start)]
    assert len(found) == 4  # the rows
    assert found[0].endswith("have vectors; are they of this language and tokenisation?")
    vectors.write_text("RED 1 2\n")
    assert main(["compare", str(grid), "--run", str(grid.parent / "other"), *words]) == 1
    assert "have vectors" in capsys.readouterr().err


def test_tuning_with_a_decoder(grid: Path) -> None:
    """`fixed` goes the way of every decoder: the loop, its run directory, decoding the test set."""
    (grid.parent / "dev.src").write_text("x\n" * 25)
    (grid.parent / "test.src").write_text("x\n" * 20)
    words = ["--set", "decoder.name=fixed", "--set", "run.iterations=2"]
    for name, file in (("development.dev", "dev"), ("test.news", "test")):
        words += ["--set", f"{name}.source={grid.parent / file}.src"]
    table = compare(grid, "run", *words)
    said = json.loads((grid.parent / "run/comparison.json").read_bytes())
    folder = grid.parent / "run" / said["rows"][1]["runs"][0]
    assert json.loads((folder / "tuning/result.json").read_bytes())["iterations"] == 2
    assert (folder / "tuning/report.html").exists()
    assert read_weights(folder / "weights.json").by_group() == read_weights(folder / "tuning/weights.json").by_group()
    untuned, *tuned = (row["cells"][0] for row in table["rows"])
    assert min(cell["mean"] for cell in tuned) > untuned["mean"] + 5
    # The start weights choose the same hypotheses, whether lists are decoded or reranked.
    assert untuned["scores"] == compare(grid, "lists")["rows"][0]["cells"][0]["scores"]


LISTING_DECODER = """
import sys
weights, n, source, log = sys.argv[1:]
open(log, "a").write(f"{n} {source.count('test')}\\n")
lines = open(weights).read()
for k, sentence in enumerate(open(source)):
    for size in range(2, 6):
        print(f"{k} ||| {' '.join(sentence.split()[:size])} ||| F0= {size} F1= {-abs(size - 4)} ||| {size}")
"""


def test_decodings_that_runs_have_in_common_are_made_once(grid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sources(grid.parent)
    (grid.parent / "decoder.py").write_text(LISTING_DECODER)
    (grid.parent / "start.txt").write_text("F0= 1\nF1= 1\n")
    program = f"{sys.executable} {grid.parent}/decoder.py {{weights}} {{n}} {{source}} {grid.parent}/log"
    words = ["decoder.name=command", f"decoder.command={program}", f"decoder.initial={grid.parent}/start.txt"]
    words += ["decoder.kind=groups", "run.iterations=1", "run.step=whole"]
    for name in ("dev", "test"):
        data = "development.dev" if name == "dev" else "test.news"
        words += [f"{data}.source={grid.parent}/{name}.src", f"{data}.references={grid.parent}/{name}.src"]
    options = [part for word in words for part in ("--set", word)]
    monkeypatch.chdir(grid.parent)
    text = grid.read_text().replace('lists = ["dev.nbest"]\nstart = "ones.json"', "")
    text = text.replace('lists = ["test.nbest"]', "")
    grid.write_text(text.replace("[1, 2, 3]", "[1, 2]"))
    table = compare(grid, "run", *options)
    sizes = [line.split()[0] for line in (grid.parent / "log").read_text().splitlines()]
    runs = [folder for folder in (grid.parent / "run/runs").iterdir() if (folder / "tuning").exists()]
    lists = [path for folder in runs for path in folder.glob("tuning/iterations/*/nbest.gz")]
    assert len(runs) == 6
    assert len(lists) == 12
    different = {path.with_name("before.json").read_bytes() for path in lists}
    assert sizes.count("100") == len(different) < len(lists)
    chosen = {path.read_bytes() for path in (grid.parent / "run/runs").glob("*/weights.json")}
    assert sizes.count("1") == len(chosen)
    # Without what is shared, all is decoded, and the table is the same.
    monkeypatch.setattr(SharedFiles, "take", lambda *_: False)
    assert compare(grid, "alone", *options) == table
    after = [line.split()[0] for line in (grid.parent / "log").read_text().splitlines()][len(sizes) :]
    assert after.count("100") == len(lists)


def test_local_weights_are_those_of_lasw_local(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = grid.parent
    write_sources(folder)
    setting = "words:power=2:prior=0.1:alphas=1,10"
    text = GRID.replace('["dev.ref"]', '["dev.ref"]\nsource = "dev.src"').replace(
        '["test.ref"]', '["test.ref"]\nsource = "test.src"'
    )
    local = 'optimiser = "wro"\ndraws = 200\nlocal = '
    grid.write_text(f'{text}\n[system.local]\n{local}"{setting}"\n[system.auto]\n{local}"auto"\n')
    table = compare(grid, "run", "--set", "comparison.seeds=4", "--set", "system.WRO.losses=PABC4")
    # The rows with WRO share its tuning.
    assert len(list((folder / "run/runs").iterdir())) == 3
    said = {row["row"]: row for row in json.loads((folder / "run/comparison.json").read_bytes())["rows"]}
    run = folder / "run" / said["local"]["runs"][0]
    samples, lines = folder / "samples", folder / "local.jsonl"
    words = ["--references", str(folder / "dev.ref"), "--source", str(folder / "dev.src"), "--output", str(samples)]
    words += ["--draws", "200", "--seed", "4", "--setting", setting, "--start", str(run / "weights.json")]
    assert main(["local", "train", *words, "--quiet", str(folder / "dev.nbest")]) == 0
    assert (
        main(
            [
                "local",
                "weights",
                "--samples",
                str(samples),
                "--source",
                str(folder / "test.src"),
                "--output",
                str(lines),
            ]
        )
        == 0
    )
    capsys.readouterr()
    assert main(["rerank", "--local-weights", str(lines), str(folder / "test.nbest")]) == 0
    expected = capsys.readouterr().out
    translated = (run / said["local"]["files"][0]).read_text()
    assert translated == expected
    assert translated != (run / said["WRO"]["files"][0]).read_text()
    # Sources that say nothing of the sentences: locality does not pay.
    kept = json.loads((run / said["auto"]["files"][0]).with_suffix(".json").read_bytes())
    assert (kept["setting"], len(kept["curve"])) == ("global", 30)
    cells = {row["row"]: row["cells"][0]["scores"] for row in table["rows"]}
    assert cells["auto"] == cells["WRO"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[comparison]", "[comparision]", r"grid.toml:2: unknown section or key 'comparision'; did you mean 'compar"),
        ("seeds =", "seed =", r"grid.toml:3: unknown key 'seed' in \[comparison\]; did you mean 'seeds'"),
        ("[1, 2, 3]", '["a"]', r"grid.toml:3: comparison.seeds is 'a'; expected a whole number"),
        ("[1, 2, 3]", "[1, 1]", r"seeds are \[1, 1\], expected different numbers"),
        ('"PABC4"]\nsamples', '"PABC9"]\nsamples', r"unknown metric 'PABC9'"),
        ('optimiser = "pro"', 'optimiser = "prp"', r"\[system.PRO\] unknown optimiser 'prp'.*did you mean 'pro'"),
        (
            "draws = 200\n\n",
            "drows = 200\n\n",
            r"grid.toml:21: unknown key 'drows' in \[system.PRO\]; did you mean 'dr",
        ),
        ("draws = 200\n\n", "oracle_share = 0.1\n\n", r"unknown key 'oracle_share' in \[system.PRO\]"),
        ("draws = 200\n\n", "metric = 'BLEU'\n\n", r"unknown key 'metric' in \[system.PRO\]"),
        ("draws = 200\n\n", "draws = 0\n\n", r"draws"),
        ('lists = ["dev.nbest"]', "", r"\[development.dev\] has no lists; give lists, or a \[decoder\]"),
        (
            'lists = ["dev.nbest"]\nstart = "ones.json"',
            'source = "dev.ref"\n\n[decoder]\nname = "fixed"',
            r"\[development.dev\] has no lists; give lists$",
        ),
        ('lists = ["dev.nbest"]', 'lists = ["none"]', r"none: no such file"),
        ('references = ["test.ref"]', "", r"\[test.news\] has no references"),
        ("draws = 200\n\n", 'development = ["dew"]\n\n', r"unknown development set 'dew'.*did you mean 'dev'"),
        ("samples = 50", 'significance = "t"', r"significance is 't', expected 'bootstrap' or 'randomisation'"),
        ("samples = 50", "samples = 50\niterations = 3", r"it belongs in \[run\]"),
        ("draws = 200\n\n", "local = true\n\n", r"has local weights, but dev has no source"),
        ("draws = 200\n\n", "local = 'bleu:pwer=1'\n\n", r"'pwer=1' in local setting"),
        (
            'optimiser = "none"',
            'optimiser = "mert"\nlocal = "auto"',
            r"local weights with optimiser mert; expected wro or",
        ),
        ("[comparison]", "[comparison", r"grid.toml:2: this is not TOML"),
    ],
)
def test_mistakes_are_one_line(
    grid: Path, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert old in GRID
    grid.write_text(GRID.replace(old, new, 1))
    assert main(["compare", str(grid), "--run", str(grid.parent / "run")]) == 1
    said = capsys.readouterr().err.strip()
    assert len(said.splitlines()) == 1
    assert re.search(message, said)


THESIS = {
    "5.2": ["Baseline PRO", "Global weight", "OS", "Trans", "Trans-OS", "WRO-Global", "WRO-Local"],
    "5.3": ["Baseline PRO", "WRO-Global", "Trans", "Trans-OS", "WRO-Local"],
    "5.6": ["PRO", "PRO-LA", "WRO-Global", "WRO-G-SLA", "WRO-Local", "WRO-L-SLA"],
}


@pytest.mark.parametrize("table", THESIS)
def test_the_tables_of_the_thesis(grid: Path, table: str) -> None:
    """They are there by name, want nothing but files, and have the rows of the tables."""
    write_sources(grid.parent)
    changes = []
    for place in ("development.random", "development.la") if table == "5.6" else ("development.dev",):
        changes += [f"{place}.{key}={grid.parent / file}" for key, file in DEV_FILES]
    changes += [f"test.test.{key}={grid.parent / file}" for key, file in TEST_FILES]
    comparison = read_comparison(f"thesis/table-{table}", changes)
    found = rows(comparison)
    assert [row.label for row in found] == THESIS[table]
    assert comparison.settings.seeds == (1, 2, 3, 4, 5)
    assert comparison.run["iterations"] == 16
    assert all("fit-length:no" in row.signature for row in found)
    if table == "5.2":
        with pytest.raises(UserError, match=r"\[development.dev\] has no references"):
            read_comparison("thesis/table-5.2")
        table_words = [word for change in changes for word in ("--set", change)]
        measured = compare_named("thesis/table-5.2", grid, *table_words, "--set", "comparison.seeds=1")
        scores = {row["row"]: row["cells"][0]["mean"] for row in measured["rows"]}
        assert min(scores.values()) > 40
        assert len(set(scores.values())) > 1
    if table == "5.6":
        assert [(row.loss, row.development) for row in found[2:4]] == [("BLEU+1", "random"), ("PABC4", "la")]


def test_the_comparison_of_multi30k() -> None:
    found = rows(read_comparison("compare/multi30k"))
    published = ["PRO", "oracle sampling", "global weight", "WRO-global"]
    ours = [f"WRO-global + length, {loss}" for loss in ("BLEU+1", "PABC4")]
    ours = ["PRO + length", "PRO + length, any pairs", *ours, "WRO-local + length"]
    assert [row.label for row in found] == [*published, *ours, "MIRA", "MERT", "expected", "untuned"]
    assert ["fit-length:no" in row.signature for row in found[:9]] == [True] * 4 + [False] * 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("comparison.seed=1", r"there is no key 'seed'; did you mean 'seeds'"),
        ("run.iterations=2", r"--set run.iterations without a \[decoder\]"),
        ("sistem.PRO.draws=1", r"there is no section 'sistem'.*did you mean 'system'"),
        ("system.PR.draws=1", r"there is no system 'PR'.*did you mean 'PRO'"),
        ("system.PRO.draws=x", r"--set system.PRO.draws is 'x'; expected a whole number"),
        ("system.PRO", r"expected --set SECTION.KEY=VALUE"),
    ],
)
def test_mistakes_in_changes(grid: Path, change: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_comparison(str(grid), [change])


def test_a_failing_system_keeps_no_other_from_its_runs(grid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (grid.parent / "bad.nbest").write_text("0 ||| a ||| LM= 1 ||| 1\n0 ||| a ||| LM= x ||| 1\n")
    bad = '[development.bad]\nreferences = ["dev.ref"]\nlists = ["bad.nbest"]\n'
    text = GRID.replace("[test.news]", bad + "\n[test.news]").replace("\ndraws", '\ndevelopment = ["dev"]\ndraws')
    grid.write_text(text.replace('["dev"]', '["bad"]', 1).replace('"none"', '"none"\ndevelopment = ["dev"]'))
    assert main(["compare", str(grid), "--run", str(grid.parent / "run"), "--quiet"]) == 1
    said = capsys.readouterr().err
    assert "PRO, seed 1: " in said
    assert "bad.nbest:2" in said
    assert len(list((grid.parent / "run").glob("runs/wro*/news-*.txt"))) == 6


def test_rows_are_the_grid(grid: Path) -> None:
    grid.write_text(GRID + '[development.other]\nreferences = ["test.ref"]\nlists = ["test.nbest"]\n')
    comparison = read_comparison(str(grid), ["system.PRO.development=other", "comparison.losses=BLEU+1"])
    labels = [row.label for row in rows(comparison)]
    both = [f"WRO, {loss}, {name}" for loss in ("PABC4", "BLEU+1") for name in ("dev", "other")]
    assert labels == ["untuned, dev", "untuned, other", "PRO", *both]
    assert [row.loss for row in rows(comparison)][2] == "BLEU+1"


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_terminated_workers_leave_nothing_running(grid: Path) -> None:
    run = grid.parent / "run"
    words = [sys.executable, "-m", "lasw.scripts.main", "compare", str(grid), "--run", str(run), "--jobs", "2"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while not list(run.glob("runs/*/run.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.terminate()
    _, said = process.communicate(timeout=120)
    assert process.returncode == 143
    assert "Traceback" not in said
    assert main(["compare", str(grid), "--run", str(run), "--quiet"]) == 0
