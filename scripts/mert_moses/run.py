"""One run of lasw-mert-moses: our run in the working directory, mert-moses.pl's files made of it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from lasw.metrics import UserError, as_option, own_names, refuse_or_warn, remove_abandoned
from lasw.scripts.mert_moses.files import RUN, WorkingDirectory, clean, remove
from lasw.scripts.mert_moses.inputs import Inputs
from lasw.scripts.mert_moses.settings import Settings
from lasw.scripts.mert_moses.tools import MosesTools
from lasw.tuning import (
    Fit,
    Json,
    Loop,
    Optimiser,
    Outcome,
    Pool,
    Progress,
    Recorded,
    RecordedLists,
    RunDirectory,
    RunSettings,
    Weights,
    as_json,
    fingerprint,
    iteration_seed,
    on_cluster,
    read_json,
    reason_to_stop,
    recorded_iterations,
    versions,
    write_run_report,
)

_SCRATCH = "lasw-moses-"


Tell = Callable[[str], None]  # of one line that is worth telling


@dataclass(frozen=True)
class Done:
    """How it ended: the loop's outcome and the file with the tuned weights."""

    outcome: Outcome
    path: Path


class Observer:
    """Writes mert-moses.pl's files as the loop goes on, and passes on what it is told."""

    def __init__(self, files: WorkingDirectory, progress: Progress) -> None:
        self.iteration = 0
        self._files = files
        self._progress = progress

    def started(self, iteration: int, step: str) -> None:
        """A step begins."""
        self.iteration = iteration
        self._files.write(iteration)
        self._progress.started(iteration, step)

    def decoded(self, done: int, of: int) -> None:
        """So many sentences are translated."""
        self._progress.decoded(done, of)

    def finished(self, record: dict[str, Any]) -> None:
        """An iteration has ended."""
        self._files.write(record["iteration"])
        self._files.write_step()
        self._progress.finished(record)


def tune_moses(
    settings: Settings,
    inputs: Inputs,
    command: str,
    *,
    go_on: bool,
    skip_decoder: bool,
    progress: Progress,
    tell: Tell,
) -> Done:
    """Tune, from the beginning or from where the working directory stands.

    Args:
        settings: what is asked for.
        inputs: what it names, read.
        command: as it was typed.
        go_on: from the last complete iteration in the working directory.
        skip_decoder: the next iteration takes the list that is there.
        progress: who is told of iterations.
        tell: who is told of other things.

    Raises:
        UserError: another run in the folder, files there that cannot be read, a decoder that failed.
    """
    folder = settings.folder
    data = inputs.source, inputs.references, inputs.start
    if not go_on:
        _set_aside(folder, tell)
    with (
        RunDirectory(folder / RUN) as directory,
        own_names(os.path.join(folder, "")),
        on_cluster(inputs.decoder, settings.dask) as decoder,
    ):
        remove_abandoned(_SCRATCH, folder)  # by a decoding that was killed
        clean(folder)
        found = _recorded(directory, settings, inputs.start, tell) if go_on else Recorded((), ())
        _describe(directory, _description(settings, inputs, command, len(found.after)))
        tools = MosesTools(settings, inputs) if settings.moses_files else None
        for remark in tools.remarks() if tools is not None else ():
            tell(remark)
        files = WorkingDirectory(
            settings, directory, inputs.decoder, inputs.start, len(inputs.source), len(found.after), tools
        )
        files.write_all()
        observer = Observer(files, progress)
        lists = dict(enumerate(found.lists, 1))
        loop = Loop(
            RecordedLists(decoder, lists, lambda: observer.iteration),
            inputs.optimiser,
            _run_settings(settings, len(directory.records())),
            inputs.metric,
            preprocess=settings.text.function(),
            told=write_run_report,
            settle=partial(refuse_or_warn, force=settings.force, wording=_option),
        )
        if skip_decoder and reason_to_stop(loop.settings, directory.records()) is None:
            number = max(len(directory.records()), len(found.after)) + 1
            lists.setdefault(number, _list_there(directory, files, number))
        if len(directory.records()) < len(found.after):
            _replayed(loop, found).run(*data, directory, observer)
        outcome = loop.run(*data, directory, observer)
        return Done(outcome, files.write_result(outcome))


def _option(name: str, value: str) -> str:
    """Of this program, in whose place others have another."""
    return {"lowercase": "--nocase", "tokenize": "a tokeniser"}.get(name) or as_option(name, value)


def _set_aside(folder: Path, tell: Tell) -> None:
    """Keep an earlier run under another name, so that starting over loses nothing."""
    old = folder / RUN
    if not old.exists():
        return
    with RunDirectory(old):  # nobody else may be at work in it
        number = 1
        while (folder / f"{RUN}.{number}").exists():
            number += 1
        old.rename(folder / f"{RUN}.{number}")
    remove(folder, ["finished_step.txt", "moses.ini", "run.weights", "run.sparse-weights", "weights.txt"])
    tell(f"starting over; the earlier run is kept in {folder / f'{RUN}.{number}'} (--continue would have gone on)")


def _recorded(directory: RunDirectory, settings: Settings, start: Weights, tell: Tell) -> Recorded:
    """mert-moses.pl's own iterations, if the run is made of them or about to begin."""
    before = read_json(directory.path / "run.json")
    if before is not None and not before.get("imported"):
        return Recorded((), ())
    found = recorded_iterations(settings.folder, settings.nbest, start.names)
    if before is not None:  # files that have been written since are none of its
        count = int(before["imported"])
        return Recorded(found.lists[: count + 1], found.after[:count])
    for remark in found.remarks:
        tell(remark)
    tell(
        f"going on behind iteration {len(found.after)} of mert-moses.pl"
        if found.lists
        else "nothing to go on from in the working directory: starting with iteration 1"
    )
    return found


def _list_there(directory: RunDirectory, files: WorkingDirectory, iteration: int) -> Path:
    """The list of an iteration that ``--skip-decoder`` wants to be there: in our run or in the working directory.

    Raises:
        UserError: it is in neither.
    """
    path = files.list_path(iteration)
    made = directory.iteration(iteration)
    if not path.exists() and not ((made / "decode.json").exists() and (made / "nbest.gz").exists()):
        raise UserError("no list for --skip-decoder", path=path, remedy="leave --skip-decoder out")
    return path


class _RecordedWeights(Optimiser):
    """Finds the weights that are there already."""

    name = "recorded"

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit:
        """The weights."""
        return Fit(self._weights, 0.0, 0)


def _run_settings(settings: Settings, finished: int) -> RunSettings:
    return RunSettings(
        settings.folder / RUN,
        seed=settings.seed,
        # Fewer than there are: mert-moses.pl ends as well.
        iterations=max(settings.iterations, finished) if settings.iterations else 0,
        nbest=settings.nbest,
        keep=settings.keep,
        dev_metric=settings.metric,
        noise=settings.noise,
        folds=RunSettings.folds if settings.step == "trust" else 0,
        aggregate=settings.aggregate,
        step=settings.step,
        interpolation=settings.interpolation,
        earlier_starts=settings.earlier_starts,
    )


def _replayed(loop: Loop, found: Recorded) -> Loop:
    """A loop through the iterations that mert-moses.pl finished."""
    by_seed = {iteration_seed(loop.settings.seed, k): weights for k, weights in enumerate(found.after, 1)}

    def made(seed: int) -> Optimiser:
        return _RecordedWeights(by_seed[seed])

    settings = replace(loop.settings, iterations=len(found.after), keep="last", step="whole", interpolation=1.0)
    settings = replace(settings, earlier_starts=False)
    return Loop(loop.decoder, made, settings, loop.dev_metric, preprocess=loop.preprocess, settle=loop.settle)


def kept_iterations(folder: Path) -> int:
    """How many finished iterations a working directory has."""
    with contextlib.suppress(UserError):
        return len(RunDirectory(folder / RUN).records())
    return 0


def _description(settings: Settings, inputs: Inputs, command: str, imported: int) -> Json:
    """What `run.json` says. What does not change the weights of an iteration is no setting."""
    said = {"nrefs": str(len(settings.references)), **settings.text.settings()}
    own = inputs.optimiser(settings.seed).signature()
    read: Json = {"source": fingerprint(settings.source), "config": fingerprint(settings.config)}
    read["references"] = {str(k): fingerprint(path) for k, path in enumerate(settings.references, 1)}
    read["start_weights"] = as_json(inputs.start)
    names = ("nbest", "aggregate", "interpolation", "earlier_starts", "inputtype", "transform", "seed")
    text = settings.text
    mended = {key: value for key in ("strip_marks", "join", "unescape") if (value := getattr(text, key))}
    return {
        "command": command,
        "signature": str(own.with_settings(said)),
        "dev_signature": str(inputs.metric.signature().with_settings(said)),
        "seed": settings.seed,
        "settings": {
            "optimiser": "|".join([own.name, *(f"{key}:{value}" for key, value in own.settings)]),
            "metric": settings.metric,
            "decoder_flags": _without_threads(settings.flags),
            **{name: getattr(settings, name) for name in names},
            "lowercase": text.lowercase,
            **mended,
            **({} if settings.step == "whole" else {"step": settings.step}),
        },
        "inputs": read,
        "files": {
            "source": str(settings.source),
            "references": [str(path) for path in settings.references],
            "decoder": [settings.decoder, str(settings.config)],
        },
        "versions": versions(),
        "imported": imported,
    }


def _without_threads(flags: str) -> str:
    return " ".join(re.sub(r"(^|\s)--?(threads|th)\s+\S+", " ", flags).split())


def _describe(directory: RunDirectory, described: Json) -> None:
    """Write or compare `run.json`, in the words of this program."""
    try:
        directory.describe(described)
    except UserError as error:
        raise UserError(
            error.found,
            path=error.path,
            expected=error.expected,
            remedy="give another --working-dir, or leave out --continue to start over in its place",
        ) from None
