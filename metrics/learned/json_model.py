"""Trained models in JSON files, every value checked when it is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lasw.metrics.base import LARGEST
from lasw.metrics.errors import UserError
from lasw.metrics.text import first_bytes

_MOST_BYTES = 1 << 26  # of a file that may be one


class JsonModel:
    """The values of a model file; call it with a key.

    Args:
        document: as it was read.
        path: for messages.
    """

    def __init__(self, document: dict[str, Any], path: str | Path) -> None:
        self._document, self._path = document, path

    def __call__(
        self,
        key: str,
        kind: type | tuple[type, ...],
        check: Callable[[Any], bool] = lambda _: True,
        expected: str = "",
    ) -> Any:
        """The value of `key`.

        Raises:
            UserError: there is none, it is not of type `kind`, or `check` says no; `expected` is what it should be.
        """
        if key not in self._document:
            raise UserError(f"no {key!r}", path=self._path, expected="a whole model", remedy="train it again")
        value = self._document[key]
        right = isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool)
        if not (right and check(value)):
            shown = repr(value)
            shown = shown if len(shown) < 60 else f"{shown[:60]} ..."
            name = kind.__name__ if isinstance(kind, type) else "number"
            raise UserError(f"{key}: {shown}", path=self._path, expected=expected or f"a value of type {name}")
        return value


def read_json_model(path: str | Path, kind: str, version: int) -> JsonModel:
    """Open a model file.

    Args:
        kind: what its ``format`` must be.
        version: what its ``version`` must be.

    Raises:
        UserError: no such file, no JSON, another format or version.
    """
    try:
        document = json.loads(first_bytes(path, _MOST_BYTES))
    except (ValueError, RecursionError) as error:
        raise UserError(f"no JSON ({error})", path=path, expected=f"a file of format {kind!r}") from None
    if not isinstance(document, dict) or document.get("format") != kind:
        raise UserError(f"not a {kind}", path=path, expected=f'"format": "{kind}"')
    if document.get("version") != version:
        found = f"model version {document.get('version')!r}"
        raise UserError(found, path=path, expected=str(version), remedy="train it again")
    return JsonModel(document, path)


def model_file(name: str, path: str) -> str:
    """The path of a metric's model, or UserError that there is none."""
    if not path:
        raise UserError(f"{name} without a model", expected=f"{name}:model=FILE", remedy="train one: lasw train-metric")
    return path


def finite_numbers(values: list[Any]) -> bool:
    """Whether all are numbers, and none is larger than `LARGEST` in size."""
    return all(isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) <= LARGEST for x in values)


def strings(values: list[Any]) -> bool:
    """Whether all are strings."""
    return all(isinstance(x, str) for x in values)
