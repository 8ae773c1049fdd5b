"""One run of lasw-mert-moses: our run in the working directory, mert-moses.pl's files made of it."""

from __future__ import annotations

import contextlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lasw.metrics.base import References
from lasw.metrics.errors import UserError
from lasw.metrics.files import read_lines
from lasw.metrics.preprocessing import Preprocessing
from lasw.metrics.registry import metric as metric_of
from lasw.metrics.text import Vocabulary, read_corpus
from lasw.scripts.moses_files import RUN, WorkingDirectory, remove
from lasw.scripts.moses_filter import filtered
from lasw.scripts.moses_learning import check, optimiser_for
from lasw.scripts.moses_recorded import Recorded, RecordedLists, RecordedWeights, recorded
from lasw.scripts.moses_settings import Settings
from lasw.tuning.decoders.moses import Moses
from lasw.tuning.interpolation import Interpolation
from lasw.tuning.loop import Loop, Outcome, Progress, iteration_seed
from lasw.tuning.optimiser import Optimiser
from lasw.tuning.run_directory import Json, RunDirectory, read_json
from lasw.tuning.tune import fingerprint, versions
from lasw.tuning.weights import Weights

CONFUSION_NETWORKS = 1
_SCRATCH = "lasw-moses-*"


class Tell(Protocol):
    """Who is told what is worth telling."""

    def __call__(self, text: str) -> None:
        """One line."""


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
    development = metric_of(settings.metric)
    source, references, text = _data(settings)
    _make(folder)
    decoder = _decoder(settings, tell)
    start = _start(decoder.start_weights(), settings.normalise)
    optimiser = optimiser_for(settings.learning, start.names)
    if not go_on:
        _set_aside(folder, tell)
    with RunDirectory(folder / RUN) as directory:
        for left in folder.glob(_SCRATCH):  # a decoding that was killed
            shutil.rmtree(left, ignore_errors=True)
        found = _recorded(directory, settings, start, tell) if go_on else Recorded((), ())
        described = _description(settings, start, optimiser(settings.seed), text, command, len(found.after))
        _describe(directory, described)
        files = _files(settings, directory, decoder, start, len(source), len(found.after))
        files.write_all()
        observer = Observer(files, progress)
        lists = dict(enumerate(found.lists, 1))
        loop = Loop(
            decoder=RecordedLists(decoder, lists, lambda: observer.iteration),
            optimiser=optimiser,
            # Fewer than there are: mert-moses.pl ends as well.
            iterations=max(settings.iterations, len(directory.records())) if settings.iterations else 0,
            nbest=settings.nbest,
            keep=settings.keep,
            dev_metric=development,
            seed=settings.seed,
            preprocess=text.function(),
            interpolation=Interpolation(settings.interpolation),
            aggregate=settings.aggregate,
            earlier_starts=settings.earlier_starts,
        )
        if skip_decoder and loop.stopping.reason(directory.records(), loop.iterations, loop.tolerance) is None:
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


def _decoder(settings: Settings, tell: Tell) -> Moses:
    config = settings.config
    if settings.filtering:
        if settings.filter_command is None:
            tell("phrase tables are not filtered: no --filtercmd, and no filter-model-given-input.pl below --rootdir")
        else:
            config = filtered(settings.folder, settings.filter_command, config, settings.filter_source)
    folder = settings.folder
    if not _has_models(config, folder) and _has_models(config, Path.cwd()):
        tell(f"relative paths in {config.name} count from {Path.cwd()}, where their files are")
        folder = Path.cwd()
    decoder = Moses(
        config,
        moses=settings.decoder,
        flags=settings.flags,
        inputtype=settings.inputtype,
        jobs=settings.jobs,
        folder=folder,
        scratch=settings.folder,
        transform=settings.transform,
    )
    for remark in decoder.remarks:
        tell(remark)
    return decoder


def _has_models(config: Path, folder: Path) -> bool:
    """Whether the relative paths of models in a moses.ini lead somewhere from a folder."""
    found = [name for line in read_lines(config) for name in re.findall(r"\bpath=(\S+)", line.partition("#")[0])]
    relative = [Path(name) for name in found if not name.startswith("/")]
    return all(any((folder / name).parent.glob(name.name + "*")) for name in relative)


def _data(settings: Settings) -> tuple[list[str], References, Preprocessing]:
    """The sentences, their references, and what is done to text before it is scored."""
    source = read_lines(settings.source)
    if settings.inputtype == CONFUSION_NETWORKS:
        source = _networks(source)
    text = Preprocessing(lowercase=settings.lowercase)
    vocabulary, change = Vocabulary(), text.function()
    references = References(tuple(read_corpus(p, vocabulary, preprocess=change) for p in settings.references))
    if len(source) != len(references):
        raise UserError(
            f"{len(source)} sentences",
            path=settings.source,
            expected=f"{len(references)}, as many as {settings.references[0]} has lines",
        )
    return source, references, text


def _networks(lines: list[str]) -> list[str]:
    """Confusion networks: a blank line ends each, and stays with it."""
    networks: list[str] = []
    current: list[str] = []
    for line in lines:
        if line.strip():
            current.append(line + "\n")
        else:
            networks.append("".join(current))
            current = []
    return [*networks, "".join(current)] if current else networks


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
    found = recorded(settings.folder, settings.nbest, start.names)
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


def _replayed(loop: Loop, found: Recorded) -> Loop:
    """A loop through the iterations that mert-moses.pl finished."""
    by_seed = {iteration_seed(loop.seed, k): weights for k, weights in enumerate(found.after, 1)}

    def made(seed: int) -> Optimiser:
        return RecordedWeights(by_seed[seed])

    return Loop(
        decoder=loop.decoder,
        optimiser=made,
        iterations=len(found.after),
        nbest=loop.nbest,
        keep="last",
        dev_metric=loop.dev_metric,
        seed=loop.seed,
        preprocess=loop.preprocess,
        aggregate=loop.aggregate,
    )


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


def _description(
    settings: Settings, start: Weights, optimiser: Optimiser, text: Preprocessing, command: str, imported: int
) -> Json:
    """What `run.json` says. What does not change the weights of an iteration is no setting."""
    said = {"nrefs": str(len(settings.references)), **text.settings()}
    own = optimiser.signature()
    inputs: Json = {"source": fingerprint(settings.source), "config": fingerprint(settings.config)}
    inputs["references"] = {str(k): fingerprint(path) for k, path in enumerate(settings.references, 1)}
    inputs["start_weights"] = {"dense": start.by_group(), "sparse": dict(sorted(start.sparse.items()))}
    names = ("nbest", "aggregate", "interpolation", "earlier_starts", "inputtype", "transform", "lowercase", "seed")
    return {
        "command": command,
        "signature": str(own.with_settings(said)),
        "dev_signature": str(metric_of(settings.metric).signature().with_settings(said)),
        "seed": settings.seed,
        "settings": {
            "optimiser": "|".join([own.name, *(f"{key}:{value}" for key, value in own.settings)]),
            "metric": settings.metric,
            "decoder_flags": _without_threads(settings.flags),
            **{name: getattr(settings, name) for name in names},
        },
        "inputs": inputs,
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


def _describe(directory: RunDirectory, description: Json) -> None:
    """Write or compare `run.json`, in the words of this program."""
    try:
        directory.describe(description)
    except UserError as error:
        raise UserError(
            error.found,
            path=error.path,
            expected=error.expected,
            remedy="leave out --continue to start over, or give another --working-dir",
        ) from None


def kept_iterations(folder: Path) -> int:
    """How many finished iterations a working directory has."""
    with contextlib.suppress(UserError):
        return len(RunDirectory(folder / RUN).records())
    return 0
