"""Decodings that several runs would make alike, each made by one of them.

All runs of a comparison begin with the same weights, and some go on with the same ones. What a decoder gives depends on
nothing but its models, the sentences, the weights and the number of hypotheses; a file of it is linked into a common
folder under the hash of these, and the next run that wants it gets a link. Where files cannot be linked every run makes
its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lasw.metrics import write_text
from lasw.tuning.run_directory import file_digest
from lasw.tuning.weights import Weights


@dataclass(frozen=True)
class SharedFiles:
    """A folder of files that depend on weights.

    Args:
        folder: made when the first file comes; all runs must see it.
        known: what else the files depend on, as JSON: decoder, fingerprints of models and sentences.
    """

    folder: Path
    known: Any

    def take(self, path: Path, weights: Weights, more: Any = None) -> bool:
        """Put the file for these weights at `path`, if there is one."""
        shared = self._place(path, weights, more)
        checksum = shared.with_name(f"{shared.name}.sha256")
        if not shared.exists():
            return False
        if checksum.exists() and checksum.read_bytes() != file_digest(shared).encode():
            with contextlib.suppress(OSError):  # damaged since: everybody makes it again
                shared.unlink()
            return False
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
            os.link(shared, path)
            return True
        return False

    def give(self, path: Path, weights: Weights, more: Any = None) -> None:
        """Let others have the file at `path`."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            shared = self._place(path, weights, more)
            if not shared.exists():
                write_text(shared.with_name(f"{shared.name}.sha256"), file_digest(path))
                os.link(path, shared)

    def _place(self, path: Path, weights: Weights, more: Any) -> Path:
        values = [float(value).hex() for value in weights.dense]
        sparse = [(name, float(value).hex()) for name, value in sorted(weights.sparse.items())]
        known = json.dumps([self.known, more, weights.names.groups, values, sparse], sort_keys=True, default=str)
        return self.folder / f"{hashlib.sha256(known.encode()).hexdigest()[:32]}{''.join(path.suffixes)}"
