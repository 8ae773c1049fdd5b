"""The tables of Song (2015) as grids of `lasw compare`: their rows, and each from one command on made-up text."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lasw.metrics import UserError
from lasw.scripts.main import main
from lasw.scripts.parallel_text import GridSelections
from lasw.tuning import COMPARISON, read_comparison, read_weights
from lasw.tuning.comparison import work
from lasw.tuning.comparison.grid import rows
from lasw.tuning.run_directory import read_json

WRO = ["PRO", "PRO-LA", "WRO-Global", "WRO-G-SLA", "WRO-Local", "WRO-L-SLA"]
SIZES = [f"{kind} {k}k" for kind in ("random", "LA", "professional") for k in range(10, 151, 10)]
FEATURES = ["AFer1", "AFer2", "AFer3", "TFWP", "STLR", "SLCSR", "TLCSR", "SLDSR", "TLDSR", "LAR", "RAR", "TAR"]
# Rows in the order of the tables; what MERT is tuned for or on stands behind its name.
ROWS = {
    "figure-4.1": SIZES,
    "table-3.14": ["PGBC4", "PABC4", "PGBC2", "PGB4", "RGBC4"],
    "table-4.2": ["Rand.", "1-10", "10-20", "20-30", "30-40", "40-50", "50-60", "10-50"],
    "table-4.4": ["Rand.", *FEATURES, "All features"],
    "table-4.5": ["Rand.", "10-50", "LA10-50", "Prof."],
    "table-4.8": ["0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0"],
    "table-4.10": ["SVM", "Random", "LA heuristic"],
    "table-5.2": ["Baseline PRO", "Global weight", "OS", "Trans", "Trans-OS", "WRO-Global", "WRO-Local"],
    "table-5.3": ["Baseline PRO", "WRO-Global", "Trans", "Trans-OS", "WRO-Local"],
    "table-5.4": ["Baseline PRO", "WRO-Global", "WRO-Local"],
    "table-5.6": WRO,
    "table-5.7": [name.replace("-G-S", "-GS").replace("-L-S", "-LS") for name in WRO],
}
# Gives each sentence's words in capitals, and the same with letters spoilt; feature F1 counts what is spoilt.
DECODER = """
import sys
weights, n, source = sys.argv[1:]
w = [float(line.split()[1]) for line in open(weights)]
for k, sentence in enumerate(open(source)):
    words = sentence.upper().split()
    found = []
    for spoilt in range(min(6, len(words))):
        text = [word.lower() if i * 7 % len(words) < spoilt else word for i, word in enumerate(words)]
        values = [(k * 31 + spoilt * 17) % 5 / 4, -spoilt, len(words) - spoilt % 2]
        found.append((sum(a * b for a, b in zip(w, values)), ' '.join(text), values))
    for score, text, values in sorted(found, reverse=True)[: int(n)]:
        print(f"{k} ||| {text} ||| F0= {values[0]} F1= {values[1]} F2= {values[2]} ||| {score}")
"""


def test_no_grid_is_missing_here() -> None:
    assert [name.removeprefix("thesis/") for name in COMPARISON.names() if name.startswith("thesis/")] == sorted(ROWS)


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pool with sentences of 1 to 60 words, one of professionals, development and test sets, a decoder."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(3)
    vocabulary = [f"w{k}" for k in range(400)]
    for name, sizes in (
        ("noisy", list(range(4, 61)) * 2),
        ("professional", [12, 14, 18, 22, 30] * 8),
        ("dev", [5, 7, 9] * 4),
        ("test", [6, 8, 11] * 4),
    ):
        lines = [[draw.choice(vocabulary) for _ in range(size)] for size in sizes]
        Path(f"{name}.f").write_text("".join(" ".join(words) + "\n" for words in lines))
        Path(f"{name}.e").write_text("".join(" ".join(words).upper() + "\n" for words in lines))
        points = [[k for k in range(len(words)) if draw.random() < 0.8] for words in lines]
        Path(f"{name}.a").write_text("".join(" ".join(f"{k}-{k}" for k in one) + "\n" for one in points))
    Path("decoder.py").write_text(DECODER)
    Path("start.txt").write_text("F0= 1\nF1= 0.1\nF2= 0.1\n")
    with Path("test.nbest").open("w") as lists:
        subprocess.run([sys.executable, "decoder.py", "start.txt", "10", "test.f"], stdout=lists, check=True)
    return tmp_path


def changes(grid: str, words: int = 120) -> list[str]:
    """What is to be given, with fewer words and rounds."""
    sections = COMPARISON.read(f"thesis/{grid}")
    program = f"{sys.executable} decoder.py {{weights}} {{n}} {{source}}"
    found = ["decoder.name=command", f"decoder.command={program}", "decoder.initial=start.txt", "decoder.kind=groups"]
    found += ["run.iterations=2", "comparison.samples=20"]
    for pool in sections.get("pool", {}):
        found += [f"pool.{pool}.{k}={pool}.{v}" for k, v in (("source", "f"), ("target", "e"), ("alignment", "a"))]
    for name, values in sections["development"].items():
        if "select" not in values:
            found += [f"development.{name}.source=dev.f", f"development.{name}.references=dev.e"]
        else:
            options = values["select"].rpartition(" ")[0]
            found.append(f"development.{name}.select={options} {words}")
    if grid.startswith("table-5"):  # a command cannot decode with weights of every sentence: its lists are reranked
        found.append("test.test.lists=test.nbest")
    return [*found, "test.test.source=test.f", "test.test.references=test.e"]


def run(grid: str, *more: str) -> dict[str, Any]:
    given = [word for change in [*changes(grid), *more] for word in ("--set", change)]
    assert main(["compare", f"thesis/{grid}", "--run", "run", "--quiet", *given]) == 0
    return read_json(Path("run/table.json"))


@pytest.mark.parametrize("grid", ROWS)
def test_rows_and_settings(text: Path, grid: str) -> None:
    comparison = read_comparison(f"thesis/{grid}", changes(grid), GridSelections(Path("sets")))
    found = rows(comparison)
    labels = [row.label.removeprefix("MERT, ") for row in found]
    if grid == "table-5.4":
        labels = list(dict.fromkeys(label.partition(",")[0] for label in labels))
        assert [row.development for row in found] == ["system", "test-like", "mixed"] * 3
    assert labels == ROWS[grid]
    assert comparison.settings.seeds == (1, 2, 3, 4, 5)
    if grid.startswith("table-5"):
        assert COMPARISON.read(f"thesis/{grid}")["run"]["iterations"] == 16
        assert all("fit-length:no" in row.signature for row in found)
        # As in the thesis PRO makes the lists of all rows, here on the same development set.
        for row in found:
            maker = row.lists_of
            assert (maker is None) == (row.system.settings.optimiser == "pro")
            assert maker is None or (maker.system.settings.optimiser, maker.development) == ("pro", row.development)
    if grid in ("table-5.6", "table-5.7"):
        assert [(row.loss, row.development) for row in found[2:4]] == [("BLEU+1", "random"), ("PABC4", "la")]
        assert "RAC1:refs=each" in comparison.settings.measures


@pytest.mark.parametrize("grid", [grid for grid in ROWS if grid != "figure-4.1"])
def test_each_runs_from_one_command(text: Path, grid: str) -> None:
    table = run(grid, "comparison.seeds=1")
    scores = [row["cells"][0]["mean"] for row in table["rows"]]
    assert len(scores) == (9 if grid == "table-5.4" else len(ROWS[grid]))
    assert min(scores) > 20
    assert max(scores) > (85 if grid.startswith("table-5") else 99)  # 85: ten hypotheses of the start are reranked


def test_sizes(text: Path) -> None:
    """Figure 4.1, two of its 45 rows: sets grow, and LA's first pairs are those of the smaller set."""
    wanted = ["development.LA 10k.select=--method la --words 100", "development.LA 20k.select=--method la --words 200"]
    given = [one for one in changes("figure-4.1") if not one.startswith(("development.LA 10k", "development.LA 20k"))]
    planned = GridSelections(Path("sets"), quiet=True)
    comparison = read_comparison("thesis/figure-4.1", [*given, *wanted], planned)
    planned.make([1, 2])
    small, large = (comparison.development[f"LA {k}k"].source for k in (10, 20))
    assert small is not None
    assert large is not None
    lines = small.read_text().splitlines(), large.read_text().splitlines()
    assert lines[1][: len(lines[0])] == lines[0]
    assert 100 <= len(" ".join(lines[0]).split()) < 200 <= len(" ".join(lines[1]).split())
    drawn = comparison.development["random 10k"]
    first, second = (drawn.of_seed(seed).source for seed in (1, 2))
    assert first is not None
    assert second is not None
    assert first.read_text() != second.read_text()


def test_each_run_has_lists_of_its_own_which_all_rows_share(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("table-5.3", "comparison.seeds=1", "comparison.seeds=2")
    folders = {
        row["row"]: [Path("run", one) for one in row["runs"]] for row in read_json(Path("run/comparison.json"))["rows"]
    }
    for k in range(2):
        assert (folders["Baseline PRO"][k] / "tuning").is_dir()
        assert not (folders["WRO-Global"][k] / "tuning").exists()
    assert folders["Trans"] == folders["Baseline PRO"]
    # What it learns is what lasw optimise learns from these lists.
    lists = sorted(map(str, folders["Baseline PRO"][1].glob("tuning/iterations/*/nbest*.gz")))
    assert len(lists) == 2
    words = ["--optimiser", "wro", "--metric", "BLEU+1", "--option", "fit_length=no", "--seed", "2", "--quiet"]
    words += ["--start", "start.txt", "--step", "1", "--output", "weights.json", "--references", "dev.e", "--", *lists]
    assert main(["optimise", *words]) == 0
    assert read_weights(folders["WRO-Global"][1] / "weights.json").by_group() == read_weights("weights.json").by_group()
    # Lists that are gone are told, and what to do.
    for path in lists:
        Path(path).unlink()
    (folders["WRO-Global"][1] / "weights.json").unlink()
    given = [
        word
        for change in [*changes("table-5.3"), "comparison.seeds=1", "comparison.seeds=2"]
        for word in ("--set", change)
    ]
    capsys.readouterr()
    work._pools.clear()
    assert main(["compare", "thesis/table-5.3", "--run", "run", "--quiet", *given]) == 1
    assert re.search(r"tuning: no N-best lists; remove \S*pro-\S*, and it is tuned again", capsys.readouterr().err)


def test_only_sets_that_are_tuned_on_are_selected(text: Path) -> None:
    given = ["system.MERT.development=1-10", "comparison.seeds=1"]
    given.append("development.50-60.select=--method length --low 90 --high 99")  # of which there is no sentence
    kept = [one for one in changes("table-4.2") if not one.startswith("development.50-60")]
    words = [word for change in [*kept, *given] for word in ("--set", change)]
    assert main(["compare", "thesis/table-4.2", "--run", "run", "--quiet", *words]) == 0
    assert [path.name.rpartition("-")[0] for path in Path("run/selections").iterdir()] == ["1-10"]


def without_decoder(grid: str, *lists: str) -> list[str]:
    """The lists of the pools (of noisy those given) and the test set on disk, in the place of a decoder."""
    for name in ("noisy", "professional", "test"):
        with Path(f"{name}.nbest").open("w") as out:
            subprocess.run([sys.executable, "decoder.py", "start.txt", "10", f"{name}.f"], stdout=out, check=True)
    found = [change for change in changes(grid) if not change.startswith(("decoder.", "run."))]
    for pool in COMPARISON.read(f"thesis/{grid}").get("pool", {}):
        paths = lists if lists and pool == "noisy" else [f"{pool}.nbest"]
        found += [f"pool.{pool}.lists={path}" for path in paths]
    return [*found, "test.test.lists=test.nbest", "comparison.seeds=1"]


def test_pools_with_lists_need_no_decoder(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for change in without_decoder("table-4.5") for word in ("--set", change)]
    assert main(["compare", "thesis/table-4.5", "--run", "run", "--quiet", *words]) == 0
    scores = [row["cells"][0]["mean"] for row in read_json(Path("run/table.json"))["rows"]]
    assert len(scores) == 4
    assert min(scores) > 85
    (folder,) = Path("run/selections").glob("LA10-50-*")
    lines = [int(line) for line in (folder / "dev.lines").read_text().split()]
    pool = hypotheses(Path("noisy.nbest"))
    expected = [(k, *rest) for k, line in enumerate(lines) for number, *rest in pool if number == line - 1]
    assert hypotheses(folder / "dev.nbest") == expected


def hypotheses(path: Path) -> list[tuple[int, list[str], list[str | float], float]]:
    """Sentence, words, names and values of features, and total of each line."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        sentence, text, features, total = line.split("|||")
        values = [word if word.endswith("=") else float(word) for word in features.split()]
        found.append((int(sentence), text.split(), values, float(total)))
    return found


def test_the_lists_of_a_pool_are_one(text: Path) -> None:
    given = [*without_decoder("table-4.5", "some.nbest", "others.nbest"), "pool.noisy.encoding=latin-1"]
    lines = Path("noisy.nbest").read_text().splitlines(keepends=True)
    # Uneven lines in another order and encoding; the lists of a sentence stand in two files.
    Path("some.nbest").write_text("".join(lines[::-2]).replace(" w", " ä"), encoding="latin-1")
    Path("others.nbest").write_text("".join(lines[::2]).replace(" w", " ä"), encoding="latin-1")
    words = [word for change in given for word in ("--set", change)]
    assert main(["compare", "thesis/table-4.5", "--run", "run", "--quiet", *words]) == 0
    (folder,) = Path("run/selections").glob("LA10-50-*")
    chosen = [int(line) - 1 for line in (folder / "dev.lines").read_text().split()]
    Path("both.nbest").write_text("".join([*lines[::-2], *lines[::2]]).replace(" w", " ä"), encoding="utf-8")
    pool = hypotheses(Path("both.nbest"))
    assert hypotheses(folder / "dev.nbest") == [(k, *rest) for k, s in enumerate(chosen) for n, *rest in pool if n == s]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"noisy.nbest": "0 | a\n"}, "noisy.nbest:1: sentence id '0 | a'"),
        (
            {"noisy.nbest": "0 ||| a ||| F0= 1 ||| 1\n", "more.nbest": "0 ||| a ||| F1= 1 ||| 1\n"},
            "more.nbest:1: feature F0 is missing",
        ),
    ],
)
def test_faults_of_the_lists_of_a_pool(
    text: Path, capsys: pytest.CaptureFixture[str], lists: dict[str, str], message: str
) -> None:
    words = [word for change in without_decoder("table-4.5", *lists) for word in ("--set", change)]
    for name, content in lists.items():
        Path(name).write_text(content)
    assert main(["compare", "thesis/table-4.5", "--run", "run", "--quiet", *words]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("pool.noisy.source=none", r"none: no such file"),
        ("development.Rand..select=--method rnd", r"\[development.Rand.\] select: .*rnd"),
        ("development.Rand..select=--metod la", r"\[development.Rand.\] select: unknown argument '--metod'.*--method"),
        ("development.Rand..select=--method la --output x", r"select: has --output; expected options of method"),
        (
            "development.Rand..select=--words 'x",
            r"\[development.Rand.\] select: .*'x\W+\(No closing quotation\); expected quotes in pairs",
        ),
        ("development.Rand..select=--method length --low 70 --high 90", r"select: nothing selected"),
        ("development.Rand..pool=nosy", r"unknown pool 'nosy'.*did you mean 'noisy'"),
    ],
)
def test_mistakes_are_one_line(text: Path, given: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    given_once = [one for one in changes("table-4.2") if one.partition("=")[0] != given.partition("=")[0]]
    words = [word for change in [*given_once, given] for word in ("--set", change)]
    assert main(["compare", "thesis/table-4.2", "--run", "run", "--quiet", *words]) == 1
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert re.search(message, said[0])


def test_a_pool_is_needed_and_its_files_are(text: Path) -> None:
    plain = [change for change in changes("table-4.2") if not change.startswith("pool.")]
    with pytest.raises(UserError, match=r"\[pool.noisy\] has no source"):
        read_comparison("thesis/table-4.2", plain, GridSelections(Path("sets")))
    with pytest.raises(UserError, match=r"\[development.Rand.\] is to be selected; expected source and references"):
        read_comparison("thesis/table-4.2", changes("table-4.2"))
    without = [change for change in changes("table-4.2") if not change.startswith("test.")]
    grid = Path("grid.toml")
    grid.write_text(
        "[pool.p]\nsource = 'noisy.f'\ntarget = 'noisy.e'\n[development.d]\nselect = '--method random --words 50'\n"
        "[system.s]\noptimiser = 'none'\n"
    )
    with pytest.raises(UserError, match=r"\[development.d\] is another set for every seed, but there is no test set"):
        read_comparison("grid.toml", without[:4], GridSelections(Path("sets")))


@pytest.mark.parametrize(
    ("maker", "message"),
    [
        ("PRO", r"\[system.WRO-Global\] lists_of 'PRO'; expected a system that tunes: Baseline PRO"),
        ("WRO-Local", r"lists_of 'WRO-Local'; expected a system that tunes"),
    ],
)
def test_lists_come_from_a_system_that_tunes(text: Path, maker: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_comparison("thesis/table-5.3", [*changes("table-5.3"), f"system.WRO-Global.lists_of={maker}"])
