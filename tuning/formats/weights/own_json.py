"""Weights in our JSON, ``{"dense": {group: [v, ...]}, "sparse": {name: v}}``, and in JSON without these two keys."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from lasw.metrics import UserError, parse_json, write_text
from lasw.tuning.formats.weights.base import FilePath, WeightFormat, number
from lasw.tuning.weights import Weights

_SHAPE = '{"dense": {NAME: [v, ...]}, "sparse": {NAME: v}}'
_FLAT_SHAPE = "{NAME: v or [v, ...]}"
_OWN = re.compile(r'"(dense|sparse)"\s*:\s*\{')


class OwnJson(WeightFormat):
    """A JSON object; it has no comments. What ``lasw optimise --json`` prints is one, with others around it."""

    usual_name = "decoder.json"
    has_comments = False

    def fits(self, lines: Sequence[str]) -> float:
        """See `WeightFormat`."""
        first = next((line.lstrip() for line in lines if line.strip()), "")
        return math.inf if first.startswith("{") else 0

    def read(self, lines: Sequence[str], path: FilePath) -> Weights:
        """See `WeightFormat`."""
        data = _loaded(lines, path)
        whole = isinstance(data, dict) and "signature" in data and isinstance(data.get("weights"), dict)
        return from_json(data["weights"] if whole else data, path)

    def write(self, path: FilePath, weights: Weights, comment: Sequence[str], template: FilePath | None) -> None:
        """See `WeightFormat`."""
        write_text(path, json.dumps(as_json(weights), indent=2, ensure_ascii=False) + "\n")


class FlatJson(OwnJson):
    """``{NAME: v}`` or ``{NAME: [v, ...]}``."""

    flat = True

    def fits(self, lines: Sequence[str]) -> float:
        """See `WeightFormat`."""
        return 0 if _OWN.search("\n".join(lines)) else super().fits(lines)

    def read(self, lines: Sequence[str], path: FilePath) -> Weights:
        """See `WeightFormat`."""
        data = _loaded(lines, path)
        if not isinstance(data, dict) or set(data) <= {"dense", "sparse"} or _nested(data):
            raise UserError("no weights in this JSON", path=path, expected=f"{_SHAPE} or {_FLAT_SHAPE}")
        return from_json({"dense": data}, path)

    def check(self, path: FilePath, weights: Weights | None, template: FilePath | None) -> None:
        """See `WeightFormat`."""
        if weights is not None and set(weights.sparse) & set(weights.names.slices):
            raise UserError("a dense and a sparse feature share one name", remedy="write kind json")

    def write(self, path: FilePath, weights: Weights, comment: Sequence[str], template: FilePath | None) -> None:
        """See `WeightFormat`."""
        self.check(path, weights, template)
        groups = {name: values if len(values) > 1 else values[0] for name, values in weights.by_group().items()}
        data = {**groups, **dict(sorted(weights.sparse.items()))}
        write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def _nested(data: dict[str, object]) -> bool:
    return any(isinstance(value, dict) for value in data.values())


def _loaded(lines: Sequence[str], path: FilePath) -> Any:
    def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
        values: dict[str, object] = {}
        for key, value in pairs:
            if key in values:
                raise UserError(f"{key!r} is there twice", path=path, expected="one weight a feature")
            values[key] = value
        return values

    text = "\n".join(lines)
    try:
        return parse_json(text, path, expected="weights as this program writes", object_pairs_hook=without_repeats)
    except UserError as error:
        if "(Extra data)" in error.found and (error.line or 0) > 1:
            raise UserError(
                "weights for several sentences",
                path=path,
                line=error.line,
                expected="one JSON object",
                remedy="weights for every sentence are given with --local-weights",
            ) from None
        raise


def as_json(weights: Weights) -> dict[str, Any]:
    """What our JSON files hold."""
    return {"dense": weights.by_group(), "sparse": dict(sorted(weights.sparse.items()))}


def from_json(data: object, path: FilePath | None = None) -> Weights:
    """The weights that `as_json` described.

    Raises:
        UserError: other keys, or values that are no finite numbers.
    """
    if not isinstance(data, dict) or not data or not set(data) <= {"dense", "sparse"}:
        raise UserError("no weights of ours", path=path, expected=_SHAPE)
    dense, sparse = data.get("dense", {}), data.get("sparse", {})
    if not isinstance(dense, dict) or not isinstance(sparse, dict):
        raise UserError("weights without names", path=path, expected=_SHAPE)
    for name in (*dense, *sparse):
        if not name.isascii() and re.search("[\ud800-\udfff]", name):
            raise UserError(f"a feature named {name!a}", path=path, expected="characters that there are")
    groups = {
        name: [_number(name, value, path) for value in (values if isinstance(values, list) else [values])]
        for name, values in dense.items()
    }
    return Weights.from_groups(groups, {name: _number(name, value, path) for name, value in sparse.items()})


def _number(name: str, value: object, path: FilePath | None) -> float:
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UserError(f"the weight of {name} is {json.dumps(value)}", path=path, expected="a finite number")
    return number(repr(value), path=path, name=name)
