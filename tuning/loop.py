"""The tuning loop: decode the development set, add to the pool, optimise, write, repeat.

Iteration i decodes with the weights w(i-1), which gives their development score (the decoder's own best hypotheses)
and new candidates, and makes w(i) of all candidates so far. The run ends when no new candidate came (then w(i) =
w(i-1): optimising the same pool again would only draw other samples), when no dense weight moved more than
`tolerance`, or after `iterations`. To compare weights by their development score the last ones are decoded with as
well; that decoding is the first half of the iteration that would come next.

Whatever is used later is read from the files of the run first, so that a run that goes on after a kill computes with
the same numbers as one that was never interrupted.
"""

from __future__ import annotations

import filecmp
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from lasw.metrics.base import Metric, References
from lasw.metrics.errors import UserError
from lasw.metrics.registry import metric as metric_of
from lasw.metrics.text import Vocabulary
from lasw.tuning.decoders.base import Decoder
from lasw.tuning.first_best import check_lists, corpus_score, first_hypotheses, note_silence
from lasw.tuning.formats.nbest_reader import read_nbest
from lasw.tuning.formats.nbest_writer import write_nbest
from lasw.tuning.formats.weight_files import read_weights, write_weights
from lasw.tuning.nbest import NBest
from lasw.tuning.optimiser import DEFAULT_SEED, Optimiser
from lasw.tuning.pool import Pool
from lasw.tuning.pool_reader import preprocessed
from lasw.tuning.report import read_run, write_report
from lasw.tuning.run_directory import Json, RunDirectory, read_json, write_json
from lasw.tuning.weights import Weights

NO_NEW_CANDIDATES = "no new candidates"
SETTLED = "the weights have settled"
_DECODED = ("iteration", "dev_score", "seconds", "warnings")  # what is read from the files of a run
MAXIMUM = "the maximum of iterations is reached"


class Progress(Protocol):
    """Who is told what the loop does."""

    def started(self, iteration: int, step: str) -> None:
        """A step begins: ``decode`` or ``optimise``."""

    def finished(self, record: Json) -> None:
        """An iteration has ended; `record` is its line of the log."""


class Silence:
    """Tells nobody."""

    def started(self, iteration: int, step: str) -> None:
        """Say nothing."""

    def finished(self, record: Json) -> None:
        """Say nothing."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes:
        weights: the last ones, or those with the best development score.
        dev_score: of these weights, decoded with them; None if nothing was decoded with the last ones.
        reason: why the run ended.
        iterations: how many there are.
        chosen: number of the iteration that made the weights; 0 means the start weights.
        already_finished: nothing was left to do.
    """

    weights: Weights
    dev_score: float | None
    reason: str
    iterations: int
    chosen: int
    already_finished: bool


@dataclass
class Loop:
    """Tunes a decoder.

    Args:
        decoder: what is tuned.
        optimiser: makes an optimiser for a seed.
        iterations: at most so many.
        nbest: hypotheses asked for per sentence.
        tolerance: the weights have settled if no dense one moved more than this.
        keep: ``best``: the weights with the best development score, the start weights and the last ones included, the
            earliest among equals; ``last``: those of the last iteration.
        dev_metric: of the development score.
        seed: every iteration draws its own from it.
        preprocess: what was done to the references' lines is done to the hypotheses.
    """

    decoder: Decoder
    optimiser: Callable[[int], Optimiser]
    iterations: int = 15
    nbest: int = 100
    tolerance: float = 1e-5
    keep: Literal["best", "last"] = "best"
    dev_metric: Metric = field(default_factory=lambda: metric_of("BLEU"))
    seed: int = DEFAULT_SEED
    preprocess: Callable[[str], str] | None = None

    def run(
        self,
        source: Sequence[str],
        references: References,
        start: Weights,
        directory: RunDirectory,
        progress: Progress | None = None,
    ) -> Outcome:
        """Tune from where the files in `directory` (entered, described) stand.

        Raises:
            UserError: sources and references differ in number, the decoder failed, or the directory holds more
                iterations than are asked for. Finished iterations stay.
        """
        if len(source) != len(references):
            raise UserError(f"{len(source)} source sentences", expected=f"{len(references)}, one per reference")
        return _Run(self, source, references, start, directory, progress or Silence()).to_the_end()


def iteration_seed(seed: int, iteration: int) -> int:
    """The seed of one iteration: depends on nothing but the two numbers, so that a run can go on after any of them."""
    return int(np.random.SeedSequence([seed, iteration]).generate_state(1)[0])


class _Run:
    """One run of a loop: the pool and the records of finished iterations, as the files have them."""

    def __init__(
        self,
        loop: Loop,
        source: Sequence[str],
        references: References,
        start: Weights,
        directory: RunDirectory,
        progress: Progress,
    ) -> None:
        self.loop = loop
        self.source = source
        self.references = references
        self.start = start
        self.directory = directory
        self.progress = progress
        self.records = directory.records((*_DECODED, "moved", "new_candidates", "candidates"))
        self.pool = Pool(references)
        self.sparse_names = Vocabulary()
        self.bleu = metric_of("BLEU")

    def to_the_end(self) -> Outcome:
        if len(self.records) > self.loop.iterations:
            raise UserError(
                f"{self.loop.iterations} iterations are asked for, {len(self.records)} are there",
                path=self.directory.path,
                remedy="ask for at least as many, or give another --run",
            )
        result = self._result()
        if (
            result is not None
            and read_json(self.directory.path / "result.json") == result
            and self.directory.is_complete()
        ):
            outcome = self._outcome(result, already_finished=True)
            write_weights(self.directory.path / "weights.json", outcome.weights)  # should it have been damaged since
            return outcome
        if self._reason() is None:
            # More iterations are asked for than a finished run has: what it ended with is not the end any more.
            for name in ("result.json", "weights.json"):
                (self.directory.path / name).unlink(missing_ok=True)
            for number in range(1, len(self.records) + 1):
                self.pool.add(self._list(number))
        while self._reason() is None:
            self._iterate()
        return self._finish()

    def _reason(self) -> str | None:
        """Why the run is over; None if it is not."""
        if not self.records:
            return None
        last = self.records[-1]
        if last["new_candidates"] == 0:
            return NO_NEW_CANDIDATES
        if last["moved"] <= self.loop.tolerance:
            return SETTLED
        return MAXIMUM if len(self.records) >= self.loop.iterations else None

    def _weights(self, iteration: int) -> Weights:
        """What iteration `iteration` made; the start weights for 0."""
        if iteration == 0:
            return self.start
        return read_weights(self.directory.iteration(iteration) / "after.json")

    def _list(self, iteration: int) -> NBest:
        path = self.directory.iteration(iteration) / "nbest.gz"
        vocabulary = self.references.vocabulary
        nbest = read_nbest(path, vocabulary, sparse_names=self.sparse_names, names=self.start.names)
        return nbest if self.loop.preprocess is None else preprocessed(nbest, self.loop.preprocess)

    def _iterate(self) -> None:
        number = len(self.records) + 1
        folder = self.directory.iteration(number)
        decoded = self._decoded(number)
        before = self._weights(number - 1)
        self.progress.started(number, "optimise")
        clock = _Clock()
        new = self.pool.add(self._list(number))
        seconds = {**decoded["seconds"], "pool": clock.lap()}
        after, objective, warnings = self._optimised(number, before) if new else (before, None, [])
        seconds["optimise"] = clock.lap()
        write_weights(folder / "after.json", after)
        record = {
            **decoded,
            "pool_bleu": self.pool.corpus_score(self.bleu, after),
            "objective": objective,
            "moved": float(np.abs(after.dense - before.dense).max(initial=0.0)),
            "candidates": len(self.pool),
            "new_candidates": new,
            "seed": iteration_seed(self.loop.seed, number),
            "seconds": seconds,
            "warnings": [*decoded["warnings"], *warnings],
        }
        write_json(folder / "iteration.json", record)
        self.records.append(self.directory.records()[-1])
        self._tell()
        self.progress.finished(record)

    def _optimised(self, number: int, before: Weights) -> tuple[Weights, float, list[str]]:
        optimiser = self.loop.optimiser(iteration_seed(self.loop.seed, number))
        fit = optimiser.fit(self.pool, before)
        if not np.isfinite(fit.weights.dense).all() or not np.isfinite(list(fit.weights.sparse.values())).all():
            raise UserError(f"iteration {number}: {optimiser.name} found weights that are not finite")
        return fit.weights, float(fit.objective), list(fit.warnings)

    def _decoded(self, number: int) -> Json:
        """The development score of the weights before iteration `number`, decoded with unless that is done."""
        folder = self.directory.iteration(number)
        done = read_json(folder / "decode.json", _DECODED)
        if done is not None:
            return done
        folder.mkdir(parents=True, exist_ok=True)
        weights = self._weights(number - 1)
        self.progress.started(number, "decode")
        write_weights(folder / "before.json", weights)
        clock = _Clock()
        nbest = self.loop.decoder.decode(self.source, weights, self.loop.nbest, self.references.vocabulary)
        seconds = {"decode": clock.lap()}
        check_lists(self.loop.decoder.name, nbest, weights)
        write_nbest(folder / "nbest.gz", nbest)
        nbest = self._list(number)
        metric = self.loop.dev_metric
        first = first_hypotheses(nbest, len(self.source))
        warnings = note_silence(self.loop.decoder.name, nbest, self.source)
        warnings += self._same_list(number, folder / "nbest.gz")
        done = {
            "iteration": number,
            "dev_score": corpus_score(metric, first, self.references),
            "hypotheses": len(nbest),
            "seconds": {**seconds, "write": clock.lap()},
            "warnings": warnings,
        }
        write_json(folder / "decode.json", done)
        return done

    def _same_list(self, number: int, path: Path) -> list[str]:
        """A warning if the decoder takes no notice of the weights: totals should differ even where texts do not."""
        if number == 1 or not self.loop.decoder.follows_weights:
            return []
        before, now = self._weights(number - 2), self._weights(number - 1)
        changed = not np.array_equal(before.dense, now.dense) or before.sparse != now.sparse
        if changed and filecmp.cmp(self.directory.iteration(number - 1) / "nbest.gz", path, shallow=False):
            return [
                f"{self.loop.decoder.name} gave the same lists as in iteration {number - 1}, scores included, although "
                "the weights have changed: it seems to ignore them"
            ]
        return []

    def _result(self) -> Json | None:
        """What `result.json` says at the end; None while something is missing."""
        reason = self._reason()
        if reason is None:
            return None
        last = len(self.records)
        scores = [record["dev_score"] for record in self.records]  # of what iterations 0, 1, ... made
        if reason == NO_NEW_CANDIDATES:
            last -= 1  # its last decoding was with the weights that it left as they were
        elif self.loop.keep == "best":
            evaluated = read_json(self.directory.iteration(last + 1) / "decode.json", _DECODED)
            if evaluated is None:
                return None
            scores.append(evaluated["dev_score"])
        chosen = last if self.loop.keep == "last" else int(np.argmax(scores))
        return {
            "reason": reason,
            "iterations": len(self.records),
            "keep": self.loop.keep,
            "chosen": chosen,
            "dev_score": scores[chosen] if chosen < len(scores) else None,
        }

    def _tell(self, result: Json | None = None) -> None:
        """Write the log and the report from what is there."""
        evaluated = read_json(self.directory.iteration(len(self.records) + 1) / "decode.json", _DECODED)
        self.directory.write_log([*self.records, evaluated] if evaluated else self.records)
        write_report(self.directory.path / "report.html", [read_run(self.directory.path, result)])

    def _finish(self) -> Outcome:
        if self._result() is None:
            self.progress.finished(self._decoded(len(self.records) + 1))
        result = self._result()
        if result is None:
            raise RuntimeError("the last decoding left no trace")
        outcome = self._outcome(result, already_finished=False)
        write_weights(self.directory.path / "weights.json", outcome.weights)
        self._tell(result)
        write_json(self.directory.path / "result.json", result)
        return outcome

    def _outcome(self, result: Json, *, already_finished: bool) -> Outcome:
        return Outcome(
            self._weights(result["chosen"]),
            result["dev_score"],
            result["reason"],
            result["iterations"],
            result["chosen"],
            already_finished,
        )


class _Clock:
    """Seconds of wall time since it was made or asked last."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        now = time.perf_counter()
        seconds, self._last = now - self._last, now
        return round(seconds, 3)
