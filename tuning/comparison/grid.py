"""The grid of a comparison: its rows, and each row's runs as tasks.

Tasks can be carried out anywhere, in any order, but those that learn from another one's lists come behind it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lasw.metrics import UserError, parameters, version
from lasw.tuning.comparison.fingerprints import PATHS, Fingerprints
from lasw.tuning.comparison.settings import (
    DEFAULT_LOSS,
    NO_TUNING,
    Comparison,
    DevelopmentSet,
    System,
    TestSet,
)
from lasw.tuning.comparison.task import Task, Translation
from lasw.tuning.loop import CONFIGURATION, Configuration
from lasw.tuning.optimisers import OPTIMISERS, make_optimiser
from lasw.tuning.run_directory import Json

_HASH = 10  # hexadecimal digits in the name of a folder: 40 bits for a few hundred runs


@dataclass(frozen=True)
class Row:
    """A system tuned for one loss on one development set.

    Attributes:
        label: what the table calls it.
        system: of the configuration.
        loss: a metric; None for what has no loss.
        development: name of the development set.
        signature: of the optimiser with this loss.
        lists_of: the row whose lists it learns from; None: its own.
    """

    label: str
    system: System
    loss: str | None
    development: str
    signature: str
    lists_of: Row | None = None

    def optimiser(self) -> dict[str, Any]:
        """The [optimiser] section of a tuning run."""
        loss = {} if self.loss is None else {"metric": self.loss}
        return {"name": self.system.settings.optimiser, **loss, **self.system.arguments}


def rows(comparison: Comparison) -> list[Row]:
    """The rows of the table, in the order of the file: by system, loss, development set.

    Raises:
        UserError: an optimiser that cannot be had with these settings.
    """
    found: list[Row] = []
    for system in comparison.systems:
        losses = _losses(system, comparison.settings.losses)
        sets = list(system.settings.development or comparison.development)
        for loss in losses:
            for name in sets:
                label = ", ".join(
                    [
                        system.name,
                        *([loss] if loss and len(losses) > 1 else []),
                        *([name] if len(sets) > 1 else []),
                    ]
                )
                found.append(Row(label, system, loss, name, _signature(system, loss)))
    return [_with_lists(row, found) for row in found] if comparison.decoder is not None else found


def _with_lists(row: Row, among: Sequence[Row]) -> Row:
    """The same, knowing the row that makes its lists: the first of that system on its development set."""
    wanted = row.system.settings.lists_of
    makers = [one for one in among if one.system.name == wanted and one.development == row.development]
    if wanted and not makers:
        raise UserError(f"[system.{row.system.name}] lists_of {wanted}, which is not tuned on {row.development}")
    return dataclasses.replace(row, lists_of=makers[0]) if wanted else row


def tasks(comparison: Comparison, found: Sequence[Row], folder: Path, command: str = "") -> list[list[Task]]:
    """The runs of every row, one a seed.

    Args:
        comparison: its settings.
        found: its rows.
        folder: of the comparison.
        command: as it was typed, for the reports of tuning runs.

    Raises:
        UserError: a file that cannot be read, settings that do not fit together.
    """
    grid = _Grid(comparison, folder.resolve(), command)
    return [[grid.task(row, seed) for seed in comparison.settings.seeds] for row in found]


def _losses(system: System, of_all: Sequence[str]) -> list[str | None]:
    name, own = system.settings.optimiser, system.settings.losses
    fields = {} if name == NO_TUNING else {one.name: one for one in dataclasses.fields(OPTIMISERS.find(name))}  # type: ignore[arg-type]
    if "metric" not in fields:
        if own:
            raise UserError(f"[system.{system.name}] losses, but {name} has none", remedy="drop them")
        return [None]
    found = [str(fields["metric"].default) if one == DEFAULT_LOSS else one for one in own or of_all or (DEFAULT_LOSS,)]
    return list(dict.fromkeys(found))


def _signature(system: System, loss: str | None) -> str:
    name = system.settings.optimiser
    if name == NO_TUNING:
        return f"{NO_TUNING}|version:{version()}"
    try:
        return str(make_optimiser(name, dict(system.arguments), metric=loss).signature())
    except UserError as error:
        raise UserError(f"[system.{system.name}] {error}") from None


def runs(grid: Sequence[Sequence[Task]]) -> list[Task]:
    """What is to be done, each run once, with the translations that any row wants of it."""
    found: dict[Path, Task] = {}
    for task in (task for row in grid for task in row):
        known = found.setdefault(task.folder, task)
        new = tuple(one for one in task.translations if one not in known.translations)
        found[task.folder] = dataclasses.replace(known, translations=known.translations + new)
    return list(found.values())


def tuning_sections(
    run: dict[str, Any],
    data: DevelopmentSet,
    decoder: dict[str, Any],
    optimiser: dict[str, Any],
    seed: int,
    directory: Path,
) -> dict[str, dict[str, Any]]:
    """The sections of a configuration of `lasw tune`."""
    start = {} if data.start is None else {"start": data.start}
    keys = ("source", "references", "encoding", "tokenize", "lowercase", "strip_marks", "join", "unescape", "force")
    of_data = {key: value for key in keys if (value := getattr(data, key)) is not None}
    return {
        "run": {**run, **start, "directory": directory, "seed": seed},
        "data": of_data,
        "decoder": decoder,
        "optimiser": optimiser,
    }


def _defaults(row: Row) -> Json:
    name = row.system.settings.optimiser
    if name == NO_TUNING:
        return {}
    return {key: one.default for key, one in parameters(OPTIMISERS.find(name)).items() if key != "seed"}


class _Grid:
    """What tasks are made from: a comparison, its folder, the command, and what is in the files."""

    def __init__(self, comparison: Comparison, folder: Path, command: str) -> None:
        self._comparison, self._folder, self._command = comparison, folder, command
        self._files = Fingerprints()
        self._development = {
            (name, seed): data.of_seed(seed)
            for name, data in comparison.development.items()
            for seed in comparison.settings.seeds
        }
        self._inputs = {
            key: {**self._files.of_set(data), "decoder": self._files.of_decoder(self._decoder(data))}
            for key, data in self._development.items()
        }

    def task(self, row: Row, seed: int) -> Task:
        run, key = self._comparison.run, (row.development, seed)
        data, inputs = self._development[key], self._inputs[key]
        lists_of = None if row.lists_of is None else self.task(row.lists_of, seed).folder
        optimiser, decoder = row.optimiser(), self._decoder(data)
        settings: Json = {"optimiser": {**_defaults(row), **optimiser}, "seed": seed}
        if decoder is not None and row.system.settings.optimiser != NO_TUNING:
            # Checks as lasw tune does, and gives the defaults of all that is not said.
            full = Configuration.of(tuning_sections(run, data, decoder, optimiser, seed, self._folder)).sections
            full["run"].pop("directory")
            full["decoder"].pop("jobs", None)  # the lists are the same for any number
            settings |= {key: CONFIGURATION.without_paths(key, values) for key, values in full.items() if key != "data"}
        settings |= {} if lists_of is None else {"lists_of": lists_of.name}
        known = {"settings": settings, "inputs": inputs, "version": version()}
        name = "-".join([optimiser["name"], *([row.loss] if row.loss else []), row.development, f"seed{seed}"])
        description = {
            "command": self._command,
            "seed": seed,
            "signature": row.signature,
            **known,
            "files": {key: _shown(getattr(data, key)) for key in PATHS},
        }
        return Task(
            row.label,
            seed,
            self._folder / "runs" / f"{_slug(name)}-{_digest(known)}",
            run,
            decoder,
            optimiser,
            data,
            inputs,
            self._translations(row.system.settings.local),
            description,
            lists_of,
        )

    def _translations(self, local: str) -> tuple[Translation, ...]:
        sets = self._comparison.test or self._comparison.development
        return tuple(self._translation(name, data, local) for name, data in sets.items())

    def _translation(self, name: str, data: TestSet, local: str) -> Translation:
        decoder = self._decoder(data)
        if decoder is not None and data.lists and decoder["name"] != "fixed":
            decoder = None  # its lists are reranked
        settings = {} if decoder is None else CONFIGURATION.without_paths("decoder", decoder)
        files = self._files.of_set(data)
        known = {
            "local": local,
            "settings": {key: value for key, value in settings.items() if key != "jobs"},
            "decoder": self._files.of_decoder(decoder),
            "inputs": {key: files[key] for key in ("source", "lists")},
            # How many sentences there are is read off the references where there is no source.
            "sentences": files["references"] if data.source is None else None,
        }
        return Translation(name, data, local, decoder, f"{_slug(name)}-{_digest(known)}.txt")

    def _decoder(self, data: TestSet) -> dict[str, Any] | None:
        """Name and arguments; the lists of decoder fixed are those of the set."""
        decoder = self._comparison.decoder
        if decoder is None or decoder["name"] != "fixed":
            return decoder
        return {**decoder, "lists": tuple(str(path) for path in data.lists)}


def _digest(content: Json) -> str:
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH]


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+_-]+", "-", text).strip("-.") or "row"


def _shown(value: Any) -> Any:
    if isinstance(value, tuple):
        return [os.fspath(one) for one in value]
    return None if value is None else os.fspath(value)
