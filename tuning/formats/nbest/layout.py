"""Which features of an N-best list are dense: decided on its first lines, or told.

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
nothing but a total has the one feature ``score``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from lasw.tuning.formats.nbest.fields import Fields, Group, Place, split_line
from lasw.tuning.weights import FeatureNames

LOOK_AHEAD = 1000
UNNAMED = "F"
ONLY_SCORE = "score"


@dataclass(frozen=True)
class Layout:
    """How the lines of a list are made.

    Attributes:
        names: the dense features, in the order of the columns.
        named: whether the features have names.
        order: the dense ones in the order of the lines, if they have names.
        separator: behind a name.
        joined: every name and its number are one token. Decoders that write so leave zeros out.
        features_at, score_at, fields: index of the fields, -1 for none, and how many there are.
    """

    names: FeatureNames
    named: bool
    order: tuple[str, ...]
    separator: str
    joined: bool
    features_at: int
    score_at: int
    fields: int

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of values by name."""
        return dict(self.names.groups)

    @property
    def zeros_left_out(self) -> bool:
        """Whether an absent dense feature is 0."""
        return self.joined and len(self.order) > 1


def find_layout(
    lines: Iterable[str], place: Place, names: FeatureNames | None = None, dense: Collection[str] = ()
) -> Layout:
    """The layout of a list from its first lines.

    Args:
        lines: the lines of the first block; not all are looked at.
        place: of the first one.
        names: the dense features if they are known, all of them.
        dense: names of dense features, as far as they are known.

    Raises:
        UserError: the first line is no line of an N-best list, has no features, or other ones than `names`.
    """
    rest = iter(lines)
    first = split_line(next(rest), place)
    where = (first.separator, False, first.features_at, first.score_at, first.count)
    if first.groups is None:
        size = len(first.numbers)
        if not size and first.score is None:
            raise place.error("no features and no total", expected="ID ||| hypothesis ||| features ||| total")
        found = FeatureNames(((UNNAMED, size),)) if size else FeatureNames(((ONLY_SCORE, 1),))
        if names is not None and len(names) != len(found):
            raise place.error(f"{len(found)} features without names", expected=f"{len(names)}: {shown(names)}")
        return Layout(names or found, False, (), *where)
    _refuse_twice(first.groups, place)
    if names is None:
        kept = _dense_groups(first.groups, set(dense), rest, place)
        names = FeatureNames(tuple((group.name, len(group.values)) for group in kept))
        order = tuple(group.name for group in kept)
    else:
        known = dict(names.groups)
        there = [group.name for group in first.groups if group.name in known]
        order = tuple(there + [name for name in known if name not in there])
    joined = all(group.joined for group in first.groups)
    return Layout(names, True, order, first.separator, joined, first.features_at, first.score_at, first.count)


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


def _dense_groups(groups: list[Group], told: set[str], rest: Iterable[str], place: Place) -> list[Group]:
    sure = {
        group.name
        for group in groups
        if group.name in told or len(group.values) > 1 or "_" not in group.name or _component(group)
    }
    open_ = [group for group in groups if group.name not in sure and not _belongs(group.name, sure)]
    if open_:
        sure |= _dense_families(open_, sure, rest, place)
    return [group for group in groups if group.name in sure]


def _component(group: Group) -> bool:
    return group.joined and group.name.rpartition("_")[2].isdigit()


def _belongs(name: str, dense: set[str]) -> bool:
    parts = name.split("_")
    return any("_".join(parts[:k]) in dense for k in range(1, len(parts)))


def _family(name: str) -> str:
    return name.partition("_")[0]


def _dense_families(groups: list[Group], dense: set[str], rest: Iterable[str], place: Place) -> set[str]:
    """The names whose family stands on every line and does not count things (rule 6)."""
    families: dict[str, set[str]] = {}
    for group in groups:
        families.setdefault(_family(group.name), set()).add(group.name)
    broken = {group.name for group in groups if not _whole(group.values[0])}
    for number, line in enumerate(rest, (place.line or 0) + 1):
        if not families or number > LOOK_AHEAD:
            break
        if not line.strip(" \t"):
            continue
        fields: Fields = split_line(line, Place(place.path, number))
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
