"""The decodings of one round: lists for the current weights, with their development score, and for others too."""

from __future__ import annotations

import filecmp
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Corpus, Coverages, Metric, References, Settle, atomic_write, refuse_or_warn
from lasw.tuning.decoders import Decoder
from lasw.tuning.formats import write_weights
from lasw.tuning.loop.history import History, same
from lasw.tuning.loop.rounds import OtherWeights
from lasw.tuning.loop.shared_files import SharedFiles
from lasw.tuning.nbest import NBest
from lasw.tuning.pool import check_lists, corpus_score, first_hypotheses, note_silence
from lasw.tuning.run_directory import Json
from lasw.tuning.weights import Weights


class Clock:
    """Seconds of wall time since it was made or asked last."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        """Seconds since the last call."""
        now = time.perf_counter()
        seconds, self._last = now - self._last, now
        return round(seconds, 3)


class DevelopmentDecoder:
    """Decodes the development set and writes what comes of it into the files of a run.

    Args:
        decoder: what is tuned.
        source: the sentences.
        references: theirs.
        metric: of the development score.
        history: the files.
        shared: decodings of other runs.
        losses: of the optimiser.
        settle: decides about suspicious text of the first lists.
    """

    def __init__(
        self,
        decoder: Decoder,
        source: Sequence[str],
        references: References,
        metric: Metric,
        history: History,
        shared: SharedFiles | None = None,
        losses: Sequence[Metric] = (),
        settle: Settle = refuse_or_warn,
    ) -> None:
        self._decoder = decoder
        self._source = source
        self._references = references
        self._metric = metric
        self._history = history
        self._losses, self._settle = losses, settle
        # A decoder that does not follow the weights follows something else, which is not known here.
        self._shared = shared if decoder.follows_weights else None

    def of_current(self, iteration: int, n: int) -> Json:
        """Decode with the weights before an iteration; the content of its `decode.json`."""
        weights = self._history.weights(iteration - 1)
        clock = Clock()
        nbest, seconds = self._decode(iteration, 1, weights, n, clock)
        warnings = note_silence(self._decoder.name, nbest, self._source)
        warnings += self._same_list(iteration)
        if iteration == 1:  # later lists are made in the same way
            coverages = Coverages([self._metric, *self._losses], self._references)
            warnings += self._settle(coverages.of_list(nbest.hypotheses, nbest.owner))
        done = {
            "iteration": iteration,
            "dev_score": corpus_score(self._metric, first_hypotheses(nbest, len(self._source)), self._references),
            "nbest": n,
            "hypotheses": len(nbest),
            "seconds": {"decode": seconds, "write": clock.lap()},
            "warnings": warnings,
        }
        self._history.write_decoded(iteration, 1, done)
        return done

    def of_another(self, iteration: int, number: int, other: OtherWeights, n: int) -> Json:
        """Decode with other weights in the same round; the content of `decode-2.json`, ..."""
        clock = Clock()
        nbest, seconds = self._decode(iteration, number, other.weights, n, clock)
        done = {"of": other.kind, "nbest": n, "hypotheses": len(nbest), "seconds": round(seconds + clock.lap(), 3)}
        self._history.write_decoded(iteration, number, done)
        return done

    def probe(self, chosen: NDArray[np.int64], weights: Weights, n: int) -> NDArray[Any]:
        """(m, k) the metric's statistics of the sentences `chosen` (m,), decoded with other weights."""
        vocabulary = self._references.vocabulary
        nbest = self._decoder.decode_some(self._source, chosen, weights, n, vocabulary)
        if len(nbest):  # no sentence of a sample translated is a loss, which is told by its score
            check_lists(self._decoder.name, nbest, weights)
        return self._statistics(first_hypotheses(self._history.prepared(nbest), len(chosen)), chosen)

    def statistics(self, iteration: int, chosen: NDArray[np.int64]) -> NDArray[Any]:
        """(m, k) the same, as they were decoded in an iteration with the weights before it."""
        first = first_hypotheses(self._history.nbest(iteration), len(self._source))
        return self._statistics(first.take(chosen), chosen)

    def _statistics(self, translations: Corpus, chosen: NDArray[np.int64]) -> NDArray[Any]:
        owner = chosen.astype(np.int32)
        return self._metric.statistics(translations, self._metric.prepare(self._references), owner)

    def _decode(self, iteration: int, number: int, weights: Weights, n: int, clock: Clock) -> tuple[NBest, float]:
        """The lists as they stand in the run's files, and the seconds of decoding alone."""
        self._history.directory.iteration(iteration).mkdir(parents=True, exist_ok=True)
        # Lists must not be taken for those of other weights, should this be the second time.
        self._history.file(iteration, "decode.json", number).unlink(missing_ok=True)
        write_weights(self._history.file(iteration, "before.json", number), weights)
        path = self._history.file(iteration, "nbest.gz", number)
        seconds = 0.0
        if self._shared is None or not self._shared.take(path, weights, n):
            lists = self._decoder.decode_packed(self._source, weights, n, self._references.vocabulary)
            seconds = clock.lap()
            with atomic_write(path, pack=False) as stream:
                stream.writelines(lists)
            if self._shared is not None:
                self._shared.give(path, weights, n)
        return self._history.nbest(iteration, number), seconds

    def _same_list(self, iteration: int) -> list[str]:
        """A warning if the decoder takes no notice of the weights: totals should differ even where texts do not."""
        if iteration == 1 or not self._decoder.follows_weights:
            return []
        history = self._history
        if same(history.weights(iteration - 2), history.weights(iteration - 1)):
            return []
        before, now = (history.file(k, "nbest.gz") for k in (iteration - 1, iteration))
        if not filecmp.cmp(before, now, shallow=False):
            return []
        return [
            f"{self._decoder.name} gave the same lists as in iteration {iteration - 1}, scores included, although the "
            "weights have changed: it seems to ignore them"
        ]
