"""Word alignment of a pool that comes without: by models trained on the pool, or by models that were kept.

Training holds the whole text in memory, so it is for pools of some million pairs; models trained on a part of a larger
pool (``lasw align --save``) align the rest block by block.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lasw.metrics import UserError, atomic_write
from lasw.selection.alignment import (
    DIRECTIONS,
    MAX_LENGTH,
    Alignment,
    Directions,
    align_directions,
    check_models,
    symmetrise,
    tokens,
    transposed,
)
from lasw.selection.pool.bitext import Bitext

# Thot's name of a model in its description -> its class. IBM 2 ends in a segmentation fault when asked for one
# alignment, and Eflomal's models can only be trained (Thot 3.5.3).
_CLASSES = {"fastAlign": "FastAlignModel", "hmm": "HmmAlignmentModel", "ibm1": "Ibm1AlignmentModel"}


def train_on_pool(
    bitext: Bitext, path: str | os.PathLike[str], *, model: str, heuristic: str, seed: int = 1, jobs: int = 2
) -> Directions:
    """Train models on the pool and write its alignment to `path`, a line a pair, empty where a side is.

    Args:
        bitext: the pool.
        path: of the alignment.
        model, heuristic, seed, jobs: see `lasw.selection.alignment.alignment`.

    Raises:
        UserError: as `align_directions`, or reading the pool fails.
    """
    source: list[str] = []
    target: list[str] = []
    for block in bitext.blocks():
        source += block.source.texts()
        target += block.target.texts()
    directions = align_directions(source, target, Path(path).parent, model=model, seed=seed, jobs=jobs)
    _write(path, iter([symmetrise(directions, heuristic)]))
    return directions


def align_by_models(
    bitext: Bitext,
    path: str | os.PathLike[str],
    prefix: str,
    *,
    heuristic: str,
    watch: Callable[[int], None] | None = None,
) -> None:
    """Write the alignment of the pool to `path` with models kept by ``lasw align --save PREFIX``.

    Args:
        bitext: the pool.
        path: of the alignment.
        prefix: of the models.
        heuristic: of symmetrisation.
        watch: told after each block how many pairs it had.

    Raises:
        UserError: there are no such models, or damaged ones, or of a kind that cannot align new text.
    """
    check_models(prefix)
    models = [_loaded(f"{prefix}{direction}") for direction in DIRECTIONS]

    def alignments() -> Iterator[Alignment]:
        for block in bitext.blocks():
            sides = [[tokens(line) for line in side.texts()] for side in (block.source, block.target)]
            yield symmetrise(_directions(models, *sides), heuristic)
            if watch is not None:
                watch(len(block))

    _write(path, alignments())


def _directions(models: list[Any], source: list[list[str]], target: list[list[str]]) -> Directions:
    lengths = [np.array([len(sentence) for sentence in side], dtype=np.int64) for side in (source, target)]
    usable = (np.minimum(*lengths) > 0) & (np.maximum(*lengths) <= MAX_LENGTH)
    forward = _aligned(models[0], source, target, usable.tolist())
    backward = _aligned(models[1], target, source, usable.tolist())
    return Directions(forward, transposed(backward), lengths[0], lengths[1], np.flatnonzero(~usable), (Path(), Path()))


def _aligned(model: Any, source: list[list[str]], target: list[list[str]], usable: list[bool]) -> Alignment:
    rows = [k for k, good in enumerate(usable) if good]
    found = model.get_best_alignments([source[k] for k in rows], [target[k] for k in rows])
    pairs = [np.empty((0, 2), dtype=np.int32)] * len(usable)
    for k, (_, matrix) in zip(rows, found, strict=True):
        pairs[k] = np.argwhere(matrix.to_numpy()).astype(np.int32)
    return Alignment.from_pairs(pairs)


def _loaded(prefix: str) -> Any:
    try:
        from thot import alignment
    except ImportError:
        raise UserError("word alignment needs sil-thot", remedy="pip install 'lasw[thot]'") from None
    description = Path(f"{prefix}.yml")
    if not description.is_file():
        raise UserError("no such alignment model", path=description, remedy="lasw align --save PREFIX makes them")
    named = re.search(r"^model: *(\w+)", description.read_text(encoding="utf-8"), re.MULTILINE)
    kind = named[1] if named else ""
    if kind not in _CLASSES:
        raise UserError(
            f"a model of kind {kind!r} cannot align new text",
            path=description,
            expected=f"one of {', '.join(_CLASSES)}",
        )
    model = getattr(alignment, _CLASSES[kind])()
    if not model.load(prefix):
        raise UserError("the alignment model cannot be read", path=prefix)
    return model


def _write(path: str | os.PathLike[str], alignments: Iterator[Alignment]) -> None:
    with atomic_write(path) as stream:
        for alignment in alignments:
            for line in alignment.lines():
                stream.write(line.encode("ascii") + b"\n")
