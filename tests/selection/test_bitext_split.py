from __future__ import annotations

import random

import pytest

from lasw.metrics import UserError
from lasw.selection import Pair, split


def pairs(count: int, seed: int) -> list[Pair]:
    draw = random.Random(seed)
    words = [f"w{k}" for k in range(30)]
    return [
        (" ".join(draw.choices(words, k=draw.randint(1, 12))), " ".join(draw.choices(words[:4], k=draw.randint(1, 12))))
        for _ in range(count)
    ]


def test_parts_share_no_sentence_and_nothing_is_lost() -> None:
    given = pairs(2000, 1) + pairs(50, 1)  # the last 50 are repeated
    parts = split(given, dev=40, test=60, seed=3)
    assert (len(parts.dev), len(parts.test)) == (40, 60)
    assert len(parts.train) + 100 + sum(parts.dropped.values()) == len(given)
    assert parts.dropped["repeated source"] >= 20
    held_out = {side for pair in parts.dev + parts.test for side in pair}
    assert not held_out & {side for pair in parts.train for side in pair}
    sources = [pair[0] for pair in parts.train + parts.dev + parts.test]
    assert len(set(sources)) == len(sources)
    for source, target in parts.train + parts.dev + parts.test:
        lengths = len(source.split()), len(target.split())
        assert min(lengths) >= 4
        assert max(lengths) <= 2.5 * min(lengths)
        assert source != target


def test_same_parts_whatever_the_order_and_others_for_another_seed() -> None:
    given = pairs(1000, 2)
    shuffled = random.Random(5).sample(given, len(given))
    assert split(given, dev=20, test=20) == split(shuffled, dev=20, test=20)
    assert split(given, dev=20, test=20).test != split(given, dev=20, test=20, seed=2).test


def test_too_little_text() -> None:
    with pytest.raises(UserError, match=r"usable sentence pairs of 100; expected at least 80.*left out: \d+ length"):
        split(pairs(100, 3), dev=20, test=20)
