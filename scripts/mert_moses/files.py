"""The files that mert-moses.pl leaves in its working directory, made of those of a run of ours.

All of them are derived: whatever is missing or was cut off is written again with the same bytes. `runN` names are of
iteration N: its weights before it decoded (`.moses.ini`, `.dense`, `.init.opt`), what was decoded with them
(`.bestN.out.gz`, `.out`), the weights that it made (`.weights.txt`).
"""

from __future__ import annotations

import contextlib
import filecmp
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lasw.metrics import atomic_write, display_of, open_bytes, write_text
from lasw.scripts.mert_moses.learning import ranges
from lasw.tuning import Json, Ranges, RunDirectory, read_weights

if TYPE_CHECKING:
    from lasw.scripts.mert_moses.settings import Settings
    from lasw.scripts.mert_moses.tools import MosesTools
    from lasw.tuning import Moses, Outcome, Weights

RUN = "lasw-run"
# The name of a file here, dotted, and what `atomic_write` puts behind it.
_LEFTOVER = re.compile(
    r"\.(run\d+\..+|run\.(?:sparse-)?weights|weights\.txt|finished_step\.txt|moses\.ini|mert\.\w+|init\.opt|features\.list)"
    r"\.(?:\w{8}|new)"
)


@dataclass
class WorkingDirectory:
    """The folder, and what its files are made of.

    Args:
        settings: of the run: the folder, and what the files are said to be of.
        run: our run, in the folder.
        decoder: writes the moses.ini.
        start: the weights before iteration 1.
        sentences: how many there are.
        imported: the first so many iterations are mert-moses.pl's own: their files stay as they are.
        tools: writes what Moses' own tools work on, if that is asked for.
    """

    settings: Settings
    run: RunDirectory
    decoder: Moses
    start: Weights
    sentences: int
    imported: int = 0
    tools: MosesTools | None = None

    @property
    def folder(self) -> Path:
        """mert-moses.pl's working directory."""
        return self.settings.folder

    def list_path(self, iteration: int) -> Path:
        """Of the N-best list of an iteration."""
        return self.folder / f"run{iteration}.best{self.settings.nbest}.out.gz"

    def write_all(self) -> None:
        """Every file of every iteration that has begun."""
        if self.tools is not None:
            self.tools.write_start()
        for iteration in range(1, len(self.run.records()) + 2):
            if iteration == 1 or self._begun(iteration):
                self.write(iteration)
        self.write_step()

    def write(self, iteration: int) -> None:
        """The files of one iteration, as far as it has come."""
        if iteration > self.imported:
            weights = self._before(iteration)
            self._write_before(iteration, weights)
            if self._decoded(iteration) is not None:
                self._write_list(iteration)
                if self.tools is not None:
                    self.tools.write_decoded(iteration, self.list_path(iteration), self._opening(weights))
        after = self.run.iteration(iteration) / "after.json"
        if iteration >= self.imported and after.exists() and self._finished() >= iteration:
            made = read_weights(after)
            text = " ".join(map(repr, made.dense.tolist())) + "\n"
            _update(self.folder / f"run{iteration}.weights.txt", text)
            _update(self.folder / "weights.txt", text)
            self._write_sparse(f"run{iteration + 1}", made)
            if self.tools is not None:
                self.tools.write_made(iteration, made, self.run.records()[iteration - 1]["pool_bleu"])

    def write_step(self) -> None:
        """The number of the last complete iteration, and its weights."""
        finished = self._finished()
        if finished:
            _update(self.folder / "finished_step.txt", f"{finished}\n")
            last = self._before(finished + 1)
            _update(self.folder / "run.weights", _dense(last))
            self._write_sparse("run", last)

    def write_result(self, outcome: Outcome) -> Path:
        """The moses.ini with the tuned weights."""
        path = self.folder / "moses.ini"
        score = self._score(outcome.chosen, outcome.dev_score)
        comment = [*self._comment(score), f"We were before running iteration {outcome.chosen + 1}"]
        self.decoder.write_ini(path, outcome.weights, comment, template=self.settings.config)
        return path

    def _score(self, chosen: int, dev_score: float | None) -> str:
        if dev_score is not None:
            return self._on_dev(dev_score)
        record = self.run.records()[chosen - 1]
        return f"BLEU {record['pool_bleu']:.6f} on the N-best lists of dev {self.settings.source}"

    def _on_dev(self, score: float) -> str:
        shown = display_of(self.settings.metric).value(score)
        return f"{self.settings.metric} {shown:.6f} on dev {self.settings.source}"

    def _write_before(self, iteration: int, weights: Weights) -> None:
        decoded = self._decoded(iteration)
        score = f"{self.settings.metric} --not-estimated-- on dev {self.settings.source}"
        if decoded is not None:
            score = self._on_dev(decoded["dev_score"])
        comment = [*self._comment(score), f"We were before running iteration {iteration}"]
        path = self.folder / f"run{iteration}.moses.ini"
        self.decoder.write_ini(path, weights, comment, template=self.settings.config)
        _update(self.folder / f"run{iteration}.dense", _dense(weights))
        _update(self.folder / f"run{iteration}.init.opt", self._opening(weights))
        self._write_sparse(f"run{iteration}", weights)

    def _opening(self, weights: Weights) -> str:
        """What Moses' mert starts from: the weights, and the ends of the ranges of random starting points."""
        learning = self.settings.learning
        text = ranges(learning.ranges, weights.names) if learning.name == "mert" else ""
        ends = Ranges.parse(text).bounds(weights.names)
        values = " ".join(map(repr, weights.dense.tolist()))
        low, high = (" ".join(f"{end:g}" for end in row.tolist()) for row in ends)
        return f"{values}\n{low}\n{high}\n"

    def _write_sparse(self, beginning: str, weights: Weights) -> None:
        """The file that belongs to those of the dense weights; an earlier run's would be taken for this one's."""
        path = self.folder / f"{beginning}.sparse-weights"
        if weights.sparse:
            _update(path, "".join(f"{name} {value!r}\n" for name, value in sorted(weights.sparse.items())))
        else:
            path.unlink(missing_ok=True)

    def _comment(self, score: str) -> list[str]:
        return ["MERT optimized configuration", f"decoder {self.settings.decoder}", score]

    def _write_list(self, iteration: int) -> None:
        made = self.run.iteration(iteration) / "nbest.gz"
        path = self.list_path(iteration)
        if not path.exists() or not filecmp.cmp(made, path, shallow=False):
            _copy(made, path)
        _update(self.folder / f"run{iteration}.out", _first_best(made, self.sentences))

    def _begun(self, iteration: int) -> bool:
        folder = self.run.iteration(iteration)
        return any((folder / name).exists() for name in ("before.json", "decode.json", "iteration.json"))

    def _decoded(self, iteration: int) -> Json | None:
        return self.run.read(self.run.iteration(iteration) / "decode.json", ("dev_score",))

    def _finished(self) -> int:
        return len(self.run.records())

    def _before(self, iteration: int) -> Weights:
        if iteration == 1:
            return self.start
        return read_weights(self.run.iteration(iteration - 1) / "after.json")


def _dense(weights: Weights) -> str:
    """A line for every component, the name of its group before it."""
    lines = (f"{name}= {value!r}\n" for name, values in weights.by_group().items() for value in values)
    return "".join(lines)


def _first_best(path: Path, sentences: int) -> str:
    """The first hypothesis of every sentence in a list of our own writing, a line each."""
    best: dict[int, str] = {}
    with open_bytes(path) as stream:
        for line in stream:
            identity, _, rest = line.partition(b" ||| ")
            number = int(identity)
            if number not in best:
                best[number] = rest.partition(b" ||| ")[0].decode("utf-8").rstrip(" ")
    return "".join(best.get(k, "") + "\n" for k in range(sentences))


def _copy(made: Path, path: Path) -> None:
    """Whole or not at all; no second link to the same file, which gzip would not unpack."""
    with open(made, "rb") as stream, atomic_write(path, pack=False) as out:
        shutil.copyfileobj(stream, out)


def clean(folder: Path) -> None:
    """Remove what writes left behind in a working directory that were killed half-way."""
    for entry in folder.glob(".*"):
        if _LEFTOVER.fullmatch(entry.name):
            with contextlib.suppress(OSError):
                entry.unlink()


def _update(path: Path, text: str) -> None:
    """Write unless it is there."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if path.read_text(encoding="utf-8") == text:
            return
    write_text(path, text)


def remove(folder: Path, names: Sequence[str]) -> None:
    """Delete files that are there."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
