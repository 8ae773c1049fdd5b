"""What WRO-local keeps of a global training: the pairs, the solution, and each sentence's loss around it, in one file.

With x_k the standardised differences of pair k, k of sentence s, and the loss of `lasw.tuning.optimisers.pairs.ranking`
(mirror images counted), the loss of sentence s around the global solution b0 is, up to terms of third order,

    L_s(b0 + u) = L_s(b0) + g_s u + u H_s u / 2

A column is a dense feature that was learnt. Sparse features keep their global weights: their part of a pair's score is
a constant, `offset`.

The file is an uncompressed zip of .npy arrays (numpy reads it) and ``header.json``. Same content, same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from lasw.metrics import UserError, atomic_write, parse_array, parse_json, read_arrays
from lasw.tuning.optimisers import LOSSES, MIRROR_IMAGES, PairwiseOptimiser, previous_vector, summed_squares
from lasw.tuning.pool import NOISE, Floats
from lasw.tuning.weights import FeatureNames, Weights

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool

FORMAT = "lasw-local-samples"
VERSION = 2
MOST_COLUMNS = 256  # a Hessian a sentence: 1000 sentences of so many columns are half a gigabyte
_HEADER = "header.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # of all members of the zip, so that the same content is the same bytes


@dataclass(frozen=True)
class LocalSamples:
    """m pairs of S development sentences in q columns, and the global solution.

    Attributes:
        source: (S) the development sentences.
        names: of the d dense features.
        sparse_names: of the p sparse ones that the pairs have.
        previous: (d + p,) the weights before the global training.
        regression: (d + p,) its solution, not yet brought to size.
        lengthening: (d + p,) what the length search adds to it, and to local weights as well.
        moved: (d + p,) bool, what it learnt.
        columns: (q,) int64, the dense features among those.
        scale: (q,) unit of each column.
        x: (m, q) differences better - worse in these units.
        offset: (m,) score difference by the sparse features under `regression`.
        labels: (m,) metric differences.
        sentence: (m,) int64, ascending.
        instance: (S,) global instance weights.
        gradient: (S, q) g_s.
        hessian: (S, q, q) H_s.
        squares: (S, q) sum of the squares of each sentence's x.
        counts: (S, q) number of its entries that are not 0.
        noise: (q,) a root mean square below it is rounding, in units of the columns.
        header: settings: loss, l2, norm, psi, signature, and what whoever writes adds (``setting``, ``unused`` ...).
    """

    source: tuple[str, ...]
    names: FeatureNames
    sparse_names: tuple[str, ...]
    previous: Floats
    regression: Floats
    lengthening: Floats
    moved: NDArray[np.bool_]
    columns: NDArray[np.int64]
    scale: Floats
    x: Floats
    offset: Floats
    labels: Floats
    sentence: NDArray[np.int64]
    instance: Floats
    gradient: Floats
    hessian: Floats
    squares: Floats
    counts: Floats
    noise: Floats
    header: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"LocalSamples({len(self.source)} sentences, {len(self.x)} pairs, {len(self.columns)} columns)"

    @property
    def solution(self) -> Floats:
        """(q,) b0, the global weights of the columns in their units."""
        return np.asarray(self.regression[self.columns] * self.scale)

    @property
    def loss(self) -> str:
        """Name of the loss."""
        return str(self.header["loss"])

    @property
    def l2(self) -> float:
        """Strength of the penalty that pulls to 0."""
        return float(self.header["l2"])


_ARRAYS = tuple(f.name for f in fields(LocalSamples) if f.name not in ("source", "names", "sparse_names", "header"))


def local_samples(
    optimiser: PairwiseOptimiser,
    pool: Pool,
    start: Weights,
    source: tuple[str, ...],
    more: Mapping[str, Any] | None = None,
) -> LocalSamples:
    """Train globally, and keep what local training needs.

    Args:
        optimiser: PRO or WRO.
        pool: all candidates.
        start: the previous weights.
        source: (S) the development sentences.
        more: for the header.

    Raises:
        UserError: no pair reached the threshold, no dense feature could be learnt, or there are too many of them.
        ValueError: another number of sentences than the pool has.
    """
    if len(source) != len(pool.references):
        raise ValueError(f"{len(source)} source sentences for {len(pool.references)}")
    samples = optimiser.sample(pool)
    if not len(samples.pairs):
        raise UserError("no two candidates of a sentence differ enough: there is nothing to learn from")
    ranking = optimiser.regress(samples, start)
    d = len(start.dense)
    columns = np.flatnonzero(ranking.moved[:d])
    if not 0 < len(columns) <= MOST_COLUMNS:
        raise UserError(f"{len(columns)} dense features differ", expected=f"1 to {MOST_COLUMNS} for local weights")
    scale = ranking.scale[columns]
    differences = samples.differences
    if isinstance(differences, np.ndarray):
        x, offset = differences[:, columns] / scale, np.zeros(len(differences))
    else:
        x = differences[:, columns].toarray() / scale
        offset = np.asarray(differences[:, d:] @ ranking.weights[d:])
    x = np.ascontiguousarray(x)
    solution = ranking.weights[columns] * scale
    gradient, hessian = derivatives(
        x, offset, samples.pairs.difference, samples.pairs.sentence, len(source), solution, optimiser.loss
    )
    header = {
        "loss": optimiser.loss,
        "l2": optimiser.l2,
        "norm": optimiser.norm,
        "psi": optimiser.psi,
        "signature": str(optimiser.signature()),
        "warnings": list(ranking.warnings),
        **(more or {}),
    }
    return LocalSamples(
        tuple(source),
        start.names,
        samples.sparse_names,
        previous_vector(samples, start),
        ranking.weights,
        optimiser.lengthening(pool, ranking),
        ranking.moved,
        columns,
        scale,
        x,
        offset,
        samples.pairs.difference,
        samples.pairs.sentence,
        samples.sentence_weights,
        gradient,
        hessian,
        _by_sentence(x**2, samples.pairs.sentence, len(source)),
        _by_sentence((x != 0).astype(np.float64), samples.pairs.sentence, len(source)),
        NOISE * samples.magnitude[columns] / scale,
        header,
    )


def derivatives(
    x: Floats,
    offset: Floats,
    labels: Floats,
    sentence: NDArray[np.int64],
    sentences: int,
    b: Floats,
    loss: str,
) -> tuple[Floats, Floats]:
    """(S, q) gradients and (S, q, q) Hessians at `b` of each sentence's loss, mirror images counted."""
    q = x.shape[1]
    gradient, hessian = np.zeros((sentences, q)), np.zeros((sentences, q, q))
    of = LOSSES[loss]()
    with threadpool_limits(limits=1, user_api="blas"):
        z = x @ b + offset
        slope, curvature = MIRROR_IMAGES * of.slope(z, labels), MIRROR_IMAGES * of.curvature(z, labels)
        ends = np.searchsorted(sentence, np.arange(sentences + 1))
        for s, (start, end) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
            mine = x[start:end]
            gradient[s] = slope[start:end] @ mine
            hessian[s] = summed_squares(mine, curvature[start:end])
    return gradient, hessian


def _by_sentence(rows: Floats, sentence: NDArray[np.int64], sentences: int) -> Floats:
    """(S, q) sums of the rows (m, q) of each sentence."""
    out = np.zeros((sentences, rows.shape[1]))
    np.add.at(out, sentence, rows)
    return out


def write_samples(path: str | os.PathLike[str], samples: LocalSamples) -> None:
    """Write them, whole or not at all."""
    arrays = {name: _bytes(getattr(samples, name)) for name in _ARRAYS}
    described = {
        "format": FORMAT,
        "version": VERSION,
        "groups": [list(group) for group in samples.names.groups],
        "sparse_names": list(samples.sparse_names),
        "source": list(samples.source),
        "settings": dict(samples.header),
    }
    described["fingerprint"] = _fingerprint(described, arrays)
    with atomic_write(path) as out, zipfile.ZipFile(out, "w") as packed:
        packed.writestr(zipfile.ZipInfo(_HEADER, _EPOCH), json.dumps(described, ensure_ascii=False))
        for name, data in arrays.items():
            packed.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), data)


def read_samples(path: str | os.PathLike[str]) -> LocalSamples:
    """Read what `write_samples` wrote.

    Raises:
        UserError: no such file, another kind or version of file, or one whose content is not what was written.
    """
    remedy = "make them with 'lasw local train'"
    wrong = UserError("no stored samples, or damaged ones", path=path, remedy=remedy)
    members = read_arrays(path, wrong.found, remedy)
    described = parse_json(members.get(_HEADER, b"null"), path, remedy=remedy)
    if not isinstance(described, dict) or described.get("format") != FORMAT:
        raise wrong
    if described.get("version") != VERSION:
        found = f"version {str(described.get('version'))[:60]} of stored samples"
        raise UserError(found, path=path, expected=f"version {VERSION}", remedy=remedy)
    try:
        arrays = {name: members[f"{name}.npy"] for name in _ARRAYS}
        if described.pop("fingerprint") != _fingerprint(described, arrays):
            raise wrong
    except (ValueError, KeyError):
        raise wrong from None
    return LocalSamples(
        source=tuple(described["source"]),
        names=FeatureNames(tuple((name, int(size)) for name, size in described["groups"])),
        sparse_names=tuple(described["sparse_names"]),
        header=described["settings"],
        **{name: parse_array(data) for name, data in arrays.items()},
    )


def _bytes(array: NDArray[Any]) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, np.ascontiguousarray(array), allow_pickle=False)
    return out.getvalue()


def _fingerprint(described: Mapping[str, Any], arrays: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode("ascii"))
    for name, data in sorted(arrays.items()):
        digest.update(name.encode() + b"\0" + data)
    return digest.hexdigest()
