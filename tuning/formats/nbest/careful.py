"""One line of an N-best list as numbers, slowly: every fault is named, features are found by their names."""

from __future__ import annotations

from dataclasses import dataclass, field

from lasw.tuning.formats.nbest.fields import Fields, Group, Place, finite, split_line
from lasw.tuning.formats.nbest.layout import Layout, shown


@dataclass
class Row:
    """One hypothesis.

    Attributes:
        owner: sentence id.
        text: as it stands there.
        dense: the dense features, in the columns' order.
        score: the total, 0 if there is none.
        sparse: values by name, zeros too.
        zeros: dense features that are not there and are 0 (see `Layout.zeros_left_out`).
        reordered: whether the features stand in another order than on the first line.
    """

    owner: int
    text: str
    dense: list[float]
    score: float
    sparse: dict[str, float] = field(default_factory=dict)
    zeros: int = 0
    reordered: bool = False


def read_row(line: str, layout: Layout, place: Place, first_line: int) -> Row:
    """The hypothesis on `line`.

    Args:
        line: without its end.
        layout: of the list, found on line `first_line`.
        place: of the line.
        first_line: for messages.

    Raises:
        UserError: other features than the first line has, a number that is none or not finite.
    """
    fields = split_line(line, place)
    score = 0.0 if fields.score is None else finite(fields.score, "the total", place)
    if fields.score is None and layout.score_at >= 0:
        raise place.error("no total", expected=f"one number in a field of its own, as on line {first_line}")
    row = Row(fields.owner, fields.text, [], score)
    if layout.named:
        _named(row, fields, layout, place, first_line)
    elif fields.groups is not None:
        raise place.error("features with names", expected=f"{len(layout.names)} numbers, as on line {first_line}")
    elif layout.features_at < 0:
        if fields.numbers:
            raise place.error(f"{len(fields.numbers)} features", expected=f"only a total, as on line {first_line}")
        row.dense.append(score)
    else:
        if len(fields.numbers) != len(layout.names):
            raise place.error(
                f"{len(fields.numbers)} feature values", expected=f"{len(layout.names)}, as on line {first_line}"
            )
        row.dense.extend(finite(token, f"feature {k + 1}", place) for k, token in enumerate(fields.numbers))
    return row


def _named(row: Row, fields: Fields, layout: Layout, place: Place, first_line: int) -> None:
    if fields.groups is None:
        raise place.error("no features", expected=f"{shown(layout.names)}, as on line {first_line}")
    found: dict[str, Group] = {}
    for group in fields.groups:
        if group.name in found:
            raise place.error(f"feature {group.name} is there twice", expected="once")
        found[group.name] = group
        if group.name not in layout.sizes:
            row.sparse[group.name] = _sparse_value(group, layout, place, first_line)
    for name, size in layout.names.groups:
        values = found[name].values if name in found else []
        if name not in found and layout.zeros_left_out:
            row.dense.extend([0.0] * size)
            row.zeros += 1
        elif len(values) != size:
            raise place.error(
                f"feature {name} has {_count(len(values))}"
                if name in found
                else f"feature {name} is missing, 0 values",
                expected=f"{_count(size)}, as on line {first_line}",
            )
        else:
            row.dense.extend(finite(value, f"feature {name}", place) for value in values)
    there = [name for name in found if name in layout.sizes]
    row.reordered = there != [name for name in layout.order if name in found]


def _sparse_value(group: Group, layout: Layout, place: Place, first_line: int) -> float:
    if len(group.values) != 1:
        raise place.error(
            f"feature {group.name} has {_count(len(group.values))}",
            expected=f"one of {shown(layout.names)}, as on line {first_line}, or a sparse feature with one value",
        )
    return finite(group.values[0], f"feature {group.name}", place)


def _count(number: int) -> str:
    return f"{number} value" if number == 1 else f"{number} values"
