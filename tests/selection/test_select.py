"""The pool's readers, and `lasw select` from the command line."""

from __future__ import annotations

import bz2
import dataclasses
import gzip
import io
import json
import lzma
import math
import os
import pickle
import random
import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_text import parallel_text
from pairs import read_back, write_lines

from lasw.metrics import UserError
from lasw.scripts.main import main
from lasw.selection import Bitext, PairBlock, lines, score_column, text_names, write_giza
from lasw.selection.alignment.pharaoh import Alignment, read_pharaoh
from lasw.selection.lines import BAD_COLUMNS, NOT_TEXT, TOO_LONG, Lines
from lasw.selection.pool import OK, READER
from lasw.selection.rankings.la_features import features_of


def texts(blocks: list[PairBlock]) -> list[tuple[int, str, str, str]]:
    return [
        (line, s, t, a)
        for b in blocks
        for line, s, t, a in zip(
            b.line_numbers.tolist(),
            b.source.texts(),
            b.target.texts(),
            b.alignment.texts() if b.alignment else [""] * len(b),
            strict=True,
        )
    ]


def test_files_are_cut_into_the_same_pairs_whatever_their_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(1)
    sides = [["w " * draw.randint(1, size) + str(k) for k in range(200)] for size in (3, 20, 9)]
    raw = ["".join(line + "\n" for line in side).encode() for side in sides]
    (tmp_path / "s").write_bytes(raw[0][:-1])  # no last line end
    (tmp_path / "t").write_bytes(b"\xef\xbb\xbf" + raw[1].replace(b"\n", b"\r\n"))
    (tmp_path / "a").write_bytes(raw[2])
    bitext = Bitext(*(str(tmp_path / name) for name in "sta"))
    expected = [(k + 1, *(side[k] for side in sides)) for k in range(200)]
    assert texts(list(bitext.blocks())) == expected
    monkeypatch.setattr("lasw.metrics.text.files.BLOCK_BYTES", 64)
    monkeypatch.setattr("lasw.metrics.text.files.Blocks.__init__.__defaults__", ("utf-8", 64))
    blocks = list(bitext.blocks())
    assert len(blocks) > 50
    assert texts(blocks) == expected
    assert texts(pickle.loads(pickle.dumps(blocks))) == expected


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_columns_of_one_packed_file(tmp_path: Path, pack: object) -> None:
    (tmp_path / "p").write_bytes(pack("id\ta b\tx\t0-0\textra\n\t\t\t\t\n7\tc\ty\u00a0z\t\t\n".encode()))  # type: ignore[operator]
    blocks = list(Bitext(str(tmp_path / "p"), columns=(2, 3, 4)).blocks())
    assert texts(blocks) == [(1, "a b", "x", "0-0"), (2, "", "", ""), (3, "c", "y\u00a0z", "")]
    turned = list(Bitext(str(tmp_path / "p"), columns=(5, 1)).blocks())
    assert texts(turned) == [(1, "extra", "id", ""), (2, "", "", ""), (3, "", "7", "")]


cells = st.lists(st.text("aé \u2028|\r", max_size=4), min_size=3, max_size=5)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(cells, max_size=6), columns=st.permutations([1, 2, 3]))
def test_columns_are_those_of_split(tmp_path: Path, rows: list[list[str]], columns: list[int]) -> None:
    path = write_lines(tmp_path / "p", ["\t".join(row) for row in rows])
    lines = [line.removesuffix("\r").split("\t") for line in ("\t".join(row) for row in rows)]
    found = texts(list(Bitext(path, columns=tuple(columns)).blocks()))
    assert found == [(k, *(row[column - 1] for column in columns)) for k, row in enumerate(lines, 1)]


def test_too_few_columns(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p", ["a\tb", "c", "d\te"])
    with pytest.raises(UserError, match=r"p:2: 1 columns; expected at least 2, separated by tabs"):
        list(Bitext(path, columns=(1, 2)).blocks())
    (block,) = Bitext(path, columns=(1, 2), skip_bad=True).blocks()
    assert block.bad.tolist() == [0, BAD_COLUMNS, 0]
    assert texts([block]) == [(1, "a", "b", ""), (2, "", "", ""), (3, "d", "e", "")]


@pytest.mark.parametrize("skip_bad", [False, True])
def test_files_of_different_length(tmp_path: Path, skip_bad: bool) -> None:
    source, target = write_lines(tmp_path / "s", ["a"] * 5), write_lines(tmp_path / "t", ["x"] * 4)
    nothing, points = write_lines(tmp_path / "n", []), write_lines(tmp_path / "a", ["0-0"] * 5)
    numbers = (score_column(f"x={write_lines(tmp_path / 'x', ['1'] * 4)}"),)
    for pool, said in (
        (
            Bitext(source, target, skip_bad=skip_bad),
            r"/t: 4 lines; expected 5, as many as .*/s has; find the line that",
        ),
        (Bitext(source, nothing, skip_bad=skip_bad), r"/n: 0 lines; expected 5, as many as .*/s has"),
        (Bitext(source, source, target, skip_bad=skip_bad), r"/t: 4 lines; expected 5, as many as .*/s has"),
        (Bitext(source, source, points, skip_bad=skip_bad, scores=numbers), r"/x: 4 lines; expected 5, as many as"),
        (Bitext(source, target, skip_bad=skip_bad, scores=numbers), r"/s: 5 lines; expected 4, as many as .*/t has"),
    ):
        with pytest.raises(UserError, match=said) as error:
            list(pool.blocks())
        assert "--skip-bad" not in str(error.value)


@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_header_of_scores_is_no_faulty_line(tmp_path: Path, skip_bad: bool) -> None:
    text = write_lines(tmp_path / "s", ["a"] * 2)

    def read(header: str, *numbers: str, key: str = "") -> list[list[float]]:
        path = write_lines(tmp_path / "q", [header, *numbers])
        column = score_column(f"q={path}{key}")
        return [
            row for b in Bitext(text, text, skip_bad=skip_bad, scores=(column,)).blocks() for row in b.extra.tolist()
        ]

    for names_them in (("score", "1", "2"), ("score", "1"), ("id\t#Score (higher is better)", "1\t.5", "2\t.7")):
        with pytest.raises(UserError, match=r"/q:1: a header, '.*'; expected the number of the first pair; delete it"):
            read(*names_them)
    with pytest.raises(UserError, match=r"a header, 'score\\tother'"):
        read("score\tother", "1\tx", "2\ty", key=":1")
    assert read("1e-5", "2") == [[1e-5], [2]]
    if skip_bad:  # tools that had no number for the first pair
        for word in ("nan", "NA", "None", "-", "", "-inf"):
            assert read(word, "2") == [[0], [2]]


def test_a_header_of_pool_and_scores_together(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.tsv", ["src\ttrg\tscore", "a\tb\t3", "c\td\t4"])
    pool = Bitext(path, columns=(1, 2), scores=(score_column(f"x={path}"),))
    with pytest.raises(UserError, match=r"p.tsv:1: 'score' is no number; --skip-bad leaves out such pairs"):
        list(pool.blocks())
    (block,) = dataclasses.replace(pool, skip_bad=True).blocks()
    assert (block.bad.tolist(), block.extra.tolist()) == ([lines.BAD_SCORE, 0, 0], [[0], [3], [4]])


def test_lines_that_are_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 20)
    (tmp_path / "s").write_bytes(b"a b\nc\xff d\ne\x00f\n" + b"x " * 30 + b"\r\ng\r\n")
    target = write_lines(tmp_path / "t", ["1", "2", "3", "4", "5"])
    with pytest.raises(UserError, match=r"s:2: byte 0xff is no UTF-8"):
        list(Bitext(str(tmp_path / "s"), target).blocks())
    (block,) = Bitext(str(tmp_path / "s"), target, skip_bad=True).blocks()
    assert block.bad.tolist() == [0, NOT_TEXT, NOT_TEXT, TOO_LONG, 0]
    assert [block.source.text(k) for k in (0, 4)] == ["a b", "g"]
    _, verdicts, _ = features_of(block, (), 0, 50)
    assert verdicts.tolist() == [OK, READER + NOT_TEXT, READER + NOT_TEXT, READER + TOO_LONG, OK]


def test_other_encodings(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes("häuser\n".encode("latin-1"))
    (tmp_path / "t").write_bytes("maisons à\n".encode("latin-1"))
    bitext = Bitext(str(tmp_path / "s"), str(tmp_path / "t"), encoding="latin-1")
    assert texts(list(bitext.blocks())) == [(1, "häuser", "maisons à", "")]


def test_giza_is_told_apart_and_gives_the_same_points(tmp_path: Path) -> None:
    source, target = [["a", "b"], ["c"], ["d", "e"]], [["x", "y", "z"], ["u"], ["v", "w"]]
    points = [np.array(p, dtype=np.int32).reshape(-1, 2) for p in ([[0, 0], [1, 2]], [[0, 0]], [[0, 0], [0, 1]])]
    write_giza(tmp_path / "g", source, target, Alignment.from_pairs(points))
    sides = [write_lines(tmp_path / name, [" ".join(x) for x in side]) for name, side in (("s", source), ("t", target))]
    blocks = list(Bitext(*sides, str(tmp_path / "g")).blocks())
    assert [line for b in blocks if b.alignment for line in b.alignment.texts()] == ["0-0 1-2", "0-0", "0-0 0-1"]
    giza = (
        "# Sentence pair (1) source length 2 target length 3 alignment score : 1e-3\nx y z\n"
        "NULL ({ 2 }) a ({ 1 }) b ({ 3 }) \n# Sentence pair (3) source length 1\nu\nNULL ({ }) c ({ 1 }) \n"
    )
    (tmp_path / "g").write_text(giza)
    with pytest.raises(UserError, match=r"g:4: '# Sentence pair \(3\).*expected a comment and the two lines of pair 2"):
        list(Bitext(*sides, str(tmp_path / "g")).blocks())
    (tmp_path / "g").write_text(giza.replace("(3)", "(2)") + "# 1\n")
    with pytest.raises(UserError, match=r"g:7: the last pair is not whole"):
        list(Bitext(*sides, str(tmp_path / "g")).blocks())


def test_score_columns(tmp_path: Path) -> None:
    sides = [write_lines(tmp_path / name, ["a", "b"]) for name in "st"]
    tabs = write_lines(tmp_path / "b.tsv", ["u\ta\t0.5\t9", "u\tb\t0.25\t8"])
    records = write_lines(
        tmp_path / "o.jsonl", ['{"Len": [1, 2], "Lang": {"cld2": [0.5]}}', '{"Len": [3, 4], "Lang": {"cld2": [1]}}']
    )
    specs = (f"last={tabs}", f"third={tabs}:3", f"Len={records}:Len.1", f"x={records}:Lang.cld2.0")
    bitext = Bitext(*sides, scores=tuple(score_column(spec) for spec in specs))
    (block,) = bitext.blocks()
    assert bitext.score_names == ("last", "third", "Len", "x")
    assert block.extra.tolist() == [[9, 0.5, 2, 0.5], [8, 0.25, 4, 1]]
    bad = write_lines(tmp_path / "bad", ["1", "nan"])
    large = write_lines(tmp_path / "large", ['{"n": 1e200, "whole": 1%s}' % ("0" * 400)] * 2)
    for spec, said in (
        (f"n={bad}", r"bad:2: 'nan' is no number from -1e\+100 to 1e\+100"),
        (f"n={large}", r"large:1: '1e\+200' is no number from -1e\+100 to 1e\+100"),
        (f"whole={large}", r"large:1: '1000*' is no number"),
        (f"n={tabs}:7", r"b.tsv:1: 4 columns; expected at least 7"),
        (f"Len={records}", r"o.jsonl:1: 2 numbers; expected one, as Len.0"),
        (f"y={records}", r"o.jsonl:1: no 'y' in Len, Lang"),
    ):
        with pytest.raises(UserError, match=said):
            list(Bitext(*sides, scores=(score_column(spec),)).blocks())
    skipped = Bitext(*sides, skip_bad=True, scores=(score_column(f"n={bad}"),))
    assert [verdict for b in skipped.blocks() for verdict in b.bad.tolist()] == [0, lines.BAD_SCORE]
    for spec in ("x", "=f", "x="):
        with pytest.raises(UserError, match="expected NAME=FILE"):
            score_column(spec)
    with pytest.raises(UserError, match="expected a number from 1"):
        score_column(f"x={tabs}:0")


def test_whole_files_with_marks_and_probabilities(tmp_path: Path) -> None:
    read = read_pharaoh(write_lines(tmp_path / "a", ["0?1:1e-3 2-0", "", "1-1:0.5"]))
    assert [points.tolist() for points in read] == [[[0, 1], [2, 0]], [], [[1, 1]]]
    with pytest.raises(UserError, match=r"a:1: '0-1:' is no word alignment"):
        read_pharaoh(write_lines(tmp_path / "a", ["0-1:"]))


def test_lines_are_taken_and_joined() -> None:
    given = Lines.of(["a b", "", "ü"])
    assert given.take(np.array([2, 0, 2])).texts() == ["ü", "a b", "ü"]
    assert Lines.joined([given[1:], given[:1], given[:0]]).texts() == ["", "ü", "a b"]
    assert Lines.joined([]).texts() == []


def test_names_of_the_files() -> None:
    assert text_names("a/pool.de.gz", "b/pool.en.xz") == ("de", "en")
    assert text_names("pool.txt", "other.txt") == text_names("pool.tsv", "pool.tsv") == ("source", "target")
    assert text_names("s.lines", "s.en") == ("source", "target")


SOURCE = [" ".join(f"{letter}{k}" for k in range(12)) for letter in "abcd"]
TARGET = [" ".join(f"{letter}{k}" for k in range(12)) for letter in "wxyz"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pool of eight pairs: four good ones, near duplicate, untranslated, too short, unaligned."""
    monkeypatch.chdir(tmp_path)
    source = [*SOURCE, SOURCE[0] + " new", "q " + SOURCE[1], "short", SOURCE[2].upper()]
    target = [*TARGET, TARGET[0] + " new", "q " + SOURCE[1], "kurz", TARGET[2].upper()]
    full = " ".join(f"{k}-{k}" for k in range(12))
    write_lines(tmp_path / "pool.de", source)
    write_lines(tmp_path / "pool.en", target)
    write_lines(tmp_path / "pool.align", [full, full, full, full, full + " 12-12", full + " 12-12", "0-0", ""])
    return tmp_path


def lasw_select(*more: str) -> int:
    return main(["select", "--source", "pool.de", "--target", "pool.en", "--alignment", "pool.align", "--quiet", *more])


def test_files_written(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lasw_select("--output", "dev", "--words", "48") == 0
    different = len(set(" ".join(read_back(place / "dev.de")).split()))
    assert capsys.readouterr().out == (
        f"4 pairs, 49 source words ({different} different) of 48 wanted, from 7 candidates in 8 pairs; "
        "rejected on the way: 1 similar, 1 untranslated\n"
    )
    assert read_back(place / "dev.lines") == ["5", "2", "3", "4"]
    pool = {name: read_back(place / f"pool.{name}") for name in ("de", "en", "align")}
    for name, of in (("de", "de"), ("en", "en"), ("alignment", "align")):
        assert read_back(place / f"dev.{name}") == [pool[of][k - 1] for k in (5, 2, 3, 4)]
    table = [line.split("\t") for line in read_back(place / "dev.scores")]
    assert table[0][:5] == ["line", "score", "source_words", "target_words", "LAR"]
    assert [float(row[1]) for row in table[1:]] == pytest.approx([sum(map(float, row[4:])) for row in table[1:]])
    rejected = [line.split("\t") for line in read_back(place / "dev.rejected.tsv")]
    assert [(row[0], row[2], row[4]) for row in rejected[1:]] == [
        ("6", "untranslated", ""),
        ("1", "similar", "5"),
        ("7", "length: 1 source words", ""),
    ]
    page = (place / "dev.html").read_text(encoding="utf-8")
    assert "rejected: untranslated" in page
    assert "http" not in page
    before = {path.name: path.read_bytes() for path in place.glob("dev.*")}
    assert lasw_select("--output", "dev", "--words", "48", "--jobs", "3") == 0
    assert {path.name: path.read_bytes() for path in place.glob("dev.*")} == before


def test_json_and_profile(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lasw_select("--output", "dev", "--words", "12", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["pairs"], facts["words"], facts["pool"], facts["candidates"]) == (1, 13, 8, 7)
    assert facts["rejected"] == {}
    assert all((place / name).exists() for name in facts["files"])
    for path in place.glob("dev.*"):
        path.unlink()
    assert lasw_select("--dry-run", "--json") == 0
    profile = json.loads(capsys.readouterr().out)
    assert profile["counts"] == {"pairs": 8, "source words": 87, "candidates": 7, "no candidate: length": 1}
    assert sum(profile["histogram"].values()) == 7
    assert profile["means"]["LAR"] == pytest.approx(6 / 7)
    assert lasw_select("--dry-run") == 0
    assert "mean TAR" in capsys.readouterr().out
    assert not list(place.glob("dev.*"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (2, "selected as number 2 of 2"),
        (6, "rejected: untranslated (similarity 1.000)"),
        (7, "no candidate: length"),
        (8, "not reached: there were enough words before it"),
    ],
)
def test_explain(place: Path, capsys: pytest.CaptureFixture[str], line: int, said: str) -> None:
    assert lasw_select("--explain", str(line), "--words", "20") == 0
    out = capsys.readouterr().out.split("\n")
    assert out[0] == f"source: {read_back(place / 'pool.de')[line - 1]}"
    assert out[-2].startswith(said)


def test_explain_what_is_not_there(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lasw_select("--explain", "9") == 1
    assert capsys.readouterr().err == "lasw select: --explain 9: the pool has 8 pairs\n"


def test_the_pool_is_never_overwritten(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (place / "pool.de").read_bytes()
    assert lasw_select("--output", "pool") == 1
    assert capsys.readouterr().err == (
        "lasw select: pool.de: the output would overwrite what is read; give --output another PREFIX\n"
    )
    assert (place / "pool.de").read_bytes() == before
    write_lines(place / "dev.lines", ["new"])
    for option in ("--function-words", "--test-source", "--trusted-alignment", "--nbest", "--test-nbest"):
        needed = {
            "--test-source": ["--method", "edit"],
            "--trusted-alignment": ["--method", "svm", "--trusted-source", "pool.de", "--trusted-target", "pool.en"],
            "--nbest": ["--method", "oracle"],
            "--test-nbest": ["--method", "features", "--nbest", "n"],
        }
        assert lasw_select("--output", "dev", option, "dev.lines", *needed.get(option, [])) == 1
        assert "dev.lines: the output would overwrite what is read" in capsys.readouterr().err
    write_lines(place / "dev.scores", ["pool.de\tpool.en\tpool.align"])
    assert main(["select", "--shards", "dev.scores", "--output", "dev"]) == 1
    assert "dev.scores: the output would overwrite what is read" in capsys.readouterr().err


def test_everything_filtered_away(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lasw_select("--output", "dev", "--low", "30") == 0
    said = "nothing selected: none of 8 pairs has a source sentence of the right length and no fault\n"
    assert capsys.readouterr().out == said
    assert [(place / f"dev.{name}").read_bytes() for name in ("de", "en", "alignment", "lines")] == [b""] * 4
    assert lasw_select("--output", "dev", "--untranslated", "0") == 0
    assert capsys.readouterr().out == "nothing selected: the filters rejected all 7 candidates\n"


@pytest.mark.parametrize("skip_bad", [(), ("--skip-bad",)])
def test_lines_that_shift_all_others_are_refused(
    place: Path, capsys: pytest.CaptureFixture[str], skip_bad: tuple[str, ...]
) -> None:
    """A header in a score file, then a lost target line: the pair behind them is never taken for its neighbour's."""
    write_lines(place / "scores", ["score", *("1000" if k == 3 else "0" for k in range(8))])
    assert lasw_select("--output", "dev", "--score", "q=scores", *skip_bad) == 1
    said = capsys.readouterr().err
    assert said.startswith("lasw select: scores:1: a header, 'score'; expected the number of the first pair; delete it")
    assert "--skip-bad" not in said
    write_lines(place / "pool.en", [line for k, line in enumerate(read_back(place / "pool.en")) if k != 4])
    sides = ["--source", "pool.de", "--target", "pool.en"]
    assert main(["select", *sides, "--method", "length", "--output", "dev", *skip_bad]) == 1
    said = capsys.readouterr().err
    assert said.startswith("lasw select: pool.en: 7 lines; expected 8, as many as pool.de has; find the line")
    assert "--skip-bad" not in said
    assert not list(place.glob("dev.*"))


def test_an_empty_pool(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("de", "en", "align"):
        write_lines(place / f"pool.{name}", [])
    assert lasw_select("--output", "dev") == 1
    assert capsys.readouterr().err == "lasw select: pool.de: the pool is empty; expected a pair a line\n"


def test_faults_are_named_or_skipped_and_counted(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(place / "pool.en", [*TARGET, "", *read_back(place / "pool.en")[5:]])
    assert lasw_select("--output", "dev") == 1
    assert capsys.readouterr().err == (
        "lasw select: pool.en:5: the target side is empty; --skip-bad leaves out such pairs\n"
    )
    write_lines(place / "pool.align", ["0-12", *read_back(place / "pool.align")[1:]])
    assert lasw_select("--output", "dev") == 1
    assert (
        "pool.align:1: an alignment point lies outside the sentences; is it the alignment of these files"
        in capsys.readouterr().err
    )
    assert not list(place.glob("dev.*"))
    arguments = ["select", "--source", "pool.de", "--target", "pool.en", "--alignment", "pool.align", "--output", "dev"]
    assert main([*arguments, "--skip-bad"]) == 0
    assert capsys.readouterr().err == (
        "lasw select: warning: 1 pairs left out: the target side is empty\n"
        "lasw select: warning: 1 pairs left out: an alignment point lies outside the sentences\n"
    )


@pytest.mark.parametrize("workers", ["1", "4"])
def test_the_first_fault_is_told_whoever_finds_it(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    monkeypatch.setattr("lasw.metrics.text.files.Blocks.__init__.__defaults__", ("utf-8", 64))
    write_lines(place / "pool.align", ["x", *read_back(place / "pool.align")[1:]])
    (place / "pool.de").write_bytes((place / "pool.de").read_bytes().replace(b"short", b"sh\xffrt"))
    write_lines(place / "words", ["w"])
    assert lasw_select("--output", "dev", "--jobs", workers, "--function-words", "words") == 1
    assert "pool.align:1: no word alignment" in capsys.readouterr().err


def test_a_pool_in_many_files(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lasw_select("--output", "dev", "--words", "30") == 0
    for name in ("de", "en", "align"):
        lines = read_back(place / f"pool.{name}")
        write_lines(place / f"one.{name}", lines[:3])
        write_lines(place / f"two.{name}", lines[3:])
    shards = write_lines(place / "shards", ["one.de\tone.en\tone.align", "two.de\ttwo.en\ttwo.align"])
    assert main(["select", "--shards", "shards", "--words", "30", "--output", "whole", "--quiet"]) == 0
    assert main(["select", "--shards", shards, "--words", "30", "--output", "again", "--jobs", "2", "--quiet"]) == 0
    for name in ("lines", "de", "en", "alignment", "scores", "rejected.tsv"):
        assert (place / f"again.{name}").read_bytes() == (place / f"dev.{name}").read_bytes()
        assert (place / f"whole.{name}").read_bytes() == (place / f"dev.{name}").read_bytes()
    capsys.readouterr()
    assert main(["select", "--shards", "shards", "--source", "pool.de", "--output", "whole"]) == 1
    assert "--shards beside another pool" in capsys.readouterr().err
    write_lines(place / "two.en", ["", *read_back(place / "pool.en")[4:]])
    assert main(["select", "--shards", "shards", "--output", "whole"]) == 1
    assert "two.en:1: the target side is empty" in capsys.readouterr().err


def test_standard_input_with_columns(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lasw_select("--output", "dev", "--words", "30") == 0
    columns = zip(*(read_back(place / f"pool.{name}") for name in ("de", "en", "align")), strict=True)
    text = "".join("\t".join(row) + "\n" for row in columns)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(text.encode()))))
    assert main(["select", "--tsv", "-", "--columns", "1,2,3", "--words", "30", "--output", "one"]) == 0
    assert (place / "one.lines").read_bytes() == (place / "dev.lines").read_bytes()
    assert (place / "one.source").read_bytes() == (place / "dev.de").read_bytes()


def test_pipes_are_read_as_often_as_needed(place: Path) -> None:
    assert lasw_select("--output", "dev", "--words", "30") == 0
    contents = {name: (place / f"pool.{name}").read_bytes() for name in ("de", "en", "align")}
    for name in contents:
        (place / f"pool.{name}").unlink()
        os.mkfifo(place / f"pool.{name}")
    writers = [threading.Thread(target=(place / f"pool.{name}").write_bytes, args=(c,)) for name, c in contents.items()]
    for writer in writers:
        writer.start()
    assert lasw_select("--output", "piped", "--words", "30") == 0
    for writer in writers:
        writer.join()
    assert (place / "piped.lines").read_bytes() == (place / "dev.lines").read_bytes()


def test_weights_scores_and_given_function_words(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(place / "other", [str(k) for k in range(8)])
    write_lines(place / "words", ["new"])
    options = ["--score", "other=other", "--weight", "other=5", "--weight", "TFWP=0", "--function-words", "words"]
    assert lasw_select("--output", "dev", "--words", "12", "--diversity", "2", *options) == 0
    assert read_back(place / "dev.lines") == ["8"]
    row = dict(zip(*(line.split("\t") for line in read_back(place / "dev.scores")), strict=True))
    assert row["other"] == "7.0"
    assert float(row["score"]) == pytest.approx(7 * 5 - 2 + 1)  # nothing aligned: both longest gaps, equal lengths
    capsys.readouterr()
    assert lasw_select("--output", "dev", "--weight", "TARR=1") == 1
    assert "--weight of unknown 'TARR'; expected one of LAR" in capsys.readouterr().err
    for number in ("nan", "1e101", "x"):
        assert lasw_select("--output", "dev", "--weight", f"TAR={number}") == 1
        assert f"--weight TAR={number}; expected a number from -1e+100 to 1e+100\n" in capsys.readouterr().err


def test_function_words_in_another_encoding(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("de", "en"):
        text = (place / f"pool.{name}").read_text(encoding="utf-8").replace("w0", "w\u00e9")
        (place / f"pool.{name}").write_bytes(text.encode("latin-1"))
    (place / "words").write_bytes("w\u00e9\n\n".encode("latin-1"))
    options = ["--encoding", "latin-1", "--function-words", "words", "--output", "dev"]
    assert lasw_select(*options, "--diversity", "2") == 0
    rows = [line.split("\t") for line in read_back(place / "dev.scores")]
    terms = {int(row[0]): float(row[rows[0].index("TFWP")]) for row in rows[1:]}
    assert terms[1] == pytest.approx(-math.exp(-1 / 12))
    assert terms[2] == -1
    (place / "words").write_text(" \n\n")
    assert lasw_select(*options) == 1
    assert capsys.readouterr().err == "lasw select: words: no function word; expected one a line\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--source", "s", "--output", "o"], "no pool; expected --source and --target, or --tsv"),
        (["--tsv", "p", "--source", "s", "--output", "o"], "no pool"),
        (["--source", "s", "--target", "t"], "nowhere to write to"),
        (["--source", "s", "--target", "t", "--columns", "1,2", "--output", "o"], "--columns without --tsv"),
        (["--tsv", "p", "--columns", "1", "--output", "o"], "--columns '1'; expected two or three numbers"),
        (["--source", "s", "--target", "t", "--output", "none/o"], "none: no such folder; make it first"),
        *((["--output", name], f"--output {name}; expected PREFIX") for name in ("./", ".", "..")),
        (["--tsv", "p", "--columns", "1,2,3", "--alignment", "a", "--output", "o"], "--alignment beside a column of"),
        (["--shards", "s", "--columns", "1,2", "--output", "o"], "--shards beside another pool"),
        (["--tsv", "p", "--columns", "1,2,3", "--align-model", "m", "--output", "o"], "--align-model for a pool that"),
        (["--source", "s", "--target", "t", "--output", "o"], "s: no such file"),
    ],
)
def test_wrong_use(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["select", *arguments]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--low=-1", f"--high={2**31 + 1}", "--window=0", f"--window={10**30}", "--low=x"])
def test_limits_that_no_sentence_reaches(capsys: pytest.CaptureFixture[str], option: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["select", "--source", "s", "--target", "t", "--output", "o", option])
    assert caught.value.code == 2
    name, value = option.split("=")
    said = f"lasw select: argument {name}: '{value}' is no whole number from {int(name == '--window')} to 2147483648"
    assert capsys.readouterr().err.startswith(said)


def test_limits_as_large_as_they_get(place: Path) -> None:
    assert lasw_select("--output", "dev", "--words", "1" + "0" * 30, "--high", str(2**31), "--window", str(2**31)) == 0
    assert read_back(place / "dev.lines") == ["5", "2", "3", "4", "8"]


def test_large_scores_stay_in_the_picture(place: Path, recwarn: pytest.WarningsRecorder) -> None:
    write_lines(place / "other", [str(1000 * k) for k in range(8)])
    for weight in ("1", "1e99"):
        assert lasw_select("--output", "dev", "--score", "other=other", "--weight", f"other={weight}") == 0
        page = (place / "dev.html").read_text(encoding="utf-8")
        places = [float(x) for x in re.findall(r'<rect x="(-?[0-9.]+)"', page)]
        assert places
        assert all(0 <= x <= 640 for x in places)
    assert not recwarn.list


def test_names_of_score_columns(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(place / "other", [str(k) for k in range(8)])
    for name in ("LAR", "line", "score", "target_words"):
        assert lasw_select("--output", "dev", "--score", f"{name}=other") == 1
        assert "a score column has the name of another, or of a feature" in capsys.readouterr().err
    assert lasw_select("--output", "dev", "--score", "a\tb=other") == 1
    assert "expected NAME=FILE" in capsys.readouterr().err


def test_json_of_no_sensible_size(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, why in (
        ("[" * 100_000 + "]" * 100_000, "brackets within thousands of brackets"),
        ("1" * 5000, "a number of thousands of digits"),
    ):
        write_lines(place / "other", ['{"x": ' + text + "}", *(['{"x": 1}'] * 7)])
        assert lasw_select("--output", "dev", "--score", "x=other") == 1
        said = f"lasw select: other:1: this is no JSON ({why}); --skip-bad leaves out such"
        assert capsys.readouterr().err.startswith(said)
        assert lasw_select("--output", "dev", "--score", "x=other", "--skip-bad") == 0


def test_faults_in_standard_input_are_named_as_it_is(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, said in (
        ("a\n", "lasw select: -: 1 lines; expected 8, as many as pool.en has; find the line"),
        ("a\nb\0\n", "lasw select: -:2: a NUL byte; expected text"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        options = ["--source", "-", "--target", "pool.en", "--alignment", "pool.align"]
        assert main(["select", *options, "--output", "dev"]) == 1
        assert capsys.readouterr().err.startswith(said)


def test_a_pool_without_alignment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("thot", reason="sil-thot is not installed")
    monkeypatch.chdir(tmp_path)
    source, target = parallel_text(120)
    write_lines(tmp_path / "p.de", source)
    write_lines(tmp_path / "p.en", target)
    options = ["--source", "p.de", "--target", "p.en", "--low", "3", "--diversity", "2", "--words", "50", "--quiet"]
    assert main(["select", *options, "--output", "trained"]) == 0
    assert main(["align", "--source", "p.de", "--target", "p.en", "--output", "p.align", "--save", "m", "--quiet"]) == 0
    assert main(["select", *options, "--alignment", "p.align", "--output", "given"]) == 0
    assert main(["select", *options, "--align-model", "m", "--output", "kept"]) == 0
    for name in ("lines", "alignment", "scores"):
        wanted = (tmp_path / f"given.{name}").read_bytes()
        assert wanted
        assert (tmp_path / f"trained.{name}").read_bytes() == wanted
        assert (tmp_path / f"kept.{name}").read_bytes() == wanted
    table = tmp_path / "m_swm.fa_lexnd"
    whole = table.read_bytes()
    for damaged in (whole[: len(whole) // 2], None):
        table.unlink() if damaged is None else table.write_bytes(damaged)
        capsys.readouterr()
        assert main(["select", *options, "--align-model", "m", "--output", "damaged"]) == 1
        assert capsys.readouterr().err == (
            "lasw select: m_swm.fa_lexnd: missing, damaged or of another model; make the models again with lasw align "
            "--save\n"
        )
    assert not list(tmp_path.glob("damaged*"))
    assert main(["select", *options, "--align-model", "none", "--output", "kept"]) == 1


def test_a_link_in_the_place_of_an_output_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "precious").write_text("kept")
    (place / "dev.lines").symlink_to("precious")
    assert lasw_select("--output", "dev") == 1
    assert "lasw select: dev.lines: a symbolic link to 'precious'; remove it" in capsys.readouterr().err
    assert (place / "precious").read_text() == "kept"


def test_the_sign_of_the_function_word_term(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As table 4.1 is printed, unless asked for; what asked for it before is said to be the default now."""
    found = {}
    for name, options in (("as-printed", ()), ("before", ("--paper-sign",)), ("added", ("--added-sign",))):
        assert lasw_select("--output", name, "--words", "48", *options) == 0
        said = capsys.readouterr().err
        assert said == ("lasw select: --paper-sign is what is done without it now\n" if name == "before" else "")
        rows = [line.split("\t") for line in read_back(place / f"{name}.scores")]
        found[name] = [float(row[rows[0].index("TFWP")]) for row in rows[1:]]
    assert found["before"] == found["as-printed"]
    assert max(found["as-printed"]) < 0 < min(found["added"])
