"""Scores that other tools gave the pairs: bicleaner's files with tabs, OpusFilter's files of JSON lines.

A column is named ``NAME=FILE[:KEY]``. In a file with tabs KEY is a column counted from 1, by default the last, where
bicleaner and its relatives write their score. In a file of JSON objects KEY is a path with points, as
``LengthRatioFilter.0``, NAME by default.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from lasw.metrics import LARGEST, STANDARD_INPUT, UserError, first_bytes, parse_json
from lasw.selection.lines import BAD_SCORE, GOOD, read_blocks
from lasw.selection.pool.bitext import Chunk, ScoreFile

# What tools write in place of a number that they do not have.
_NO_WORD = re.compile(r"[^a-z]*|[-+]?(nan|inf|infinity)|n/?a|none|null|[0-9.]+e[-+]?[0-9]+", re.IGNORECASE)


def score_column(spec: str) -> ScoreFile:
    """The column that ``NAME=FILE[:KEY]`` names.

    Raises:
        UserError: the words are not of that form, the file cannot be read or is a pipe.
    """
    name, equals, place = spec.partition("=")
    path, colon, key = place.rpartition(":")
    if not colon:
        path, key = place, ""
    if not (name and name.isprintable() and equals and path):
        raise UserError(f"score column {spec!r}", expected="NAME=FILE or NAME=FILE:KEY")
    if path == STANDARD_INPUT or stat.S_ISFIFO(os.stat(path).st_mode if os.path.exists(path) else 0):
        raise UserError("a pipe can be read only once", path=path, remedy="save the scores to a file")
    if first_bytes(path, 1) == b"{":
        return ScoreFile(path, name, partial(_read, path, partial(_json_value, (key or name).split(".")), None))
    if key and not (key.isascii() and key.isdigit() and int(key)):
        raise UserError(f"column {key!r} of a file with tabs", path=path, expected="a number from 1")
    column = int(key) - 1 if key else -1
    return ScoreFile(path, name, partial(_read, path, partial(_tab_value, column), column))


def _read(
    path: str, value: Callable[[str], float], column: int | None, tolerant: bool, shared: bool
) -> Iterator[Chunk]:
    """The numbers of a file; of lines with tabs they stand in `column`.

    Raises:
        UserError: a line has no number, unless it is tolerated. A first line that names the columns is a line too much
            and never tolerated, unless it is `shared`: the pool stands in the same file.
    """
    line = 1
    for lines, bad in read_blocks(path, "utf-8", tolerant):
        out = np.zeros((len(bad), 1))
        texts = lines.texts()
        if line == 1 and column is not None and not shared and _is_header(texts, column):
            raise UserError(
                f"a header, {texts[0][:40]!r}",
                path=path,
                line=1,
                expected="the number of the first pair",
                remedy="delete it, and the pool's own where it has one: each line is to be that of its pair",
            )
        for k, text in enumerate(texts):
            if bad[k] != GOOD:
                continue
            try:
                out[k, 0] = value(text)
            except ValueError as error:
                if not tolerant:
                    raise UserError(
                        str(error), path=path, line=line + k, remedy="--skip-bad leaves out such pairs"
                    ) from None
                bad[k] = BAD_SCORE
        line += len(bad)
        yield [out], bad


def _is_header(lines: list[str], column: int) -> bool:
    """Whether the first line has a word where the second has a number."""
    try:
        _tab_value(column, lines[1] if len(lines) > 1 else "")
    except ValueError:
        return False
    fields = lines[0].split("\t")
    return column < len(fields) and not _NO_WORD.fullmatch(fields[column].strip(" "))


def _tab_value(column: int, text: str) -> float:
    fields = text.split("\t")
    if column >= len(fields):
        raise ValueError(f"{len(fields)} columns; expected at least {column + 1}")
    return _finite(fields[column])


def _json_value(keys: list[str], text: str) -> float:
    try:
        value = parse_json(text, None)
    except UserError as error:
        raise ValueError(error.found) from None
    for key in keys:
        if isinstance(value, list) and key.isascii() and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            has = ", ".join(map(str, value)) if isinstance(value, dict) else str(value)[:60]
            raise ValueError(f"no {key!r} in {has}")
    if isinstance(value, list):
        raise ValueError(f"{len(value)} numbers; expected one, as {'.'.join(keys)}.0")
    return _finite(value)


def _finite(value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{str(value)[:40]!r} is no number") from None
    if not abs(number) <= LARGEST:  # NaN is not
        raise ValueError(f"{str(value)[:40]!r} is no number from {-LARGEST:g} to {LARGEST:g}")
    return number
