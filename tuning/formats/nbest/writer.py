"""Writing N-best lists, in Moses' layout, so that reading them gives the same bits."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from lasw.metrics import UserError, atomic_write
from lasw.tuning.nbest import NBest

_STEP = 1 << 12  # hypotheses formatted at once: bounds the memory for their text


def write_nbest(path: str | os.PathLike[str], nbest: NBest) -> None:
    """Write ``ID ||| words  ||| NAME= v v NAME_rest= v ||| total`` a hypothesis, numbers as repr gives them.

    The file appears whole or not at all; a name that ends in ``.gz`` is compressed, always to the same bytes. Sparse
    features stand behind the dense ones in the order of their names.

    Raises:
        UserError: a token or name holds ``|||``, or the file cannot be written.
        ValueError: a number is not finite.
    """
    with atomic_write(path) as stream:
        for text in nbest_text(nbest, path):
            stream.write(text.encode("utf-8"))


def nbest_text(nbest: NBest, path: str | os.PathLike[str] | None = None) -> Iterator[str]:
    """The lines that `write_nbest` writes, some thousand at a time; `path` is for messages.

    Raises:
        UserError: a token or name holds ``|||``.
        ValueError: a number is not finite.
    """
    _check(nbest, path)
    for start in range(0, len(nbest), _STEP):
        yield "".join(_lines(nbest, start, min(start + _STEP, len(nbest))))


def _check(nbest: NBest, path: str | os.PathLike[str] | None) -> None:
    finite = np.isfinite(nbest.dense).all() and np.isfinite(nbest.score).all()
    if not finite or (nbest.sparse is not None and not np.isfinite(nbest.sparse.data).all()):
        raise ValueError("features and totals must be finite")
    words = nbest.hypotheses.vocabulary
    for index in np.unique(nbest.hypotheses.ids).tolist():
        if "|||" in words[index]:
            raise UserError(
                f"the word {words[index]!r} cannot be written to an N-best list",
                path=path,
                remedy="escape | in the text",
            )
    for name in nbest.names.slices:
        if "|||" in name:
            raise UserError(f"the feature {name!r} cannot be written to an N-best list", path=path, remedy="rename it")


def _lines(nbest: NBest, start: int, end: int) -> Iterator[str]:
    corpus, words = nbest.hypotheses, nbest.hypotheses.vocabulary
    offsets = corpus.offsets[start : end + 1]
    distinct, places = np.unique(corpus.ids[offsets[0] : offsets[-1]], return_inverse=True)
    spelled = [words[index] + " " for index in distinct.tolist()]
    tokens = [spelled[place] for place in places.tolist()]
    bounds = (offsets - offsets[0]).tolist()
    groups = [(f"{name}=", place.start, place.stop) for name, place in nbest.names.slices.items()]
    owners, scores = nbest.owner[start:end].tolist(), nbest.score[start:end].tolist()
    for k, row in enumerate(nbest.dense[start:end].tolist()):
        features: list[str] = []
        for name, first, last in groups:
            features.append(name)
            features.extend(map(repr, row[first:last]))
        features.extend(_sparse(nbest, start + k))
        text = "".join(tokens[bounds[k] : bounds[k + 1]])
        yield f"{owners[k]} ||| {text} ||| {' '.join(features)} ||| {scores[k]!r}\n"


def _sparse(nbest: NBest, row: int) -> Iterator[str]:
    if nbest.sparse is None or nbest.sparse_names is None:
        return
    first, last = nbest.sparse.indptr[row], nbest.sparse.indptr[row + 1]
    names = [nbest.sparse_names[column] for column in nbest.sparse.indices[first:last].tolist()]
    for name, value in sorted(zip(names, nbest.sparse.data[first:last].tolist(), strict=True)):
        yield f"{name}="
        yield repr(value)
