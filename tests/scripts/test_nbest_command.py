"""`lasw nbest`: there and back through every layout, what is printed of a list."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from build import SpoiltLists, everything, list_of

from lasw.metrics import Vocabulary
from lasw.scripts.main import main
from lasw.tuning import NBEST_LAYOUTS, read_nbest, write_nbest

HELD = [name for name in NBEST_LAYOUTS if name != "moses"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A list of 6 sentences with 8 hypotheses and two features, one of two values, and the references."""
    made = SpoiltLists.made(3, sentences=6, size=8)
    lm = made.draw.normal(size=48) - made.wrong
    features = {"LM0": lm, "TM0": made.draw.normal(size=(48, 2)) / [1, 3]}
    write_nbest(tmp_path / "list", list_of(made.hypotheses, features, lm + made.draw.normal(size=48)))
    (tmp_path / "ref").write_text("".join(f"{line}\n" for line in made.references))
    return tmp_path


def read_with(told: str, path: Path) -> list[str]:
    """The options that `convert` says a list is to be read with."""
    found = re.fullmatch(rf"read {re.escape(str(path))} with (.*)\n", told)
    return shlex.split(found[1]) if found else []


@pytest.mark.parametrize("layout", HELD)
def test_there_and_back(data: Path, capsys: pytest.CaptureFixture[str], layout: str) -> None:
    there, back = data / "there", data / "back"
    assert main(["nbest", "convert", str(data / "list"), str(there), "--to", layout]) == 0
    options = read_with(capsys.readouterr().err, there)
    assert bool(options) == ("features" not in NBEST_LAYOUTS.find(layout).holds)
    assert main(["nbest", "convert", str(there), str(back), *options]) == 0
    first, second = (read_nbest(path, Vocabulary()) for path in (data / "list", back))
    if "score" not in NBEST_LAYOUTS.find(layout).holds:
        first.score[:] = 0.0
    assert everything(second) == everything(first)


@pytest.mark.parametrize("layout", HELD)
def test_every_layout_gives_the_same_weights(data: Path, capsys: pytest.CaptureFixture[str], layout: str) -> None:
    there = data / "there"
    main(["nbest", "convert", str(data / "list"), str(there), "--to", layout])
    options = read_with(capsys.readouterr().err, there)
    for name, path, more in (("a", data / "list", []), ("b", there, options)):
        words = ["optimise", "--optimiser", "pro", "-r", str(data / "ref"), "--output", str(data / f"{name}.json")]
        assert main([*words, *more, str(path)]) == 0
    a, b = (json.loads((data / f"{name}.json").read_text()) for name in "ab")
    assert a["dense"] == b["dense"] != {}


@pytest.mark.parametrize("first", list(NBEST_LAYOUTS))
def test_from_every_layout_to_every_other_and_back(data: Path, capsys: pytest.CaptureFixture[str], first: str) -> None:
    """Whatever weights are learnt from stays the same to the bit: sentences, texts, features."""

    def converted(path: Path, options: list[str], name: str, layout: str) -> tuple[Path, list[str]]:
        assert main(["nbest", "convert", str(path), str(data / name), "--to", layout, *options]) == 0
        return data / name, read_with(capsys.readouterr().err, data / name)

    expected = everything(read_nbest(data / "list", Vocabulary()))
    start = converted(data / "list", [], "start", first)
    for second in NBEST_LAYOUTS:
        there = converted(*start, f"{second}.there", second)
        back, options = converted(*there, f"{second}.back", "moses")
        assert options == []
        names, owner, texts, dense, _, sparse = everything(read_nbest(back, Vocabulary()))
        assert (names, owner, texts, dense, sparse) == (*expected[:4], expected[5])


@pytest.mark.parametrize(("ending", "layout"), [("jsonl", "jsonl"), ("tsv", "tsv"), ("csv.gz", "csv"), ("gz", "moses")])
def test_the_ending_says_the_layout(data: Path, ending: str, layout: str) -> None:
    assert main(["nbest", "convert", str(data / "list"), str(data / f"out.{ending}")]) == 0
    one, other = (read_nbest(path, Vocabulary()) for path in (data / "list", data / f"out.{ending}"))
    assert everything(one) == everything(other)


def test_what_cannot_be_written(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sparse = list_of([(0, "a"), (0, "b")], {"LM0": [1, 2]}, [1, 2], {"S_a": [1, 0]})
    write_nbest(data / "sparse", sparse)
    assert main(["nbest", "convert", str(data / "sparse"), str(data / "x.tsv")]) == 1
    assert "sparse features in tsv; expected --to moses or jsonl" in capsys.readouterr().err
    assert main(["nbest", "convert", str(data / "list"), str(data / "list")]) == 1
    assert main(["nbest", "convert", str(data / "list"), "-"]) == 1
    assert main(["nbest", "convert", str(data / "list"), str(data / "y"), "--to", "json"]) == 1
    assert "jsonl" in capsys.readouterr().err
    assert not (data / "x.tsv").exists()


def test_the_first_hypotheses_to_read(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_nbest(
        data / "two", list_of([(3, "a b"), (3, "c"), (5, "d")], {"LM0": [1, 0.5, 0], "TM0": [2, 3, 4]}, [-1, 2, 0])
    )
    assert main(["nbest", "head", str(data / "two"), "--lists", "2", "--hypotheses", "1", "--quiet"]) == 0
    assert capsys.readouterr().out == (
        "sentence 3, 2 hypotheses\n    1     -1.0000  a b\n                   LM0 1  TM0 2\n"
        "sentence 5, 1 hypotheses\n    1      0.0000  d\n                   LM0 0  TM0 4\n"
    )


def test_sizes_and_features(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(0, "a b c"), (0, "a b x"), (0, "a b x"), (1, "d e"), (1, "d x")]
    features = {"good": [3, 1, 0.5, 4, 2], "bad": [-3, -1, -1, 0, 0]}
    write_nbest(data / "small", list_of(rows, features))
    (data / "two").write_text("a b c\nd e\n")
    assert main(["nbest", "stats", "-r", str(data / "two"), str(data / "small"), "-m", "WER", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["sentences"], found["candidates"], found["distinct_texts"]) == (2, 5, 4)
    assert found["list_sizes"] == {"least": 2, "median": 2.5, "most": 3}
    assert found["lengths"] == {"least": 2, "median": 3, "most": 3, "mean": 2.6}
    good, bad = found["features"]
    assert (good["least"], good["most"], good["varies"]) == (0.5, 4, 1)
    # The scores of the first sentence are 1, 2/3, 2/3; the second's list of `bad` does not vary.
    first = np.corrcoef([3, 1, 0.5], [1, 2 / 3, 2 / 3])[0, 1]
    assert good["correlation"] == pytest.approx((first + 1) / 2)
    assert (bad["varies"], bad["correlation"]) == (0.5, pytest.approx(-1))
    assert main(["nbest", "stats", str(data / "small")]) == 0
    out = capsys.readouterr().out
    assert "list sizes      2 to 3, median 2.5" in out
    assert "with loss" not in out


def test_the_best_that_lists_can_give(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(0, "a x x"), (0, "a b c"), (0, "x x x"), (1, "d e"), (1, "x x")]
    write_nbest(data / "small", list_of(rows, {"lm": [0, 1, 2, 3, 4]}))
    (data / "two").write_text("a b c\nd e\n")
    words = ["nbest", "oracle", "-r", str(data / "two"), str(data / "small"), "-m", "WER"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    # One minus edits over the reference's length: 2 of 5 words wrong in the first hypotheses, none, all.
    assert (found["first"], found["oracle"], found["worst"]) == (pytest.approx(0.6), 1, 0)
    assert 0 < found["random"] < 1
    assert main(words) == 0
    out = capsys.readouterr().out
    assert re.search(r"WER.*of 2 sentences\nfirst +40\.00\n", out)
    # Equation 5.3: the best hypotheses are the references themselves, BLEU+1 1 and 1, whatever the metric.
    assert found["reachable"] == {"from": 0.4, "share": 1, "mean_weight": 1}
    assert "BLEU+1 of 40 is reached in 100.0% of the sentences" in out


def test_sentences_out_of_reach(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(0, "a b c d"), (0, "x"), (1, "e x y z"), (1, "x y z w"), (3, "g")]
    write_nbest(data / "far", list_of(rows, {"lm": [0, 1, 2, 3, 4]}))
    (data / "four").write_text("a b c d\ne f g h\nz\ng\n")  # of the third sentence there is no list
    words = ["nbest", "oracle", "-r", str(data / "four"), str(data / "far"), "--quiet", "--json", "--reachable", "0.5"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)["reachable"]
    # BLEU+1 of "e x y z" is (2/5 * 1/4 * 1/3 * 1/2) ** .25, the others are perfect.
    far = (2 / 5 * 1 / 4 * 1 / 3 * 1 / 2) ** 0.25
    assert found["share"] == pytest.approx(2 / 3)
    assert found["mean_weight"] == pytest.approx((2 + np.exp(far - 0.5)) / 3)


@pytest.mark.parametrize("number", ["nan", "-0.1", "1.1"])
def test_what_is_no_share_of_bleu(data: Path, number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nbest", "oracle", "-r", str(data / "ref"), str(data / "list"), "--reachable", number]) == 1
    assert f"--reachable {number}; expected a number from 0 to 1" in capsys.readouterr().err


def test_the_oracle_needs_references(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["nbest", "oracle", "-r", str(data / "ref"), str(data / "list")]
    assert main(words[:2] + words[4:]) == 1
    assert "no references; expected --references" in capsys.readouterr().err
