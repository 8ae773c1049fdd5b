"""Files with one weight vector a sentence: JSON lines as `own_json` has them, or numpy's ``.npz``.

A ``.npz`` holds `dense` (T, d), `groups` and `sizes` (names and components of the dense features), `sparse` (T, p) and
`sparse_names`.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Sequence

import numpy as np

from lasw.metrics import UserError, atomic_write, first_bytes, parse_array, parse_json, read_arrays, read_lines
from lasw.tuning.formats.weights.base import FilePath
from lasw.tuning.formats.weights.own_json import as_json, from_json
from lasw.tuning.weights import FeatureNames, Weights

NPZ = ".npz"
_NAMES = ("groups", "sizes", "sparse_names")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def json_line(weights: Weights) -> str:
    """One sentence's weights on one line, without its end."""
    return json.dumps(as_json(weights), ensure_ascii=False)


def write_local_weights(path: FilePath, weights: Sequence[Weights]) -> None:
    """Write one weight vector a sentence, as ``.npz`` if the name says so, else as JSON lines.

    Raises:
        UserError: the file cannot be written.
        ValueError: weights of different features for a ``.npz``.
    """
    if not os.fspath(path).endswith(NPZ):
        with atomic_write(path) as out:
            for one in weights:
                out.write((json_line(one) + "\n").encode("utf-8"))
        return
    names = weights[0].names if weights else FeatureNames(())
    if any(one.names != names for one in weights):
        raise ValueError("weights of different features")
    sparse_names = sorted({name for one in weights for name in one.sparse})
    arrays = {
        "dense": np.array([one.dense for one in weights]).reshape(len(weights), len(names)),
        "groups": np.array([name for name, _ in names.groups], dtype=np.str_),
        "sizes": np.array([size for _, size in names.groups], dtype=np.int64),
        "sparse": np.array([one.sparse_vector(sparse_names) for one in weights]).reshape(
            len(weights), len(sparse_names)
        ),
        "sparse_names": np.array(sparse_names, dtype=np.str_),
    }
    with atomic_write(path) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, array in arrays.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, array, allow_pickle=False)
            packed.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), data.getvalue(), zipfile.ZIP_DEFLATED)


def read_local_weights(path: FilePath) -> list[Weights]:
    """The weights of every sentence.

    Raises:
        UserError: no such file, a line that holds no weights, other features than in the first line.
    """
    if first_bytes(path, 2) == b"PK":
        return _from_npz(path)
    found: list[Weights] = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            weights = from_json(parse_json(line, path, line=number, expected="one weight vector a line"), path)
        except UserError as error:
            raise UserError(error.found, path=path, line=number, expected=error.expected) from None
        if found and weights.names != found[0].names:
            raise UserError("weights of other features", path=path, line=number, expected="those of the first line")
        found.append(weights)
    return found


def check_count(weights: Sequence[Weights], sentences: int, path: FilePath, source: FilePath) -> None:
    """There must be one weight vector a sentence.

    Raises:
        UserError: there are more or fewer.
    """
    if len(weights) != sentences:
        raise UserError(
            f"weights for {len(weights)} sentences",
            path=path,
            expected=f"{sentences}, as many as {os.fspath(source)} has lines",
        )


def _from_npz(path: FilePath) -> list[Weights]:
    wrong = "no weights of ours, or damaged ones"
    members = read_arrays(path, wrong)
    try:
        arrays = {name: parse_array(members[f"{name}.npy"]) for name in ("dense", "sparse", *_NAMES)}
        dense, sparse = arrays["dense"], arrays["sparse"]
        groups, sizes, sparse_names = (arrays[name].tolist() for name in _NAMES)
        names = FeatureNames(tuple(zip(groups, sizes, strict=True)))
        kinds = [arrays[name].dtype.kind + str(arrays[name].ndim) for name in _NAMES]
        repeated = len({*groups}) < len(groups) or len({*sparse_names}) < len(sparse_names)
        if kinds != ["U1", "i1", "U1"] or repeated or min(sizes, default=0) < 0:
            raise ValueError
        if not (np.isfinite(dense).all() and np.isfinite(sparse).all() and len(dense) == len(sparse)):
            raise ValueError
        return [
            Weights(names, row, {name: v for name, v in zip(sparse_names, values, strict=True) if v})
            for row, values in zip(dense.astype(np.float64), sparse.tolist(), strict=True)
        ]
    except (ValueError, KeyError, TypeError, OverflowError):
        raise UserError(wrong, path=path) from None
