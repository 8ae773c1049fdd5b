"""A trained ROSE: its features, their weights and what they were trained on, as one JSON file."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lasw.metrics.base import LARGEST
from lasw.metrics.errors import UserError
from lasw.metrics.learned.json_model import finite_numbers, read_json_model, strings
from lasw.metrics.learned.rose.features import RoseFeatures
from lasw.metrics.text import write_text

FORMAT = "lasw ROSE model"
VERSION = 1
ROSE_KINDS = ("rank", "reg")


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


def write_rose(path: str | Path, model: RoseModel) -> None:
    """Write `model` to `path`, whole or not at all; the same model gives the same bytes."""
    write_text(path, json.dumps(_as_json(model), ensure_ascii=False, indent=1) + "\n")


def read_rose(path: str | Path) -> RoseModel:
    """Read what `write_rose` wrote.

    Raises:
        UserError: no such file, not a model, of another version, or a value of it is wrong; it names the value.
    """
    get = read_json_model(path, FORMAT, VERSION)
    features = RoseFeatures(
        function_words=tuple(get("function_words", list, strings, "a list of words")),
        pos=get("pos", bool),
        clip=get("clip", bool),
        ratio=get("ratio", bool),
    )
    names = list(features.names)
    if get("features", list, strings, "a list of names") != names:
        raise UserError("features that this version does not have in that order", path=path, expected=", ".join(names))
    numbers = f"{len(names)} finite numbers"
    vectors = {
        key: tuple(map(float, get(key, list, lambda x: len(x) == len(names) and finite_numbers(x), numbers)))
        for key in ("weights", "mean", "scale")
    }
    if min(vectors["scale"]) < 1 / LARGEST:
        raise UserError(f"scale {min(vectors['scale'])}", path=path, expected="numbers above 0")
    return RoseModel(
        kind=get("kind", str, ROSE_KINDS.__contains__, " or ".join(ROSE_KINDS)),
        features=features,
        intercept=float(get("intercept", (int, float), lambda x: finite_numbers([x]), "a finite number")),
        language=get("language", str),
        text=get("text", dict, lambda x: strings(list(x.values())), "names and strings"),
        tagger=get("tagger", str),
        training=get("training", dict),
        **vectors,
    )


def _as_json(model: RoseModel) -> dict[str, Any]:
    document: dict[str, Any] = {"format": FORMAT, "version": VERSION, **dataclasses.asdict(model)}
    settings: dict[str, Any] = document.pop("features")
    document["features"] = list(model.features.names)
    return document | settings
