"""Any program as a decoder: it gets weights and sentences in files and gives an N-best list in any layout."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from lasw.metrics import ScratchFolder, UserError, Vocabulary
from lasw.tuning.decoders.base import Decoder
from lasw.tuning.decoders.parts import Part, as_they_end
from lasw.tuning.decoders.program import Program
from lasw.tuning.formats import WEIGHT_FILES, Options, read_weight_file, tuneable, write_weights
from lasw.tuning.nbest import NBest
from lasw.tuning.weights import Weights


class Command(Decoder):
    """Runs a command line for every decoding.

    Placeholders in it: {weights} the file of weights, {source} the sentences to translate, {nbest} where the N-best
    list goes, {n} its length. Without {source} the sentences come on standard input, without {nbest} the list is taken
    from standard output.

    Args:
        command: the command line, e.g. './decode -w {weights} -n {n} {source}'; no shell reads it.
        initial: a file with the weights to start from, in any format that lasw reads; its names are the features. Of a
            moses.ini every other line goes into the files that the program gets.
        kind: format of the weight files (`docs/reference/files/weights.md` has the names); by default that of initial.
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
        self._start = tuneable(file.weights)
        self._kind = kind or file.kind
        self.configuration_name = WEIGHT_FILES.find(self._kind).usual_name
        form = WEIGHT_FILES.find(self._kind)
        if file.kind != self._kind and form.needs_template:
            raise UserError(
                f"this is no {form.usual_name}", path=os.fspath(initial), remedy="give the one to take over"
            )
        if WEIGHT_FILES.find(file.kind).nameless:
            raise UserError(
                "weights without names", path=os.fspath(initial), expected="NAME= v v v, as the lists have the features"
            )
        self._jobs = jobs
        self._encoding = encoding

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
        options = Options(sparse_names=Vocabulary(), names=weights.names, encoding=self._encoding)
        with ScratchFolder("lasw-command-") as scratch, ExitStack() as stack:
            place = Path(scratch)
            self.write_configuration(place / "weights", weights)
            parts = Part.cut(source, self._jobs, self._program, place)
            for part in parts:
                part.start(place / "weights", n, stack)
            for part, code in as_they_end(parts, self.told):
                if code:
                    raise part.failure(self._program.ended(code))
            lists = []
            for part in parts:
                if not part.has_list():
                    raise part.failure("printed no N-best list")
                lists.append(part.read(part.path("nbest"), vocabulary, options))
                listed, missing = part.unlisted(lists[-1])
                if missing:
                    raise part.failure(
                        f"gave hypotheses for {listed} of {len(part.source)} sentences, the first without is "
                        f"{part.source[missing[0]][:40]!r}"
                    )
            return NBest.joined(lists, [part.first for part in parts])

    def write_configuration(self, path: str | os.PathLike[str], weights: Weights, comment: Sequence[str] = ()) -> bool:
        """Write the weights as the program gets them."""
        template = self._initial if WEIGHT_FILES.find(self._kind).needs_template else None
        write_weights(path, weights, kind=self._kind, template=template, comment=comment)
        return True
