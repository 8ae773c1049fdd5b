"""Moses as a decoder: its moses.ini is rewritten for every weight vector, its options are those of its command line."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import ScratchFolder, UserError, Vocabulary, command_words, first_bytes
from lasw.tuning.decoders.base import Decoder
from lasw.tuning.decoders.moses.features import Features, features, parse_shown
from lasw.tuning.decoders.moses.flags import Flags, as_sections
from lasw.tuning.decoders.moses.kept import Kept
from lasw.tuning.decoders.moses.shards import BPE, Numbered, Shard, finish
from lasw.tuning.decoders.program import Program, last_lines
from lasw.tuning.formats import (
    Options,
    check_moses_ini,
    marked_sentences,
    read_weight_file,
    rewrite_moses_ini,
    write_moses_settings,
)
from lasw.tuning.nbest import NBest
from lasw.tuning.weights import Weights

_NO_SUCH_SWITCH = re.compile(r"(illegal|un(known|recogni[sz]ed))[^/]*show-weights")
_SECTION = re.compile(rb"^\s*\[[A-Za-z][A-Za-z-]*\]", re.MULTILINE)


class Moses(Decoder):
    """Runs moses or moses_chart, old or new.

    Before anything is decoded it is asked for its features (``-show-weights``, which loads no model), and they are
    compared with the weights of the moses.ini.

    Args:
        ini: its moses.ini, with the start weights.
        moses: the program, as one types it.
        flags: more options for it, e.g. '-threads 4 -cube-pruning-pop-limit 2000'; they go into the moses.ini that is
            written at the end as well.
        inputtype: 0 text, 1 confusion networks, 2 lattices, 3 trees; by default what the moses.ini says.
        distinct: hypotheses with the same text are kept if their features differ (features) or not (text).
        jobs: so many processes at a time, each with a part of the sentences; every one loads the models.
        folder: where Moses runs, relative paths in the moses.ini count from there; by default where lasw runs.
        scratch: where the files of a decoding lie while it goes on; by default the system's temporary folder.
        transform: a command that the lists go through before they are read, no shell reads it (sh -c '...' for pipes);
            or bpe: 'a@@ b' becomes 'ab'.
        encoding: of the N-best lists.

    Attributes:
        shown: what ``-show-weights`` prints; None if this Moses does not know it.
    """

    name = "moses"
    configuration_name = "moses.ini"

    def __init__(
        self,
        ini: str | os.PathLike[str],
        *,
        moses: str = "moses",
        flags: str = "",
        inputtype: int | None = None,
        distinct: str = "text",
        jobs: int = 1,
        folder: str | os.PathLike[str] | None = None,
        scratch: str | os.PathLike[str] | None = None,
        transform: str | None = None,
        encoding: str = "utf-8",
    ) -> None:
        if jobs < 1:
            raise ValueError(f"{jobs} jobs, expected at least 1")
        if distinct not in ("features", "text"):
            raise ValueError(f"distinct {distinct!r}, expected 'features' or 'text'")
        self._ini = Path(ini).absolute()
        self._folder = Path(folder or ".").absolute()
        self._scratch = scratch
        self._jobs = jobs
        self._transform = transform
        if transform not in (None, BPE):
            Program(transform, self._folder)  # told before anything is decoded
        self._encoding = encoding
        self.flags = Flags.parsed(flags)
        sparse = self.flags.values("weight-file")
        self._sparse_path = self._folder / sparse[0] if sparse else None
        self.flags = self.flags.without("weight-file")
        if inputtype is not None and inputtype < 0:
            raise ValueError(f"inputtype is {inputtype}, expected at least 0")
        self._moses, self._inputtype = _words(moses), inputtype
        self._command = self._called(self.flags)
        self._lists = [
            "-n-best-list",
            "{nbest}",
            "{n}",
            *(["distinct"] if distinct == "text" else []),
            "-input-file",
            "{source}",
        ]
        self._program = self._opened([*self._command, *self._lists])
        self.shown: str | None = None
        self._features = self._known_features()
        self._held: tuple[Sequence[str] | None, str] = (None, "")
        self._kept: tuple[tuple[Any, ...], Kept] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """A copy, here or on another machine, has processes of its own."""
        return {**vars(self), "_kept": None}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is worth telling a user before the work begins, one line each."""
        return self._features.remarks

    def input_files(self) -> Sequence[str | os.PathLike[str]]:
        """The moses.ini and the file of sparse weights."""
        return [self._ini, *([self._sparse_path] if self._sparse_path else [])]

    def start_weights(self) -> Weights:
        """Those of the moses.ini, of what is to be tuned."""
        return self._features.start

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        """N-best lists, see `Decoder.decode`.

        Raises:
            UserError: Moses failed (the sentence is named if it can be told), printed nothing or too little, or a list
                that cannot be read.
        """
        return self.decode_some(source, np.arange(len(source)), weights, n, vocabulary)

    def decode_some(
        self, source: Sequence[str], chosen: NDArray[np.int64], weights: Weights, n: int, vocabulary: Vocabulary
    ) -> NBest:
        """See `Decoder.decode_some`; messages number sentences as they are in `source`."""

        def write(path: Path) -> None:
            rewrite_moses_ini(self._ini, path, self._features.complete(weights))

        numbered = Numbered([source[k] for k in chosen.tolist()], chosen.tolist(), len(source))
        if self._held[0] is not None and not any("\n" in sentence for sentence in numbered.source):
            part = self._process(write, weights, n)(numbered, self._held[1])
            nbest = self._list(part, numbered, weights, vocabulary, Vocabulary())
            if nbest is None:
                raise part.failure("printed no N-best list")
            return nbest
        return self._decoded(self._program, numbered, write, weights, n, vocabulary)

    def hold(self, source: Sequence[str]) -> None:
        """See `Decoder.hold`: from now on a process goes on as long as the weights stay."""
        if self._held[0] is not source:
            lines = (line for line in source if line.strip() and "\n" not in line)
            self._held = source, min(lines, key=len, default="")

    def _process(self, write: Callable[[Path], None], weights: Weights, n: int) -> Kept:
        """The process that has these weights."""
        key = weights.dense.tobytes(), tuple(sorted(weights.sparse.items())), n
        if self._kept is not None and (self._kept[0] != key or self._kept[1].over):
            self._kept[1].close()
            self._kept = None
        if self._kept is None:
            self._kept = key, Kept(self._program, write, n, several_at_once=self._several)
        return self._kept[1]

    def _decode_each(self, source: Sequence[str], weights: Sequence[Weights], n: int, vocabulary: Vocabulary) -> NBest:
        """In processes of one thread each, with text as input."""
        if self._inputtype not in (None, 0):
            raise UserError(f"input type {self._inputtype} with other weights for every sentence", expected="text, 0")
        if not source:
            return self.decode(source, self.start_weights(), n, vocabulary)

        def write(path: Path) -> None:
            write_moses_settings(self._ini, path, [self._features.complete(one) for one in weights])

        command = self._called(self.flags.without("threads"))
        program = self._opened([*command, *self._lists, "-threads", "1"])
        marked = Numbered(marked_sentences(source), range(len(source)), len(source))
        return self._decoded(program, marked, write, weights[0], n, vocabulary)

    def _decoded(
        self,
        program: Program,
        numbered: Numbered,
        write: Callable[[Path], None],
        weights: Weights,
        n: int,
        vocabulary: Vocabulary,
    ) -> NBest:
        """The lists of processes that share the moses.ini that `write` writes."""
        with ScratchFolder("lasw-moses-", self._scratch) as scratch, ExitStack() as stack:
            place = Path(scratch)
            write(place / "moses.ini")
            parts = Shard.cut(numbered.source, self._jobs, program, place)
            for part in parts:
                part.start(place / "moses.ini", n, stack)
            finish(parts, numbered, several_at_once=self._several, told=self.told)
            names = Vocabulary()
            lists = [(part.first, self._list(part, numbered, weights, vocabulary, names)) for part in parts]
            given = [(first, nbest) for first, nbest in lists if nbest is not None]
            if not given:
                raise parts[0].failure("printed no N-best list")
            return NBest.joined([nbest for _, nbest in given], [first for first, _ in given])

    def write_configuration(self, path: str | os.PathLike[str], weights: Weights, comment: Sequence[str] = ()) -> bool:
        """Write the moses.ini with these weights and with the options that Moses got."""
        self.write_ini(path, weights, comment, template=self._ini)
        return True

    def write_ini(
        self,
        path: str | os.PathLike[str],
        weights: Weights,
        comment: Sequence[str] = (),
        *,
        template: str | os.PathLike[str],
    ) -> None:
        """Write `template`, a moses.ini, with these weights and with the options that Moses got."""
        with open(template, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            lines = as_sections(stream.read().split("\n"), self.flags)
        with ScratchFolder("lasw-moses-") as scratch:
            whole = Path(scratch) / "moses.ini"
            whole.write_bytes("\n".join(lines).encode("utf-8", errors="surrogateescape"))
            rewrite_moses_ini(whole, path, self._features.complete(weights), comment)

    @property
    def _several(self) -> bool:
        """Whether it has several threads."""
        return self.flags.values("threads") not in (None, ("1",))

    def _called(self, flags: Flags) -> list[str]:
        inputtype = [] if self._inputtype is None else ["-inputtype", str(self._inputtype)]
        return [*self._moses, *flags.words(), "-config", "{weights}", *inputtype]

    def _opened(self, words: Sequence[str]) -> Program:
        return Program(shlex.join(words), self._folder)

    def _known_features(self) -> Features:
        """What Moses says it has, compared with the moses.ini.

        Raises:
            UserError: no moses.ini or one that Moses does not take, or features that do not fit together.
        """
        refuse_program(self._ini)
        check_moses_ini(self._ini)
        file = read_weight_file(self._ini, sparse_path=self._sparse_path)
        self.shown = self._shown()
        shown = None if self.shown is None else parse_shown(self.shown)
        known = features(file, self._ini, shown)
        if shown is None:
            text = f"{self._program.name} does not tell its features (-show-weights): those of the moses.ini are taken"
            return dataclasses.replace(known, remarks=(*known.remarks, text))
        return known

    def _shown(self) -> str | None:
        """What ``-show-weights`` prints; None if this Moses is too old to know it."""
        program = self._opened([*self._command, "-show-weights"])
        with ScratchFolder("lasw-moses-", self._scratch) as scratch:
            out, errors = Path(scratch) / "stdout", Path(scratch) / "stderr"
            with program.running({"weights": os.fspath(self._ini)}, None, out, errors) as process:
                code = process.wait()
            if not code:
                return out.read_text(encoding="utf-8", errors="replace")
            if _NO_SUCH_SWITCH.search(last_lines(errors)):
                return None
            what = f"does not take {self._ini} (-show-weights {program.ended(code)})"
            raise program.failure(what, errors)

    def _list(
        self, part: Shard, numbered: Numbered, weights: Weights, vocabulary: Vocabulary, names: Vocabulary
    ) -> NBest | None:
        """The list of one process; None if it has none for sentences that are all blank or translated by nothing."""
        nbest = self._read(part, weights, vocabulary, names) if part.has_list() else None
        listed, missing = part.unlisted(nbest)
        # A sentence may have no translation (its line of the output is empty); one that was left out is another matter.
        if missing and part.translated() < len(part.source):
            text = " ".join(part.source[missing[0]].split())[:40]
            raise part.failure(
                f"printed lists of {listed} sentences, expected {len(part.source)}; the first without is "
                f"sentence {numbered.place(part.first + missing[0])} ({text!r})"
            )
        return nbest

    def _read(self, part: Shard, weights: Weights, vocabulary: Vocabulary, names: Vocabulary) -> NBest:
        options = Options(sparse_names=names, names=weights.names, encoding=self._encoding)
        known = len(names)
        path = part.transformed(self._transform)
        nbest = part.read(path, vocabulary, options, unplaced="an N-best list with ")
        new = (names[k] for k in range(known, len(names)))
        strange = next((name for name in new if not self._features.knows(name)), None)
        if strange is not None:
            raise part.failure(
                f"printed the feature {strange}, of which neither -show-weights nor {self._ini.name} knows"
            )
        return nbest


def refuse_program(ini: Path) -> None:
    """Look into what should be a moses.ini.

    Raises:
        UserError: it is a program.
    """
    start = first_bytes(ini, 1 << 16)
    if b"\0" in start or (start.startswith(b"#!") and not _SECTION.search(start)):
        raise UserError("this is a program, no moses.ini", path=ini, remedy="are decoder and configuration exchanged?")


def _words(command: str) -> list[str]:
    words = command_words(command, "decoder")
    if not words:
        raise UserError("no decoder")
    return words
