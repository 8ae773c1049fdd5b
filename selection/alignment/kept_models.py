"""Alignment models that are kept for later: files of Thot's, whole, and a list by which damage is seen.

Thot reads past the end of a model file that is cut off, and then aligns differently; so ``PREFIX.sha256`` has a line a
file, as the program ``sha256sum`` writes and checks it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from lasw.metrics import UserError, atomic_write, read_lines, write_text

DIRECTIONS = ("_invswm", "_swm")
"""What the names of the models from source to target and from target to source end in."""
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


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
                while chunk := stream.read(1 << 20):
                    copy.write(chunk)
            kept.append(f"{_digest(file)}  {os.path.basename(name)}\n")
    write_text(f"{prefix}.sha256", "".join(kept))


def check_models(prefix: str) -> None:
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
