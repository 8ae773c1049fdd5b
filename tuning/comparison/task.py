"""One run of a comparison, with all that a worker needs to know, and which of its files are there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lasw.metrics import UserError
from lasw.tuning.comparison.settings import DevelopmentSet, TestSet
from lasw.tuning.run_directory import Json, file_digest, read_json, write_json

_CHECKSUMS = "checksums.json"


@dataclass(frozen=True)
class Translation:
    """One test set as a task translates it.

    Attributes:
        name: of the test set.
        data: its files.
        local: false, or how the weights of every sentence are made from the tuned ones.
        decoder: name and arguments of the decoder; None: its lists are reranked.
        file: of the translations, in the folder of the run; its name tells what they depend on beside the weights.
    """

    name: str
    data: TestSet
    local: str
    decoder: dict[str, Any] | None
    file: str


@dataclass(frozen=True)
class Task:
    """One run: tune with a seed, translate the test sets. It holds all that a worker needs to know.

    Rows that differ only in what is done with the tuned weights share a run.

    Attributes:
        label: of its row, or of the first of them.
        seed: of everything that is drawn.
        folder: where its files are, named by what the run depends on.
        run: the [run] section of the tuning.
        decoder: name and arguments; None: the development set's lists are the pool.
        optimiser: the [optimiser] section.
        development: what it is tuned on.
        inputs: fingerprints of the development set's files.
        translations: of the test sets.
        description: for `run.json`.
        lists_of: the folder of the run whose lists it learns from; None: it tunes by itself.
    """

    label: str
    seed: int
    folder: Path
    run: dict[str, Any]
    decoder: dict[str, Any] | None
    optimiser: dict[str, Any]
    development: DevelopmentSet
    inputs: Json
    translations: tuple[Translation, ...]
    description: Json
    lists_of: Path | None = None

    @property
    def shared(self) -> Path:
        """The folder of what it has in common with other runs."""
        return self.folder.parent.parent / "decodings"

    def done(self) -> bool:
        """Whether all its files are there, as they were written."""
        names = ["weights.json", *(one.file for one in self.translations)]
        return all((self.folder / name).exists() for name in names) and not self.damaged()

    def damaged(self) -> list[str]:
        """The files that are not what was written, or of which nobody remembers that they were."""
        known = self.checksums()
        if known is None:
            return []
        names = ["fit.json", "weights.json", *(one.file for one in self.translations)]
        there = [name for name in names if (self.folder / name).exists()]
        return [name for name in there if file_digest(self.folder / name) != known.get(name)]

    def checksums(self) -> dict[str, str] | None:
        """Of its files, by name; None where they were lost, and in what earlier releases made."""
        try:
            return read_json(self.folder / _CHECKSUMS)
        except UserError:
            return None

    def begin(self) -> None:
        """From here on every file has a checksum, or it was written by somebody who was killed before it had one."""
        if self.checksums() is None:
            names = ["fit.json", "weights.json", *(one.file for one in self.translations)]
            write_json(self.folder / _CHECKSUMS, {})
            self.written(*(name for name in names if (self.folder / name).exists()))

    def written(self, *names: str) -> None:
        """Remember what files are that have just been written."""
        new = {name: file_digest(self.folder / name) for name in names}
        write_json(self.folder / _CHECKSUMS, {**(self.checksums() or {}), **new})
