"""Reading N-best lists of any decoder, block by block.

Layouts are those of `lasw.tuning.formats.nbest.fields`, found by content; which features are dense is decided by the
rule of `lasw.tuning.formats.nbest.layout`; files are opened as `lasw.metrics.text.files` says (compression by content,
``-`` for standard input). A sparse feature that is 0 counts as absent.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

import numpy as np
import scipy
from numpy.typing import NDArray

from lasw.metrics import Block, Blocks, Corpus, UserError, Vocabulary
from lasw.tuning.formats.nbest.careful import Row, read_row
from lasw.tuning.formats.nbest.fields import Place
from lasw.tuning.formats.nbest.growing import Growing
from lasw.tuning.formats.nbest.kernel import (
    CAREFUL,
    DONE,
    ENTRIES,
    FIRST_LINE,
    LINE,
    NAMES_FULL,
    REORDERED,
    ROW,
    WORDS_FULL,
    ZEROS,
    LayoutArrays,
    Rows,
    layout_arrays,
    read_rows,
)
from lasw.tuning.formats.nbest.layout import Layout, find_layout
from lasw.tuning.formats.nbest.repeats import RepeatArrays, RepeatedLines
from lasw.tuning.formats.nbest.report import Seen
from lasw.tuning.nbest import NBest
from lasw.tuning.weights import FeatureNames

_LF = 10
_NO_REPEATS = RepeatArrays(np.zeros((0, 2), dtype=np.uint64), np.zeros(2, dtype=np.int64))
_SHORTEST_ENTRY = 3  # bytes of a sparse feature with its number: `a=1`, `a= 1`


class Options(TypedDict, total=False):
    """How to read a list.

    sparse_names: numbers sparse features; give the same to all lists that belong together.
    names: the dense features if all are known; the columns are then theirs, in their order.
    dense: names of features that are dense, as far as they are known.
    segments: number of source sentences; larger ids are refused.
    unsorted: ids may decrease from line to line.
    encoding: of the file, UTF-8 by default.
    preprocess: applied to every hypothesis before it is split into tokens.
    repeats: lines that it has met are left out (`stream_nbest` only; for what merges equal candidates anyway).
    warnings: a list; what should be told to the user is put at its end, one line each.
    """

    sparse_names: Vocabulary
    names: FeatureNames | None
    dense: Collection[str]
    segments: int | None
    unsorted: bool
    encoding: str
    preprocess: Callable[[str], str] | None
    repeats: RepeatedLines | None
    warnings: list[str]


def read_nbest(path: str | os.PathLike[str], vocabulary: Vocabulary, **options: Unpack[Options]) -> NBest:
    """A whole list, hypotheses over `vocabulary`.

    Raises:
        UserError: no list, or a fault in it, with file and line.
    """
    owner, score = Growing(np.int32), Growing(np.float64)
    ids, offsets = Growing(np.int32), Growing(np.int64)
    starts, columns, values = Growing(np.int64), Growing(np.int32), Growing(np.float64)
    offsets.append(np.zeros(1, dtype=np.int64))
    starts.append(np.zeros(1, dtype=np.int64))
    dense: Growing | None = None
    for part in stream_nbest(path, vocabulary, **options):
        last = part
        if dense is None:
            dense = Growing(np.float64, part.dense.shape[1])
        offsets.append(part.hypotheses.offsets[1:] + len(ids))
        ids.append(part.hypotheses.ids)
        owner.append(part.owner)
        dense.append(part.dense)
        score.append(part.score)
        if part.sparse is None:
            starts.append(np.full(len(part), len(columns), dtype=np.int64))
        else:
            starts.append(part.sparse.indptr[1:].astype(np.int64) + len(columns))
            columns.append(part.sparse.indices)
            values.append(part.sparse.data)
    assert dense is not None  # for mypy: a stream without blocks raises
    corpus = Corpus(ids.rows, offsets.rows, vocabulary, os.fspath(path))
    sparse = _csr(starts.rows, columns.rows, values.rows, last.sparse_names)
    return NBest(last.names, owner.rows, corpus, dense.rows, score.rows, sparse, last.sparse_names)


def stream_nbest(path: str | os.PathLike[str], vocabulary: Vocabulary, **options: Unpack[Options]) -> Iterator[NBest]:
    """A list in blocks of about a megabyte of text, in bounded memory; a sentence may lie in two blocks.

    Raises:
        UserError: no list, or a fault in it, with file and line.
    """
    return iter(_Stream(os.fspath(path), vocabulary, options))


@dataclass
class _Stream:
    path: str
    vocabulary: Vocabulary
    options: Options
    seen: Seen = field(init=False)
    layout: Layout = field(init=False)
    arrays: LayoutArrays = field(init=False)

    def __post_init__(self) -> None:
        self.names = self.options.get("sparse_names", Vocabulary())
        self.preprocess = self.options.get("preprocess")
        self.words = self.vocabulary if self.preprocess is None else Vocabulary()
        self.stamps = np.full(self.names.capacity, -1, dtype=np.int64)
        self.seen = Seen(self.path, self.options.get("segments"), self.options.get("unsorted", False))

    def __iter__(self) -> Iterator[NBest]:
        blocks = Blocks(self.path, self.options.get("encoding", "utf-8"))
        following = iter(blocks)
        for block in following:
            if block.first_line == 1:
                self._start(block)
            rows = self._read(block, following)
            self.seen.block(rows.line_owner, block.first_line)
            self.seen.zeros += int(rows.state[ZEROS])
            self.seen.reordered += int(rows.state[REORDERED])
            yield self._columns(rows)
        if not blocks.lines:
            raise UserError("the file is empty", path=self.path, expected="an N-best list")
        self.options.get("warnings", []).extend(self.seen.warnings(blocks))

    def _start(self, block: Block) -> None:
        lines = (line.decode("utf-8") for line in block.data.tobytes().split(b"\n")[:-1])
        options = self.options
        self.layout = find_layout(lines, Place(self.path, 1), options.get("names"), options.get("dense", ()))
        self.arrays = layout_arrays(self.layout)

    def _read(self, block: Block, following: Iterator[Block]) -> Rows:
        rows = self._room(block)
        memory = self.options.get("repeats")
        if memory is not None:
            memory.reserve(len(rows.owner))
        repeats = _NO_REPEATS if memory is None else memory.arrays
        while True:
            todo = read_rows(block.data, self.arrays, self.words.arrays, self.names.arrays, repeats, rows)
            if todo == DONE:
                return rows
            if todo == CAREFUL:
                self._careful(block, rows, following)
            elif todo == WORDS_FULL:
                self.words.grow()
            elif todo == NAMES_FULL:
                self.names.grow()
                rows = rows._replace(stamps=self._longer_stamps())

    def _room(self, block: Block) -> Rows:
        n = int(np.count_nonzero(block.data == _LF))
        entries = len(block.data) // _SHORTEST_ENTRY + 1 if self.layout.named else 0
        state = np.zeros(FIRST_LINE + 1, dtype=np.int64)
        state[FIRST_LINE] = block.first_line
        return Rows(
            np.empty(n, dtype=np.int32),
            np.zeros(n + 1, dtype=np.int64),
            np.empty(len(block.data) // 2 + 1, dtype=np.int32),
            np.empty((n, len(self.layout.names))),
            np.empty(n),
            np.zeros(n + 1, dtype=np.int64),
            np.empty(entries, dtype=np.int32),
            np.empty(entries),
            np.empty(n, dtype=np.int32),
            np.full(len(self.layout.order), -1, dtype=np.int64),
            self._longer_stamps(),
            state,
        )

    def _longer_stamps(self) -> NDArray[np.int64]:
        """The stamps, as many as the vocabulary of sparse names has room for (it may grow elsewhere)."""
        missing = self.names.capacity - len(self.stamps)
        if missing:
            self.stamps = np.concatenate([self.stamps, np.full(missing, -1, dtype=np.int64)])
        return self.stamps

    def _careful(self, block: Block, rows: Rows, following: Iterator[Block]) -> None:
        """Read the line that the kernel did not."""
        start, k, tokens, entries, number = rows.state[: LINE + 1].tolist()
        rest = block.data[start:]
        end = start + int(np.argmax(rest == _LF))
        line = block.data[start:end].tobytes().decode("utf-8")
        place = Place(self.path, block.first_line + number)
        if not line.strip(" \t"):
            last = end + 1 == len(block.data) and next(following, None) is None
            raise place.error("one extra blank last line" if last else "a blank line", remedy="remove it")
        row = read_row(line, self.layout, place, 1)
        ids = [self.words.add(token) for token in row.text.replace("\t", " ").split(" ") if token]
        rows.owner[k], rows.dense[k], rows.score[k] = row.owner, row.dense, row.score
        rows.line_owner[number] = row.owner
        rows.ids[tokens : tokens + len(ids)] = ids
        rows.offsets[k + 1] = tokens + len(ids)
        rows.starts[k + 1] = entries + self._careful_sparse(row, rows, entries)
        rows.state[:FIRST_LINE] += (
            end + 1 - start,
            1,
            len(ids),
            rows.starts[k + 1] - entries,
            1,
            row.zeros,
            row.reordered,
        )

    def _careful_sparse(self, row: Row, rows: Rows, entries: int) -> int:
        written = 0
        for name, value in row.sparse.items():
            column = self.names.add(name)
            if value:
                rows.columns[entries + written] = column
                rows.values[entries + written] = value
                written += 1
        return written

    def _columns(self, rows: Rows) -> NBest:
        """The block as an N-best list of its own, without the room that was not needed."""
        n, tokens, entries = rows.state[ROW : ENTRIES + 1].tolist()
        corpus = Corpus(rows.ids[:tokens].copy(), rows.offsets[: n + 1], self.words, self.path)
        if self.preprocess is not None:
            texts = [self.preprocess(corpus.text(k)) for k in range(len(corpus))]
            corpus = Corpus.from_lines(texts, self.vocabulary)
        names = self.names if len(self.names) else None
        sparse = _csr(rows.starts[: n + 1], rows.columns[:entries].copy(), rows.values[:entries].copy(), names)
        return NBest(self.layout.names, rows.owner[:n], corpus, rows.dense[:n], rows.score[:n], sparse, names)


def _csr(
    starts: NDArray[np.int64], columns: NDArray[np.int32], values: NDArray[np.float64], names: Vocabulary | None
) -> scipy.sparse.csr_array | None:
    if names is None:
        return None
    sparse = scipy.sparse.csr_array((values, columns, starts), shape=(len(starts) - 1, len(names)))
    sparse.sort_indices()
    return sparse
