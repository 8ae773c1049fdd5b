"""Options of the loop: more decodings a round, other pools, steps and ends; each goes on after a kill."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_loop import NAMES, REFERENCE, SENTENCES, Killed, Step, Toy, Writes, dev_bleu, log, run

from lasw.metrics import References, Vocabulary
from lasw.tuning import Fit, NBest, Pool, Weights, read_json, read_nbest, read_weights
from lasw.tuning.loop.fitting import between
from lasw.tuning.loop.rounds import BEST, PERTURBED
from lasw.tuning.loop.stopping import NO_NEW_CANDIDATES, SETTLED, WITHIN_NOISE
from lasw.tuning.pool.columns import Columns

NOT_TIMED = ("weights.json", "result.json")


def what_counts(path: Path) -> dict[str, bytes]:
    """Final files, weights and lists of all decodings: their bytes must not depend on how often a run was killed."""
    kinds = ("before", "nbest", "after")
    return {
        str(p.relative_to(path)): p.read_bytes()
        for p in sorted(path.rglob("*"))
        if p.name in NOT_TIMED or p.name.startswith(kinds)
    }


def weights(path: Path, name: str) -> Weights:
    return read_weights(path / "iterations" / name)


def pooled(path: Path, names: Sequence[str]) -> Pool:
    references = References.from_lines(REFERENCE)
    pool = Pool(references)
    for name in names:
        pool.add(read_nbest(path / "iterations" / name, references.vocabulary, names=NAMES))
    return pool


class Growing(Toy):
    """Remembers what was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        self.asked.append(n)
        return super().decode(source, weights, n, vocabulary)


SEVERAL: dict[str, Any] = {"perturbed": 2, "perturbation": 0.8, "iterations": 3}
OPTIONS: dict[str, dict[str, Any]] = {
    "several": SEVERAL,
    "aggregate": {"aggregate": 1, "decode_best": True, "perturbed": 1, "perturbed_rounds": 1, "iterations": 4},
    "interpolation": {"interpolation": 0.4, "interpolation_from": 2, "iterations": 3},
    "noise": {"noise": 1.0, "iterations": 9},
    "steps": {"step": "trust", "iterations": 3},
    "growth": {"first_nbest": 9, "nbest_growth": 0.5, "iterations": 3},
}


def test_several_decodings_a_round(tmp_path: Path) -> None:
    toy = Growing()
    run(tmp_path, toy, **SEVERAL)
    assert toy.asked == [6] * 10  # three a round, and one with the last weights
    records = log(tmp_path)
    names: list[str] = []
    for k, record in enumerate(records[:3], 1):
        folder = f"{k:03d}"
        before = weights(tmp_path, f"{folder}/before.json")
        assert record["dev_score"] == pytest.approx(dev_bleu(before), abs=1e-12)  # of the current weights
        assert record["decodings"] == 3
        assert [one["of"] for one in record["others"]] == [PERTURBED, PERTURBED]
        assert record["seconds"]["decode"] >= sum(one["seconds"] for one in record["others"])
        others = [weights(tmp_path, f"{folder}/before-{place}.json").dense.tolist() for place in (2, 3)]
        assert others[0] != others[1] != before.dense.tolist()
        for place, dense in zip((2, 3), others, strict=True):
            made = Toy().decode(REFERENCE, Weights(NAMES, np.array(dense)), 6, Vocabulary())
            there = read_nbest(tmp_path / f"iterations/{folder}/nbest-{place}.gz", Vocabulary(), names=NAMES)
            assert np.allclose(made.dense, there.dense)
        names += [f"{folder}/nbest.gz", f"{folder}/nbest-2.gz", f"{folder}/nbest-3.gz"]
        assert record["candidates"] == len(pooled(tmp_path, names))
    assert sum(r["new_candidates"] for r in records[:3]) == records[2]["candidates"]
    assert not (tmp_path / "iterations/004/nbest-2.gz").exists()


def test_lists_longer_or_shorter_by_the_round(tmp_path: Path) -> None:
    toy = Growing()
    run(tmp_path / "shorter", toy, **{**OPTIONS["growth"], "iterations": 2})
    assert toy.asked == [9, 3, 2]
    toy = Growing()
    run(tmp_path / "longer", toy, nbest_growth=2.0, iterations=2)
    assert toy.asked == [6, 12, 24]
    assert [r["nbest"] for r in log(tmp_path / "longer")] == [6, 12, 24]


def test_the_pool_of_the_last_rounds(tmp_path: Path) -> None:
    seen: list[int] = []

    class Looking(Step):
        def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit:
            seen.append(len(pool))
            return super().learn(pool, start, others)

    run(tmp_path, optimiser=Looking, aggregate=2, iterations=4)
    lists = [f"{k:03d}/nbest.gz" for k in range(1, 5)]
    assert seen == [len(pooled(tmp_path, lists[max(0, k - 2) : k])) for k in range(1, 5)]
    records = log(tmp_path)
    before = [len(pooled(tmp_path, lists[max(0, k - 2) : k - 1])) for k in range(1, 5)]
    assert [r["new_candidates"] for r in records[:4]] == [s - b for s, b in zip(seen, before, strict=True)]


def test_the_best_weights_are_decoded_with_again_once_the_pool_forgot_them(tmp_path: Path) -> None:
    class Down(Step):
        """The first step is a good one, those after it lead away."""

        def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit:
            first = start.dense[0] < 0
            step = start.dense + np.array([-0.2, 0.3, 0.0])
            return Fit(Weights(NAMES, np.array([0.5, -0.25, 0.2]) if first else step), 0.0, 1)

    run(tmp_path / "all", optimiser=Down, decode_best=True, iterations=4)
    assert [r["decodings"] for r in log(tmp_path / "all")[:4]] == [1, 1, 1, 1]
    run(tmp_path / "two", optimiser=Down, decode_best=True, aggregate=2, iterations=4)
    records = log(tmp_path / "two")
    assert int(np.argmax([r["dev_score"] for r in records])) == 1
    assert [r["decodings"] for r in records[:4]] == [1, 1, 1, 2]
    assert [one["of"] for one in records[3]["others"]] == [BEST]
    best = (tmp_path / "two/iterations/001/after.json").read_bytes()
    assert (tmp_path / "two/iterations/004/before-2.json").read_bytes() == best


def test_interpolated_weights(tmp_path: Path) -> None:
    found: list[Weights] = []

    class Looking(Step):
        def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit:
            fit = super().learn(pool, start, others)
            found.append(fit.weights)
            return fit

    run(tmp_path, optimiser=Looking, interpolation=0.4, interpolation_from=2, iterations=3)
    assert weights(tmp_path, "001/after.json").dense.tolist() == found[0].dense.tolist()
    for k in (2, 3):
        pool = pooled(tmp_path, [f"{j:03d}/nbest.gz" for j in range(1, k + 1)])
        mixed = between(weights(tmp_path, f"{k:03d}/before.json"), found[k - 1], 0.4, Columns.of(pool))
        assert weights(tmp_path, f"{k:03d}/after.json").dense.tolist() == mixed.dense.tolist()
        assert mixed.dense.tolist() != found[k - 1].dense.tolist()


def test_ends_when_the_pool_promises_nothing_beyond_its_noise(tmp_path: Path) -> None:
    toy = Toy()
    outcome = run(tmp_path / "run", toy, **OPTIONS["noise"])
    records = log(tmp_path / "run")
    assert outcome.reason == WITHIN_NOISE
    assert toy.calls == outcome.iterations == len(records) < 9  # the last weights were not decoded with
    scores = [r["dev_score"] for r in records]
    for k, record in enumerate(records[1:], start=1):
        promises = record["gain"] > record["gain_noise"] > 0
        rose = scores[k] - max(scores[:k]) > 2 * record["gain_noise"]
        assert (promises or rose) == (k < len(records) - 1)
    assert (outcome.dev_score, outcome.chosen) == (max(scores), int(np.argmax(scores)))
    # Other settings of when to end go on with the same run.
    more = run(tmp_path / "run", Toy(), iterations=9)
    assert more.iterations > outcome.iterations
    run(tmp_path / "plain", iterations=9)
    assert what_counts(tmp_path / "run") == what_counts(tmp_path / "plain")
    last = run(tmp_path / "last", keep="last", **OPTIONS["noise"])
    assert (last.reason, last.chosen) == (WITHIN_NOISE, last.iterations)


def test_no_limit_of_iterations(tmp_path: Path) -> None:
    outcome = run(tmp_path, nbest=60, iterations=0)
    assert (outcome.reason, outcome.iterations) == (NO_NEW_CANDIDATES, 2)
    outcome = run(tmp_path / "many", iterations=0)
    assert outcome.reason in (NO_NEW_CANDIDATES, SETTLED)
    assert outcome.iterations > 5


@pytest.mark.parametrize(("aggregate", "wanted"), [(0, [[], [0], [0, 1], [0, 1, 2]]), (2, [[], [0], [1], [2]])])
def test_optimisers_start_from_earlier_weights_too(tmp_path: Path, aggregate: int, wanted: list[list[int]]) -> None:
    given: list[list[list[float]]] = []

    class Many(Step):
        takes_others = True

        def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit:
            given.append([one.dense.tolist() for one in others])
            return super().learn(pool, start, others)

    run(tmp_path, optimiser=Many, iterations=4, earlier_starts=True, aggregate=aggregate)
    made = [weights(tmp_path, f"{k:03d}/before.json").dense.tolist() for k in range(1, 5)]
    assert given == [[made[k] for k in earlier] for earlier in wanted]
    given.clear()
    run(tmp_path / "without", optimiser=Many, iterations=2)
    assert given == [[], []]
    run(tmp_path / "cannot", iterations=2, earlier_starts=True)  # `Step` has one start
    told = [read_json(tmp_path / f"cannot/iterations/{k:03d}/iteration.json")["warnings"] for k in (1, 2)]
    assert any("earlier_starts has no effect" in line for line in told[0])
    assert not any("earlier_starts" in line for line in told[1])


@pytest.mark.parametrize("option", OPTIONS)
def test_interrupted_at_every_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    settings = {**OPTIONS[option], "iterations": 3 if option == "aggregate" else min(2, OPTIONS[option]["iterations"])}
    run(tmp_path / "wanted", **settings)
    wanted = what_counts(tmp_path / "wanted")
    writes = Writes(monkeypatch)
    for number in range(2 + list(OPTIONS).index(option), 90, 5):  # each option at other writes: they share the code
        writes.left = number
        try:
            run(tmp_path / "run", **settings)
        except Killed:
            run(tmp_path / "run", **settings)
            assert what_counts(tmp_path / "run") == wanted
            shutil.rmtree(tmp_path / "run")
        else:
            assert number > 12
            return
    pytest.fail("the run never ended")


def test_lists_of_other_weights_are_not_taken_for_those_of_this_round(tmp_path: Path) -> None:
    run(tmp_path / "wanted", **SEVERAL)
    shutil.copytree(tmp_path / "wanted", tmp_path / "run")
    folder = tmp_path / "run/iterations/002"
    for name in ("before", "nbest", "decode"):
        end = "gz" if name == "nbest" else "json"
        shutil.copy(folder / f"{name}-3.{end}", folder / f"{name}-2.{end}")
    (folder / "iteration.json").unlink()
    run(tmp_path / "run", **SEVERAL)
    assert what_counts(tmp_path / "run") == what_counts(tmp_path / "wanted")
    assert log(tmp_path / "run")[1]["others"][0]["hypotheses"] == SENTENCES * 6


@pytest.mark.parametrize(("settings", "place", "other"), [({}, "002/{}", "003/{}"), (SEVERAL, "002/{}-2", "002/{}-3")])
def test_what_lies_beside_a_decoding_that_was_killed_is_not_taken_for_its_list(
    tmp_path: Path, settings: dict[str, Any], place: str, other: str
) -> None:
    class Dying(Toy):
        def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
            raise Killed

    run(tmp_path, **settings)
    wanted = what_counts(tmp_path)
    for name, end in (("before", "json"), ("nbest", "gz"), ("decode", "json")):
        folder = tmp_path / "iterations"
        shutil.copy(folder / f"{other.format(name)}.{end}", folder / f"{place.format(name)}.{end}")
    (tmp_path / "iterations/002/iteration.json").unlink()
    with pytest.raises(Killed):
        run(tmp_path, Dying(), **settings)
    run(tmp_path, **settings)
    assert what_counts(tmp_path) == wanted
