"""What an assessment says of a gain on sentences kept out."""

import pytest

from lasw.tuning.loop.assessment import Assessment


@pytest.mark.parametrize(
    ("gain", "noise", "said"),
    [
        (0.0, 0.0, "that is no gain"),
        (-0.01, 0.002, "that is no gain"),
        (0.001, 0.002, "within its noise"),
    ],
)
def test_a_gain_that_is_none_is_told_as_what_it_is(gain, noise, said):
    assert said in Assessment(folds=5, gain=gain, noise=noise).lines(100.0)[1]


def test_a_gain_above_its_noise_needs_no_word():
    assert len(Assessment(folds=5, gain=0.02, noise=0.002).lines(100.0)) == 1
