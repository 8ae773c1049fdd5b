"""What the files of a run say, for a loop that goes on after them.

A damaged file counts as one that is not there: what it belongs to is done again, which gives the same bytes, and one
warning says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from lasw.metrics import References, UserError, Vocabulary
from lasw.tuning.formats import read_nbest, read_weights
from lasw.tuning.nbest import NBest
from lasw.tuning.pool import Pool, preprocessed
from lasw.tuning.run_directory import Json, RunDirectory
from lasw.tuning.weights import Weights

DECODED = ("iteration", "dev_score", "seconds", "warnings")  # what is read from decode.json
ITERATED = (*DECODED, "moved", "new_candidates", "candidates")  # from iteration.json


class History:
    """The finished iterations of a run, and what was decoded since.

    Args:
        directory: of the run, entered.
        start: the weights before the first iteration.
        references: of the development set.
        preprocess: what was done to the references' lines is done to the hypotheses.

    Attributes:
        records: the log lines of finished iterations.
    """

    def __init__(
        self, directory: RunDirectory, start: Weights, references: References, preprocess: Callable[[str], str] | None
    ) -> None:
        self.directory = directory
        self._start = start
        self._references = references
        self._preprocess = preprocess
        self._sparse_names = Vocabulary()
        self.records: list[Json] = []
        self.reload()

    def reload(self) -> None:
        """Read the records again; they end before the first iteration that is not whole."""
        self.records = []
        for record in self.directory.records(ITERATED):
            folder = self.directory.iteration(len(self.records) + 1)
            if any(self._read_weights(folder / name) is None for name in ("before.json", "after.json")):
                break
            self.records.append(record)

    def scores(self) -> list[float]:
        """Development scores of the weights that iterations 0, 1, ... made, as far as they have finished."""
        return [record["dev_score"] for record in self.records]

    def by_heart(self) -> list[float]:
        """Of the development scores of what iterations 0, 1, ... made, how much their sentences alone are good for."""
        return [0.0, *(r["gain"] - r["held_out_gain"] if "held_out_gain" in r else 0.0 for r in self.records)]

    def weights(self, iteration: int) -> Weights:
        """What iteration `iteration` made; the start weights for 0."""
        return self._start if iteration == 0 else read_weights(self.directory.iteration(iteration) / "after.json")

    def decoded(self, iteration: int, weights: Weights, number: int = 1) -> Json | None:
        """What is known of a decoding that is done.

        Args:
            iteration: 1, 2, ...
            weights: that it must have been made with.
            number: 1 for that of the current weights, 2, ... for the others.
        """
        done = self.directory.read(
            self.file(iteration, "decode.json", number), DECODED if number == 1 else ("seconds",)
        )
        if done is None or not self.file(iteration, "nbest.gz", number).exists():
            return None
        before = self._read_weights(self.file(iteration, "before.json", number))
        return done if before is not None and same(before, weights) else None

    def write_decoded(self, iteration: int, number: int, done: Json) -> None:
        """Mark a decoding as done."""
        files = [self.file(iteration, name, number) for name in ("before.json", "nbest.gz")]
        self.directory.write_step(self.file(iteration, "decode.json", number), done, files)

    def write_iterated(self, iteration: int, record: Json) -> None:
        """Mark an iteration as done."""
        files = [self.directory.iteration(iteration) / "after.json"]
        for number in range(1, record["decodings"] + 1):
            files += [self.file(iteration, name, number) for name in ("before.json", "nbest.gz")]
        self.directory.write_step(self.directory.iteration(iteration) / "iteration.json", record, files)

    def file(self, iteration: int, name: str, number: int = 1) -> Path:
        """Path of a file of one decoding: ``nbest.gz``, ``nbest-2.gz``, ..."""
        stem, dot, end = name.partition(".")
        return self.directory.iteration(iteration) / (name if number == 1 else f"{stem}-{number}{dot}{end}")

    def nbest(self, iteration: int, number: int = 1) -> NBest:
        """The list of a decoding, its text preprocessed as the references."""
        path = self.file(iteration, "nbest.gz", number)
        vocabulary = self._references.vocabulary
        nbest = read_nbest(path, vocabulary, sparse_names=self._sparse_names, names=self._start.names)
        return self.prepared(nbest)

    def prepared(self, nbest: NBest) -> NBest:
        """A list with its text preprocessed as the references."""
        return nbest if self._preprocess is None else preprocessed(nbest, self._preprocess)

    def pool(self, first: int, last: int) -> Pool:
        """The candidates of the lists of iterations `first` to `last`."""
        pool = Pool(self._references)
        for iteration in range(first, last + 1):
            for number in range(1, self.decodings(iteration) + 1):
                pool.add(self.nbest(iteration, number))
        return pool

    def decodings(self, iteration: int) -> int:
        """How many lists a finished iteration has."""
        return 1 + len(self.records[iteration - 1].get("others", ()))

    def evaluated(self, iteration: int) -> Json | None:
        """What the decoding with the weights of iteration `iteration` gave; None if it was not done."""
        return self.decoded(iteration + 1, self.weights(iteration))

    def lines(self) -> Iterator[Json]:
        """Lines of the log: the records, and the decoding with the last weights if there was one."""
        yield from self.records
        last = self.evaluated(len(self.records))
        if last is not None:
            yield last

    def _read_weights(self, path: Path) -> Weights | None:
        if not path.exists():
            return None
        try:
            weights = read_weights(path)
        except UserError as error:
            self.directory.note_damage(path, error)
            return None
        if weights.names == self._start.names:
            return weights
        self.directory.note_damage(path, UserError("weights of other features"))
        return None


def same(one: Weights, other: Weights) -> bool:
    """Whether two sets of weights are equal."""
    return (
        one.names == other.names and np.array_equal(one.dense, other.dense) and dict(one.sparse) == dict(other.sparse)
    )
