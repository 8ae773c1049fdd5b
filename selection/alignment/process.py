"""One direction of word alignment in a process of its own: ``python -m lasw.selection.alignment.process JOB.json``.

Thot's aligners add up expected counts in whatever order OpenMP's threads finish, so two runs differ in the last bits
and then in the alignments. One thread per direction and both directions side by side keeps two cores busy and the
result the same; OpenMP reads the number of threads when it starts, hence the process.

The job names the two texts (tokens between single spaces, no empty line), the model, the iterations and a prefix.
Written are the model's own files ``PREFIX.*``; one of them, ``PREFIX.aligns``, is a line per pair of ``i-j`` for every
target word j (from 0) that comes from source word i.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

Sentences = Sequence[Sequence[str]]


def main(job_path: str) -> None:
    """Train one direction as the job file says."""
    with open(job_path, encoding="utf-8") as stream:
        job = json.load(stream)
    source, target = _sentences(job["source"]), _sentences(job["target"])
    parent = os.getppid()
    model = trained(job["model"], source, target, job["iterations"], job["seed"], parent)
    # The alignments are taken from the printed files: asking an IBM 2 model for them one by one ends in a segmentation
    # fault in Thot 3.5.3.
    if not model.print(job["prefix"]):
        raise OSError(f"the model files {job['prefix']}.* could not be written")


def trained(name: str, source: Sentences, target: Sentences, iterations: int, seed: int, parent: int) -> Any:
    """The trained Thot model; HMM and IBM 2 start from five iterations of IBM 1, as Thot's own trainer does."""
    from thot import alignment

    model: Any
    if name == "eflomal":
        model = alignment.EflomalAlignmentModel()
        model.seed = seed
        model.deterministic = True
        return _fitted(model, source, target, iterations, parent)
    if name == "fast_align":
        model = alignment.FastAlignModel()
        # The Dirichlet prior of Chahuneau et al. (2013, section 2): rare words stop being garbage collectors.
        model.variational_bayes = True
        return _fitted(model, source, target, iterations, parent)
    first = _fitted(alignment.Ibm1AlignmentModel(), source, target, iterations, parent, last=name == "ibm1")
    if name == "ibm1":
        return first
    kind = {"hmm": alignment.HmmAlignmentModel, "ibm2": alignment.Ibm2AlignmentModel}[name]
    return _fitted(kind(first), source, target, iterations, parent, add=False)


def _fitted(
    model: Any,
    source: Sentences,
    target: Sentences,
    iterations: int,
    parent: int,
    *,
    add: bool = True,
    last: bool = True,
) -> Any:
    if add:
        for pair in zip(source, target, strict=True):
            model.add_sentence_pair(*pair, 1)
    model.emit_training_alignments = last
    model.start_training()
    for _ in range(iterations):
        if os.getppid() != parent:  # whoever asked is gone
            sys.exit(1)
        model.train()
    model.end_training()
    return model


def _sentences(path: str) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="\n") as stream:
        return [line.rstrip("\n").split(" ") for line in stream]


if __name__ == "__main__":
    main(sys.argv[1])
