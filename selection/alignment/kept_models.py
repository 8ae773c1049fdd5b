"""Alignment models that are kept for later: files of Thot's, whole, and a list by which damage is seen.

Thot reads past the end of a model file that is cut off, and then aligns differently; so ``PREFIX.sha256`` has a line a
file, as the program ``sha256sum`` writes and checks it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lasw.metrics import UserError, atomic_write, read_lines, write_text
from lasw.selection.alignment.directions import tokenised
from lasw.selection.alignment.pharaoh import Alignment
from lasw.selection.alignment.symmetrisation import Directions, transposed

DIRECTIONS = ("_invswm", "_swm")
"""What the names of the models from source to target and from target to source end in."""
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
# Thot's name of a model in its description -> its class. IBM 2 ends in a segmentation fault when asked for one
# alignment, and Eflomal's models can only be trained (Thot 3.5.3).
_CLASSES = {"fastAlign": "FastAlignModel", "hmm": "HmmAlignmentModel", "ibm1": "Ibm1AlignmentModel"}


def keep_models(prefix: str, trained: Sequence[Path]) -> None:
    """Copy both models' files to ``PREFIX_invswm.*`` and ``PREFIX_swm.*``.

    Args:
        prefix: of the files.
        trained: prefixes of the models, source to target and target to source.

    Raises:
        UserError: a file cannot be written.
    """
    kept = []
    for direction, models in zip(DIRECTIONS, trained, strict=True):
        for file in sorted(models.parent.glob(f"{models.name}.*")):
            name = f"{prefix}{direction}{file.name.removeprefix(models.name)}"
            with open(file, "rb") as stream, atomic_write(name) as copy:
                shutil.copyfileobj(stream, copy)
            kept.append(f"{_digest(file)}  {os.path.basename(name)}\n")
    write_text(f"{prefix}.sha256", "".join(kept))


class KeptModels:
    """Models that align new text.

    Args:
        prefix: as in `keep_models`.

    Raises:
        UserError: there are no such models, or damaged ones, or of a kind that cannot align new text.
    """

    def __init__(self, prefix: str) -> None:
        _check(prefix)
        self._prefixes = Path(f"{prefix}{DIRECTIONS[0]}"), Path(f"{prefix}{DIRECTIONS[1]}")
        self._models = [_loaded(path) for path in self._prefixes]

    def align(self, source: Sequence[str], target: Sequence[str]) -> Directions:
        """Align n lines of tokens, in both directions."""
        sides, lengths, usable = tokenised(source, target)
        rows = np.flatnonzero(usable).tolist()
        forward = _aligned(self._models[0], sides, rows)
        backward = _aligned(self._models[1], sides[::-1], rows)
        return Directions(forward, transposed(backward), *lengths, np.flatnonzero(~usable), self._prefixes)


def _aligned(model: Any, sides: list[list[list[str]]], rows: list[int]) -> Alignment:
    matrices = model.get_best_alignments(*([side[k] for k in rows] for side in sides))
    pairs = [np.empty((0, 2), dtype=np.int32)] * len(sides[0])
    for k, (_, matrix) in zip(rows, matrices, strict=True):
        pairs[k] = np.argwhere(matrix.to_numpy()).astype(np.int32)
    return Alignment.from_pairs(pairs)


def _loaded(prefix: Path) -> Any:
    try:
        from thot import alignment
    except ImportError:
        raise UserError("word alignment needs sil-thot", remedy="pip install sil-thot") from None
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
    if not model.load(str(prefix)):
        raise UserError("the alignment model cannot be read", path=prefix)
    return model


def _check(prefix: str) -> None:
    """Refuse kept models one of whose files is not what was written; without a list nothing is checked.

    Raises:
        UserError: names the file.
    """
    listed = f"{prefix}.sha256"
    if not os.path.exists(listed):
        return
    for number, line in enumerate(read_lines(listed), 1):
        found = _LINE.fullmatch(line)
        if not found:
            raise UserError(f"{line[:60]!r}", path=listed, line=number, expected="a digest and a name")
        file = Path(prefix).parent / found[2]
        if not file.is_file() or _digest(file) != found[1]:
            raise UserError(
                "missing, damaged or of another model", path=file, remedy="make the models again with lasw align --save"
            )


def _digest(file: Path) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
