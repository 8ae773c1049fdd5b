"""Word alignment of parallel text: Thot's models in both directions, then one of the usual symmetrisations.

Sources of the models: fast_align is Dyer, Chahuneau and Smith (2013), with the variational Bayes of its authors'
program; ibm1, ibm2 Brown et al. (1993); hmm Vogel, Ney and Tillmann (1996); eflomal Östling and Tiedemann (2016).
Symmetrisations: Och and Ney (2003); grow-diag-final(-and) Koehn, Och and Marcu (2003) and Koehn et al. (2005).
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError, Worker, ask_all
from lasw.selection.alignment.pharaoh import Alignment, read_pharaoh

# Iterations of each model when none are asked for. Five is what the literature trains them for; Eflomal's own number
# comes from the size of the text (its `train` runs the whole schedule).
ITERATIONS = {"fast_align": 5, "hmm": 5, "ibm1": 5, "ibm2": 5, "eflomal": 1}
MODELS = tuple(ITERATIONS)
# name -> method of Thot's alignment matrix
_SYMMETRISATIONS = {
    "grow-diag-final-and": "grow_diag_final_and",
    "grow-diag-final": "grow_diag_final",
    "grow-diag": "grow_diag",
    "grow": "grow",
    "union": "union",
    "intersection": "intersect",
    "och": "och_symmetrize",
}
SYMMETRISATIONS = (*_SYMMETRISATIONS, "forward", "backward")
MAX_LENGTH = 1024  # tokens; the limit that Thot's aligners are built with
_BLANK = re.compile(r"[ \t]+")


@dataclass(frozen=True)
class Directions:
    """Both directions of alignment of n sentence pairs.

    Attributes:
        forward: every target word comes from at most one source word. Points are (source, target) here and below.
        backward: every source word comes from at most one target word.
        source, target: (n,) tokens on each side.
        unaligned: numbers of the pairs that no model saw, because a side is empty or longer than `MAX_LENGTH`.
        prefixes: of the models' files, source to target and target to source.
    """

    forward: Alignment
    backward: Alignment
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    unaligned: NDArray[np.int64]
    prefixes: tuple[Path, Path]


def tokens(line: str) -> list[str]:
    """The tokens of a line: what stands between spaces and tabs."""
    return [token for token in _BLANK.split(line) if token]


def align_directions(
    source: Sequence[str],
    target: Sequence[str],
    folder: str | os.PathLike[str],
    *,
    model: str = "fast_align",
    iterations: int | None = None,
    seed: int = 1,
    jobs: int = 2,
) -> Directions:
    """Train `model` on parallel text in both directions, each in a process with one thread (see `aligner_process`).

    Args:
        source: n lines of tokens.
        target: as many.
        folder: where the models' files are left, as `src_trg_invswm.*` (source to target) and `src_trg_swm.*`, the
            names a Thot system expects.
        model: one of `MODELS`.
        iterations: of each model; `ITERATIONS` by default.
        seed: of the sampler (eflomal).
        jobs: 1 trains one direction after the other. The result is the same.

    Raises:
        ValueError: the sides differ in length, or the model is unknown.
        UserError: no pair can be aligned, sil-thot is missing, or the aligner failed.
    """
    if len(source) != len(target):
        raise ValueError(f"{len(source)} source lines for {len(target)} target lines")
    if model not in ITERATIONS:
        raise ValueError(f"unknown model {model!r}")
    sides = [[tokens(line) for line in side] for side in (source, target)]
    lengths = [np.array([len(sentence) for sentence in side], dtype=np.int64) for side in sides]
    usable = (np.minimum(*lengths) > 0) & (np.maximum(*lengths) <= MAX_LENGTH)
    kept = np.flatnonzero(usable)
    if not len(kept):
        raise UserError("no sentence pair to align", expected=f"pairs with 1 to {MAX_LENGTH} tokens on both sides")
    place = Path(folder)
    prefixes = (place / "src_trg_invswm", place / "src_trg_swm")
    with tempfile.TemporaryDirectory(prefix="lasw-align-") as scratch:
        texts = [Path(scratch, name) for name in ("source", "target")]
        for text, side in zip(texts, sides, strict=True):
            text.write_bytes("".join(" ".join(side[k]) + "\n" for k in kept.tolist()).encode())
        rounds = ITERATIONS[model] if iterations is None else iterations
        requests = [
            (model, rounds, seed, *map(str, texts if forward else texts[::-1]), str(prefix))
            for forward, prefix in zip((True, False), prefixes, strict=True)
        ]
        _carry_out(requests, jobs)
    forward, backward = (_spread(read_pharaoh(f"{prefix}.aligns"), kept, len(source)) for prefix in prefixes)
    return Directions(forward, transposed(backward), lengths[0], lengths[1], np.flatnonzero(~usable), prefixes)


def symmetrise(directions: Directions, heuristic: str = "grow-diag-final-and") -> Alignment:
    """One alignment from the two directions.

    Raises:
        ValueError: the heuristic is none of `SYMMETRISATIONS`.
    """
    if heuristic in ("forward", "backward"):
        return directions.forward if heuristic == "forward" else directions.backward
    if heuristic not in _SYMMETRISATIONS:
        raise ValueError(f"unknown symmetrisation {heuristic!r}")
    from thot.common import WordAlignmentMatrix

    merge = getattr(WordAlignmentMatrix, _SYMMETRISATIONS[heuristic])
    pairs = []
    sizes = zip(directions.source.tolist(), directions.target.tolist(), strict=True)
    for (rows, columns), first, second in zip(sizes, directions.forward, directions.backward, strict=True):
        if not len(first) and not len(second):
            pairs.append(first)
            continue
        matrix, other = WordAlignmentMatrix(rows, columns), WordAlignmentMatrix(rows, columns)
        for points, into in ((first, matrix), (second, other)):
            for i, j in points.tolist():
                into.set(i, j)
        merge(matrix, other)
        pairs.append(np.argwhere(matrix.to_numpy()).astype(np.int32))
    return Alignment.from_pairs(pairs)


def _spread(alignment: Alignment, kept: NDArray[np.int64], n: int) -> Alignment:
    """The alignment of the pairs `kept` as one of all n pairs."""
    counts = np.zeros(n, dtype=np.int64)
    counts[kept] = np.diff(alignment.offsets)
    return Alignment(alignment.points, np.concatenate([[0], np.cumsum(counts)]))


def transposed(alignment: Alignment) -> Alignment:
    """The same points as (target, source)."""
    pair = np.repeat(np.arange(len(alignment)), np.diff(alignment.offsets))
    flipped = alignment.points[:, ::-1]
    return Alignment(flipped[np.lexsort((flipped[:, 1], flipped[:, 0], pair))], alignment.offsets)


def _carry_out(requests: Sequence[tuple[object, ...]], jobs: int) -> None:
    with ExitStack() as stack:
        workers = []
        for _ in requests[:jobs]:
            died = "the aligner ended with code {code}"
            workers.append(Worker(died, "lasw.selection.alignment.process", [], {"OMP_NUM_THREADS": "1"}))
            stack.callback(workers[-1].close)
        ask_all(workers, requests)
