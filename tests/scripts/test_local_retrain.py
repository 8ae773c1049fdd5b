"""`lasw local retrain` (Liu et al. 2012): from a pool and a test set to weights and translations of every sentence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from lasw.scripts.main import main
from lasw.tuning import read_local_weights, read_weights

WORDS = ["alt", "rot", "Bus", "faehrt", "heute", "ueber", "die", "neue", "Bruecke"]
RETRAIN = ["local", "retrain", "--references", "pool.e", "--optimiser", "expected", "--step", "1", "--quiet"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pool of two kinds of sentences: in the lists of red ones LM0 knows what is wrong, in those of blue ones TM0."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(3)
    source, target = [], []
    for k in range(24):
        words = draw.choice(WORDS, 6, replace=False).tolist()
        source.append(f"{'rot rote' if k % 2 else 'blau blaue'} {words[0]} nummer {k} von heute {k * 7} und {k + 3}")
        target.append(" ".join(words))
    write("pool.f", source)
    write("pool.e", target)
    write("pool.nbest", lists(draw, target, [k % 2 for k in range(24)]))
    write("test.f", ["rot rote eins", "blau blaue zwei", "rot rote drei", "rot rote eins"])
    tests = [" ".join(draw.choice(WORDS, 6, replace=False)) for _ in range(4)]
    write("test.e", tests)
    write("test.nbest", lists(draw, tests, [1, 0, 1, 1]))
    write("start", ["LM0= 1", "TM0= 1", "WordPenalty0= 0.5"])
    return tmp_path


def write(name: str, lines: list[str]) -> None:
    Path(name).write_text("".join(line + "\n" for line in lines))


def lists(draw: np.random.Generator, references: list[str], red: list[int]) -> list[str]:
    lines = []
    for k, (reference, kind) in enumerate(zip(references, red, strict=True)):
        for _ in range(12):
            wrong = draw.random(6) < draw.random()
            text = " ".join("-" if w else word for word, w in zip(reference.split(), wrong, strict=True))
            known, noise = -float(wrong.sum()), 3 * draw.normal()
            values = (known, noise) if kind else (noise, known)
            lines.append(f"{k} ||| {text} ||| LM0= {values[0]:.4f} TM0= {values[1]:.4f} ||| 0")
    return lines


def local_sets(size: int = 6) -> None:
    words = ["--source", "pool.f", "--target", "pool.e", "--low", "0", "--method", "tfidf", "--test-source", "test.f"]
    assert main(["select", *words, "--local", str(size), "--output", "dev", "--quiet"]) == 0


def precision(capsys: pytest.CaptureFixture[str], *weights: str) -> float:
    capsys.readouterr()
    assert main(["rerank", *weights, "test.nbest"]) == 0
    Path("out").write_text(capsys.readouterr().out)
    assert main(["score", "-m", "PAC1", "-r", "test.e", "--score-only", "--", "out"]) == 0
    return float(capsys.readouterr().out)


def test_from_a_pool_to_translations(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    local_sets()
    chosen = [line.split("\t") for line in Path("dev.local.tsv").read_text().splitlines()[1:]]
    assert {(int(test), int(line) % 2) for test, _, line, _ in chosen} == {(1, 0), (2, 1), (3, 0), (4, 0)}
    assert main([*RETRAIN, "--sets", "dev.local.tsv", "--start", "start", "--output", "local.jsonl", "pool.nbest"]) == 0
    found = read_local_weights("local.jsonl")
    # What of a feature is known where it is right: red sentences trust LM0, the blue one TM0.
    for weights, red in zip(found, (True, False, True, True), strict=True):
        lm, tm = (weights.by_group()[name][0] for name in ("LM0", "TM0"))
        assert (lm > 3 * abs(tm)) == red
        assert weights.by_group()["WordPenalty0"] == [0.5]  # which no list has
    assert found[0].by_group() == found[3].by_group()
    assert precision(capsys, "--local-weights", "local.jsonl") > precision(capsys, "--weights", "start") + 5


def test_a_set_is_tuned_on_as_lasw_optimise_would(place: Path) -> None:
    local_sets(4)
    more = ["--standard", "3", "--metric", "BLEU", "--l2", "0.01"]
    words = [*RETRAIN, *more, "--sets", "dev.local.tsv", "--start", "start", "--output", "local.npz", "pool.nbest"]
    assert main(words) == 0
    chosen = [line.split("\t") for line in Path("dev.local.tsv").read_text().splitlines()[1:]]
    mine = sorted({0, 1, 2, *(int(line) - 1 for test, _, line, _ in chosen if test == "2")})
    assert len(mine) in range(4, 8)
    text = Path("pool.nbest").read_text().splitlines()
    write("own.nbest", [f"{mine.index(k)} |||{rest}" for k, rest in _numbered(text) if k in mine])
    write("own.e", [Path("pool.e").read_text().splitlines()[k] for k in mine])
    options = ["--optimiser", "expected", "--metric", "BLEU", "--l2", "0.01", "--step", "1", "--quiet"]
    assert main(["optimise", *options, "--start", "start", "--output", "w.json", "-r", "own.e", "--", "own.nbest"]) == 0
    expected, found = read_weights("w.json"), read_local_weights("local.npz")[1]
    for name, values in expected.by_group().items():
        assert found.by_group()[name] == pytest.approx(values, rel=1e-6)


def _numbered(lines: list[str]) -> list[tuple[int, str]]:
    return [(int(line.partition(" |||")[0]), line.partition(" |||")[2]) for line in lines]


def test_on_standard_output_and_other_optimisers(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    local_sets()
    capsys.readouterr()
    words = ["local", "retrain", "--references", "pool.e", "--sets", "dev.local.tsv", "--optimiser", "mira"]
    assert main([*words, "--start", "start", "pool.nbest"]) == 0
    out, err = capsys.readouterr()
    assert [list(json.loads(line)["dense"]) for line in out.splitlines()] == [["LM0", "TM0", "WordPenalty0"]] * 4
    assert re.search(r"weights of 4 sentences, [0-9.]+ s", err)


def test_one_list_vouches_for_a_part_of_the_way(place: Path) -> None:
    local_sets()
    found = {}
    for name, step in (("all", ["--step", "1"]), ("some", ["--step", "0.3"]), ("default", [])):
        words = ["local", "retrain", "--references", "pool.e", "--optimiser", "expected", "--quiet", *step]
        words += ["--sets", "dev.local.tsv", "--start", "start", "--output", f"{name}.jsonl", "pool.nbest"]
        assert main(words) == 0
        found[name] = [one.dense.tolist() for one in read_local_weights(f"{name}.jsonl")]
    assert found["default"] == found["some"] != found["all"]


@pytest.mark.parametrize(
    ("table", "more", "message"),
    [
        ("1\t1\t2\t0.5\n", (), r"dev.local.tsv:1: no table of local sets; expected test_line, rank, line, similarity"),
        ("H1\t1\tx\t0.5\n", (), r"dev.local.tsv:2: '1\\t1\\tx\\t0.5'; expected three numbers"),
        (f"H1\t1\t{'9' * 25}\t0.5\n", (), r"dev.local.tsv:2: .*expected three numbers"),
        (f"H1\t1\t{'9' * 5000}\t0.5\n", (), r"dev.local.tsv:2: .*expected three numbers"),
        ("H1\t1\t0\t0.5\n", (), r"dev.local.tsv:2: .*expected three numbers from 1"),
        ("H2\t1\t3\t0.5\n", (), r"dev.local.tsv:2: test sentence 2; expected 0 or 1"),
        ("H1\t1\t3\t0.5\n3\t1\t3\t0.5\n", (), r"dev.local.tsv:3: test sentence 3; expected 1 or 2"),
        ("H1\t1\t25\t0.5\n", (), r"line 25 in the set of test sentence 1; expected 24 at most"),
        ("H1\t1\t2\t0.5\n", ("--standard", "25"), r"25 standard sentences; expected 24 at most"),
        ("H1\t1\t2\t0.5\n", ("--standard", "-1"), r"--standard -1; expected 0 or more"),
        ("H1\t1\t2\t0.5\n", ("--step", "0"), r"--step 0; expected a number above 0 and at most 1"),
    ],
)
def test_mistakes_are_one_line(
    place: Path, table: str, more: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("dev.local.tsv").write_text(table.replace("H", "test_line\trank\tline\tsimilarity\n"))
    assert main([*RETRAIN, *more, "--sets", "dev.local.tsv", "--start", "start", "pool.nbest"]) == 1
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert re.search(message, said[0])


def test_a_set_without_lists(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("dev.local.tsv").write_text("test_line\trank\tline\tsimilarity\n1\t1\t24\t0.5\n")
    lines = Path("pool.nbest").read_text().splitlines()
    write("less.nbest", [line for line in lines if not line.startswith("23 ")])
    assert main([*RETRAIN, "--sets", "dev.local.tsv", "less.nbest"]) == 1
    assert "no N-best list for the set of test sentence 1; expected lists of the pool" in capsys.readouterr().err
