"""What a selection leaves on disk: the development set, and why each pair is in it or not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from lasw.metrics import atomic_write, write_text
from lasw.selection.choice import REJECTED, Selection
from lasw.selection.lines import Lines
from lasw.selection.pool import REASONS

_PACKED = (".gz", ".bz2", ".xz")
_OTHERS = ("alignment", "lines", "scores", "rejected.tsv", "html", "local.tsv")
PAIR_COLUMNS = ("line", "score", "source_words", "target_words")
"""Columns of the table of scores in front of the features."""


def text_names(source: str, target: str) -> tuple[str, str]:
    """Endings of the two text files: those of the pool's files (``pool.de.gz``: ``de``) if they have different ones."""
    ends = [_ending(path) for path in (source, target)]
    if all(ends) and ends[0] != ends[1] and not set(ends) & set(_OTHERS):
        return ends[0], ends[1]
    return "source", "target"


def files_of(prefix: str, names: tuple[str, str]) -> list[str]:
    """All files that a selection may have; `prefix` and `names` as in `write_selection`."""
    return [f"{prefix}.{name}" for name in (*names, *_OTHERS)]


def write_selection(prefix: str, selection: Selection, names: tuple[str, str]) -> list[str]:
    """Write the selected pairs, best first, and the reasons of the first rejected.

    ``PREFIX.SOURCE``, ``PREFIX.TARGET`` and ``PREFIX.alignment`` hold the lines as they stand in the pool,
    ``PREFIX.lines`` their numbers from 1, ``PREFIX.scores`` score and features with a line of names on top,
    ``PREFIX.rejected.tsv`` the first 1 000 rejected.

    Args:
        prefix: of the files.
        selection: what was selected; nothing gives empty files.
        names: endings of source and target.

    Returns:
        The files written.

    Raises:
        UserError: a file cannot be written.
    """
    chosen = selection.chosen
    written = [_write(f"{prefix}.{names[0]}", chosen.source), _write(f"{prefix}.{names[1]}", chosen.target)]
    if chosen.alignment is not None:
        written.append(_write(f"{prefix}.alignment", chosen.alignment))
    lines = chosen.line.tolist()
    scores = [[*PAIR_COLUMNS, *selection.feature_names]]
    columns = zip(lines, chosen.score.tolist(), chosen.lengths.tolist(), chosen.features.tolist(), strict=True)
    for line, score, lengths, features in columns:
        scores.append([str(line), repr(score), *map(str, lengths), *map(repr, features)])
    for name, rows in (
        ("lines", ([str(line)] for line in lines)),
        ("scores", iter(scores)),
        ("rejected.tsv", _rejected(selection)),
    ):
        written.append(f"{prefix}.{name}")
        write_text(written[-1], _table(rows))
    return written


def _rejected(selection: Selection) -> Iterator[list[str]]:
    """First what the filters rejected, in rank order, then what was no candidate, in input order."""
    yield ["line", "score", "reason", "similarity", "similar_to_line"]
    for rejection in selection.rejections:
        numbers = repr(rejection.similarity), str(rejection.other or "")
        yield [str(rejection.line), repr(rejection.score), rejection.reason, *numbers]
    for line, verdict, source, _ in selection.profile.filtered[: REJECTED - len(selection.rejections)]:
        reason = REASONS[verdict]
        yield [str(line), "", f"{reason}: {source} source words" if reason == "length" else reason, "", ""]


def _write(path: str, lines: Lines) -> str:
    with atomic_write(path) as stream:
        stream.write(lines.packed().arrays.data.tobytes())
    return path


def _table(rows: Iterable[list[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def _ending(path: str) -> str:
    name = os.path.basename(path)
    for packed in _PACKED:
        name = name.removesuffix(packed)
    return os.path.splitext(name)[1].removeprefix(".")
