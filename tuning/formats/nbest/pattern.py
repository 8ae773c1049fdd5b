"""The hypotheses of an N-best list as numbers: which features are dense is decided on its first lines, or told.

The rule, for lists whose features have names:

1. What `names` or `dense` name is dense.
2. A feature with several values is dense, whatever its name.
3. One value, no ``_`` in its name: dense.
4. One value, ``_`` in its name, and the part before some ``_`` is a dense feature of the line (Moses prints
   ``LM0= -3 LM0_rest= 1``): sparse.
5. ``NAME_0=-1.2``, digits behind the last ``_`` and no blank before the number (cdec, Joshua): dense.
6. Other names with ``_`` are taken as families, alike up to the first ``_``. A family is dense if each member stands
   on every one of the first 1000 lines and is not a whole number on all of them (as counts are); else it is sparse.

A name that the first line does not have is sparse. The group of nameless features is called ``F``; a list that has
nothing but a total has the one feature ``score``. Every fault is named, features are found by their names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from lasw.tuning.formats.nbest.layout import ONLY_SCORE, Fields, Group, Pattern, Place, finite
from lasw.tuning.weights import FeatureNames

LOOK_AHEAD = 1000
UNNAMED = "F"
_AS_FIRST = "as on line 1"


@dataclass
class Row:
    """One hypothesis.

    Attributes:
        owner: sentence id.
        text: as it stands there.
        dense: the dense features, in the columns' order.
        score: the total, 0 if there is none.
        sparse: values by name, zeros too.
        zeros: dense features that are not there and are 0 (see `Pattern.zeros_left_out`).
        reordered: whether the features stand in another order than on the first line.
    """

    owner: int
    text: str
    dense: list[float]
    score: float
    sparse: dict[str, float] = field(default_factory=dict)
    zeros: int = 0
    reordered: bool = False


def find_pattern(
    hypotheses: Iterator[tuple[Place, Fields]],
    names: FeatureNames | None = None,
    dense: Collection[str] = (),
    *,
    featureless: bool = False,
    no_score: bool = False,
) -> Pattern:
    """The pattern of a list from the hypotheses on its first lines.

    Args:
        hypotheses: at least one, with their places; not all are looked at.
        names: the dense features if they are known, all of them.
        dense: names of dense features, as far as they are known.
        featureless: whether a list may be without any number.
        no_score: whether a list with nothing but totals is one.

    Raises:
        UserError: the first hypothesis has no features, or other ones than `names`.
    """
    place, first = next(hypotheses)
    if first.groups is None:
        size = len(first.numbers)
        if not size and (no_score or first.score is None):
            if not featureless:
                expected = "ID ||| hypothesis ||| features ||| total, or numbers in files of their own (--feature)"
                raise place.error("no features and no total", expected=expected)
            return Pattern(FeatureNames(()), (), first)
        own = FeatureNames(((UNNAMED, size),)) if size else FeatureNames(((ONLY_SCORE, 1),))
        if names is not None and len(names) != len(own):
            raise place.error(f"{len(own)} features without names", expected=f"{len(names)}: {shown(names)}")
        return Pattern(names or own, (), first)
    _refuse_twice(first.groups, place)
    if names is None:
        kept = _dense_groups(first.groups, set(dense), hypotheses)
        names = FeatureNames(tuple((group.name, len(group.values)) for group in kept))
        return Pattern(names, tuple(group.name for group in kept), first)
    there = [group.name for group in first.groups if group.name in names.slices]
    return Pattern(names, tuple(there + [name for name in names.slices if name not in there]), first)


def shown(names: FeatureNames) -> str:
    """Features with their sizes, for messages."""
    return " ".join(f"{name}({size})" for name, size in names.groups)


def _refuse_twice(groups: list[Group], place: Place) -> None:
    seen = set()
    for group in groups:
        if group.name in seen:
            raise place.error(f"feature {group.name} is there twice", expected="once")
        if not group.values:
            raise place.error(f"feature {group.name} has no value", expected="at least one number")
        seen.add(group.name)


def _dense_groups(groups: list[Group], dense: set[str], rest: Iterator[tuple[Place, Fields]]) -> list[Group]:
    sure = {
        group.name
        for group in groups
        if group.dense is not False
        and (group.dense or group.name in dense or len(group.values) > 1 or "_" not in group.name or _component(group))
    }
    undecided = [
        group for group in groups if group.dense is None and group.name not in sure and not _belongs(group.name, sure)
    ]
    if undecided:
        sure |= _dense_families(undecided, sure, rest)
    return [group for group in groups if group.name in sure]


def _component(group: Group) -> bool:
    return group.joined and group.name.rpartition("_")[2].isdigit()


def _belongs(name: str, dense: set[str]) -> bool:
    parts = name.split("_")
    return any("_".join(parts[:k]) in dense for k in range(1, len(parts)))


def _family(name: str) -> str:
    return name.partition("_")[0]


def _dense_families(groups: list[Group], dense: set[str], rest: Iterator[tuple[Place, Fields]]) -> set[str]:
    """The names whose family stands on every line and does not count things (rule 6)."""
    families: dict[str, set[str]] = {}
    for group in groups:
        families.setdefault(_family(group.name), set()).add(group.name)
    broken = {group.name for group in groups if not _whole(group.values[0])}
    while families:
        _, fields = next(rest, (None, None))
        if fields is None:
            break
        there = {group.name: group for group in fields.groups or [] if group.name not in dense}
        for family, members in list(families.items()):
            if members != {name for name in there if _family(name) == family}:
                del families[family]
        broken |= {name for name, group in there.items() if group.values and not _whole(group.values[0])}
    return {name for members in families.values() if members <= broken for name in members}


def _whole(value: str) -> bool:
    try:
        return float(value).is_integer()
    except ValueError:
        return False


def read_row(fields: Fields, pattern: Pattern, place: Place) -> Row:
    """A hypothesis of a list with this pattern.

    Raises:
        UserError: other features than the first line has, a number that is not finite.
    """
    score = 0.0 if fields.score is None else finite(fields.score, "the total", place)
    if fields.score is None and pattern.first.score is not None:
        raise place.error("no total", expected=f"one number in a field of its own, {_AS_FIRST}")
    row = Row(fields.owner, fields.text, [], score)
    if pattern.named:
        _named(row, fields, pattern, place)
    elif fields.groups is not None:
        raise place.error("features with names", expected=f"{len(pattern.names)} numbers, {_AS_FIRST}")
    elif not pattern.first.numbers:
        if fields.numbers:
            raise place.error(f"{len(fields.numbers)} features", expected=f"only a total, {_AS_FIRST}")
        row.dense.extend([score] * len(pattern.names))
    else:
        if len(fields.numbers) != len(pattern.names):
            raise place.error(f"{len(fields.numbers)} feature values", expected=f"{len(pattern.names)}, {_AS_FIRST}")
        row.dense.extend(finite(token, f"feature {k + 1}", place) for k, token in enumerate(fields.numbers))
    return row


def _named(row: Row, fields: Fields, pattern: Pattern, place: Place) -> None:
    if fields.groups is None:
        raise place.error("no features", expected=f"{shown(pattern.names)}, {_AS_FIRST}")
    groups: dict[str, Group] = {}
    for group in fields.groups:
        if group.name in groups:
            raise place.error(f"feature {group.name} is there twice", expected="once")
        groups[group.name] = group
        if group.name not in pattern.sizes:
            if group.dense:
                raise place.error(f"a feature {group.name}", expected=f"only {shown(pattern.names)}, {_AS_FIRST}")
            row.sparse[group.name] = _sparse_value(group, pattern, place)
    for name, size in pattern.names.groups:
        values = groups[name].values if name in groups else []
        if name not in groups and pattern.zeros_left_out:
            row.dense.extend([0.0] * size)
            row.zeros += 1
        elif len(values) != size:
            raise place.error(
                f"feature {name} has {_count(len(values))}"
                if name in groups
                else f"feature {name} is missing, 0 values",
                expected=f"{_count(size)}, {_AS_FIRST}",
            )
        else:
            row.dense.extend(finite(value, f"feature {name}", place) for value in values)
    there = [name for name in groups if name in pattern.sizes]
    row.reordered = there != [name for name in pattern.order if name in groups]


def _sparse_value(group: Group, pattern: Pattern, place: Place) -> float:
    if len(group.values) != 1:
        raise place.error(
            f"feature {group.name} has {_count(len(group.values))}",
            expected=f"one of {shown(pattern.names)}, {_AS_FIRST}, or a sparse feature with one value",
        )
    return finite(group.values[0], f"feature {group.name}", place)


def _count(number: int) -> str:
    return f"{number} value" if number == 1 else f"{number} values"
