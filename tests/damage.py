"""Parallel text with known damage, as text from the web has it: to see what a selection lets through.

What was done to a pair is known, so the share of damaged pairs in a selection can be counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lasw.metrics import UserError

CLEAN = ""
SHUFFLED, UNTRANSLATED, TRUNCATED, WRONG_LANGUAGE, NEAR_DUPLICATE, TOO_SHORT, TOO_LONG = KINDS = (
    "shuffled",
    "untranslated",
    "truncated",
    "wrong language",
    "near duplicate",
    "too short",
    "too long",
)

LONG = 60  # source words that a pair of kind TOO_LONG has at least
SHORT = 4  # words that a side of a pair of kind TOO_SHORT has at most
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_OTHERS = "ekznuygcaxwmqbodtpsvihlrfj"  # a language of its own: other words, but as regular as the old ones

Pair = tuple[str, str]


@dataclass(frozen=True)
class DamagedPool:
    """n pairs and what was done to them.

    Attributes:
        source, target: n lines each.
        damage: n of `KINDS`, or CLEAN.
        original: (n) 0-based place of the pair that a near duplicate is a copy of, else its own place.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    damage: tuple[str, ...]
    original: tuple[int, ...]

    def damaged(self, lines: Iterable[int]) -> Counter[str]:
        """How many pairs of a selection are damaged, by kind.

        Args:
            lines: 1-based numbers of the pairs selected. A near duplicate only does harm beside its original, or
                beside another copy of it: of such a group one pair is good.
        """
        chosen = sorted(line - 1 for line in lines)
        counts = Counter(self.damage[k] for k in chosen if self.damage[k] not in (CLEAN, NEAR_DUPLICATE))
        groups = Counter(self.original[k] for k in chosen if self.damage[k] in (CLEAN, NEAR_DUPLICATE))
        repeated = sum(count - 1 for count in groups.values())
        return counts + Counter({NEAR_DUPLICATE: repeated})


def damage(
    source: Sequence[str],
    target: Sequence[str],
    rates: Mapping[str, float],
    *,
    seed: int = 1,
    foreign: Sequence[str] = (),
) -> DamagedPool:
    """Damage some pairs of clean parallel text.

    - shuffled: has the target of another shuffled pair;
    - untranslated: the target is the source;
    - truncated: the target ends after 20 to 60 % of its words;
    - wrong language: the target is in a third language;
    - near duplicate: stands in place of the pair and is a copy of a clean one, with a source word left out;
    - too short: `SHORT` words or fewer are left of both sides;
    - too long: pairs run together until the source has `LONG` words.

    Args:
        source, target: n lines each, translations of each other, with at least one word.
        rates: share of the pairs for each kind; together at most 1.
        seed: of the choice of pairs and of the damage.
        foreign: sentences of a third language, taken in order and again from the start; without, the letters of the
            target are exchanged, which gives a language of new words that is as regular as the old one.

    Raises:
        UserError: the sides differ in length, a kind does not exist, or rates are out of range.
    """
    n = len(source)
    if len(target) != n:
        raise UserError(f"{len(target)} target sentences for {n} source sentences")
    unknown = next((kind for kind in rates if kind not in KINDS), None)
    if unknown is not None:
        raise UserError(f"no damage {unknown!r}", expected=f"one of {', '.join(KINDS)}")
    counts = {kind: round(rates.get(kind, 0.0) * n) for kind in KINDS}
    if min(rates.values(), default=0.0) < 0 or sum(counts.values()) > n:
        raise UserError(f"rates {dict(rates)}", expected="at least 0 each and at most 1 together")
    generator = np.random.default_rng(seed)
    order = generator.permutation(n).tolist()
    clean = sorted(order[sum(counts.values()) :])
    if not clean and counts[NEAR_DUPLICATE]:
        raise UserError("near duplicates of no clean pair", expected="rates of less than 1 together")
    pairs: list[Pair] = list(zip(source, target, strict=True))
    kinds, original = [CLEAN] * n, list(range(n))
    first = 0
    for kind, count in counts.items():
        places = order[first : first + count]
        first += count
        for k, place in enumerate(places):
            kinds[place] = kind
            if kind == SHUFFLED:
                # One round through all of them: none keeps its own, if there are two.
                pairs[place] = source[place], target[places[(k + 1) % count]]
            elif kind == WRONG_LANGUAGE and foreign:
                pairs[place] = source[place], foreign[k % len(foreign)]
            elif kind == NEAR_DUPLICATE:
                original[place] = clean[int(generator.integers(len(clean)))]
                pairs[place] = _near(source[original[place]], target[original[place]], generator)
            elif kind == TOO_LONG:
                pairs[place] = _long(place, source, target, generator)
            else:
                pairs[place] = _ALONE[kind](source[place], target[place], generator)
    return DamagedPool(tuple(f for f, _ in pairs), tuple(e for _, e in pairs), tuple(kinds), tuple(original))


def _untranslated(source: str, target: str, generator: np.random.Generator) -> Pair:
    return source, source


def _truncated(source: str, target: str, generator: np.random.Generator) -> Pair:
    words = target.split(" ")
    return source, " ".join(words[: max(1, int(len(words) * generator.uniform(0.2, 0.6)))])


def _enciphered(source: str, target: str, generator: np.random.Generator) -> Pair:
    return source, target.lower().translate(str.maketrans(_LETTERS, _OTHERS))


def _near(source: str, target: str, generator: np.random.Generator) -> Pair:
    words = source.split(" ")
    if len(words) > 1:
        del words[int(generator.integers(len(words)))]
    return " ".join(words), target


def _short(source: str, target: str, generator: np.random.Generator) -> Pair:
    size = int(generator.integers(1, SHORT + 1))
    return " ".join(source.split(" ")[:size]), " ".join(target.split(" ")[:size])


def _long(place: int, source: Sequence[str], target: Sequence[str], generator: np.random.Generator) -> Pair:
    parts = [place]
    while sum(len(source[k].split(" ")) for k in parts) < LONG:
        parts.append(int(generator.integers(len(source))))
    return " ".join(source[k] for k in parts), " ".join(target[k] for k in parts)


_ALONE: dict[str, Callable[[str, str, np.random.Generator], Pair]] = {
    UNTRANSLATED: _untranslated,
    TRUNCATED: _truncated,
    WRONG_LANGUAGE: _enciphered,
    TOO_SHORT: _short,
}
