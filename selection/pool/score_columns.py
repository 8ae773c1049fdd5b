"""Scores that other tools gave the pairs: bicleaner's files with tabs, OpusFilter's files of JSON lines.

A column is named ``NAME=FILE[:KEY]``. In a file with tabs KEY is a column counted from 1, by default the last, where
bicleaner and its relatives write their score. In a file of JSON objects KEY is a path with points, as
``LengthRatioFilter.0``, NAME by default.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from lasw.metrics import LARGEST, STANDARD_INPUT, UserError, first_bytes
from lasw.selection.lines import BAD_SCORE, GOOD, read_blocks
from lasw.selection.pool.bitext import Chunk, ScoreFile


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
        return ScoreFile(path, name, partial(_read, path, partial(_json_value, (key or name).split("."))))
    if key and not (key.isascii() and key.isdigit() and int(key)):
        raise UserError(f"column {key!r} of a file with tabs", path=path, expected="a number from 1")
    return ScoreFile(path, name, partial(_read, path, partial(_tab_value, int(key) - 1 if key else -1)))


def _read(path: str, value: Callable[[str], float], tolerant: bool) -> Iterator[Chunk]:
    line = 1
    for lines, bad in read_blocks(path, "utf-8", tolerant):
        out = np.zeros((len(bad), 1))
        for k, text in enumerate(lines.texts()):
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


def _tab_value(column: int, text: str) -> float:
    fields = text.split("\t")
    if column >= len(fields):
        raise ValueError(f"{len(fields)} columns; expected at least {column + 1}")
    return _finite(fields[column])


def _json_value(keys: list[str], text: str) -> float:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON ({error.msg})") from None
    except (ValueError, RecursionError):
        raise ValueError("JSON with a number or a nesting of no sensible size") from None
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
