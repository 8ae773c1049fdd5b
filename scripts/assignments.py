"""`KEY=VALUE` arguments."""

from __future__ import annotations

from collections.abc import Sequence

from lasw.metrics.errors import UserError


def assignments(option: str, texts: Sequence[str]) -> dict[str, list[str]]:
    """The values by key, in order; `option` is what stands before them on the command line.

    Raises:
        UserError: a text without key, ``=`` or value.
    """
    values: dict[str, list[str]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key or not value:
            raise UserError(f"{option} {text}", expected=f"{option} KEY=VALUE")
        values.setdefault(key, []).append(value)
    return values


def single_assignments(option: str, texts: Sequence[str]) -> dict[str, str]:
    """As `assignments`, one value a key.

    Raises:
        UserError: as there, or a key that comes twice.
    """
    values = assignments(option, texts)
    for key, given in values.items():
        if len(given) > 1:
            raise UserError(f"{option} {key} is given twice", expected="one value")
    return {key: given[0] for key, given in values.items()}
