"""Parallel text cut into training, development and test parts that share no sentence."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from lasw.metrics import UserError

Pair = tuple[str, str]


@dataclass(frozen=True)
class Split:
    """Pairs of (source, target) lines.

    Attributes:
        train: neither side of a pair is a side of any pair in `dev` or `test`.
        dev: pairs for tuning.
        test: pairs for the last look.
        dropped: how many pairs were left out, by the reason.
    """

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]
    dropped: dict[str, int]


def split(
    pairs: Sequence[Pair],
    *,
    dev: int,
    test: int,
    seed: int = 1,
    lengths: tuple[int, int] = (4, 40),
    ratio: float = 2.5,
) -> Split:
    """Draw a development and a test set from what is usable.

    Pairs are ordered by a digest of the seed and their text, so the order they come in plays no part.

    Args:
        pairs: lines of tokens.
        dev: size of the development set.
        test: size of the test set.
        seed: of the order.
        lengths: fewest and most tokens of either side.
        ratio: the longer side has at most so many times the tokens of the shorter one.

    Raises:
        UserError: too few usable pairs to leave any for training.
    """
    dropped = dict.fromkeys(("length", "length ratio", "same on both sides", "repeated source", "in dev or test"), 0)
    usable: dict[str, Pair] = {}
    for pair in sorted(pairs, key=lambda pair: _digest(seed, pair)):
        reason = _unusable(pair, lengths, ratio) or ("repeated source" if pair[0] in usable else None)
        if reason:
            dropped[reason] += 1
        else:
            usable[pair[0]] = pair
    if len(usable) < 2 * (dev + test):
        raise UserError(
            f"{len(usable)} usable sentence pairs of {len(pairs)}",
            expected=f"at least {2 * (dev + test)}: {test} for test, {dev} for tuning and more to train from",
            remedy="left out: " + ", ".join(f"{count} {reason}" for reason, count in dropped.items() if count),
        )
    ordered = list(usable.values())
    held_out = ordered[: test + dev]
    sides = {line for pair in held_out for line in pair}
    train = [pair for pair in ordered[test + dev :] if not sides.intersection(pair)]
    dropped["in dev or test"] = len(ordered) - len(held_out) - len(train)
    return Split(train, held_out[test:], held_out[:test], dropped)


def _unusable(pair: Pair, lengths: tuple[int, int], ratio: float) -> str | None:
    counts = [len(side.split()) for side in pair]
    if min(counts) < lengths[0] or max(counts) > lengths[1]:
        return "length"
    if max(counts) > ratio * min(counts):
        return "length ratio"
    return "same on both sides" if pair[0] == pair[1] else None


def _digest(seed: int, pair: Pair) -> bytes:
    return hashlib.sha256(f"{seed}\t{pair[0]}\t{pair[1]}".encode()).digest()
