"""Examples in the front doors of folders do what they say, and what they make shows how large it is."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import numpy as np
import pytest

from lasw.metrics import Evaluation, Judgements, MarkedSystems, References, UserError, metric
from lasw.tuning import Fit, Pool, Weights, pool_of

TOP = Path(__file__).resolve().parents[1]
DOORS = [
    ".".join(("lasw", *path.parent.relative_to(TOP).parts))
    for room in ("metrics", "tuning", "selection")
    for path in sorted((TOP / room).rglob("__init__.py"))
]


@pytest.mark.parametrize("door", DOORS)
def test_examples(door: str) -> None:
    done = doctest.testmod(importlib.import_module(door), optionflags=doctest.ELLIPSIS)
    assert done.attempted > 1
    assert done.failed == 0


def test_sizes_are_shown() -> None:
    references = References.from_lines(["a b", "c"], ["a", "d"])
    assert repr(references) == "References(2 segments, 2 each, 4 words)"
    assert repr(Pool(references)) == "Pool(2 sentences, 0 candidates, 0 dense and 0 sparse features)"
    pool = pool_of([["a b", "b"], ["c"]], {"LM": [1.0, 2.0, 3.0]}, ["a b", "c"])
    assert repr(pool) == "Pool(2 sentences, 3 candidates, 1 dense and 0 sparse features)"
    weights = Weights.from_groups({f"F{k}": [1.0] * k for k in range(1, 9)}, sparse={"x": 1.0})
    assert repr(weights) == "Weights(36 dense: F1(1), F2(2), F3(3), F4(4), F5(5), F6(6), ...; 1 sparse)"
    fit = Fit(weights, 1.5, 7, ("odd",))
    assert repr(fit) == f"Fit({weights!r}, objective 1.5, 7 iterations, 1 warnings)"
    assert re.fullmatch(r"Fit\(.*, 7 iterations\)", repr(Fit(weights, 1.5, 7)))
    evaluation = Evaluation.from_lines(["a b", "c"], ["a b", "d"])
    assert repr(evaluation) == "Evaluation(1 systems, 2 segments)"
    assert repr(evaluation.systems[0]) == "Corpus(2 sentences, 3 tokens)"


def test_lists_of_strings_are_scored() -> None:
    evaluation = Evaluation.from_lines(["a b c d", "e f"], ["a b c d", "e f"], ["a b", "f"])
    assert evaluation.corpus_scores(metric("WER")).tolist() == [1.0, 0.5]
    two = Evaluation.from_lines(References.from_lines(["a"], ["b"]), ["b"])
    assert two.sentence_scores(metric("PER:reflen=best")).tolist() == [[1.0]]
    with pytest.raises(TypeError, match="one string"):
        Evaluation.from_lines(["a"], "a")


def test_people_are_read_from_lists() -> None:
    systems = {"b": ["x y", "z"], "a": ["x", "z"]}
    marked = MarkedSystems.from_lines(["x y", "z"], systems, {"a": [1, float("nan")], "b": [3, 4]})
    assert marked.systems == ("a", "b")
    assert np.array_equal(marked.marks, [[1, np.nan], [3, 4]], equal_nan=True)
    assert marked.evaluation.systems[0].text(0) == "x"
    assert repr(marked) == "MarkedSystems('', 2 systems, 2 segments, 3 marks)"
    with pytest.raises(ValueError, match="a mark a segment"):
        MarkedSystems.from_lines(["x y", "z"], systems, {"a": [1, 2], "b": [3]})
    pairs = [(0, "a", "b", ">"), (1, "b", "a", "="), (1, "a", "b", "<")]
    judged = Judgements.from_lines(["x y", "z"], systems, pairs)
    assert (judged.segment.tolist(), judged.better.tolist(), judged.worse.tolist()) == ([0, 1], [1, 0], [0, 1])
    assert judged.tied.tolist() == [[1, 1, 0]]
    assert repr(judged) == "Judgements('', 2 systems, 2 segments, 2 preferences, 1 ties)"
    for wrong in ((2, "a", "b", "<"), (0, "a", "c", "<"), (0, "a", "a", "="), (0, "a", "b", "!")):
        with pytest.raises(UserError, match="expected a segment below 2, two of a, b, and <, > or ="):
            Judgements.from_lines(["x y", "z"], systems, [wrong])
