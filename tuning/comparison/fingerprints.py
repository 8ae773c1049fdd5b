"""What is in the files of a comparison, as hashes: runs are told apart by it and not by where files are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lasw.tuning.comparison.settings import TestSet
from lasw.tuning.decoders import open_decoder
from lasw.tuning.provenance import fingerprint
from lasw.tuning.run_directory import Json

PATHS = ("source", "references", "lists", "start")
"""The keys of a development or test set that name files."""


class Fingerprints:
    """Of files and sets of them, each file read once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._decoders: dict[str, list[str]] = {}

    def of(self, path: str | os.PathLike[str]) -> str:
        """Of one file's content, decompressed."""
        name = os.fspath(path)
        if name not in self._known:
            self._known[name] = fingerprint(name)
        return self._known[name]

    def of_set(self, data: TestSet) -> Json:
        """Of the files of a development or test set, with how they are read."""
        found: Json = {"encoding": data.encoding, "tokenize": data.tokenize, "lowercase": data.lowercase}
        found |= {key: value for key in ("strip_marks", "join", "unescape") if (value := getattr(data, key))}
        for key in PATHS:
            value = getattr(data, key, None)
            found[key] = [self.of(path) for path in (value if isinstance(value, tuple) else [value]) if path]
        return found

    def of_decoder(self, decoder: dict[str, Any] | None) -> list[str]:
        """Of the files that decide what a decoder (name and arguments) gives."""
        if decoder is None:
            return []
        key = repr(decoder)
        if key not in self._decoders:
            paths = open_decoder(decoder).input_files()
            self._decoders[key] = [f"{Path(path).name} {self.of(path)}" for path in paths]
        return self._decoders[key]
