"""Reading and writing weights in the files of many programs; what a file is, its content says.

A flat file (`equals`, `pairs`) does not say which of its features are dense: all become groups of one component, and
`lasw.tuning.formats.weights.matching.match` sorts them by the features of the N-best lists.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from lasw.metrics import STANDARD_INPUT, UserError, read_lines, unknown, write_text
from lasw.tuning.formats.weights import moses_ini
from lasw.tuning.formats.weights.lines import Path, line_kind, number, read_pairs
from lasw.tuning.weights import Weights


class WeightFile(NamedTuple):
    """What a file of weights holds: `kind` is ``moses``, ``json`` or a kind of line (`weight_lines.LINE_KINDS`)."""

    weights: Weights
    kind: str

    @property
    def dense(self) -> tuple[str, ...]:
        """Names of features that the file says are dense; flat files do not say."""
        return () if self.kind in ("pairs", "equals") else tuple(name for name, _ in self.weights.names.groups)


def read_weights(path: Path, *, sparse_path: Path | None = None, encoding: str = "utf-8") -> Weights:
    """The weights in a file, see `read_weight_file`."""
    return read_weight_file(path, sparse_path=sparse_path, encoding=encoding).weights


def read_weight_file(path: Path, *, sparse_path: Path | None = None, encoding: str = "utf-8") -> WeightFile:
    """The weights in a file: moses.ini (new or old sections), our JSON, or lines as `weight_lines` lists them.

    Args:
        path: the file.
        sparse_path: a file of sparse weights (``NAME v``) beside it, as Moses' ``-weight-file``; it takes the place of
            the one that a moses.ini names.
        encoding: of both.

    Raises:
        UserError: no weights in it, a line that is none, a feature with two weights, a number that is not finite.
    """
    lines = _lines(path, encoding)
    text = "\n".join(lines)
    if text.lstrip().startswith("{"):
        weights, kind = _from_json(text, path), JSON
    elif moses_ini.is_moses_ini(lines):
        weights, kind = moses_ini.read(lines, path, read_sparse=sparse_path is None, encoding=encoding), MOSES
    else:
        kind = line_kind(lines)
        weights = Weights.from_groups(read_pairs(lines, kind, path))
    if sparse_path is not None:
        weights = _with_sparse(weights, moses_ini.read_sparse_weights(sparse_path, encoding), sparse_path)
    if not len(weights.names) and not weights.sparse:
        raise UserError("no weights in it", path=path, remedy="is this the right file?")
    return WeightFile(weights, kind)


def write_weights(
    path: Path,
    weights: Weights,
    *,
    kind: str | None = None,
    template: Path | None = None,
    comment: Sequence[str] = (),
) -> None:
    """Write weights so that `read_weights` gives the same numbers back, bit for bit.

    Args:
        path: the file to write.
        weights: what goes into it.
        kind: one of `WEIGHT_KINDS`; None: what the name says (`kind_of_name`).
        template: for kind ``moses``, the moses.ini whose weights are replaced and whose other lines stay.
        comment: lines for the top of the file (JSON has no comments, so there they are left out).

    Raises:
        UserError: unknown kind, no template for a moses.ini, or a feature that it does not declare.
    """
    kind = check_output(path, kind=kind, template=template)
    if kind == MOSES and template is not None:
        moses_ini.rewrite(template, path, weights, comment)
    else:
        write_text(path, _WRITERS[kind](weights, comment))


def check_output(
    path: Path, *, kind: str | None = None, template: Path | None = None, weights: Weights | None = None
) -> str:
    """The kind that `write_weights` would write; what it would refuse is refused now, before a long run.

    Args:
        path, kind, template: as there.
        weights: of the features that will have weights, if they are known; their numbers do not matter.

    Raises:
        UserError: unknown kind, no template for a moses.ini or one that is none, no file that can be written there, or
            a feature that has no place in such a file.
    """
    kind = kind_of_name(path) if kind is None else kind
    if kind not in WEIGHT_KINDS:
        raise unknown("kind of weight file", kind, list(WEIGHT_KINDS))
    if kind == MOSES:
        if template is None:
            raise UserError(
                "no moses.ini to take the other settings from", path=path, remedy="give one, or write weights as JSON"
            )
        moses_ini.check_template(template, weights)
    elif weights is not None:
        _WRITERS[kind](weights, ())
    if path == STANDARD_INPUT or (os.path.exists(path) and not os.path.isfile(path)):
        raise UserError("cannot be written (no regular file)", path=path, expected="the name of a file")
    folder = os.path.dirname(os.path.abspath(os.fspath(path)))
    if not os.path.isdir(folder):
        raise UserError("cannot be written (no such folder)", path=path, remedy=f"make {folder} first")
    if not os.access(folder, os.W_OK):
        raise UserError("cannot be written (no permission)", path=path, expected="a folder that can be written to")
    return kind


def kind_of_name(path: Path) -> str:
    """``moses`` for a name that ends in ``.ini``, else ``json``."""
    return MOSES if os.fspath(path).endswith(".ini") else JSON


def as_json(weights: Weights) -> dict[str, Any]:
    """What our JSON files hold: ``{"dense": {group: [v, ...]}, "sparse": {name: v}}``."""
    return {"dense": weights.by_group(), "sparse": dict(sorted(weights.sparse.items()))}


def from_json(data: object, path: Path | None = None) -> Weights:
    """The weights that `as_json` described.

    Raises:
        UserError: other keys, or values that are no finite numbers.
    """
    if not isinstance(data, dict) or not data or not set(data) <= {"dense", "sparse"}:
        raise UserError("no weights of ours", path=path, expected='{"dense": {NAME: [v, ...]}, "sparse": {NAME: v}}')
    dense, sparse = data.get("dense", {}), data.get("sparse", {})
    if not isinstance(dense, dict) or not isinstance(sparse, dict):
        raise UserError("weights without names", path=path, expected='{"dense": {NAME: [v, ...]}, "sparse": {NAME: v}}')
    groups = {name: _json_numbers(name, values, path) for name, values in dense.items()}
    return Weights.from_groups(groups, {name: _json_number(name, value, path) for name, value in sparse.items()})


def _lines(path: Path, encoding: str) -> list[str]:
    """Of the file; in a moses.ini, bytes that are no UTF-8 (in a path, in a comment) are let through."""
    try:
        return read_lines(path, encoding=encoding)
    except UserError:
        if encoding != "utf-8" or not os.path.isfile(path):
            raise
        lines = moses_ini.template_lines(path)
        if not moses_ini.is_moses_ini(lines) or any("\0" in line for line in lines):
            raise
        names = "".join(moses_ini.read(lines, path, read_sparse=False).names.slices)
        if not names.isprintable():  # they go into files of ours
            raise
        return lines


def _json_numbers(name: str, values: object, path: Path | None) -> list[float]:
    listed = values if isinstance(values, list) else [values]
    return [_json_number(name, value, path) for value in listed]


def _json_number(name: str, value: object, path: Path | None) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UserError(f"the weight of {name} is {json.dumps(value)}", path=path, expected="a finite number")
    return number(repr(value), path=path, name=name)


def _from_json(text: str, path: Path) -> Weights:
    def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in pairs:
            if key in found:
                raise UserError(f"{key!r} is there twice", path=path, expected="one weight a feature")
            found[key] = value
        return found

    try:
        data = json.loads(text, object_pairs_hook=without_repeats)
    except json.JSONDecodeError as error:
        raise UserError(f"not valid JSON ({error.msg})", path=path, line=error.lineno) from None
    except (ValueError, RecursionError) as error:  # thousands of digits or of brackets
        raise UserError(
            f"not readable as JSON ({error})", path=path, expected="weights as this program writes"
        ) from None
    return from_json(data, path)


def _with_sparse(weights: Weights, sparse: Mapping[str, float], path: Path) -> Weights:
    twice = sorted(set(weights.sparse) & set(sparse))
    if twice:
        raise UserError(f"{twice[0]} has a second weight", path=path, expected="one weight a feature")
    return Weights(weights.names, weights.dense, {**weights.sparse, **sparse})


def _flat(weights: Weights) -> list[tuple[str, float]]:
    dense = list(zip(weights.names.components, weights.dense.tolist(), strict=True))
    flat = dense + sorted(weights.sparse.items())
    if len({name for name, _ in flat}) != len(flat):
        raise UserError("a dense and a sparse feature share one name", remedy="write the weights as JSON")
    return flat


def _comments(comment: Sequence[str]) -> str:
    return "".join(f"# {line}\n" for line in comment)


def _write_json(weights: Weights, comment: Sequence[str]) -> str:
    return json.dumps(as_json(weights), indent=2, ensure_ascii=False) + "\n"


def _write_pairs(weights: Weights, comment: Sequence[str]) -> str:
    return _comments(comment) + "".join(f"{name} {value!r}\n" for name, value in _flat(weights))


def _write_joshua(weights: Weights, comment: Sequence[str]) -> str:
    return _comments(comment) + "".join(f"{name} = {value!r}\n" for name, value in _flat(weights))


def _write_travatar(weights: Weights, comment: Sequence[str]) -> str:
    return _comments(comment) + "".join(f"{name}={value!r}\n" for name, value in _flat(weights))


def _write_groups(weights: Weights, comment: Sequence[str]) -> str:
    if weights.sparse:
        raise UserError("lines of groups have no place for sparse weights", remedy="write json, moses or pairs")
    lines = (f"{name}= {' '.join(map(repr, values))}\n" for name, values in weights.by_group().items())
    return _comments(comment) + "".join(lines)


MOSES = "moses"
JSON = "json"
_WRITERS: dict[str, Callable[[Weights, Sequence[str]], str]] = {
    JSON: _write_json,
    "pairs": _write_pairs,
    "joshua": _write_joshua,
    "travatar": _write_travatar,
    "groups": _write_groups,
}
WEIGHT_KINDS = (MOSES, *_WRITERS)
