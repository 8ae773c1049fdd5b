"""Thot, a phrase-based decoder (Ortiz-Martínez and Casacuberta 2014; the wheel is sil-thot), in its own processes."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import (
    Corpus,
    ScratchFolder,
    UserError,
    Vocabulary,
    Worker,
    ask_all,
    parse_json,
    read_bytes,
    remove_abandoned,
    tokens,
    write_text,
)
from lasw.tuning.decoders.base import Decoder
from lasw.tuning.decoders.thot.phrase_table import filter_phrase_table
from lasw.tuning.decoders.thot.training import DESCRIPTION, FORMAT
from lasw.tuning.nbest import NBest
from lasw.tuning.weights import FeatureNames, Weights

# Word penalty, language model, target phrase length, source jump, source phrase length, p(target | source),
# p(source | target), sentence length.
FEATURES = ("wpw", "lmw", "tseglenw", "sjumpw", "sseglenw", "ptsw", "pstw", "swlenliw")
NAMES = FeatureNames(tuple((name, 1) for name in FEATURES))
# What Thot starts with when nobody gives weights (`SmtModel.weights`); it raises weights below 1e-6 to that.
DEFAULT_WEIGHTS = (1e-6, 1.0, 1.0, 0.01, 1.0, 1.0, 1e-6, 1.0)
_SCRATCH = "lasw-thot-"
HEURISTICS = {"none": 0, "phrase": 4, "phrase-distance": 6}


class Thot(Decoder):
    """Decodes with a system that `lasw train` made.

    Its score is w·h plus a constant of the sentence that depends on the weights. An empty sentence gets one empty
    hypothesis whose features and score are 0.

    Args:
        model: folder of the system.
        jobs: processes that translate; the result is the same for any number.
        stack: partial hypotheses kept for each number of translated words (Thot's S).
        options: translations tried of each source phrase (Thot's W).
        reordering: source words that may be skipped and translated later (Thot's nomon); 0 is monotone.
        heuristic: how the rest of a sentence is estimated: none, phrase or phrase-distance (Thot's h).
        candidates: hypotheses asked of Thot for each one kept, as most of its lists are the same text cut into phrases
            in other ways.
        distinct: hypotheses with the same text are kept if their features differ (features) or not (text).
    """

    name = "thot"
    configuration_name = "thot.cfg"

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        jobs: int = 1,
        stack: int = 10,
        options: int = 10,
        reordering: int = 0,
        heuristic: str = "phrase-distance",
        candidates: int = 1,
        distinct: str = "features",
    ) -> None:
        if jobs < 1 or stack < 1 or options < 1 or reordering < 0 or candidates < 1:
            raise ValueError("jobs, stack, options and candidates must be at least 1, reordering at least 0")
        if heuristic not in HEURISTICS:
            raise ValueError(f"heuristic {heuristic!r}; expected one of {', '.join(HEURISTICS)}")
        if distinct not in ("features", "text"):
            raise ValueError(f"distinct {distinct!r}; expected 'features' or 'text'")
        remove_abandoned(_SCRATCH)  # of a run that was killed at its end, and has nothing more to translate
        self.folder = Path(model)
        self.description = _described(self.folder)
        self._jobs = jobs
        self._candidates, self._by_text = candidates, distinct == "text"
        self._settings: dict[str, Any] = {
            "stack": stack,
            "options": options,
            "reordering": reordering,
            "heuristic": HEURISTICS[heuristic],
        }
        self._start()

    def _start(self) -> None:
        self._held: tuple[Sequence[str], frozenset[str]] = ((), frozenset())
        self._workers: list[Worker] = []
        self._scratch: ScratchFolder | None = None
        weakref.finalize(self, _stop, self._workers)

    def __getstate__(self) -> dict[str, Any]:
        """Settings alone: a copy, here or on another machine, has processes of its own."""
        folder = self.folder.absolute()
        return {**vars(self), "folder": folder, "_held": None, "_workers": None, "_scratch": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._start()

    def input_files(self) -> Sequence[str | os.PathLike[str]]:
        """All files of the system."""
        return [self.folder / DESCRIPTION, *sorted(p for p in self.folder.glob("[tl]m/*") if p.is_file())]

    def start_weights(self) -> Weights:
        """Thot's own."""
        return Weights(NAMES, np.array(DEFAULT_WEIGHTS))

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        """N-best lists; see `Decoder.decode`.

        Raises:
            UserError: weights of other features, sil-thot is missing, or a process died.
        """
        return self.decode_each(source, [weights] * len(source), n, vocabulary)

    def hold(self, source: Sequence[str]) -> None:
        """See `Decoder.hold`: processes that hold what these sentences need of the system."""
        if source is not self._held[0]:
            self._load([" ".join(tokens(line)) for line in source])
            self._held = source, self._held[1]

    def decode_some(
        self, source: Sequence[str], chosen: NDArray[np.int64], weights: Weights, n: int, vocabulary: Vocabulary
    ) -> NBest:
        """See `Decoder.decode_some`; the models are loaded for all sentences."""
        self.hold(source)
        return super().decode_some(source, chosen, weights, n, vocabulary)

    def _decode_each(self, source: Sequence[str], weights: Sequence[Weights], n: int, vocabulary: Vocabulary) -> NBest:
        for one in weights:
            if one.names != NAMES or one.sparse:
                found = [*one.names.components, *one.sparse]
                raise UserError(f"weights for the features {' '.join(found)}", expected=f"Thot's: {' '.join(FEATURES)}")
        sentences = [" ".join(tokens(line)) for line in source]
        filled = [k for k, sentence in enumerate(sentences) if sentence]
        self._load(sentences)
        ask = 1 if n == 1 else n * self._candidates
        requests = [(sentences[k], weights[k].dense.tolist(), ask, n, self._by_text) for k in filled]
        lists: list[list[Any]] = [[("", (0.0,) * len(FEATURES), 0.0)] for _ in sentences]
        try:
            answers = ask_all(self._workers, requests, self.told)
        except BaseException:
            self.close()  # an interrupted worker may still have an answer on its way
            raise
        for k, found in zip(filled, answers, strict=True):
            lists[k] = found if not found or isfinite(found[0][2]) else _without_constant(found, weights[k])
        owner = np.repeat(np.arange(len(lists), dtype=np.int32), [len(found) for found in lists])
        rows = [row for found in lists for row in found]
        return NBest(
            NAMES,
            owner,
            Corpus.from_lines((row[0] for row in rows), vocabulary),
            np.array([row[1] for row in rows], dtype=np.float64).reshape(-1, len(FEATURES)),
            np.array([row[2] for row in rows], dtype=np.float64),
        )

    def write_configuration(self, path: str | os.PathLike[str], weights: Weights, comment: Sequence[str] = ()) -> bool:
        """Write the configuration file that Thot's own programs read."""
        lines = [
            *(f"# {line}" for line in comment),
            f"-tm {(self.folder / 'tm/src_trg').resolve()}",
            f"-lm {(self.folder / 'lm/trg.lm').resolve()}",
            f"-W {self._settings['options']}",
            f"-S {self._settings['stack']}",
            f"-A {self.description['phrase_length']}",
            f"-nomon {self._settings['reordering']}",
            f"-h {self._settings['heuristic']}",
            "-be",
            "-tmw " + " ".join(repr(float(weight)) for weight in weights.dense),
        ]
        write_text(path, "".join(line + "\n" for line in lines))
        return True

    def close(self) -> None:
        """Stop the processes; the next `decode` starts others."""
        _stop(self._workers)
        self._held = (), frozenset()
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def _load(self, sentences: Sequence[str]) -> None:
        """Start processes that hold what these sentences need of the system, unless there are some."""
        if self._workers and self._held[1].issuperset(sentences):
            return
        self.close()
        self._scratch = ScratchFolder(_SCRATCH)
        place = self._scratch.path
        for file in sorted((self.folder / "tm").iterdir()):
            if file.name != "src_trg.ttable":
                (place / file.name).symlink_to(file.resolve())
        longest = int(self.description["phrase_length"])
        table = place / "src_trg.ttable"
        filter_phrase_table(self.folder / "tm/src_trg.ttable", (s.split(" ") for s in sentences), table, longest)
        job = {
            **self._settings,
            "folder": str(self.folder),
            "longest": longest,
            "alignment_model": self.description["alignment_model"],
            "translation_model": str(place / "src_trg"),
            "language_model": str((self.folder / "lm/trg.lm").resolve()),
        }
        write_text(place / "job.json", json.dumps(job))
        died, module = "the Thot decoder died (code {code})", "lasw.tuning.decoders.thot.worker"
        for _ in range(min(self._jobs, max(len(sentences), 1))):
            self._workers.append(Worker(died, module, [str(place / "job.json")], {"OMP_NUM_THREADS": "1"}))
        self._held = (), frozenset(sentences)


def _stop(workers: list[Worker]) -> None:
    while workers:
        workers.pop().close()


def _described(folder: Path) -> dict[str, Any]:
    path = folder / DESCRIPTION
    if not path.exists():
        raise UserError(
            "no Thot system here" if folder.exists() else "no such folder",
            path=str(folder),
            expected=f"a folder with {DESCRIPTION}",
            remedy="make one with 'lasw train'",
        )
    try:
        said = parse_json(read_bytes(path), path)
        good = (said["format"], said["decoder"], type(said["phrase_length"])) == (FORMAT, "thot", int)
        good = good and isinstance(said["alignment_model"], str)
    except (UserError, KeyError, TypeError):
        good = False
    if not good:
        raise UserError("no description of a Thot system", path=str(path), remedy="make one with 'lasw train'")
    _refuse_damaged(folder, said.get("bytes", {}))
    return dict(said)


def _refuse_damaged(folder: Path, sizes: dict[str, int]) -> None:
    """Thot reads a file that was cut off, or is empty, without a word, and translates with what is left."""
    for name, size in sizes.items():
        path = folder / name
        found = path.stat().st_size if path.exists() else None
        if found != size:
            raise UserError(
                "the file is missing" if found is None else f"{found} bytes",
                path=str(path),
                expected=f"{size} bytes, as when the system was made",
                remedy="make it again with 'lasw train'",
            )


def _without_constant(found: list[Any], weights: Weights) -> list[Any]:
    """A sentence's hypotheses by w·h: far from sensible weights Thot's own constant, and so its order, is no number."""
    rows = [(text, features, float(np.dot(weights.dense, features))) for text, features, _ in found]
    return sorted(rows, key=lambda row: -row[2])
