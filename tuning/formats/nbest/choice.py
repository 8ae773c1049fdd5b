"""What a person says of a layout, in words of the command line or a configuration, checked."""

from __future__ import annotations

import os
from collections.abc import Sequence

from lasw.metrics import UserError, read_lines
from lasw.tuning.formats.nbest.layout import NBEST_LAYOUTS, LayoutOptions

ROLES = ("text", "id", "score")


def layout_options(
    layout: str = "",
    nbest_size: int = 0,
    column: Sequence[str] = (),
    source_ids: str | os.PathLike[str] = "",
    sum_scores: bool = False,
    no_score: bool = False,
    with_score: bool = False,
    *,
    encoding: str = "utf-8",
) -> LayoutOptions:
    """The options of these words.

    Args:
        layout: one of `NBEST_LAYOUTS`; empty: found by content.
        nbest_size: see `LayoutOptions.size`.
        column: of a table, ROLE=NAME each.
        source_ids: a file of ids, those of the sentences in their order; empty: ids are numbers.
        sum_scores: see `LayoutOptions`.
        no_score: see `LayoutOptions`.
        with_score: see `LayoutOptions`.
        encoding: of the ids.

    Raises:
        UserError: a layout that there is not, a role that no column has, an id that stands twice.
    """
    if layout:
        NBEST_LAYOUTS.find(layout)
        layout = NBEST_LAYOUTS.spelt(layout)
    if nbest_size < 0:
        raise UserError(f"nbest_size {nbest_size}", expected="at least 1, or 0 for lists that are told apart otherwise")
    columns: dict[str, str] = {}
    for text in column:
        role, equals, name = text.partition("=")
        if role not in ROLES or not equals or not name or role in columns:
            raise UserError(f"column {text!r}", expected=f"{', '.join(ROLES)}, once each, as in text=NAME")
        columns[role] = name
    ids = _ids(source_ids, encoding) if source_ids else None
    return LayoutOptions(layout, nbest_size, columns, ids, sum_scores, no_score, with_score)


def _ids(path: str | os.PathLike[str], encoding: str) -> dict[str, int]:
    ids: dict[str, int] = {}
    for number, line in enumerate(read_lines(path, encoding=encoding)):
        if ids.setdefault(line, number) != number:
            found = f"id {line!r} stands on line {ids[line] + 1} too"
            raise UserError(found, path=os.fspath(path), line=number + 1, expected="every id once")
    return ids
