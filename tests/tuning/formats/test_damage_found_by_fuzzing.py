"""What `tests/fuzz` found, one case each."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from lasw.metrics import UserError, Vocabulary
from lasw.tuning import FeatureNames, Weights, read_local_weights, read_nbest, read_weights, write_local_weights
from lasw.tuning.formats import read_columns


def test_a_million_digits_are_looked_at_once(tmp_path: Path) -> None:
    """Digits that a dot may follow or not were tried in all ways: hours for a megabyte."""
    (tmp_path / "numbers").write_text("9" * 1_000_000 + "x\n")
    (tmp_path / "weights").write_text("LM " + "9" * 1_000_000 + "x\n")
    (tmp_path / "list").write_text(f"0 ||| a ||| LM= {'9' * 1_000_000}x ||| 1\n")
    began = time.process_time()
    for read, name in (
        (lambda path: read_columns([path], "a number"), "numbers"),
        (read_weights, "weights"),
        (lambda path: read_nbest(path, Vocabulary()), "list"),
    ):
        with pytest.raises(UserError) as caught:
            read(tmp_path / name)
        assert len(str(caught.value)) < 500 + len(str(tmp_path))
    assert time.process_time() - began < 10


def test_a_line_of_a_moses_ini_that_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "moses.ini").write_text("[feature]\n\x85\nLM name=LM0\n[weight]\nLM0= 0.5\n")
    assert read_weights(tmp_path / "moses.ini").by_group() == {"LM0": [0.5]}


def test_no_sentence_has_weights(tmp_path: Path) -> None:
    write_local_weights(tmp_path / "local.npz", [])
    assert read_local_weights(tmp_path / "local.npz") == []
    one = Weights(FeatureNames((("LM", 1),)), np.array([0.5]), {"S_a": 1.0})
    write_local_weights(tmp_path / "local.npz", [one])
    assert dict(read_local_weights(tmp_path / "local.npz")[0].sparse) == {"S_a": 1.0}


@pytest.mark.parametrize("row", ["0,a" + "b" * 200_000 + ",1", "0,a\rb,1"])
def test_rows_of_csv_that_python_does_not_take(tmp_path: Path, row: str) -> None:
    (tmp_path / "list.csv").write_text(f"id,text,LM\n0,a,1\n{row}\n", newline="")
    with pytest.raises(UserError, match=r"list\.csv"):
        read_nbest(tmp_path / "list.csv", Vocabulary())


def test_arrays_without_rows(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.empty((0, 2)))
    assert read_columns([tmp_path / "a.npy"], "x").shape == (0, 2)


@pytest.mark.parametrize(
    ("member", "array"),
    [
        ("groups", np.array(["LM", "LM"])),  # which the second one's weights would belong to
        ("groups", np.array([["LM"], ["TM"]])),
        ("groups", np.array([0x41, 0x4D0000], dtype="<u4").view("<U1")),  # no character of Unicode
        ("groups", np.array([0x41, 0xD800], dtype="<u4").view("<U1")),  # half of one
        ("sizes", np.array([True, True])),
        ("sizes", np.array([3, -1])),
        ("sparse_names", np.array(["S_a", "S_a"])),
    ],
)
def test_names_in_arrays_that_are_none(tmp_path: Path, member: str, array: np.ndarray) -> None:
    one = Weights(FeatureNames((("LM", 1), ("TM", 1))), np.array([0.5, 1.0]), {"S_a": 1.0, "S_b": 2.0})
    write_local_weights(tmp_path / "local.npz", [one])
    assert read_local_weights(tmp_path / "local.npz")[0].by_group() == {"LM": [0.5], "TM": [1.0]}
    with np.load(tmp_path / "local.npz") as packed:
        arrays = {**packed, member: array}
    np.savez(tmp_path / "local.npz", **arrays)
    with pytest.raises(UserError, match=r"local\.npz: no weights of ours, or damaged ones"):
        read_local_weights(tmp_path / "local.npz")


def test_half_a_character_in_a_name(tmp_path: Path) -> None:
    (tmp_path / "local.json").write_text('{"dense": {"LM": [1]}}\n{"dense": {"\\ud800": [1]}}\n')
    with pytest.raises(UserError, match=r"local\.json:2: a feature named '\\ud800'"):
        read_local_weights(tmp_path / "local.json")


def test_half_a_character_in_a_list(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text('{"id": 0, "text": "a \\ud83d\\ude00", "features": {"LM": -1}}\n')
    assert read_nbest(path, Vocabulary()).hypotheses.text(0) == "a \U0001f600"
    for line in ('{"id": 0, "text": "a \\ud83d b", "features": {"LM": -1}}', '{"id": 0, "text": "", "\\uDE00": 1}'):
        path.write_text(line + "\n")
        with pytest.raises(UserError, match=r"list:1: .* has half a character"):
            read_nbest(path, Vocabulary())
