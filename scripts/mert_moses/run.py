"""One run of lasw-mert-moses: our run in the working directory, mert-moses.pl's files made of it."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lasw.metrics import UserError
from lasw.metrics import metric as metric_of
from lasw.scripts.mert_moses.description import describe, description
from lasw.scripts.mert_moses.files import RUN, WorkingDirectory, clean, remove
from lasw.scripts.mert_moses.inputs import open_decoder, read_data
from lasw.scripts.mert_moses.learning import check, optimiser_for
from lasw.scripts.mert_moses.settings import Settings
from lasw.tuning import (
    Fit,
    Loop,
    Moses,
    Optimiser,
    Outcome,
    Pool,
    Progress,
    Recorded,
    RecordedLists,
    RunDirectory,
    RunSettings,
    Weights,
    iteration_seed,
    read_json,
    reason_to_stop,
    recorded_iterations,
    refuse_program,
    write_run_report,
)

_SCRATCH = "lasw-moses-*"


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

    def finished(self, record: dict[str, Any]) -> None:
        """An iteration has ended."""
        self._files.write(record["iteration"])
        self._files.write_step()
        self._progress.finished(record)


def tune_moses(
    settings: Settings, command: str, *, go_on: bool, skip_decoder: bool, progress: Progress, tell: Tell
) -> Done:
    """Tune, from the beginning or from where the working directory stands.

    Args:
        settings: what is asked for.
        command: as it was typed.
        go_on: from the last complete iteration in the working directory.
        skip_decoder: the next iteration takes the list that is there.
        progress: who is told of iterations.
        tell: who is told of other things.

    Raises:
        UserError: files that cannot be read or do not fit together, another run in the folder, a decoder that failed.
    """
    folder = settings.folder
    check(settings.learning)  # what can be wrong with it is better said before anything is filtered or decoded
    refuse_program(settings.config)
    development = metric_of(settings.metric)
    source, references, text = read_data(settings)
    _make(folder)
    decoder, remarks = open_decoder(settings)
    for remark in remarks:
        tell(remark)
    start = _start(decoder.start_weights(), settings.normalise)
    optimiser = optimiser_for(settings.learning, start.names)
    if not go_on:
        _set_aside(folder, tell)
    with RunDirectory(folder / RUN) as directory:
        for left in folder.glob(_SCRATCH):  # a decoding that was killed
            shutil.rmtree(left, ignore_errors=True)
        clean(folder)
        found = _recorded(directory, settings, start, tell) if go_on else Recorded((), ())
        described = description(settings, start, optimiser(settings.seed), text, command, len(found.after))
        describe(directory, described)
        files = _files(settings, directory, decoder, start, len(source), len(found.after))
        files.write_all()
        observer = Observer(files, progress)
        lists = dict(enumerate(found.lists, 1))
        loop = Loop(
            RecordedLists(decoder, lists, lambda: observer.iteration),
            optimiser,
            _run_settings(settings, len(directory.records())),
            development,
            preprocess=text.function(),
            told=write_run_report,
        )
        if skip_decoder and reason_to_stop(loop.settings, directory.records()) is None:
            number = max(len(directory.records()), len(found.after)) + 1
            lists.setdefault(number, _list_there(directory, files, number))
        if len(directory.records()) < len(found.after):
            _replayed(loop, found).run(source, references, start, directory, observer)
        outcome = loop.run(source, references, start, directory, observer)
        return Done(outcome, files.write_result(outcome))


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"the working directory cannot be made ({error.strerror})", path=folder) from None


def _start(weights: Weights, normalise: bool) -> Weights:
    """The weights of the first decoding: divided by the absolute sum of the dense ones, as mert-moses.pl does."""
    total = float(np.abs(weights.dense).sum())
    if not normalise or total == 0:
        return weights
    return Weights(weights.names, weights.dense / total, {name: v / total for name, v in weights.sparse.items()})


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
    remove(folder, ["finished_step.txt", "moses.ini", "run.weights", "weights.txt"])
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
        noise=0.0,
        aggregate=settings.aggregate,
        interpolation=settings.interpolation,
        earlier_starts=settings.earlier_starts,
    )


def _replayed(loop: Loop, found: Recorded) -> Loop:
    """A loop through the iterations that mert-moses.pl finished."""
    by_seed = {iteration_seed(loop.settings.seed, k): weights for k, weights in enumerate(found.after, 1)}

    def made(seed: int) -> Optimiser:
        return _RecordedWeights(by_seed[seed])

    settings = replace(loop.settings, iterations=len(found.after), keep="last", interpolation=1.0, earlier_starts=False)
    return Loop(loop.decoder, made, settings, loop.dev_metric, preprocess=loop.preprocess)


def _files(
    settings: Settings, directory: RunDirectory, decoder: Moses, start: Weights, sentences: int, imported: int
) -> WorkingDirectory:
    return WorkingDirectory(
        folder=settings.folder,
        run=directory,
        decoder=decoder,
        program=settings.decoder,
        config=settings.config,
        source=settings.source,
        start=start,
        nbest=settings.nbest,
        metric=settings.metric,
        sentences=sentences,
        imported=imported,
    )


def kept_iterations(folder: Path) -> int:
    """How many finished iterations a working directory has."""
    with contextlib.suppress(UserError):
        return len(RunDirectory(folder / RUN).records())
    return 0
