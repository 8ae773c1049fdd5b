"""Iterations that are there already, in mert-moses.pl's files: lists that need no decoding, weights it made of them."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError, Vocabulary, read_lines
from lasw.tuning.decoders.base import Decoder
from lasw.tuning.formats import match, read_nbest, read_weights
from lasw.tuning.nbest import NBest
from lasw.tuning.weights import FeatureNames, Weights

_NOT_USED = ["not", "used"]  # in weights.txt, where MIRA or PRO did the work
_DENSE = re.compile(r"F\d+")
_NO_WEIGHTS = 1e-9


@dataclass(frozen=True)
class Recorded:
    """What mert-moses.pl left.

    Attributes:
        lists: the N-best list of every iteration from the first on, as far as none is missing.
        after: the weights that the first iterations made; as many as lists, or one fewer if the last was not finished.
        remarks: what is worth telling, one line each.
    """

    lists: tuple[Path, ...]
    after: tuple[Weights, ...]
    remarks: tuple[str, ...] = ()


def recorded_iterations(folder: Path, nbest: int, names: FeatureNames) -> Recorded:
    """The iterations in a working directory of mert-moses.pl, whose lists have `nbest` hypotheses a sentence.

    Whatever else is missing there (features, scores, logs) is not needed.
    """
    lists: list[Path] = []
    after: list[Weights] = []
    remarks: list[str] = []
    while (path := folder / f"run{len(lists) + 1}.best{nbest}.out.gz").exists():
        if not _whole(path):
            remarks.append(f"{path.name} is cut off: that iteration is done again")
            break
        lists.append(path)
        made = _made(folder, len(lists), names)
        if made is None:
            break
        after.append(made)
    beyond = folder / f"run{len(lists) + 2}.best{nbest}.out.gz"
    if beyond.exists():
        remarks.append(f"iterations after {len(lists)} are done again, because files of that one are missing")
    return Recorded(tuple(lists), tuple(after), tuple(remarks))


class RecordedLists(Decoder):
    """A decoder that some iterations do not need, because their lists are there.

    Args:
        decoder: for all others.
        lists: by iteration.
        iteration: tells which one it is.
    """

    def __init__(self, decoder: Decoder, lists: Mapping[int, Path], iteration: Callable[[], int]) -> None:
        self.name = decoder.name
        self.configuration_name = decoder.configuration_name
        self.follows_weights = decoder.follows_weights
        self._decoder = decoder
        self._lists = lists
        self._iteration = iteration

    def start_weights(self) -> Weights:
        """The decoder's own."""
        return self._decoder.start_weights()

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        """The list that is there, or that the decoder makes.

        Raises:
            UserError: it cannot be read, or the decoder failed.
        """
        path = self._lists.get(self._iteration())
        if path is None:
            self._decoder.told = self.told
            return self._decoder.decode(source, weights, n, vocabulary)
        return read_nbest(
            path, vocabulary, names=weights.names, segments=len(source), sparse_names=Vocabulary(), unsorted=True
        )

    def decode_packed(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> Iterator[bytes]:
        """See `Decoder.decode_packed`."""
        if self._iteration() in self._lists:
            return super().decode_packed(source, weights, n, vocabulary)
        self._decoder.told = self.told
        return self._decoder.decode_packed(source, weights, n, vocabulary)

    def decode_some(
        self, source: Sequence[str], chosen: NDArray[np.int64], weights: Weights, n: int, vocabulary: Vocabulary
    ) -> NBest:
        """What the decoder makes: lists that are there are those of other weights."""
        self._decoder.told = self.told
        return self._decoder.decode_some(source, chosen, weights, n, vocabulary)


def _made(folder: Path, iteration: int, names: FeatureNames) -> Weights | None:
    """What an iteration made: the weights before the next one, or what its optimiser wrote; None if nobody knows."""
    try:
        for name in (f"run{iteration + 1}.moses.ini", f"run{iteration + 1}.dense"):
            path = folder / name
            if path.exists():
                return _with_sparse(_read(path, names), folder / f"run{iteration + 1}.sparse-weights")
        if _is_last(folder, iteration):
            return _read(folder / "moses.ini", names)
        path = folder / f"run{iteration}.weights.txt"
        if not path.exists():  # the last file of an iteration that the next one needs
            return None
        words = [word for line in read_lines(path) for word in line.split()]
        if words != _NOT_USED:
            made = Weights(names, np.array(words, dtype=np.float64)) if len(words) == len(names) else None
            return made and _with_sparse(made, folder / f"run{iteration + 1}.sparse-weights")
        return _printed(folder / f"run{iteration}.mert.out", names)
    except (UserError, ValueError, IndexError):  # damaged
        return None


def _printed(path: Path, names: FeatureNames) -> Weights | None:
    """What Moses' MIRA or PRO printed (``F0 0.22``, ``WT_a~b -0.1``), divided by the absolute sum of the dense ones."""
    dense, sparse = np.zeros(len(names)), {}
    for line in read_lines(path) if path.exists() else ():
        name, value = line.split()
        if _DENSE.fullmatch(name):
            dense[int(name[1:])] = float(value)
        elif "_" in name:
            sparse[name] = float(value)
    total = float(np.abs(dense).sum())
    if not total >= _NO_WEIGHTS:
        return None
    return Weights(names, dense / total, {name: value / total for name, value in sparse.items()})


def _read(path: Path, names: FeatureNames) -> Weights:
    return match(read_weights(path), names, path=path).weights


def _with_sparse(weights: Weights, path: Path) -> Weights:
    if not path.exists() or weights.sparse:
        return weights
    sparse = {line.split()[0]: float(line.split()[1]) for line in read_lines(path) if line.strip()}
    return Weights(weights.names, weights.dense, sparse)


def _is_last(folder: Path, iteration: int) -> bool:
    """Whether moses.ini has the weights that the iteration made (those of an earlier one with --return-best-dev).

    The number in both files is that of the iteration if the weights stood still, and one more if there were to be no
    more iterations.
    """
    step, result = folder / "finished_step.txt", folder / "moses.ini"
    if not step.exists() or not result.exists():
        return False
    number = step.read_text().strip()
    said = [line for line in read_lines(result)[:10] if line.startswith("# We were before running iteration")]
    return number in (str(iteration), str(iteration + 1)) and bool(said) and said[0].split()[-1] == number


def _whole(path: Path) -> bool:
    try:
        with gzip.open(path, "rb") as stream:
            while stream.read(1 << 20):
                pass
    except (OSError, EOFError, zlib.error):
        return False
    return True
