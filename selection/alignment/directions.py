"""Word alignment of parallel text in both directions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import ScratchFolder, UserError, tokens
from lasw.selection.alignment.aligner import ALIGNERS, Request, train_apart, train_on
from lasw.selection.alignment.pharaoh import Alignment, read_pharaoh
from lasw.selection.alignment.symmetrisation import Directions, transposed

MAX_LENGTH = 1024  # tokens; the limit that Thot's aligners are built with


def align_directions(
    source: Sequence[str],
    target: Sequence[str],
    folder: str | os.PathLike[str],
    *,
    model: str = "fast_align",
    iterations: int | None = None,
    seed: int = 1,
    jobs: int = 2,
    dask: str | None = None,
) -> Directions:
    """Train `model` on parallel text in both directions, each in a process with one thread (see `aligner`).

    Args:
        source: n lines of tokens.
        target: as many.
        folder: where the models' files are left, as `src_trg_invswm.*` (source to target) and `src_trg_swm.*`, the
            names a Thot system expects.
        model: one of `ALIGNERS`.
        iterations: of each model; by default its own.
        seed: of the sampler (eflomal).
        jobs: 1 trains one direction after the other. The result is the same.
        dask: address of a Dask scheduler, whose workers train instead.

    Raises:
        ValueError: the sides differ in length.
        UserError: the model is unknown, no pair can be aligned, sil-thot is missing, or the aligner failed.
    """
    if len(source) != len(target):
        raise ValueError(f"{len(source)} source lines for {len(target)} target lines")
    ALIGNERS.find(model)
    sides, lengths, usable = tokenised(source, target)
    kept = np.flatnonzero(usable)
    if not len(kept):
        raise UserError("no sentence pair to align", expected=f"pairs with 1 to {MAX_LENGTH} tokens on both sides")
    prefixes = (Path(folder, "src_trg_invswm"), Path(folder, "src_trg_swm"))
    with ScratchFolder("lasw-align-") as scratch:
        texts = [Path(scratch, name) for name in ("source", "target")]
        for text, side in zip(texts, sides, strict=True):
            text.write_bytes("".join(" ".join(side[k]) + "\n" for k in kept.tolist()).encode())
        given = {"seed": seed} if iterations is None else {"seed": seed, "iterations": iterations}
        (f, e), (into, back) = map(str, texts), map(str, prefixes)
        requests: list[Request] = [(model, given, f, e, into), (model, given, e, f, back)]
        if dask is None:
            train_apart(requests, jobs)
        else:
            train_on(dask, requests)
    forward, backward = (_spread(read_pharaoh(f"{prefix}.aligns"), kept, len(source)) for prefix in prefixes)
    return Directions(forward, transposed(backward), *lengths, np.flatnonzero(~usable), prefixes)


def tokenised(
    *texts: Sequence[str],
) -> tuple[list[list[list[str]]], tuple[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]:
    """The tokens of n lines of source and target, (n,) how many on either side, and (n,) which pairs can be aligned."""
    sides = [[tokens(line) for line in text] for text in texts]
    first, second = (np.array([len(sentence) for sentence in side], dtype=np.int64) for side in sides)
    return sides, (first, second), (np.minimum(first, second) > 0) & (np.maximum(first, second) <= MAX_LENGTH)


def _spread(alignment: Alignment, kept: NDArray[np.int64], n: int) -> Alignment:
    """The alignment of the pairs `kept` as one of all n pairs."""
    counts = np.zeros(n, dtype=np.int64)
    counts[kept] = np.diff(alignment.offsets)
    return Alignment(alignment.points, np.concatenate([[0], np.cumsum(counts)]))
