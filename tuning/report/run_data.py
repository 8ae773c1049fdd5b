"""What a run directory says of its run, read for a report."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from lasw.metrics import Display, UserError, display_of, parse_json, read_lines
from lasw.tuning.formats import read_weights
from lasw.tuning.report.gain import Gain, dev_metric_of, development_gain
from lasw.tuning.report.sentences import Sentences
from lasw.tuning.run_directory import Json, read_json
from lasw.tuning.weights import Weights


@dataclass(frozen=True)
class Development:
    """Of a run's development set.

    Attributes:
        oracle: (iteration, score in [0, 1]): corpus score of each sentence's best candidate so far.
        sentences: start weights against chosen weights; None while there is one decoding.
        held_out: (iteration, score in [0, 1]): of other lists, reranked with the weights that the iteration made, 0
            being the start; empty if no lists are given.
    """

    oracle: list[tuple[int, float]]
    sentences: Sentences | None
    held_out: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class RunData:
    """What a run directory says: `records` are the lines of its log, `weights` those before iteration 1, 2, ...

    `result` is why the run ended and what it chose; None while it goes on. `development` is what the N-best lists say
    beside the log, `remarks` what is to be said of it, `gain` what the chosen weights have brought.
    """

    name: str
    description: Json
    records: list[Json]
    weights: list[Weights]
    result: Json | None
    final: Weights | None
    development: Development | None = None
    remarks: tuple[str, ...] = ()
    gain: Gain | None = None

    @property
    def dev_metric(self) -> str:
        """Of the development score."""
        return dev_metric_of(self.description)

    @property
    def display(self) -> Display:
        """How people read the development score."""
        return display_of(self.dev_metric)


def read_run(path: str | os.PathLike[str], result: Json | None = None) -> RunData:
    """What stands in a run directory.

    Args:
        path: the directory.
        result: what `result.json` will say, for who is about to write it.

    Raises:
        UserError: it is no run directory, or a file in it is damaged.
    """
    folder = Path(path)
    description = read_json(folder / "run.json") if folder.is_dir() else None
    if description is None:
        raise UserError("no run directory (there is no run.json)", path=folder, expected="the --run of 'lasw tune'")
    _check_description(description, folder / "run.json")
    records = _log(folder / "log.jsonl")
    if result is None:
        result = read_json(folder / "result.json")
        _check_result(result or {}, folder / "result.json")
    before = [folder / "iterations" / f"{record['iteration']:03d}" / "before.json" for record in records]
    weights = [read_weights(one) for one in before]
    after = folder / "iterations" / f"{len(records):03d}" / "after.json"
    if after.exists():
        weights.append(read_weights(after))
    final = read_weights(folder / "weights.json") if result and (folder / "weights.json").exists() else None
    gain = development_gain(folder, description, result, records) if result and records else None
    return RunData(folder.resolve().name, description, records, weights, result, final, gain=gain)


def _check_description(description: Json, path: Path) -> None:
    """Raise `UserError` unless everything that a report looks into is of its kind."""
    settings, files, inputs = (description.get(name, {}) for name in ("settings", "files", "inputs"))
    sound = all(isinstance(one, dict) for one in (settings, files, inputs))
    sound = sound and all(isinstance(settings.get(name, {}), dict) for name in ("run", "data"))
    sound = sound and isinstance(inputs.get("references", {}), dict)
    references = files.get("references", []) if sound else None
    if not isinstance(references, list) or not all(isinstance(one, str) for one in references):
        raise UserError("this does not describe a run", path=path, expected="what 'lasw tune' wrote there")


def _check_result(result: Json, path: Path) -> None:
    score = result.get("dev_score")
    numbers = [result.get(name, 0) for name in ("chosen", "iterations")] + [0 if score is None else score]
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
        remedy = "delete it, and the same lasw tune writes it again"
        raise UserError("this is no result of a run", path=path, remedy=remedy)


def _log(path: Path) -> list[Json]:
    records: list[Json] = []
    for number, line in enumerate(read_lines(path) if path.exists() else [], 1):
        try:
            records.append(parse_json(line, path, line=number))
            if type(records[-1]["iteration"]) is not int:
                raise TypeError
        except (UserError, ValueError, TypeError, KeyError, OverflowError):
            remedy = "delete it, and the same lasw tune writes it again"
            raise UserError("this is no record of an iteration", path=path, line=number, remedy=remedy) from None
    return records
