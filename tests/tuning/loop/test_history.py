"""What a loop asks of the files of a run, piece by piece."""

from __future__ import annotations

import dataclasses
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lasw.metrics import References
from lasw.tuning import FeatureNames, RunDirectory, Weights, write_weights
from lasw.tuning.loop.decoding import Clock, DevelopmentDecoder
from lasw.tuning.loop.history import History, same
from lasw.tuning.run_directory import write_json

WEIGHTS = Weights(FeatureNames((("A", 1), ("B", 1))), np.array([1.0, -2.0]), {"s": 0.5})


@pytest.mark.parametrize(
    "changed",
    [
        {"names": FeatureNames((("A", 1), ("C", 1)))},
        {"names": FeatureNames((("A", 2),))},
        {"dense": np.array([1.0, -2.0000000000000004])},
        {"sparse": {"s": 0.25}},
        {"sparse": {"s": 0.5, "t": 0.0}},
        {"sparse": {}},
    ],
)
def test_weights_are_the_same_if_nothing_differs(changed: dict[str, object]) -> None:
    assert same(WEIGHTS, Weights(WEIGHTS.names, WEIGHTS.dense.copy(), {"s": 0.5}))
    other = dataclasses.replace(WEIGHTS, **changed)  # type: ignore[arg-type]
    assert not same(WEIGHTS, other)
    assert not same(other, WEIGHTS)


def test_a_clock_tells_the_seconds_since_it_was_asked_last(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([10.0, 11.50049, 11.75, 11.75])
    monkeypatch.setattr(time, "perf_counter", lambda: next(times))
    clock = Clock()
    assert [clock.lap(), clock.lap(), clock.lap()] == [1.5, 0.25, 0.0]


def test_lists_are_told_apart_by_what_is_in_them(tmp_path: Path) -> None:
    # Same size and time of change: on a file system with coarse times two quick rounds look so.
    history = SimpleNamespace(
        weights=lambda k: dataclasses.replace(WEIGHTS, sparse={"s": float(k)}), file=lambda k, _: tmp_path / str(k)
    )
    decoder = SimpleNamespace(name="odd", follows_weights=True)
    development: Any = SimpleNamespace(_decoder=decoder, _history=history)
    for k, content in ((1, b"a list"), (2, b"b list"), (3, b"b list")):
        (tmp_path / str(k)).write_bytes(content)
        os.utime(tmp_path / str(k), (1e9, 1e9))
    assert DevelopmentDecoder._same_list(development, 1) == []
    assert DevelopmentDecoder._same_list(development, 2) == []
    (warning,) = DevelopmentDecoder._same_list(development, 3)
    assert warning.startswith("odd gave the same lists as in iteration 2, scores included, although the weights have")


@pytest.mark.parametrize(
    ("number", "told", "lost"),
    [
        (1, {"iteration": 2, "dev_score": 0.5, "seconds": {"decode": 1.0}, "warnings": []}, "dev_score"),
        (2, {"of": "perturbed", "seconds": 1.0}, "seconds"),  # of the others no development score is known
    ],
)
def test_a_decoding_that_is_done_is_taken_if_all_of_it_is_there(
    tmp_path: Path, number: int, told: dict[str, Any], lost: str
) -> None:
    history = History(RunDirectory(tmp_path), WEIGHTS, References.from_lines(["a"]), None)
    files = [history.file(2, name, number) for name in ("decode.json", "before.json", "nbest.gz")]
    assert [file.name for file in files][-1] == ("nbest.gz" if number == 1 else "nbest-2.gz")
    files[0].parent.mkdir(parents=True)

    def write() -> None:
        write_json(files[0], told)
        write_weights(files[1], WEIGHTS)
        files[2].touch()

    write()
    assert history.decoded(2, WEIGHTS, number) == told
    assert history.decoded(2, dataclasses.replace(WEIGHTS, sparse={}), number) is None
    for file in files:
        write()
        file.unlink()
        assert history.decoded(2, WEIGHTS, number) is None
    write()
    write_json(files[0], {key: value for key, value in told.items() if key != lost})
    assert history.decoded(2, WEIGHTS, number) is None


def test_every_iteration_has_its_own_number_of_lists(tmp_path: Path) -> None:
    history = History(RunDirectory(tmp_path), WEIGHTS, References.from_lines(["a"]), None)
    history.records = [{"others": [{}, {}]}, {}, {"others": [{}]}]
    assert [history.decodings(k) for k in (1, 2, 3)] == [3, 1, 2]
