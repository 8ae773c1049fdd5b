"""When a run ends: the rules on records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lasw.tuning import RunSettings
from lasw.tuning.loop.stopping import (
    BY_HEART,
    MAXIMUM,
    NO_NEW_CANDIDATES,
    SETTLED,
    WITHIN_NOISE,
    reason_to_stop,
)


def record(**values: Any) -> dict[str, Any]:
    return {"new_candidates": 5, "moved": 0.1, "dev_score": 0.3, **values}


def reason(records: list[dict[str, Any]], **settings: Any) -> str | None:
    return reason_to_stop(
        RunSettings(Path("run"), **{"iterations": 5, "tolerance": 0.0, "noise": 1.0, **settings}), records
    )


def test_rules_on_records() -> None:
    promising, idle = record(gain=0.02, gain_noise=0.01), record(gain=0.01, gain_noise=0.01)
    assert reason([]) is None
    assert reason([promising]) is None
    assert reason([promising, idle]) == WITHIN_NOISE
    assert reason([idle, promising]) is None
    assert reason([promising, record(gain=-0.5, gain_noise=0.01)]) == WITHIN_NOISE
    assert reason([idle]) is None  # the first round
    assert reason([idle, idle]) == WITHIN_NOISE
    assert reason([promising, idle], noise=0.9) is None
    assert reason([record(gain=-1.0, gain_noise=0.1)] * 2, noise=0.0) is None
    assert reason([promising, idle], patience=2) is None
    assert reason([promising, idle, idle], patience=2) == WITHIN_NOISE
    assert reason([record()] * 2) is None  # made by a run that did not look at gains
    assert reason([record(new_candidates=0)], iterations=1, tolerance=1.0) == NO_NEW_CANDIDATES
    assert reason([record(moved=1.0)], iterations=1, tolerance=1.0) == SETTLED
    assert reason([record()], iterations=1) == MAXIMUM
    assert reason([record()] * 100, iterations=0) is None


def test_a_decoding_that_gained_more_than_twice_the_noise_is_no_end() -> None:
    idle = record(gain=0.0, gain_noise=0.01)
    at = [{**idle, "dev_score": score} for score in (0.30, 0.33, 0.31, 0.345, 0.37)]
    assert reason(at[:2]) is None
    assert reason(at[:3]) == WITHIN_NOISE
    assert reason(at[:4]) == WITHIN_NOISE  # above the round before, not above the best one
    assert reason(at[:4], patience=2) == WITHIN_NOISE
    assert reason(at, iterations=9) is None
    assert reason(at) == MAXIMUM
    assert reason([at[0], {**at[0], "dev_score": 0.3199}]) == WITHIN_NOISE


def test_a_loss_of_sentences_kept_out_ends_a_run_however_short_its_step_is() -> None:
    fine = record(gain=0.05, gain_noise=0.01, held_out_gain=-0.01, held_out_noise=0.01, step={"share": 0.3})
    heart = {**fine, "held_out_gain": -0.011}
    assert reason([fine, heart]) == BY_HEART
    assert reason([heart, fine]) is None
    assert reason([fine, {**heart, "step": {"share": 1.0}}]) == BY_HEART
    assert reason([heart]) is None  # the first round
    assert reason([fine, heart], patience=2) is None
    assert reason([heart, heart], patience=2) == BY_HEART
    assert reason([fine, heart], noise=0.0) is None
    assert reason([fine, heart], step="whole") is None
    assert reason([fine, {**heart, "dev_score": 0.33}]) == BY_HEART
    assert reason([fine, {**heart, "dev_score": 0.349}]) == BY_HEART
    assert reason([fine, {**heart, "dev_score": 0.351}]) is None  # more than five standard errors
    assert reason([fine, {**fine, "dev_score": 0.33}]) is None
    assert reason([fine, {**heart, "gain": 0.0, "step": {"share": 1.0}}]) == WITHIN_NOISE
    del heart["held_out_noise"]  # made by a version that did not look at it
    assert reason([fine, heart]) is None


def test_a_step_that_was_held_short_ends_nothing() -> None:
    idle = record(gain=0.01, gain_noise=0.01)
    short, whole = ({**idle, "step": {"share": share}} for share in (0.7, 1.0))
    assert reason([short, short]) is None
    assert reason([short, whole]) == WITHIN_NOISE
    assert reason([whole, short]) is None
    assert reason([short, whole], patience=2) is None
    # Of the pool there is more to be had than the step took.
    assert reason([short, {**short, "new_candidates": 0}]) is None
    assert reason([short, {**short, "new_candidates": 0}, {**short, "new_candidates": 0}]) == NO_NEW_CANDIDATES
    assert reason([whole, {**short, "new_candidates": 0}]) == NO_NEW_CANDIDATES
    assert reason([short, {**short, "moved": 0.0}]) == SETTLED
    assert reason([short, short], iterations=2) == MAXIMUM


def test_a_step_shorter_than_the_first_one_that_had_time_to_grow_ends_the_run() -> None:
    idle = record(gain=0.01, gain_noise=0.01)
    first, short, tiny = ({**idle, "step": {"share": share}} for share in (0.3, 0.35, 0.15))
    assert reason([first, first, first, short], iterations=9) is None
    assert reason([first, first, first, first], iterations=9) is None
    assert reason([first, first, first, tiny], iterations=9) == WITHIN_NOISE
    assert reason([first, first, first, {**tiny, "gain": 0.02}], iterations=9) is None
    # Halved in one of the first rounds it has not had its turn.
    assert reason([tiny, tiny, tiny], iterations=9) is None
    assert reason([first, first, first, {**tiny, "new_candidates": 0}], iterations=9) == WITHIN_NOISE
    gone_on = [first, first, first, {**tiny, "gain": 1.0}, {**tiny, "new_candidates": 0, "gain": 1.0}]
    assert reason(gone_on, iterations=9) == NO_NEW_CANDIDATES
