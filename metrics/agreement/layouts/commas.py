"""CSV: fields with commas between, in quotes where they hold commas."""

from __future__ import annotations

import csv
from pathlib import Path

from lasw.metrics.errors import UserError
from lasw.metrics.text import read_lines


def csv_rows(path: str | Path, encoding: str) -> list[list[str]]:
    """The fields of each line.

    Raises:
        UserError: it cannot be read, or a field is not what it may be.
    """
    rows = csv.reader(
        read_lines(path, encoding=encoding), strict=True
    )  # else a lost quote swallows all lines behind it
    try:
        return list(rows)
    except csv.Error as error:
        raise UserError(f"no CSV: {error}", path=path, line=rows.line_num, expected="fields, commas between") from error
