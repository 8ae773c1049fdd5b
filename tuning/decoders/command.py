"""Any program as a decoder: it gets weights and sentences in files and gives an N-best list in any layout."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from lasw.metrics import UserError, Vocabulary, write_text
from lasw.tuning.decoders.base import Decoder
from lasw.tuning.decoders.joining import joined
from lasw.tuning.decoders.program import Program, paths_as_values, shards, stop
from lasw.tuning.formats import MOSES, WEIGHT_FILES, Options, read_nbest, read_weight_file, write_weights
from lasw.tuning.nbest import NBest
from lasw.tuning.weights import Weights

# Moses has a weight for it and never shows its value in an N-best list.
_NEVER_LISTED = "UnknownWordPenalty"


class Command(Decoder):
    """Runs a command line for every decoding.

    Placeholders in it: {weights} the file of weights, {source} the sentences to translate, {nbest} where the N-best
    list goes, {n} its length. Without {source} the sentences come on standard input, without {nbest} the list is taken
    from standard output.

    Args:
        command: the command line, e.g. './decode -w {weights} -n {n} {source}'; no shell reads it.
        initial: a file with the weights to start from, in any format that lasw reads; its names are the features. Of a
            moses.ini every other line goes into the files that the program gets.
        kind: format of the weight files (moses, json, groups, pairs, joshua, travatar); by default that of initial.
        folder: where the command runs; by default where lasw runs.
        jobs: so many processes at a time, each with a part of the sentences.
        encoding: of the N-best lists and of initial.
    """

    name = "command"

    def __init__(
        self,
        command: str,
        initial: str | os.PathLike[str],
        *,
        kind: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        jobs: int = 1,
        encoding: str = "utf-8",
    ) -> None:
        if jobs < 1:
            raise ValueError(f"{jobs} jobs, expected at least 1")
        self._program = Program(command, Path(folder or ".").absolute())
        if "weights" not in self._program.placeholders:
            raise UserError("the command has no {weights}, so its lists could not follow them", remedy="add it")
        self._initial = Path(initial)
        file = read_weight_file(self._initial, encoding=encoding)
        kept = {k: v for k, v in file.weights.by_group().items() if not k.startswith(_NEVER_LISTED)}
        self._start = Weights.from_groups(kept, file.weights.sparse)
        self._kind = kind or file.kind
        self.configuration_name = WEIGHT_FILES.find(self._kind).usual_name
        if self._kind == MOSES and file.kind != MOSES:
            raise UserError("this is no moses.ini", path=os.fspath(initial), remedy="give the one to take over")
        self._jobs = jobs
        self._encoding = encoding
        self._sparse_names = Vocabulary()

    def input_files(self) -> Sequence[str | os.PathLike[str]]:
        """The file of initial weights."""
        return [self._initial]

    def start_weights(self) -> Weights:
        """The initial weights."""
        return self._start

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        """N-best lists, see `Decoder.decode`.

        Raises:
            UserError: the program failed, printed nothing or too little, or a list that cannot be read.
        """
        with tempfile.TemporaryDirectory(prefix="lasw-command-") as scratch, ExitStack() as stack:
            place = Path(scratch)
            self._write(place / "weights", weights)
            parts = shards(source, self._jobs)
            running = []
            for number, (start, end) in enumerate(parts):
                paths = {name: place / f"{name}{number}" for name in ("source", "nbest", "stderr")}
                write_text(paths["source"], "".join(line + "\n" for line in source[start:end]))
                running.append((self._started(place / "weights", paths, n, stack), paths))
            lists = []
            for (start, end), (process, paths) in zip(parts, running, strict=True):
                code = process.wait()
                if code:
                    raise self._program.failure(self._program.ended(code), paths["stderr"])
                lists.append(self._read(paths, source[start:end], weights, vocabulary))
            return joined(lists, [start for start, _ in parts])

    def write_configuration(self, path: str | os.PathLike[str], weights: Weights, comment: Sequence[str] = ()) -> bool:
        """Write the weights as the program gets them."""
        write_weights(path, weights, kind=self._kind, template=self._template(), comment=comment)
        return True

    def _write(self, path: Path, weights: Weights) -> None:
        write_weights(path, weights, kind=self._kind, template=self._template())

    def _template(self) -> Path | None:
        return self._initial if self._kind == MOSES else None

    def _started(self, weights: Path, paths: dict[str, Path], n: int, stack: ExitStack) -> subprocess.Popen[bytes]:
        given = self._program.placeholders
        values = paths_as_values({"weights": weights, "source": paths["source"], "nbest": paths["nbest"]}, n)
        stdout = paths["nbest"] if "nbest" not in given else Path(os.devnull)
        stdin = None if "source" in given else paths["source"]
        process = self._program.start(values, stdin, stdout, paths["stderr"])
        stack.enter_context(process)
        stack.callback(stop, process)
        return process

    def _read(self, paths: dict[str, Path], source: Sequence[str], weights: Weights, vocabulary: Vocabulary) -> NBest:
        path = paths["nbest"]
        if not path.exists() or not path.stat().st_size:
            raise self._program.failure("printed no N-best list", paths["stderr"])
        options = Options(
            sparse_names=self._sparse_names,
            names=weights.names,
            segments=len(source),
            unsorted=True,
            encoding=self._encoding,
        )
        try:
            nbest = read_nbest(path, vocabulary, **options)
        except UserError as error:
            where = f"line {error.line} of its N-best list: " if error.line else ""
            detail = "; ".join(filter(None, [error.found, error.expected and f"expected {error.expected}"]))
            raise self._program.failure(f"printed something else: {where}{detail}", paths["stderr"]) from None
        listed = np.zeros(len(source), dtype=bool)
        listed[nbest.owner] = True
        missing = [k for k in np.flatnonzero(~listed).tolist() if source[k].strip()]
        if missing:
            found = f"gave hypotheses for {int(listed.sum())} of {len(source)} sentences, the first without is "
            raise self._program.failure(f"{found}{source[missing[0]][:40]!r}", paths["stderr"])
        return nbest
