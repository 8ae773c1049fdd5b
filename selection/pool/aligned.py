"""Word alignment of a pool that comes without: by models trained on the pool, or by models that were kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lasw.selection.alignment import Directions, KeptModels, align_directions, symmetrise, write_pharaoh
from lasw.selection.pool.bitext import Bitext


def align_pool(
    bitext: Bitext,
    path: Path,
    *,
    model: str = "fast_align",
    kept: str | None = None,
    heuristic: str = "grow-diag-final-and",
) -> Bitext:
    """Write the alignment of a pool, a line a pair, empty where a side is.

    Training holds the whole text in memory, so it is for pools of some million pairs; models trained on a part of a
    larger pool align the rest block by block.

    Args:
        bitext: the pool.
        path: of the alignment.
        model: to train, see `ALIGNERS`.
        kept: prefix of models kept by ``lasw align --save``, which take its place.
        heuristic: of symmetrisation.

    Returns:
        The pool with its alignment.

    Raises:
        UserError: as `align_directions` or `KeptModels`, or reading the pool fails.
    """

    def directions() -> Iterator[Directions]:
        sides = ((block.source.texts(), block.target.texts()) for block in bitext.blocks())
        if kept:
            models = KeptModels(kept)
            yield from (models.align(*texts) for texts in sides)
            return
        source: list[str] = []
        target: list[str] = []
        for texts in sides:
            source += texts[0]
            target += texts[1]
        yield align_directions(source, target, path.parent, model=model)

    write_pharaoh(path, (symmetrise(both, heuristic) for both in directions()))
    return replace(bitext, alignment=str(path))
