"""The fast way from a list to lines, ``ID ||| words  ||| NAME= 1.5 2.0 NAME= -1.0 ||| TOTAL``; numbers as `repr`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from lasw.metrics import UserError, borrowing, gzip_member, nested
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


def list_lines(nbest: NBest, path: str | os.PathLike[str] | None = None) -> Iterator[str]:
    """The lines of a list, some thousand at a time; sparse features, by name, come last.

    Raises:
        UserError: a word or name that the lines cannot hold; `path` is for the message.
        ValueError: a number is not finite.
    """
    _check(nbest, path)
    for text, _ in _written(nbest, [*range(0, len(nbest), _STEP), len(nbest)]):
        yield text.tobytes().decode("utf-8")


def packed_lists(nbest: NBest, path: str | os.PathLike[str] | None = None) -> Iterator[bytes]:
    """The same as a gzip file for each sentence, in their order; one behind the other they are the file of all.

    Whatever sentences a process has the lists of, it makes the same of them. All are 3 in 100 larger than packed at
    once, as candidates of a sentence are alike and those of two are not, and are packed sooner.

    Raises:
        UserError, ValueError: as `list_lines`.
    """
    _check(nbest, path)
    if np.any(np.diff(nbest.owner) < 0):
        nbest = nbest.take(np.argsort(nbest.owner, kind="stable"))
    behind = np.append(np.flatnonzero(np.diff(nbest.owner)) + 1, len(nbest))  # each sentence
    steps = [0]
    while steps[-1] < len(nbest):
        steps.append(int(behind[min(int(np.searchsorted(behind, steps[-1] + _STEP)), len(behind) - 1)]))
    for (first, last), (text, ends) in zip(pairwise(steps), _written(nbest, steps), strict=True):
        lists = behind[np.searchsorted(behind, first, "right") : np.searchsorted(behind, last, "right")]
        for begin, end in pairwise([0, *ends[lists - first - 1].tolist()]):
            yield gzip_member(text[begin:end].tobytes())


def _check(nbest: NBest, path: str | os.PathLike[str] | None) -> None:
    finite = np.isfinite(nbest.dense).all() and np.isfinite(nbest.score).all()
    if not finite or (nbest.sparse is not None and not np.isfinite(nbest.sparse.data).all()):
        raise ValueError("features and totals must be finite")
    words = nbest.hypotheses.vocabulary
    for index in np.unique(nbest.hypotheses.ids).tolist():
        if "|||" in words[index]:
            raise UserError(
                f"the word {words[index]!r} cannot be written to an N-best list",
                path=path,
                remedy="escape | in the text",
            )
    for name in nbest.names.slices:
        if "|||" in name:
            raise UserError(f"the feature {name!r} cannot be written to an N-best list", path=path, remedy="rename it")


def _written(nbest: NBest, steps: Sequence[int]) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
    """For rows between two steps each: their lines, and where each of them ends."""
    groups = nbest.names.slices
    labels = Spelt.of([f"{name}=" for name in groups])
    firsts = np.array([*(place.start for place in groups.values()), nbest.dense.shape[1]], dtype=np.int64)
    words = nbest.hypotheses.vocabulary.arrays
    spelt = Spelt(words.arena, words.starts)
    seen, sparse_labels = _seen(nbest)
    lengths = np.diff(words.starts)
    named = np.diff(sparse_labels.starts)
    for first, last in pairwise(steps):
        tokens = seen.ids[seen.offsets[first] : seen.offsets[last]]
        entries = seen.columns[seen.starts[first] : seen.starts[last]]
        a_line = _AROUND + len(labels.data) + len(groups) + (LONGEST + 1) * (1 + seen.dense.shape[1])
        size = (last - first) * a_line + int(lengths[tokens].sum()) + len(tokens)
        size += int(named[entries].sum()) + (LONGEST + 2) * len(entries)
        out, ends = np.empty(size, dtype=np.uint8), np.empty(last - first, dtype=np.int64)
        end = _write_lines(first, seen, spelt, labels, firsts, sparse_labels, out, ends)
        yield out[:end], ends


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
        ranked = rank[np.searchsorted(known, nbest.sparse.indices)]
        by_name = scipy.sparse.csr_array((nbest.sparse.data.copy(), ranked, nbest.sparse.indptr), (n, len(names)))
        by_name.sort_indices()
        starts, columns, values = by_name.indptr.astype(np.int64), by_name.indices.astype(np.int32), by_name.data
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
def _write_lines(first, seen, words, labels, firsts, sparse_labels, out, ends):  # type: ignore[no-untyped-def]
    i = 0
    for line in range(ends.shape[0]):
        row = first + line
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
        ends[line] = i
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
