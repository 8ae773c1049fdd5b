"""Models of word alignment by name, each trained in a process of its own: a worker, see `lasw.metrics.parallel`.

Thot's aligners add up expected counts in whatever order OpenMP's threads finish, so two runs differ in the last bits
and then in the alignments. One thread per direction and both directions side by side keeps two cores busy and the
result the same; OpenMP reads the number of threads when it starts, hence the process.

A new model is a file with an `Aligner`, a line in `ALIGNERS` and a test.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from lasw.metrics import Registry, ScratchFolder, UserError, Worker, ask_all, on_dask, serve

Sentences = Sequence[Sequence[str]]
# The model, its arguments, source and target (files of tokens between single spaces without an empty line), prefix.
Request = tuple[str, dict[str, int], str, str, str]


@dataclass(frozen=True)
class Aligner(ABC):
    """A model of word alignment in one direction.

    Args:
        iterations: of training.
        seed: of chance.
    """

    iterations: int
    seed: int = 1

    @abstractmethod
    def train(self, source: Sentences, target: Sentences, prefix: str) -> None:
        """Train, and write the model's files ``PREFIX.*``.

        One of them, ``PREFIX.aligns``, has a line a pair, ``i-j`` for every target word j (from 0) that comes from
        source word i.

        Args:
            source: n sentences of at least one token.
            target: as many.
            prefix: of the files.

        Raises:
            ModuleNotFoundError: sil-thot is not installed.
            OSError: the files cannot be written.
        """


ALIGNERS: Registry[type[Aligner]] = Registry(
    "model",
    {
        "fast_align": "lasw.selection.alignment.thot:FastAlign",
        "hmm": "lasw.selection.alignment.thot:Hmm",
        "ibm1": "lasw.selection.alignment.thot:Ibm1",
        "ibm2": "lasw.selection.alignment.thot:Ibm2",
        "eflomal": "lasw.selection.alignment.thot:Eflomal",
    },
)


def train_apart(requests: Sequence[Request], jobs: int) -> None:
    """Train models, each in a process with one thread.

    Args:
        requests: what to train.
        jobs: 1 trains one after the other.

    Raises:
        UserError: there is no such model, sil-thot is missing, or training failed.
    """
    with ExitStack() as stack:
        workers = []
        for _ in requests[:jobs]:
            died = "the aligner ended with code {code}"
            workers.append(Worker(died, "lasw.selection.alignment.aligner", [], {"OMP_NUM_THREADS": "1"}))
            stack.callback(workers[-1].close)
        ask_all(workers, requests)


def train_on(dask: str, requests: Sequence[Request]) -> None:
    """The same on the workers of a Dask cluster: the text goes there, the models' files come back.

    Args:
        dask: address of the scheduler.
        requests: what to train.

    Raises:
        UserError: as `train_apart`, no scheduler is there, or workers died again and again.
    """
    with on_dask(dask) as cluster:
        paths = sorted({path for request in requests for path in request[2:4]})
        texts = cluster.share({path: Path(path).read_bytes() for path in paths})
        for prefix, files in cluster.each(_trained_there, requests, [texts]):
            for suffix, content in files.items():
                Path(prefix + suffix).write_bytes(content)


def _trained_there(request: Request, texts: dict[str, bytes]) -> tuple[str, dict[str, bytes]]:
    """On a worker: train one direction; its prefix and the models' files by what follows it."""
    model, options, source, target, prefix = request
    with ScratchFolder("lasw-align-") as place:
        for name, path in (("source", source), ("target", target)):
            (place / name).write_bytes(texts[path])
        train_apart([(model, options, str(place / "source"), str(place / "target"), str(place / "model"))], 1)
        return prefix, {path.name.removeprefix("model"): path.read_bytes() for path in place.glob("model*")}


def _answer(request: Request) -> None:
    """What the process does: train one direction."""
    model, options, source, target, prefix = request
    try:
        ALIGNERS.find(model)(**options).train(_sentences(source), _sentences(target), prefix)
    except ModuleNotFoundError:
        raise UserError("word alignment needs sil-thot", remedy="pip install sil-thot") from None


def _sentences(path: str) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="\n") as stream:
        return [line.rstrip("\n").split(" ") for line in stream]


if __name__ == "__main__":
    serve(_answer)
