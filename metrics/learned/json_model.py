"""Trained metrics as JSON files: what all of them have, and reading them with every value checked."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from lasw.metrics.base import LARGEST
from lasw.metrics.errors import UserError
from lasw.metrics.text import parse_json, read_bytes, write_text

_MOST_BYTES = 1 << 26  # of a file that may be one


class TrainedMetric(ABC):
    """What was learnt, frozen; `write_trained_metric` writes it and a metric's option ``model=FILE`` reads it again.

    Attributes:
        format, version: the first two values of its files.
        text: how the text it was trained on was prepared, as a signature has it.
        training: what it was trained on and how, for people.
    """

    format: ClassVar[str]
    version: ClassVar[int] = 1
    text: dict[str, str]
    training: dict[str, Any]

    @abstractmethod
    def values(self, path: str | Path) -> dict[str, Any]:
        """All that a file at `path` says of it, as JSON has it."""

    def document(self, path: str | Path) -> dict[str, Any]:
        """The whole file at `path`."""
        return {"format": self.format, "version": self.version, **self.values(path)}

    @abstractmethod
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that differ for models that score differently."""

    def digest(self, *unscored: str, **changed: object) -> str:
        """A fingerprint of its file, without what is for people and the keys `unscored`, with other values."""
        document = {**self.document(""), **changed}
        return digest({key: document[key] for key in document if key not in ("text", "training", *unscored)})

    def settings_of_text(self) -> list[tuple[str, str]]:
        """How its training text was prepared, for the signature."""
        return [(f"trained-{key}", value) for key, value in self.text.items()]


def digest(document: Any) -> str:
    """Twelve hexadecimal digits of a JSON document."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:12]


def write_trained_metric(path: str | Path, model: TrainedMetric) -> None:
    """Write `model` to `path`, whole or not at all; the same model gives the same bytes."""
    write_text(path, json.dumps(model.document(path), ensure_ascii=False, indent=1) + "\n")


class ModelFile:
    """The values of a model file; call it with a key.

    Args:
        document: as it was read.
        path: for messages.
    """

    def __init__(self, document: dict[str, Any], path: str | Path) -> None:
        self._document, self._path = document, path

    def __contains__(self, key: str) -> bool:
        return key in self._document

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

    def history(self) -> dict[str, Any]:
        """The attributes `text` and `training`."""
        text = self("text", dict, lambda x: strings(list(x.values())), "names and strings")
        return {"text": text, "training": self("training", dict)}


def open_model(path: str | Path, model: type[TrainedMetric]) -> ModelFile:
    """Open a file that holds such a model.

    Raises:
        UserError: no such file, no JSON, another format or version.
    """
    document = parse_json(read_bytes(path, _MOST_BYTES), path, expected=f"a file of format {model.format!r}")
    if not isinstance(document, dict) or document.get("format") != model.format:
        raise UserError(f"not a {model.format}", path=path, expected=f'"format": "{model.format}"')
    if document.get("version") != model.version:
        found = f"model version {document.get('version')!r}"
        raise UserError(found, path=path, expected=str(model.version), remedy="train it again")
    return ModelFile(document, path)


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
