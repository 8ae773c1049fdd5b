"""A trained ROSE: its features, their weights and what they were trained on, as one JSON file."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lasw.metrics.errors import UserError
from lasw.metrics.files import first_bytes, write_text
from lasw.metrics.rose_features import RoseFeatures

FORMAT = "lasw ROSE model"
VERSION = 1
KINDS = ("rank", "reg")
_LARGEST = 1 << 24  # bytes of a file that may be one: a word list and a few numbers are a thousandth of that


@dataclass(frozen=True)
class RoseModel:
    """A linear model of d features (thesis 3.1.1): score = sum of weights * (features - mean) / scale + intercept.

    Attributes:
        kind: ``rank`` or ``reg``.
        features: which features, in which order, and how they are counted.
        weights, mean, scale: d numbers each.
        intercept: of the score.
        language: of the function words, free text.
        text: how the text it was trained on was prepared, as a signature has it.
        tagger: name of the tagger that tags plain text; empty: the text comes tagged, or there are no tags.
        training: what it was trained on and how, for people.
    """

    kind: str
    features: RoseFeatures
    weights: tuple[float, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    intercept: float
    language: str = ""
    text: dict[str, str] = field(default_factory=dict, hash=False)
    tagger: str = ""
    training: dict[str, Any] = field(default_factory=dict, hash=False)

    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that differ for models that score differently."""
        document = _as_json(self)
        for key in ("training", "text", "language"):
            del document[key]
        return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:12]

    def slopes(self) -> tuple[list[float], float]:
        """Weights of the features as they are, and what is added: the scaling multiplied in."""
        slopes = [w / s for w, s in zip(self.weights, self.scale, strict=True)]
        return slopes, self.intercept - math.fsum(w * m for w, m in zip(slopes, self.mean, strict=True))


def write_model(path: str | Path, model: RoseModel) -> None:
    """Write `model` to `path`, whole or not at all; the same model gives the same bytes."""
    write_text(path, json.dumps(_as_json(model), ensure_ascii=False, indent=1) + "\n")


def read_model(path: str | Path) -> RoseModel:
    """Read what `write_model` wrote.

    Raises:
        UserError: no such file, not a model, of another version, or a value of it is wrong; it names the value.
    """
    data = first_bytes(path, _LARGEST)
    try:
        document = json.loads(data)
    except ValueError as error:
        raise UserError(f"no JSON ({error})", path=path, expected="a model of 'lasw train-metric rose'") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise UserError("not a ROSE model", path=path, expected=f'"format": "{FORMAT}"')
    if document.get("version") != VERSION:
        raise UserError(
            f"model version {document.get('version')!r}", path=path, expected=str(VERSION), remedy="train it again"
        )
    get = _Getter(document, path)
    features = RoseFeatures(
        function_words=tuple(get("function_words", list, _all(str), "a list of words")),
        pos=get("pos", bool),
        clip=get("clip", bool),
        ratio=get("ratio", bool),
    )
    names = list(features.names)
    if get("features", list, _all(str), "a list of names") != names:
        raise UserError("features that this version does not have in that order", path=path, expected=", ".join(names))
    numbers = f"{len(names)} finite numbers"
    vectors = {
        key: tuple(map(float, get(key, list, lambda x: len(x) == len(names) and _all(_finite)(x), numbers)))
        for key in ("weights", "mean", "scale")
    }
    if min(vectors["scale"]) <= 0:
        raise UserError(f"scale {min(vectors['scale'])}", path=path, expected="numbers above 0")
    return RoseModel(
        kind=get("kind", str, KINDS.__contains__, " or ".join(KINDS)),
        features=features,
        intercept=float(get("intercept", (int, float), _finite, "a finite number")),
        language=get("language", str),
        text=get("text", dict, lambda x: _all(str)(list(x.values())), "names and strings"),
        tagger=get("tagger", str),
        training=get("training", dict),
        **vectors,
    )


def _as_json(model: RoseModel) -> dict[str, Any]:
    document: dict[str, Any] = {"format": FORMAT, "version": VERSION, **dataclasses.asdict(model)}
    settings: dict[str, Any] = document.pop("features")
    document["features"] = list(model.features.names)
    return document | settings


class _Getter:
    """Values of a document, each checked."""

    def __init__(self, document: dict[str, Any], path: str | Path) -> None:
        self._document, self._path = document, path

    def __call__(
        self,
        key: str,
        kind: type | tuple[type, ...],
        check: Callable[[Any], bool] = lambda _: True,
        expected: str = "",
    ) -> Any:
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


def _finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _all(what: type | Callable[[Any], bool]) -> Callable[[list[Any]], bool]:
    """Whether every element of a list is of a type, or passes a check."""
    if isinstance(what, type):
        kind = what
        return lambda values: all(isinstance(value, kind) for value in values)
    check = what
    return lambda values: all(map(check, values))
