"""A decoder on the workers of a Dask cluster: the sentences go out in parts, the lists come back and are one again.

What must be where: a worker opens the decoder's files (models, configuration, programs) under the names they have here,
so these lie on a file system that all see. Sentences, weights and lists travel. Sentences and weights do so once a
worker, and a decoder that keeps its models in memory keeps them as long as the run lasts.

Long sentences go first, in parts that get smaller towards the end, so that all workers end at about the same time. How
long a sentence takes is learnt from the decodings before. None of this changes a list: each depends on its sentence and
the weights alone.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Cluster, UserError, Vocabulary, on_dask, worker_address
from lasw.tuning.decoders.base import Decoder
from lasw.tuning.decoders.packed import Answer, Lines, Packed
from lasw.tuning.nbest import NBest
from lasw.tuning.pool import check_lists
from lasw.tuning.provenance import refuse_other_versions, versions
from lasw.tuning.weights import Weights

# Of all that is to be done, a part is at most 1 / LARGEST of a worker's share, at least 1 / SMALLEST.
LARGEST, SMALLEST = 8, 64

P = TypeVar("P", Lines, Packed)


@contextmanager
def on_cluster(decoder: Decoder, scheduler: str | None) -> Iterator[Decoder]:
    """A decoder whose sentences are translated by Dask's workers, or itself without a scheduler.

    Args:
        decoder: made with `open_decoder(..., jobs=False)`: a worker has a decoder for each of its threads.
        scheduler: address, ``tcp://head:8786``.

    Raises:
        UserError: Dask is not installed, no scheduler is there, or the decoder's lists are files.
    """
    if scheduler is None:
        yield decoder
        return
    if not decoder.translates:
        raise UserError(f"decoder {decoder.name} reads its lists from files", remedy="leave --dask out")
    with on_dask(scheduler) as cluster:
        spread = OnCluster(decoder, cluster)
        try:
            yield spread
        finally:
            spread.close()


class OnCluster(Decoder):
    """Decodes on workers.

    Args:
        decoder: what each of them does.
        cluster: of which.
    """

    def __init__(self, decoder: Decoder, cluster: Cluster) -> None:
        self.name = decoder.name
        self.configuration_name = decoder.configuration_name
        self.follows_weights = decoder.follows_weights
        self._decoder = decoder
        self._cluster = cluster
        apart = copy.copy(decoder)
        apart.told = None  # is told here
        self._run, self._held = uuid4().hex, cluster.share(apart)
        self._source: tuple[Sequence[str], Any] = ((), None)
        self._seconds: dict[str, float] = {}
        self._spent, self._tokens = 0.0, 0

    def input_files(self) -> Sequence[Any]:
        """The decoder's."""
        return self._decoder.input_files()

    def start_weights(self) -> Weights:
        """The decoder's own."""
        return self._decoder.start_weights()

    def write_configuration(self, path: Any, weights: Weights, comment: Sequence[str] = ()) -> bool:
        """As the decoder does."""
        return self._decoder.write_configuration(path, weights, comment)

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        """N-best lists, see `Decoder.decode`.

        Raises:
            UserError: the decoder failed on a worker, or workers failed for another reason again and again.
        """
        return self.decode_some(source, np.arange(len(source)), weights, n, vocabulary)

    def decode_some(
        self, source: Sequence[str], chosen: NDArray[np.int64], weights: Weights, n: int, vocabulary: Vocabulary
    ) -> NBest:
        """See `Decoder.decode_some`."""
        return self._decoded(source, chosen, weights, n, vocabulary)

    def _decode_each(self, source: Sequence[str], weights: Sequence[Weights], n: int, vocabulary: Vocabulary) -> NBest:
        return self._decoded(source, np.arange(len(source)), list(weights), n, vocabulary)

    def decode_packed(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> Iterator[bytes]:
        """See `Decoder.decode_packed`: workers make the lines as well, which takes longer than all else does here."""
        lists = dict[int, bytes]()
        for part in self._answers(Lines, source, np.arange(len(source)), weights, n):
            lists.update(part.lists)
        if not lists:
            check_lists(self.name, self._decoder.decode([], weights, n, vocabulary), weights)
        return (lists.pop(sentence) for sentence in sorted(lists))

    def _decoded(
        self,
        source: Sequence[str],
        chosen: NDArray[np.int64],
        weights: Weights | list[Weights],
        n: int,
        vocabulary: Vocabulary,
    ) -> NBest:
        if not len(chosen):
            return self._decoder.decode([], self.start_weights(), n, vocabulary)
        names = Vocabulary()
        parts = self._answers(Packed, source, chosen, weights, n)
        joined = NBest.joined([part.unpacked(vocabulary, names) for part in parts])
        return replace(joined, owner=np.searchsorted(chosen, joined.owner).astype(np.int32))

    def _answers(
        self,
        kind: type[P],
        source: Sequence[str],
        chosen: NDArray[np.int64],
        weights: Weights | list[Weights],
        n: int,
    ) -> Iterator[P]:
        """The parts, as workers are done with them."""
        if self._source[0] is not source:
            self._source = source, self._cluster.share(tuple(source))
        shared = (kind, self._run, self._held, self._source[1], self._cluster.share(weights), n, versions())
        done = 0
        for part in self._cluster.each(_translated, self._parts(source, chosen), shared):
            done += len(part.chosen)
            if self.told is not None:
                self.told(done, len(chosen))
            self._learn([source[k] for k in part.chosen.tolist()], part.seconds)
            yield part

    def _parts(self, source: Sequence[str], chosen: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Sentences that are sent out together, ascending; those that take longest come first."""
        cost = np.array([self._cost(source[k]) for k in chosen.tolist()])
        order = np.argsort(-cost, kind="stable")
        ends = np.cumsum(cost[order])
        threads, parts, first = self._cluster.threads, [], 0
        while first < len(order):
            done = ends[first - 1] if first else 0.0
            left = ends[-1] - done
            size = max(min(ends[-1] / LARGEST, left / 2), ends[-1] / SMALLEST) / threads
            after = max(first + 1, int(np.searchsorted(ends, done + size, side="right")))
            parts.append(np.sort(chosen[order[first:after]]))
            first = after
        return parts

    def close(self) -> None:
        """Have the workers forget the decoder."""
        self._cluster.everywhere(_forget, self._run)

    def _cost(self, sentence: str) -> float:
        """Of translating it: seconds, or tokens as long as no seconds are known at all."""
        rate = self._spent / self._tokens if self._tokens else 1.0
        return self._seconds.get(sentence) or rate * _size(sentence)

    def _learn(self, sentences: Sequence[str], seconds: float) -> None:
        """The time that a part took is shared out as its sentences were expected to take it."""
        self._spent, self._tokens = self._spent + seconds, self._tokens + sum(map(_size, sentences))
        expected = [self._cost(sentence) for sentence in sentences]
        ratio = seconds / sum(expected)
        self._seconds.update((sentence, ratio * cost) for sentence, cost in zip(sentences, expected, strict=True))


def _size(sentence: str) -> int:
    return len(sentence.split()) + 1


class _Held:
    """A decoder on a worker, one for each of its threads."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._idle: list[Decoder] = []

    @contextmanager
    def one(self) -> Iterator[Decoder]:
        """A decoder that nobody else has; after a failure it is not used again."""
        try:
            decoder = self._idle.pop()
        except IndexError:
            decoder = copy.copy(self._decoder)
        yield decoder
        self._idle.append(decoder)


# On a worker: decoders by the run that they are of. Dask drops what several workers have when it is not needed for
# two seconds; these hold models.
_held: dict[str, _Held] = {}
_RUNS = 2  # whose decoders are kept, should a head have died without a word


def _of_run(name: str, decoder: Decoder) -> _Held:
    held = _held.get(name)
    if held is None:
        held = _held.setdefault(name, _Held(decoder))
        for other in list(_held)[:-_RUNS]:
            _held.pop(other, None)
    return held


def _forget(name: str) -> None:
    _held.pop(name, None)


def _translated(
    chosen: NDArray[np.int64],
    kind: type[Lines] | type[Packed],
    name: str,
    held: Decoder,
    source: Sequence[str],
    weights: Weights | list[Weights],
    n: int,
    expected: dict[str, str],
) -> Answer:
    """What a worker does with a part."""
    began = time.perf_counter()
    refuse_other_versions(expected)
    try:
        with _of_run(name, held).one() as decoder:
            decoder.hold(source)
            if isinstance(weights, Weights):
                nbest = decoder.decode_some(source, chosen, weights, n, Vocabulary())
            else:
                sentences, each = [source[k] for k in chosen.tolist()], [weights[k] for k in chosen.tolist()]
                nbest = decoder.decode_each(sentences, each, n, Vocabulary())
            seconds = time.perf_counter() - began
            placed = replace(nbest, owner=chosen[nbest.owner].astype(np.int32))
            if kind is Lines and len(nbest):
                assert isinstance(weights, Weights)
                check_lists(decoder.name, placed, weights)
            return kind.of(placed, chosen, seconds)
    except UserError as error:
        raise _placed(error) from None
    except OSError as error:
        missing = UserError(
            f"{error.strerror or error}", path=error.filename, remedy="let all workers see the same files"
        )
        raise _placed(missing) from None


def _placed(error: UserError) -> UserError:
    """The same, and where it came up."""
    where = f"{error.found} (on the worker {worker_address()})"
    return UserError(where, path=error.path, line=error.line, expected=error.expected, remedy=error.remedy)
