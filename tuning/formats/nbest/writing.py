"""The fast way from a list to lines, ``ID ||| words  ||| NAME= 1.5 2.0 NAME= -1.0 ||| TOTAL``; numbers as `repr`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import borrowing, nested
from lasw.tuning.formats.nbest.decimals import LONGEST, write_number, write_whole
from lasw.tuning.nbest import NBest

_STEP = 1 << 12  # hypotheses formatted at once: bounds the memory for their text
_BARS = np.frombuffer(b" ||| ", dtype=np.uint8)
_SPACE, _LF = 32, 10
_AROUND = 2 * len(_BARS) + len(b" ||| \n") + 11  # bytes of a line beside words, features and total


class Spelt(NamedTuple):
    """Strings in UTF-8: string k is `data[starts[k]:starts[k + 1]]`."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        """Some strings."""
        parts = [text.encode("utf-8") for text in texts]
        starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(parts), dtype=np.uint8), starts)


class _List(NamedTuple):
    """What the kernel sees of a list: its arrays, numbers as their bits, sparse features numbered by rank of name."""

    owner: NDArray[np.int32]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    dense: NDArray[np.uint64]
    score: NDArray[np.uint64]
    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.uint64]


def list_lines(nbest: NBest) -> Iterator[str]:
    """The lines of a list with finite numbers, some thousand at a time; sparse features, by name, come last."""
    groups = nbest.names.slices
    labels = Spelt.of([f"{name}=" for name in groups])
    firsts = np.array([*(place.start for place in groups.values()), nbest.dense.shape[1]], dtype=np.int64)
    words = nbest.hypotheses.vocabulary.arrays
    spelt = Spelt(words.arena, words.starts)
    seen, sparse_labels = _seen(nbest)
    lengths = np.diff(words.starts)
    named = np.diff(sparse_labels.starts)
    for first in range(0, len(nbest), _STEP):
        last = min(first + _STEP, len(nbest))
        tokens = seen.ids[seen.offsets[first] : seen.offsets[last]]
        entries = seen.columns[seen.starts[first] : seen.starts[last]]
        a_line = _AROUND + len(labels.data) + len(groups) + (LONGEST + 1) * (1 + seen.dense.shape[1])
        size = (last - first) * a_line + int(lengths[tokens].sum()) + len(tokens)
        size += int(named[entries].sum()) + (LONGEST + 2) * len(entries)
        out = np.empty(size, dtype=np.uint8)
        end = _write_lines(first, last, seen, spelt, labels, firsts, sparse_labels, out)
        yield out[:end].tobytes().decode("utf-8")


def _seen(nbest: NBest) -> tuple[_List, Spelt]:
    """The list for the kernel, and the labels of its sparse features in the order of their names."""
    n = len(nbest)
    starts, columns, values = np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0)
    names: list[str] = []
    if nbest.sparse is not None and nbest.sparse_names is not None:
        known = np.unique(nbest.sparse.indices)
        spelt = [nbest.sparse_names[column] for column in known.tolist()]
        order = np.array(sorted(range(len(spelt)), key=spelt.__getitem__), dtype=np.int64)
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        names = [spelt[k] for k in order.tolist()]
        starts = nbest.sparse.indptr.astype(np.int64)
        columns = rank[np.searchsorted(known, nbest.sparse.indices)]
        row = np.repeat(np.arange(n), np.diff(starts))
        by_name = np.lexsort((columns, row))
        columns, values = columns[by_name], nbest.sparse.data[by_name]
    corpus = nbest.hypotheses
    seen = _List(
        np.ascontiguousarray(nbest.owner, dtype=np.int32),
        np.ascontiguousarray(corpus.ids, dtype=np.int32),
        np.ascontiguousarray(corpus.offsets, dtype=np.int64),
        _bits(nbest.dense),
        _bits(nbest.score),
        starts,
        columns,
        _bits(values),
    )
    return seen, Spelt.of([f"{name}=" for name in names])


def _bits(numbers: NDArray[np.floating]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(numbers, dtype=np.float64).view(np.uint64)


@borrowing
def _write_lines(first, last, seen, words, labels, firsts, sparse_labels, out):  # type: ignore[no-untyped-def]
    i = 0
    for row in range(first, last):
        i = _copied(_BARS, write_whole(seen.owner[row], out, i), out)
        for k in range(seen.offsets[row], seen.offsets[row + 1]):
            i = _spelt(words, seen.ids[k], out, i)
            out[i] = _SPACE
            i += 1
        i = _copied(_BARS, i, out)
        begin = i
        for group in range(firsts.shape[0] - 1):
            i = _spelt(labels, group, out, i)
            for k in range(firsts[group], firsts[group + 1]):
                out[i] = _SPACE
                i = write_number(seen.dense[row, k], out, i + 1)
            out[i] = _SPACE
            i += 1
        for k in range(seen.starts[row], seen.starts[row + 1]):
            i = _spelt(sparse_labels, seen.columns[k], out, i)
            out[i] = _SPACE
            i = write_number(seen.values[k], out, i + 1)
            out[i] = _SPACE
            i += 1
        i = _copied(_BARS, i - 1 if i > begin else i, out)
        i = write_number(seen.score[row], out, i)
        out[i] = _LF
        i += 1
    return i


@nested
def _spelt(strings, index, out, i):  # type: ignore[no-untyped-def]
    for k in range(strings.starts[index], strings.starts[index + 1]):
        out[i] = strings.data[k]
        i += 1
    return i


@nested
def _copied(text, i, out):  # type: ignore[no-untyped-def]
    for k in range(text.shape[0]):
        out[i + k] = text[k]
    return i + text.shape[0]
