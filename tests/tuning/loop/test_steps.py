"""How far a round goes: the plan by what was decoded, the probes, and runs that would be wrecked by whole steps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_loop import NAMES, REFERENCE, SENTENCES, Step, Toy, dev_bleu, log, run

from lasw.metrics import References, Vocabulary, metric
from lasw.tuning import Fit, NBest, Pool, RunSettings, Weights, read_json, read_nbest, read_weights
from lasw.tuning.loop import loop
from lasw.tuning.loop.fitting import Proposal, between
from lasw.tuning.loop.gains import KeptOut
from lasw.tuning.loop.steps import Plan, planned, samples, taken
from lasw.tuning.loop.stopping import BY_HEART, NO_NEW_CANDIDATES, WITHIN_NOISE
from lasw.tuning.pool import Columns


def settings(**values: Any) -> RunSettings:
    return RunSettings(Path("run"), **values)


def record(share: float, planned: float | None = None, noise: float = 0.01) -> dict[str, Any]:
    return {"step": {"planned": share if planned is None else planned, "share": share}, "gain_noise": noise}


@pytest.mark.parametrize(
    ("shares", "scores", "plan"),
    [
        ([], [0.3], Plan(0, 0.3, may_grow=True)),
        ([0.3], [0.3, 0.32], Plan(1, 0.5, may_grow=True)),
        ([0.3, 0.5], [0.3, 0.32, 0.33], Plan(2, 0.7, may_grow=True)),
        ([0.3, 0.5, 0.7], [0.3, 0.32, 0.33, 0.33], Plan(3, 1.0, may_grow=True)),
        ([1.0], [0.3, 0.32], Plan(1, 1.0, may_grow=True)),
        ([0.3], [0.3, 0.295], Plan(1, 0.5, may_grow=True)),  # behind by less than chance explains
        ([0.3], [0.3, 0.28], Plan(0, 0.15)),
        ([0.3, 0.5], [0.3, 0.32, 0.309], Plan(1, 0.25)),
        ([0.3, 0.25], [0.3, 0.32, 0.35], Plan(2, 0.3, may_grow=True)),
        ([0.3, 0.125], [0.3, 0.32, 0.35], Plan(2, 0.25, may_grow=True)),
        ([0.3, 0.5, 0.7], [0.34, 0.32, 0.31, 0.30], Plan(0, 0.35)),  # behind the best one, if not behind the last
    ],
)
def test_steps_grow_while_the_decoder_confirms_them(shares: list[float], scores: list[float], plan: Plan) -> None:
    assert planned(settings(), [record(share) for share in shares], scores) == plan


def test_a_probe_shortens_one_step_and_the_next_ones_grow_as_planned() -> None:
    short = record(0.125, planned=0.5)
    assert planned(settings(), [record(0.3), short], [0.3, 0.32, 0.33]) == Plan(2, 0.7, may_grow=True)
    assert planned(settings(), [record(0.3), short], [0.3, 0.32, 0.30]) == Plan(1, 0.0625)


@pytest.mark.parametrize(
    ("values", "shares"),
    [
        ({"step": "growing"}, [0.3, 0.5, 0.7, 1.0, 1.0]),
        ({"step": "whole"}, [1.0] * 5),
        ({"interpolation": 0.4, "interpolation_from": 3}, [1.0, 1.0, 0.4, 0.4, 0.4]),
    ],
)
def test_plans_that_ask_nobody(values: dict[str, Any], shares: list[float]) -> None:
    scores = [0.5, 0.1, 0.4, 0.1, 0.1]
    for k in range(5):
        assert planned(settings(**values), [record(1.0)] * k, scores[: k + 1]) == Plan(k, shares[k])


def test_a_probe_takes_a_twentieth_of_the_sentences_and_not_too_few_and_adds_up_to_a_quarter() -> None:
    sizes = [tuple(map(len, samples(size, 1))) for size in (3, 20, 79, 84, 150, 400, 401, 1014)]
    assert sizes == [(3, 0), (20, 0), (20, 0), (20, 1), (20, 17), (20, 80), (21, 79), (51, 202)]
    few, more = samples(1014, 1)
    for chosen in (few, more):
        assert (np.diff(chosen) > 0).all()
        assert 0 <= chosen[0] < chosen[-1] < 1014
    assert not set(few.tolist()) & set(more.tolist())
    assert np.array_equal(few, samples(1014, 1)[0])
    assert not np.array_equal(few, samples(1014, 2)[0])


class TestTaken:
    """What is taken of a proposal that may go half the way."""

    def proposal(self) -> Proposal:
        pool = Pool(References.from_lines(REFERENCE))
        start = Toy().start_weights()
        pool.add(Toy().decode(REFERENCE, start, 9, pool.references.vocabulary))
        return Proposal(Fit(Weights(NAMES, np.array([0.5, -0.25, 0.25])), 0.0, 1), start, pool)

    def shares(self, gains: Sequence[tuple[float, float]]) -> tuple[float, list[float]]:
        proposal, tried = self.proposal(), []

        def probed(share: float) -> tuple[float, float]:
            tried.append(share)
            return gains[len(tried) - 1]

        step = taken(proposal, Plan(0, 0.5), probed)
        wanted = between(proposal.centre, proposal.fit.weights, step.share, Columns.of(proposal.pool))
        assert step.weights.dense.tolist() == wanted.dense.tolist()
        assert step.planned == 0.5
        assert [probe["share"] for probe in step.probes] == tried
        assert [(probe["gain"], probe["noise"]) for probe in step.probes] == list(gains[: len(tried)])
        return step.share, [probe["share"] for probe in step.probes]

    def test_a_loss_beyond_chance_halves_the_step(self) -> None:
        assert self.shares([(0.01, 0.02)]) == (0.5, [0.5])
        assert self.shares([(-0.03, 0.02)]) == (0.5, [0.5])
        assert self.shares([(-0.031, 0.02), (0.0, 0.0)]) == (0.25, [0.5, 0.25])
        assert self.shares([(-0.3, 0.02)] * 3) == (0.0625, [0.5, 0.25, 0.125])

    def test_what_the_lists_refuse_is_not_decoded(self) -> None:
        promises = {0.5: (-0.021, 0.02), 0.25: (-0.02, 0.02)}
        proposal, probed = self.proposal(), []

        def probe(share: float) -> tuple[float, float]:
            probed.append(share)
            return 0.0, 0.0

        step = taken(proposal, Plan(0, 0.5), probe, promises.__getitem__)
        assert (step.share, step.planned) == (0.25, 0.5)
        assert probed == [0.25]
        assert step.lists == (
            {"share": 0.5, "gain": -0.021, "noise": 0.02},
            {"share": 0.25, "gain": -0.02, "noise": 0.02},
        )
        assert [entry["share"] for entry in step.probes] == [0.25]
        promises |= {0.25: (-1.0, 0.02), 0.125: (-1.0, 0.02)}
        assert taken(proposal, Plan(0, 0.5), probe, promises.__getitem__).share == 0.0625
        whole = taken(proposal, Plan(0, 1.0), probe, promises.__getitem__)
        assert (whole.share, whole.lists) == (1.0, ())

    def test_sentences_kept_out_vouch_for_longer_steps(self) -> None:
        proposal = self.proposal()

        def step(plan: Plan, gains: dict[float, tuple[float, float]], sample: float = 0.0) -> tuple[float, float]:
            found = taken(proposal, plan, lambda _: (sample, 0.1), lambda _: (0.0, 0.1), gains.__getitem__)
            return found.planned, found.share

        first = Plan(0, 0.3, may_grow=True)
        assert step(first, {1.0: (0.031, 0.01)}) == (1.0, 1.0)
        assert step(first, {1.0: (0.03, 0.01), 0.7: (0.04, 0.01)}) == (0.7, 0.7)
        assert step(first, dict.fromkeys((0.5, 0.7, 1.0), (0.03, 0.01))) == (0.3, 0.3)
        assert step(Plan(0, 0.7, may_grow=True), {1.0: (0.01, 0.0)}) == (1.0, 1.0)
        assert step(Plan(0, 1.0, may_grow=True), {}) == (1.0, 1.0)
        assert step(Plan(0, 0.3), {}) == (0.3, 0.3)  # the decoder refused the step before
        assert step(first, {1.0: (0.031, 0.01)}, sample=-0.2) == (1.0, 0.125)

    def test_without_a_probe_the_plan_counts(self) -> None:
        assert taken(self.proposal(), Plan(0, 0.5), None).share == 0.5


class Wrecked(Step):
    """Proposes weights under which the toy's worst candidates win."""

    def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit:
        return Fit(Weights(NAMES, np.array([-0.8, 0.1, -0.1])), 0.0, 1)


class Listening(Toy):
    """Remembers how many sentences it was asked for, and with which weights."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[int, list[float]]] = []

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        self.heard.append((len(source), weights.dense.tolist()))
        return super().decode(source, weights, n, vocabulary)


def test_a_proposal_that_wrecks_the_system_is_not_followed(tmp_path: Path) -> None:
    good = Weights(NAMES, np.array([0.5, -0.25, 0.25]))

    def started() -> Listening:
        toy = Listening()
        toy.start_weights = lambda: good  # type: ignore[method-assign]
        return toy

    run(tmp_path / "whole", started(), optimiser=Wrecked, iterations=2)
    wrecked = [r["dev_score"] for r in log(tmp_path / "whole")]
    assert wrecked[1] < wrecked[0] - 0.5
    toy = started()
    run(tmp_path / "trust", toy, optimiser=Wrecked, iterations=3, step="trust")
    records = log(tmp_path / "trust")
    assert min(r["dev_score"] for r in records) > wrecked[0] - 0.06
    steps = [r["step"] for r in records[:3]]
    assert steps[0]["probes"][0]["share"] == 0.3
    assert any(step["share"] < step["planned"] for step in steps)
    # All that was decoded: four times the set, and the probes, which here are as large.
    assert len(toy.heard) == 4 + sum(len(step["probes"]) for step in steps)
    assert {size for size, _ in toy.heard} == {SENTENCES}
    probe = steps[0]["probes"][0]
    columns = Columns.of(pool_of_the_first_list(tmp_path / "trust"))
    tried = between(good, Wrecked(1).learn(None, good, ()).weights, 0.3, columns)  # type: ignore[arg-type]
    assert toy.heard[1][1] == tried.dense.tolist()
    assert probe["gain"] == pytest.approx(dev_bleu(tried) - dev_bleu(good), abs=1e-12)


def pool_of_the_first_list(path: Path) -> Pool:
    references = References.from_lines(REFERENCE)
    pool = Pool(references)
    pool.add(read_nbest(path / "iterations/001/nbest.gz", references.vocabulary, names=NAMES))
    return pool


def test_what_the_log_says_of_a_step(tmp_path: Path) -> None:
    run(tmp_path, step="trust", iterations=3, folds=2)
    records = log(tmp_path)
    scores = [r["dev_score"] for r in records]
    bleu = metric("BLEU")
    pool = pool_of_the_first_list(tmp_path)
    before, after = (read_weights(tmp_path / f"iterations/001/{name}.json") for name in ("before", "after"))
    assert records[0]["gain"] == pytest.approx(pool.corpus_score(bleu, after) - pool.corpus_score(bleu, before))
    assert records[0]["held_out_gain"] != records[0]["gain"]
    for k, entry in enumerate(records[:3]):
        assert entry["step"]["from"] in {k, int(np.argmax(scores[: k + 1]))}
        assert entry["step"]["share"] <= (0.3, 0.5, 0.7)[k]
        assert entry["step"]["probes"]
    [asked] = records[0]["step"]["lists"]
    assert (asked["share"], asked["gain"], asked["noise"]) == (0.3, records[0]["gain"], records[0]["gain_noise"])


@pytest.mark.parametrize("keep", ["best", "last"])
def test_a_run_whose_sentences_kept_out_lose_ends_with_the_weights_before(
    keep: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KeptOut, "gain", lambda *_: (-0.3, 0.1))
    monkeypatch.setattr(loop, "pool_gain", lambda *_: (0.3, 10.0))  # so that no decoding gains more than chance
    toy = Listening()
    outcome = run(tmp_path, toy, step="trust", noise=0.001, iterations=9, keep=keep)
    assert (outcome.reason, outcome.iterations) == (BY_HEART, 2)
    assert len(toy.heard) == 2 + sum(len(entry["step"]["probes"]) for entry in log(tmp_path))
    scores = [r["dev_score"] for r in log(tmp_path)]
    assert outcome.chosen == (int(np.argmax(scores)) if keep == "best" else 1)
    assert outcome.dev_score == scores[outcome.chosen]


def test_what_is_kept_may_be_judged_by_sentences_that_were_kept_out(tmp_path: Path) -> None:
    for keep in ("best", "held-out"):
        run(tmp_path / keep, step="trust", iterations=4, folds=3, keep=keep, seed=38)
    records = log(tmp_path / "held-out")
    scores = [r["dev_score"] for r in records]
    by_heart = [0.0, *(r["gain"] - r["held_out_gain"] for r in records[:4])]
    worth = np.array(scores) - np.array(by_heart)
    chosen = [read_json(tmp_path / keep / "result.json") for keep in ("best", "held-out")]
    assert [result["chosen"] for result in chosen if result] == [int(np.argmax(scores)), int(np.argmax(worth))]
    assert int(np.argmax(scores)) != int(np.argmax(worth))


def test_a_short_step_without_new_candidates_is_not_the_end(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", nbest=60, iterations=9)
    assert (whole.reason, whole.iterations) == (NO_NEW_CANDIDATES, 2)
    trusting = run(tmp_path / "trust", nbest=60, iterations=9, step="trust")
    assert trusting.reason == NO_NEW_CANDIDATES
    assert [r["new_candidates"] > 0 for r in log(tmp_path / "trust")] == [True, False, False]
    moved = [r["moved"] > 0 for r in log(tmp_path / "trust")]
    assert moved == [True, True, False]


def test_lists_that_stay_as_they_are_need_no_short_steps(tmp_path: Path) -> None:
    toy = Listening()
    toy.follows_weights = False
    run(tmp_path, toy, step="trust", iterations=2)
    assert [r.get("step") for r in log(tmp_path)] == [None] * 3
    assert len(toy.heard) == 3


def test_steps_of_a_fixed_length_end_a_run_as_whole_ones_do(tmp_path: Path) -> None:
    outcome = run(tmp_path, interpolation=0.5, interpolation_from=1, noise=1e3, iterations=9, step="trust")
    assert outcome.reason == WITHIN_NOISE
    records = log(tmp_path)
    scores = [record["dev_score"] for record in records]
    assert outcome.iterations == len(records) < 9
    assert scores[-1] - max(scores[:-1]) <= 2 * records[-1]["gain_noise"]
    assert all("step" not in record for record in records)


def test_keeping_by_sentences_kept_out_needs_no_other_setting(tmp_path: Path) -> None:
    run(tmp_path, step="whole", noise=0.0, keep="held-out", iterations=2)
    assert all("held_out_gain" in record for record in log(tmp_path)[:2])


def test_a_sample_without_any_translation_is_a_loss_and_not_the_end(tmp_path: Path) -> None:
    class Speechless(Toy):
        def decode_some(self, *arguments: Any) -> NBest:
            return super().decode_some(*arguments).take(np.arange(0))

    run(tmp_path, Speechless(), step="trust", iterations=1)
    step = log(tmp_path)[0]["step"]
    assert [probe["gain"] for probe in step["probes"]] == [pytest.approx(-dev_bleu(Toy().start_weights()))] * 3
    assert step["share"] == 0.3 / 8


def test_a_sample_that_leaves_it_open_is_followed_by_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "samples", lambda size, seed: (np.array([1, 4]), np.array([2, 7, 9])))
    for place, gain, sizes in (("open", -0.2, [2, 3]), ("clear", 0.5, [2])):
        toy = Listening()
        asked: list[int] = []

        def judged(metric: Any, old: Any, new: Any, seed: int, gain: float = gain, asked: list[int] = asked) -> Any:
            assert len(old) == len(new)
            asked.append(len(new))
            return (gain, 0.1) if len(new) == 2 else (0.0, 0.1)

        monkeypatch.setattr(loop, "gained", judged)
        monkeypatch.setattr(loop, "pool_gain", lambda *_: (0.0, 0.05))
        run(tmp_path / place, toy, step="trust", iterations=1, folds=0)
        assert [size for size, _ in toy.heard] == [SENTENCES, *sizes, SENTENCES]
        assert asked == ([2, 5] if place == "open" else [2])
        [probe] = log(tmp_path / place)[0]["step"]["probes"]
        assert (probe["gain"], probe["noise"]) == ((0.0, 0.1) if place == "open" else (0.5, 0.1))
