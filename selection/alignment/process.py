"""One direction of word alignment in a process of its own: a worker, see `lasw.metrics.workers`.

Thot's aligners add up expected counts in whatever order OpenMP's threads finish, so two runs differ in the last bits
and then in the alignments. One thread per direction and both directions side by side keeps two cores busy and the
result the same; OpenMP reads the number of threads when it starts, hence the process.

Written are the model's own files ``PREFIX.*``; one of them, ``PREFIX.aligns``, is a line per pair of ``i-j`` for every
target word j (from 0) that comes from source word i.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lasw.metrics import UserError, serve

Sentences = Sequence[Sequence[str]]
# The model, iterations, seed, source and target (files of tokens between single spaces without an empty line), prefix.
Request = tuple[str, int, int, str, str, str]


def answer(request: Request) -> None:
    """Train one direction.

    Raises:
        UserError: sil-thot is not installed.
        OSError: the model's files cannot be written.
    """
    name, iterations, seed, source, target, prefix = request
    try:
        model = trained(name, _sentences(source), _sentences(target), iterations, seed)
    except ModuleNotFoundError:
        raise UserError("word alignment needs sil-thot", remedy="pip install 'lasw[thot]'") from None
    # The alignments are taken from the printed files: asking an IBM 2 model for them one by one ends in a segmentation
    # fault in Thot 3.5.3.
    if not model.print(prefix):
        raise OSError(f"the model files {prefix}.* could not be written")


def trained(name: str, source: Sentences, target: Sentences, iterations: int, seed: int) -> Any:
    """The trained Thot model; HMM and IBM 2 start from five iterations of IBM 1, as Thot's own trainer does."""
    from thot import alignment

    model: Any
    if name == "eflomal":
        model = alignment.EflomalAlignmentModel()
        model.seed = seed
        model.deterministic = True
        return _fitted(model, source, target, iterations)
    if name == "fast_align":
        model = alignment.FastAlignModel()
        # The Dirichlet prior of Chahuneau et al. (2013, section 2): rare words stop being garbage collectors.
        model.variational_bayes = True
        return _fitted(model, source, target, iterations)
    first = _fitted(alignment.Ibm1AlignmentModel(), source, target, iterations, last=name == "ibm1")
    if name == "ibm1":
        return first
    kind = {"hmm": alignment.HmmAlignmentModel, "ibm2": alignment.Ibm2AlignmentModel}[name]
    return _fitted(kind(first), source, target, iterations, add=False)


def _fitted(
    model: Any,
    source: Sentences,
    target: Sentences,
    iterations: int,
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
        model.train()
    model.end_training()
    return model


def _sentences(path: str) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="\n") as stream:
        return [line.rstrip("\n").split(" ") for line in stream]


if __name__ == "__main__":
    serve(answer)
