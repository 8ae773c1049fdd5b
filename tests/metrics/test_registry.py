"""Metric specifications: what is understood, and what a person is told about what is not."""

from __future__ import annotations

import pytest

from lasw.metrics import SimpBleu, UserError, metric


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("BLEU", SimpBleu("BLEU")),
        ("BLEU+1", SimpBleu("BLEU+1")),
        ("PABC4:alpha=3", SimpBleu("PABC4", alpha=3.0)),
        ("RGC2:refs=each:reflen=average", SimpBleu("RGC2", refs="each", reflen="average")),
        ("PGB1:smoothing=lin-och:bp=smoothed", SimpBleu("PGB1", smoothing="lin-och", bp="smoothed")),
        ("PGBC4:corpus=mean:orders=effective", SimpBleu("PGBC4", corpus="mean", orders="effective")),
    ],
)
def test_specifications(spec: str, expected: SimpBleu) -> None:
    assert metric(spec) == expected


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("BLUE", r"unknown metric 'BLUE'; expected .*; did you mean 'BLEU'\?"),
        ("bleu", r"unknown metric 'bleu'; .* did you mean 'BLEU'\?"),
        ("PABC5", r"unknown metric 'PABC5'; .* did you mean 'PABC4'\?"),
        ("", "unknown metric ''"),
        ("PABC4:alhpa=3", r"unknown option of PABC4 'alhpa'; .* did you mean 'alpha'\?"),
        ("PABC4:alpha", "'alpha'; expected key=value"),
        ("PABC4:alpha=3:alpha=4", "'alpha' is given twice"),
        ("PABC4:alpha=x", "alpha=x; expected a number of at least 0"),
        ("PABC4:alpha=-1", "expected a number of at least 0"),
        ("PABC4:alpha=nan", "expected a number of at least 0"),
        ("PABC4:alpha=inf", "expected a number of at least 0"),
        ("BLEU:reflen=closets", r"unknown value of BLEU:reflen 'closets'; .* did you mean 'closest'\?"),
        ("BLEU:bp=none", "unknown value of BLEU:bp 'none'"),
    ],
)
def test_what_is_wrong_is_refused_with_the_nearest(spec: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        metric(spec)


def test_a_spec_is_a_string() -> None:
    with pytest.raises(TypeError, match="expected a string"):
        metric(None)
