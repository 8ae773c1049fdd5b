"""`lasw select` with the methods beside LA."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lasw.scripts.main import main
from lasw.tuning import read_comparison
from lasw.tuning.comparison.grid import rows

SOURCE = ["a b c d", "e f g h", "a b x y", "k l m n"]
TARGET = ["A B C D", "E F G H", "A B X Y", "K L M N"]
BEST = [2, 4, 1, 3]  # words of four that the best hypothesis has right


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("pool.f", SOURCE)
    write("pool.e", TARGET)
    write("pool.a", ["0-0 1-1 2-2 3-3"] * 4)
    write("test.f", ["a b c z", "k l q q"])
    lists = []
    for k, (target, right) in enumerate(zip(TARGET, BEST, strict=True)):
        for hit in (0, 1, right):
            words = [word if i < hit else "-" for i, word in enumerate(target.split())]
            lists.append(f"{k} ||| {' '.join(words)} ||| F0= {hit * (k + 1)} LM0= {k - hit} ||| {-hit}")
    write("nbest", lists)
    write("other-nbest", ["0 ||| x ||| LM0= 3 F0= 0 ||| 0"])
    write("test-nbest", ["0 ||| x ||| F0= 0 LM0= 3 ||| 0", "0 ||| y ||| F0= 90 LM0= -9 ||| 0"])
    return tmp_path


def write(name: str, lines: list[str]) -> None:
    Path(name).write_text("".join(line + "\n" for line in lines))


def select(*words: str, wanted: int = 12) -> list[int]:
    """Lines selected, best first."""
    command = ["select", "--source", "pool.f", "--target", "pool.e", "--output", "out", "--low", "0", "--quiet"]
    assert main([*command, "--words", str(wanted), *words]) == 0
    return [int(line) for line in Path("out.lines").read_text().split()]


def test_oracle(pool: Path) -> None:
    assert select("--method", "oracle", "--nbest", "nbest", wanted=16) == [2, 4, 1, 3]
    # Only the second pair has a hypothesis without an error.
    assert select("--method", "oracle", "--nbest", "nbest", "--metric", "PER", wanted=4) == [2]


def test_separability(pool: Path) -> None:
    lines = select("--method", "separability", "--nbest", "nbest", wanted=16)
    assert sorted(lines) == [1, 2, 3, 4]
    scores = [float(row.split("\t")[1]) for row in Path("out.scores").read_text().splitlines()[1:]]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0


def test_features_of_the_first_hypotheses(pool: Path) -> None:
    # First hypotheses have features (0, k); the test set's is (0, 3), the last one's.
    assert select("--method", "features", "--nbest", "nbest", "--test-nbest", "test-nbest", wanted=4) == [4]


def test_lists_that_do_not_cover_the_pool(pool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("nbest", Path("nbest").read_text().splitlines()[:-3])
    command = ["select", "--method", "oracle", "--source", "pool.f", "--target", "pool.e", "--low", "0"]
    assert main([*command, "--nbest", "nbest", "--output", "out"]) == 1
    assert "no N-best list of the pool's line 4" in capsys.readouterr().err
    assert not Path("out.lines").exists()


def test_similarity_to_a_test_set(pool: Path) -> None:
    assert select("--method", "edit", "--test-source", "test.f", wanted=16) == [1, 3, 4, 2]
    assert select("--method", "tfidf", "--test-source", "test.f", wanted=16)[-1] == 2


def test_local_development_sets(pool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["select", "--method", "edit", "--test-source", "test.f", "--source", "pool.f", "--target", "pool.e"]
    assert main([*command, "--low", "0", "--local", "2", "--output", "out"]) == 0
    rows = [row.split("\t") for row in Path("out.local.tsv").read_text().splitlines()]
    assert rows[0] == ["test_line", "rank", "line", "similarity"]
    assert rows[1:] == [["1", "1", "1", "0.75"], ["1", "2", "3", "0.5"], ["2", "1", "4", "0.5"], ["2", "2", "1", "0.0"]]


def test_local_development_sets_of_faulty_pairs(pool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for k in range(4):
        for end in "fe":
            write(f"part{k}.{end}", [Path(f"pool.{end}").read_text().splitlines()[k]])
    write("part2.e", [""])
    write("shards", [f"part{k}.f\tpart{k}.e" for k in range(4)])
    command = ["select", "--method", "edit", "--test-source", "test.f", "--shards", "shards", "--local", "2"]
    command += ["--low", "0", "--output", "out"]
    assert main(command) == 1
    assert "part2.e:1: the target side is empty" in capsys.readouterr().err
    assert not Path("out.local.tsv").exists()
    assert main([*command, "--skip-bad", "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "lasw select: warning: 1 pairs left out: the target side is empty\n"
    assert json.loads(captured.out) == {"test_sentences": 2, "pairs_each": 2, "files": ["out.local.tsv"]}
    rows = [line.split("\t") for line in Path("out.local.tsv").read_text().splitlines()[1:]]
    assert [int(row[2]) for row in rows] == [1, 2, 4, 1]


def test_lists_in_another_encoding(pool: Path) -> None:
    for name in ("pool.e", "nbest", "test-nbest"):
        Path(name).write_bytes(Path(name).read_text().replace("A", "\u00c4").replace("x", "\u00e4").encode("latin-1"))
    options = ["--nbest", "nbest", "--encoding", "latin-1"]
    assert select("--method", "oracle", *options, wanted=16) == [2, 4, 1, 3]
    assert select("--method", "features", *options, "--test-nbest", "test-nbest", wanted=4) == [4]


def test_what_needs_an_alignment_is_not_told_without_one(pool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert select("--method", "length") != []
    assert Path("out.scores").read_text().split("\n")[0].split("\t")[4:] == ["STLR", "TFWP"]
    page = Path("out.html").read_text()
    assert ("STLR" in page, "TFWP" in page, "LAR" in page) == (True, True, False)
    capsys.readouterr()
    command = ["select", "--method", "length", "--source", "pool.f", "--target", "pool.e", "--low", "0"]
    assert main([*command, "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "          none  word alignment\n" in told
    assert "mean STLR" in told
    assert "LAR" not in told
    assert main([*command, "--dry-run", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["means"]) == ["STLR", "TFWP"]
    assert main([*command, "--explain", "1", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["features"]) == ["STLR", "TFWP"]
    assert main([*command, "--alignment", "pool.a", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "word alignment" not in told
    assert "mean LAR" in told


def test_random_draws_follow_the_seed(pool: Path) -> None:
    draws = {tuple(select("--method", "random", "--seed", str(seed), wanted=16)) for seed in range(20)}
    assert len(draws) > 8
    assert select("--method", "random") == select("--method", "random", "--seed", "1", "--jobs", "3")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "svm", "--alignment", "pool.a", "--trusted-source", "pool.f"], "svm needs --trusted-target"),
        (["--method", "oracle"], "oracle needs --nbest"),
        (["--method", "edit"], "edit needs --test-source"),
        (["--method", "random", "--test-source", "test.f"], "--test-source with method random; expected method tfidf"),
        (["--method", "random", "--local", "3"], "--local with method random"),
        (["--method", "raccoon"], "unknown method 'raccoon'"),
        (["--method", "random", "--weight", "LAR=2"], "--weight with method random; expected method la or svm"),
        (
            ["--method", "features", "--nbest", "nbest", "--test-nbest", "test-nbest", "other-nbest"],
            "other-nbest: features LM0(1) F0(1); expected F0(1) LM0(1), as in the lists of the pool",
        ),
    ],
)
def test_what_is_missing_is_named(
    pool: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert main(["select", "--source", "pool.f", "--target", "pool.e", "--output", "out", *options]) == 1
    assert message in capsys.readouterr().err


def test_shards(pool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = select("--alignment", "pool.a", wanted=8)
    for k in range(4):
        for end in "fea":
            write(f"part{k}.{end}", [Path(f"pool.{end}").read_text().splitlines()[k]])
    write("shards", [f"part{k}.f\tpart{k}.e\tpart{k}.a" for k in range(4)])
    command = ["select", "--shards", "shards", "--words", "8", "--low", "0", "--json", "--output", "sharded"]
    capsys.readouterr()
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["pool"] == 4
    assert [int(line) for line in Path("sharded.lines").read_text().split()] == expected


def test_the_comparison_of_selections() -> None:
    found = rows(read_comparison("compare/selection", ["comparison.seeds=3", "development.learned LA.source=x.de"]))
    sets = ["random", "length", "LA", "learned LA", "clean"]
    assert [(row.optimiser()["name"], row.development) for row in found] == [
        (name, one) for name in ("expected", "mert") for one in sets
    ]
