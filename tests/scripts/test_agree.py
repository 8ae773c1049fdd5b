"""`lasw agree` as a command: tables, TSV, JSON, the picture, and what is refused."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_text import write_judgements

from lasw.metrics import SEGMENTS, Correlation, Panel, Significance, picture
from lasw.metrics.agreement.drawing import LEVELS
from lasw.metrics.agreement.significance import BOOTSTRAP
from lasw.scripts.main import main
from lasw.scripts.measuring.agree.inputs import short_names

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Marks that follow how many words are right, of three systems."""
    random = np.random.default_rng(4)
    lines = ["seg1\tsystem\thuman\thyp\tref\n"]
    reference = ["one", "two", "three", "four", "five", "six"]
    for k in range(40):
        for name, rate in (("A", 0.7), ("B", 0.4), ("C", 0.2)):
            kept = random.random(6) < rate
            words = [word if keep else "zz" for word, keep in zip(reference, kept, strict=True)]
            mark = kept.sum() + random.normal()
            lines.append(f"{k + 1}\t{name}\t{mark:.4f}\t{' '.join(words)}\t{' '.join(reference)}\n")
    path = tmp_path / "marks.tsv"
    path.write_text("".join(lines))
    return path


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["agree", "--quiet", *arguments]) == 0
    return capsys.readouterr().out


def test_table_of_marks(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agree", "-m", "PAC1", "-m", "TER", "--da", str(table)]) == 0
    captured = capsys.readouterr()
    assert captured.err == "marks: 3 systems, 120 marks\n"
    titles = ["segments: Pearson", "segments: Spearman", "systems: Spearman", "systems: Pearson"]
    places = [captured.out.index(title) for title in titles]
    assert places == sorted(places)
    rows = re.findall(r"^TER ↓ +(.*)$", captured.out, flags=re.M)
    assert len(rows) == 4
    assert rows[2] == "1.000"  # the systems are in the right order
    assert re.findall(r"^n +(.*)$", captured.out, flags=re.M) == ["120", "120", "3", "3"]
    assert "↓: of an error rate, lower is better, the correlations are those of one minus it\n" in captured.out
    signatures = captured.out.splitlines()[-2:]
    assert signatures[0].startswith("PAC1|")
    assert all("|nrefs:1|case:mixed|tok:spaces|version:" in line for line in signatures)


def test_the_same_numbers_in_every_form(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["-m", "PAC1", "-m", "PAC3", "-m", "CHRF", "--significance", "--paired-bs-n", "200", "--da", str(table)]
    as_table, as_tsv = output(capsys, *arguments), output(capsys, *arguments, "--tsv")
    as_json = json.loads(output(capsys, *arguments, "--json"))
    header, *lines = [line.split("\t") for line in as_tsv.splitlines()]
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    assert len(rows) == 4 * 3
    for row in rows:
        entry = next(x for x in as_json["metrics"] if x["metric"] == row["metric"])
        assert row["signature"] == entry["signature"]
        assert "|bs:200|seed:1|" in row["signature"]
        number = entry["sets"][0][row["level"]][row["coefficient"]]
        assert (float(row["value"]), int(row["n"])) == (number["value"], number["n"])
        assert (row["low"], row["high"]) == tuple(repr(number[x]) if x in number else "" for x in ("low", "high"))
        if row["level"] == SEGMENTS and row["metric"] != "PAC1":
            pairs = [
                x["p"]
                for x in as_json["comparisons"]
                if (x["level"], x["coefficient"]) == (row["level"], row["coefficient"])
                and {x["better"], x["worse"]} == {row["metric"], "PAC1"}
            ]
            assert float(row["p"]) == min(pairs)
            radius = (float(row["high"]) - float(row["low"])) / 2
            assert f"{float(row['value']):.3f} ± {radius:.3f} (p " in as_table
        else:  # three systems are too few for Williams' test; nothing differs from itself
            assert row["p"] == "" or row["coefficient"] == "spearman"
    assert output(capsys, *arguments, "--tsv") == as_tsv
    assert output(capsys, *arguments, "--tsv", "--seed", "2") != as_tsv
    assert as_table.count("*: below 0.05") == 1


def test_a_system_without_a_score_is_told_and_so_is_n(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = {"A": ["a b c d", "e f g x"], "B": ["a b c z", "q g x y"], "C": ["z b c z", "e f g h"], "D": ["a", "e"]}
    pairs = ["1\tA\tB\t<\n", "2\tA\tC\t>\n", "2\tB\tC\t<\n"]
    folder = write_judgements(tmp_path / "lp", ["a b c d", "e f g h"], texts, pairs)

    def told(table: str | None) -> tuple[str, str, dict[str, Any]]:
        if table is not None:
            (folder / "systems.tsv").write_text("system\thuman\n" + table)
        assert main(["agree", "-m", "BLEU+1", str(folder)]) == 0
        captured = capsys.readouterr()
        found = json.loads(output(capsys, "-m", "BLEU+1", "--json", str(folder)))
        return captured.out, captured.err, found["metrics"][0]["sets"][0]

    out, err, entry = told(None)
    assert err == "lp: 4 systems, 3 preferences, none about D\n"
    assert (entry["systems"]["pearson"]["n"], entry["systems_without_score"]) == (3, ["D"])
    out, err, entry = told("A\t0.5\nB\t0.1\n")
    assert "lasw agree: warning: lp: no score in systems.tsv of C, D: not among the systems correlated\n" in err
    assert re.findall(r"^n +(.*)$", out, flags=re.M) == ["3", "2", "2"]
    assert re.findall(r"^BLEU\+1 +(.*)$", out, flags=re.M)[1:] == ["undefined (n = 2)"] * 2
    for coefficient in ("pearson", "spearman"):
        assert entry["systems"][coefficient] == {"value": None, "n": 2, "undefined": "n = 2"}
    assert entry["systems_without_score"] == ["C", "D"]
    out, err, entry = told("A\t0.5\nB\t0.1\nC\t0.2\nD\t0.2\n")
    assert "warning" not in err
    assert "systems_without_score" not in entry
    assert entry["systems"]["spearman"]["n"] == 4


def test_picture_has_a_panel_each(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wins.svg"
    arguments = ["-m", "PAC1", "-m", "TER", "-m", "PGBC4:alpha=0", "--paired-bs-n", "50", "--da", str(table)]
    with_picture = output(capsys, *arguments, "--picture", str(path))
    assert "±" not in with_picture
    first = path.read_bytes()
    output(capsys, *arguments, "--picture", str(path))
    assert path.read_bytes() == first
    root = ET.fromstring(first)
    texts = [x.text or "" for x in root.iter(f"{SVG}text")]
    assert texts.count("TER ↓") == 2 * 4  # a row and a column in each panel
    assert [x for x in texts if x.startswith(("segments,", "systems,"))] == [
        "segments, Pearson; Williams' test",
        "segments, Spearman; paired bootstrap",
        "systems, Spearman; paired bootstrap",
        "systems, Pearson; Williams' test",
    ]
    assert not re.search(rb"(href|src|url\()", first)  # needs no other file


def test_cells_are_filled_where_the_row_wins() -> None:
    p = np.array([[np.nan, 0.7, 0.001], [0.03, np.nan, 0.2], [0.999, 0.05, np.nan]])
    correlations = [Correlation(0.2, 9), Correlation(0.3, 9), Correlation(None, 9, "constant")]
    panel = Panel("a & b", correlations, Significance(BOOTSTRAP, (None,) * 3, p))
    root = ET.fromstring(picture(["x", "y<", "z"], [[panel]]))
    cells = {
        (title.text or "").split(":")[0]: rect.get("fill")
        for rect in root.iter(f"{SVG}rect")
        if (title := rect.find(f"{SVG}title")) is not None
    }
    strong, weak = (colour for _, colour, _ in LEVELS)
    assert len(cells) == 6
    assert {pair for pair, colour in cells.items() if colour == strong} == {"x over z"}
    assert {pair for pair, colour in cells.items() if colour == weak} == {"y< over x"}  # 0.05 is not below 0.05
    texts = [x.text for x in root.iter(f"{SVG}text")]
    assert [x for x in texts if x in ("0.200", "0.300", "-")] == ["0.300", "0.200", "-"]  # best first, undefined last
    width, height = (float(root.get(x) or 0) for x in ("width", "height"))
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("width") != "100%":
            assert float(rect.get("x") or 0) + float(rect.get("width") or 0) <= width
            assert float(rect.get("y") or 0) + float(rect.get("height") or 0) <= height


def test_trained_rows(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "--train", "ROSE", "--folds", "4", "--da", str(table))
    row = re.search(r"^ROSE \(trained\) +(\S+)$", out, flags=re.M)
    assert row is not None
    assert float(row[1]) > 0.5
    assert "BLEU" not in out  # the default is for those who name no metric at all
    assert "|folds:4|folds-seed:1|nrefs:1|" in out


def test_rows_are_named_without_folders_of_files(
    tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = [tmp_path / name for name in ("a.json", "b.json")]
    for model in models:
        assert (
            main(["train-metric", "rose", "--kind", "reg", "--data", str(table), "--output", str(model), "--quiet"])
            == 0
        )
    capsys.readouterr()
    first, second = (f"ROSE:model={model}" for model in models)
    rows = output(capsys, "-m", first, "-m", second, "--da", str(table)).splitlines()
    assert [row.split()[0] for row in rows[3:5]] == ["ROSE:model=a.json", "ROSE:model=b.json"]
    (tmp_path / "other").mkdir()
    same = tmp_path / "other" / "a.json"
    same.write_bytes(models[0].read_bytes())
    rows = output(capsys, "-m", first, "-m", f"ROSE:model={same}", "--da", str(table)).splitlines()
    assert [row.split()[0] for row in rows[3:5]] == [first, f"ROSE:model={same}"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no judgements; expected one of folders of preferences, --da TABLE, --mtme FOLDER:LP"),
        (["folder", "--da", "x"], "folders and --da"),
        (["--da", "x", "--tau", "12"], "--tau with --da"),
        (["--da", "x", "--json", "--tsv"], "--json and --tsv"),
        (["--da", "x", "./x"], "./x: given twice"),
        (["--da", "x", "--seed", "3"], "--seed but nothing random"),
        (["--da", "x", "--paired-bs-n", "9"], "--paired-bs-n without resampling"),
        (["--da", "x", "--folds", "3"], "--folds alone; expected --train SPEC and --folds K"),
        (["--da", "x", "--train", "ROSE"], "--train alone"),
        (["--da", "x", "--train", "ROSE", "--folds", "1"], "--folds 1; expected at least 2"),
        (["--da", "nowhere.tsv"], "nowhere.tsv: no such file"),
        (["--da", "x", "-m", "BLUE"], "did you mean 'BLEU'?"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agree", *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("lasw agree: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["/d/wmt13/cs-en"], ["cs-en"]),
        (["/d/wmt13/cs-en", "/d/wmt13/de-en"], ["cs-en", "de-en"]),
        (["/d/wmt17/cs-en/da.tsv.gz", "/d/wmt17/de-en/da.tsv.gz"], ["cs-en", "de-en"]),
        (["/d/wmt11/cs-en", "/d/wmt13/cs-en"], ["wmt11", "wmt13"]),
        (["/d/11/cs", "/d/13/cs", "/d/13/de"], ["11/cs", "13/cs", "13/de"]),
        (["/d/a.tsv.gz", "/d/b.tsv.gz"], ["a", "b"]),
        (["/d/a.tsv", "/d/b.tsv.gz"], ["a.tsv", "b.tsv.gz"]),
    ],
)
def test_sets_are_called_by_what_sets_them_apart(paths: list[str], expected: list[str]) -> None:
    assert short_names(paths) == expected


def test_nothing_but_ties(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_judgements(tmp_path, ["a b c"], {"one": ["a b"], "two": ["b c d"]}, ["1\tone\ttwo\t=\n"])
    words = ["agree", "-m", "BLEU+1", "-m", "TER", "--significance", "--picture", f"{tmp_path}/p.svg", str(tmp_path)]
    assert main(words) == 0
    assert "no pairs" in capsys.readouterr().out
    assert main([*words[:7], str(tmp_path / "ref.txt"), str(tmp_path)]) == 1
    assert "overwrite what is read" in capsys.readouterr().err


def test_statistics_by_name(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In JSON every number has its n, and says how it was grouped; epsilon stands beside acc-eq."""
    names = "pearson,tau-b,acc-eq,darr,pairwise-accuracy,spa"
    arguments = ["-m", "PAC1", "-m", "CHRF", "--statistics", names, "--points", "2", "--da", str(table)]
    entry = json.loads(output(capsys, *arguments, "--json"))["metrics"][0]["sets"][0]
    assert list(entry["segments"]) == ["pearson", "tau-b", "acc-eq", "darr"]
    assert list(entry["systems"]) == ["pearson", "tau-b", "pairwise-accuracy", "spa"]
    assert {key: x["n"] for key, x in entry["segments"].items() if key != "darr"} == {
        "pearson": 120,
        "tau-b": 120 * 119 // 2,
        "acc-eq": 40 * 3,
    }
    assert {key: x["n"] for key, x in entry["systems"].items()} == {
        "pearson": 3,
        "tau-b": 3,
        "pairwise-accuracy": 3,
        "spa": 40,
    }
    assert (entry["segments"]["acc-eq"]["average"], entry["segments"]["acc-eq"]["groups"]) == ("item", 40)
    assert entry["segments"]["acc-eq"]["epsilon"] >= 0
    assert 0 < entry["segments"]["darr"]["n"] < 120
    by_system = json.loads(output(capsys, *arguments, "--average", "system", "--json"))["metrics"][0]["sets"][0]
    assert by_system["segments"]["pearson"]["groups"] == 3
    assert by_system["systems"] == entry["systems"]
    assert "segments: acc-eq, within segments, sentence score with mark\n" in output(capsys, *arguments)


def test_tests_by_name(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each says which it is, and all say much the same of one pair of metrics."""
    p_values = []
    arguments = ["-m", "PAC1", "-m", "CHRF", "--statistics", "pearson,accuracy", "--paired-bs-n", "200"]
    for test in ("williams", "bootstrap", "perm-both"):
        told = json.loads(output(capsys, *arguments, "--test", test, "--json", "--da", str(table)))["comparisons"]
        of_segments = {x["coefficient"]: x for x in told if x["level"] == SEGMENTS and x["better"] == "PAC1"}
        assert of_segments["pearson"]["test"] == test
        assert of_segments["accuracy"]["test"] == ("perm-both" if test == "perm-both" else "bootstrap")
        p_values.append([x["p"] for x in of_segments.values()])
    assert np.ptp(p_values, axis=0) == pytest.approx(0, abs=0.2)
    assert len({x["p"] for x in told}) > 1
    assert "(PERM-BOTH, exchanges at random)" in output(capsys, *arguments, "--test", "perm-both", "--da", str(table))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--statistics", "tau-d"], "unknown statistic 'tau-d'"),
        (["--statistics", "spa,spa"], "statistic spa twice"),
        (["--average", "item"], "--average without --statistics"),
        (["--statistics", "darr", "--points", "0"], "--points 0"),
    ],
)
def test_statistics_that_are_refused(
    arguments: list[str], told: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["agree", *arguments, "--da", str(table)]) != 0
    assert told in capsys.readouterr().err


def test_preferences_have_no_marks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_judgements(tmp_path / "set", ["a b"], {"A": ["a b"], "B": ["a"]}, ["1\tA\tB\t<\n"])
    assert main(["agree", "--statistics", "darr", str(tmp_path / "set")]) != 0
    assert "statistic darr of preferences" in capsys.readouterr().err
    assert main(["agree", "--statistics", "tau13", "--average", "system", str(tmp_path / "set")]) != 0
    assert "--average system of preferences" in capsys.readouterr().err
