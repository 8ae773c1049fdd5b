"""What a task of a comparison does: tune or fit, then translate the test sets. Every step is kept, none is done twice.

run.json            what the run depends on
tuning/             the run directory of `lasw tune`, where a decoder is tuned
fit.json            what tuning said: objective, warnings, seconds
weights.json        the tuned weights; written when tuning is done
TEST-HASH.txt       the translations of a test set, a line a sentence
checksums.json      of these files; one that is not what was written is made again

Lists and translations that several runs have in common are decoded by the first of them
(`lasw.tuning.loop.shared_files`).
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import References, UserError, Vocabulary, own_names, read_lines, write_text
from lasw.tuning.comparison.grid import tuning_sections
from lasw.tuning.comparison.locality import local_weights, tuning_pool
from lasw.tuning.comparison.settings import NO_TUNING, NOT_LOCAL, TestSet
from lasw.tuning.comparison.task import Task, Translation
from lasw.tuning.decoders import open_decoder
from lasw.tuning.formats import match, read_weight_file, read_weights, write_weights
from lasw.tuning.loop import Configuration, SharedFiles
from lasw.tuning.optimisers import make_optimiser
from lasw.tuning.pool import Pool, check_lists, first_hypotheses, read_pool, unit_weights
from lasw.tuning.run_directory import Json, write_json
from lasw.tuning.settings import name_and_arguments
from lasw.tuning.tuner import start_weights, tune
from lasw.tuning.weights import Weights

T = TypeVar("T")

# A worker whose parent was killed ends within a second, but until then its run is locked.
_PATIENCE = 10.0
_POOLS_KEPT = 4

_pools: dict[str, _Lists] = {}
_pools_lock = threading.Lock()  # a Dask worker has threads, and a pool grows its columns when it is asked


def perform(task: Task) -> Json:
    """Carry out what is missing of a task.

    Returns:
        ``{"label", "seed", "seconds", "warnings"}``, the seconds being None if nothing was missing.

    Raises:
        UserError: what the task names cannot be read or does not fit together, or the decoder failed.
    """
    if task.done():
        return {"label": task.label, "seed": task.seed, "seconds": None, "warnings": []}
    with own_names(os.path.join(task.folder, "")):
        return _performed(task)


def _performed(task: Task) -> Json:
    began = time.perf_counter()
    task.folder.mkdir(parents=True, exist_ok=True)
    write_json(task.folder / "run.json", task.description)
    weights_file = task.folder / "weights.json"
    warnings: list[str] = []
    task.begin()
    for name in task.damaged():
        if name in (task.checksums() or {}):
            warnings.append(f"{task.folder / name} is not what was written: it is made again")
        (task.folder / (weights_file.name if name == "fit.json" else name)).unlink(missing_ok=True)
    if not weights_file.exists():
        weights, said = _tuned(task)
        warnings += said.get("warnings", [])
        write_json(task.folder / "fit.json", {**said, "seconds": round(time.perf_counter() - began, 3)})
        write_weights(weights_file, weights)
        task.written("fit.json", "weights.json")
    weights = read_weights(weights_file)
    for translation in task.translations:
        if not (task.folder / translation.file).exists():
            _translate(task, translation, weights, warnings)
            task.written(translation.file)
    seconds = round(time.perf_counter() - began, 3)
    return {"label": task.label, "seed": task.seed, "seconds": seconds, "warnings": warnings}


def _translate(task: Task, translation: Translation, weights: Weights, warnings: list[str]) -> None:
    path = task.folder / translation.file
    alike = translation.decoder is not None and translation.local == NOT_LOCAL
    shared = SharedFiles(task.shared, translation.file) if alike else None
    if shared is not None and shared.take(path, weights):
        return
    write_text(path, "".join(line + "\n" for line in _translated(task, translation, weights, warnings)))
    if shared is not None:
        shared.give(path, weights)


def _tuned(task: Task) -> tuple[Weights, Json]:
    if task.decoder is None or task.lists_of is not None:
        return _fitted(task)
    if task.optimiser["name"] == NO_TUNING:
        return start_weights(open_decoder(task.decoder), task.development.start), {}
    sections = tuning_sections(
        task.run, task.development, task.decoder, task.optimiser, task.seed, task.folder / "tuning"
    )
    known = {key: value for key, value in task.decoder.items() if key != "jobs"}
    shared = SharedFiles(task.shared, [known, task.inputs])
    outcome = _when_free(lambda: tune(Configuration.of(sections), command=task.description["command"], shared=shared))
    return outcome.weights, {
        "dev_score": outcome.dev_score,
        "reason": outcome.reason,
        "iterations": outcome.iterations,
        "warnings": [],
    }


def _when_free(work: Callable[[], T]) -> T:
    """`work`, tried again for a while if another process still holds the run."""
    give_up = time.monotonic() + _PATIENCE
    while True:
        try:
            return work()
        except UserError as error:
            if not error.found.startswith("another process is at work") or time.monotonic() > give_up:
                raise
        time.sleep(0.2)


def _fitted(task: Task) -> tuple[Weights, Json]:
    """Weights from lists as they are: those of the development set, or of another run's tuning."""
    with _pools_lock:
        lists = _learnt_from(task)
        start = lists.start()
        if task.optimiser["name"] == NO_TUNING:
            return start, {}
        name, options = name_and_arguments(task.optimiser)
        fit = make_optimiser(name, options, seed=task.seed).fit(lists.pool, start)
    said = {"objective": fit.objective, "iterations": fit.iterations, "warnings": [*lists.warnings, *fit.warnings]}
    return fit.weights, said


@dataclass
class _Lists:
    """N-best lists as a pool, and the file of weights that goes with them."""

    pool: Pool
    warnings: list[str]
    given: Weights | None
    path: Path | None

    def start(self) -> Weights:
        """The weights of the file over the lists' features, `unit_weights` without a file."""
        if self.pool.names is None:
            raise UserError("no hypotheses", path=self.path)
        if self.given is None:
            return unit_weights(self.pool)
        return self.matched(self.given, self.path)

    def matched(self, weights: Weights, path: Path | None) -> Weights:
        """Weights of a file over the lists' features."""
        if self.pool.names is None:
            raise UserError("no hypotheses", path=path)
        return match(weights, self.pool.names, sparse_names=self.pool.sparse_names, path=path).weights


def _lists(data: TestSet, start: Path | None, key: str, *, preprocess: bool) -> _Lists:
    """The lists of a set, kept for the next task that this process gets; `key` tells their content."""
    key = f"{key} {preprocess}"
    if key not in _pools:
        text = data.text.function() if preprocess else None
        references = References.read(data.references, preprocess=text, encoding=data.encoding)
        given = None if start is None else read_weight_file(start)
        pool, warnings = read_pool(
            data.lists,
            references,
            dense=() if given is None else given.dense,
            preprocess=text,
            encoding=data.encoding,
            settle=data.settle if preprocess else None,
        )
        _keep(key, _Lists(pool, warnings, None if given is None else given.weights, start))
    return _pools[key]


def _learnt_from(task: Task) -> _Lists:
    """The lists on disk, or all of the tuning of this run or another, with the weights that it started from."""
    if task.decoder is None:
        key = json.dumps(task.inputs, sort_keys=True)
        return _lists(task.development, task.development.start, key, preprocess=True)
    folder = task.lists_of or task.folder
    start = start_weights(open_decoder(task.decoder), task.development.start)
    key = str(folder)
    if key not in _pools:
        _keep(key, _Lists(tuning_pool(folder / "tuning", task.development, start), [], start, None))
    return _pools[key]


def _keep(key: str, lists: _Lists) -> None:
    while len(_pools) >= _POOLS_KEPT:
        del _pools[next(iter(_pools))]
    _pools[key] = lists


def _translated(task: Task, translation: Translation, weights: Weights, warnings: list[str]) -> list[str]:
    data = translation.data
    if translation.decoder is None:
        return _reranked(task, translation, weights, warnings)
    if data.source is None:
        raise UserError(f"test set {translation.name} has no source", expected="the sentences to decode")
    decoder = open_decoder(translation.decoder)
    source = read_lines(data.source, encoding=data.encoding)
    own = match(weights, decoder.start_weights().names, sparse_names=None, path=task.folder / "weights.json").weights
    if translation.local == NOT_LOCAL:
        nbest = decoder.decode(source, own, 1, Vocabulary())
    else:
        with _pools_lock:
            pool = _learnt_from(task).pool
        nbest = decoder.decode_each(source, _local(task, translation, pool, own), 1, Vocabulary())
    check_lists(decoder.name, nbest, own)
    best = first_hypotheses(nbest, len(source))
    return [best.text(k) for k in range(len(best))]


def _reranked(task: Task, translation: Translation, weights: Weights, warnings: list[str]) -> list[str]:
    data = translation.data
    with _pools_lock:
        # The text is kept as the lists have it; it is prepared when it is measured.
        lists = _lists(data, task.development.start, translation.file, preprocess=False)
        warnings += lists.warnings
        best = _best(task, translation, lists, lists.matched(weights, task.folder / "weights.json"))
        owner, hypotheses = lists.pool.owner, lists.pool.hypotheses
        lines = [""] * len(lists.pool.references)
        for row in best.tolist():
            lines[int(owner[row])] = hypotheses.text(row)
    return lines


def _best(task: Task, translation: Translation, lists: _Lists, weights: Weights) -> NDArray[np.int64]:
    """Rows of the pool, one for every sentence that has candidates."""
    if translation.local == NOT_LOCAL:
        return lists.pool.best(weights)
    development = _learnt_from(task)
    each = _local(task, translation, development.pool, development.matched(weights, None))
    order, starts = lists.pool.order, lists.pool.starts
    found = []
    for k, one in enumerate(each):
        rows = order[starts[k] : starts[k + 1]]
        if len(rows):
            # Not BLAS, under which equal candidates could differ in the last bit.
            scores = np.einsum("nd,d->n", lists.pool.dense[rows], one.dense)
            if lists.pool.sparse is not None:
                scores = scores + lists.pool.sparse[rows] @ one.sparse_vector(lists.pool.sparse_names)
            found.append(rows[np.argmax(scores)])
    return np.array(found, dtype=np.int64)


def _local(task: Task, translation: Translation, pool: Pool, weights: Weights) -> list[Weights]:
    """Weights of every test sentence; what they are is written beside the translations."""
    assert translation.data.source is not None  # checked with the configuration
    source = read_lines(translation.data.source, encoding=translation.data.encoding)
    measure = str(task.run.get("dev_metric", "BLEU"))
    found, said = local_weights(
        translation.local, task.optimiser, task.seed, pool, task.development, weights, source, measure
    )
    write_json((task.folder / translation.file).with_suffix(".json"), said)
    return found
