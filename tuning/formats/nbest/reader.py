"""Reading N-best lists of any decoder, block by block, and writing them.

Layouts are those of `lasw.tuning.formats.nbest.layout.NBEST_LAYOUTS`, found by content; which features are dense is
decided by the rule of `lasw.tuning.formats.nbest.pattern`; files are opened as `lasw.metrics.text.files` says
(compression by content, ``-`` for standard input). A sparse feature that is 0 counts as absent.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TypedDict, Unpack

import numpy as np
import scipy
from numpy.typing import NDArray

from lasw.metrics import STANDARD_INPUT, Block, Blocks, Corpus, UserError, Vocabulary, ahead, atomic_write, tokens
from lasw.tuning.formats.nbest import kernel
from lasw.tuning.formats.nbest.growing import Growing
from lasw.tuning.formats.nbest.kernel import Rows, read_rows
from lasw.tuning.formats.nbest.layout import (
    MOSES,
    NBEST_LAYOUTS,
    ONLY_SCORE,
    Fields,
    Group,
    LayoutArrays,
    LayoutOptions,
    NBestLayout,
    Pattern,
    Place,
    layout_of,
    only_score,
)
from lasw.tuning.formats.nbest.notices import Notices
from lasw.tuning.formats.nbest.pattern import LOOK_AHEAD, Row, find_pattern, read_row
from lasw.tuning.formats.nbest.repeats import RepeatArrays, RepeatedLines
from lasw.tuning.nbest import NBest
from lasw.tuning.weights import FeatureNames

_LF = 10
_NO_REPEATS = RepeatArrays(np.zeros((0, 2), dtype=np.uint64), np.zeros(2, dtype=np.int64))
_AT_ONCE = 1 << 12  # hypotheses of a layout without compiled reader
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
    layout: what is said of the list besides its content.
    learning: the weights of features are to be learnt: totals that are none are told.
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
    layout: LayoutOptions
    learning: bool


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


def write_nbest(path: str | os.PathLike[str], nbest: NBest, layout: str = MOSES) -> None:
    """Write a list in a layout of `NBEST_LAYOUTS`; the file appears whole or not at all.

    A name that ends in ``.gz`` is compressed, always to the same bytes.

    Raises:
        UserError: a word or name that the layout cannot hold, or the file cannot be written.
        ValueError: a number is not finite.
    """
    with atomic_write(path) as stream:
        for text in NBEST_LAYOUTS.find(layout)().text(nbest, path):
            stream.write(text.encode("utf-8"))


def nbest_text(nbest: NBest, path: str | os.PathLike[str] | None = None) -> Iterator[str]:
    """The lines that `write_nbest` writes, some thousand at a time; `path` is for messages.

    Raises:
        UserError: a token or name holds ``|||``.
        ValueError: a number is not finite.
    """
    return NBEST_LAYOUTS.find(MOSES)().text(nbest, path)


@dataclass
class _Stream:
    path: str
    vocabulary: Vocabulary
    options: Options
    notices: Notices = field(init=False)
    given: LayoutOptions = field(init=False)
    layout: NBestLayout = field(init=False)
    pattern: Pattern = field(init=False)

    def __post_init__(self) -> None:
        self.names = self.options.get("sparse_names", Vocabulary())
        self.preprocess = self.options.get("preprocess")
        self.words = self.vocabulary if self.preprocess is None else Vocabulary()
        self.stamps = np.full(self.names.capacity, -1, dtype=np.int64)
        self.notices = Notices(self.path, self.options.get("segments"), self.options.get("unsorted", False))

    def __iter__(self) -> Iterator[NBest]:
        blocks = Blocks(self.path, self.options.get("encoding", "utf-8"))
        # A thread that waits for a pipe could not be ended.
        waits = self.path == STANDARD_INPUT or not os.path.isfile(self.path)
        following = iter(blocks) if waits else ahead(iter(blocks))
        first = next(following, None)
        if first is None:
            raise UserError("the file is empty", path=self.path, expected="an N-best list")
        self.given = self.options.get("layout") or LayoutOptions()
        self.layout = layout_of(next(_lines(first)), self.given)
        if self.given.columns and not self.layout.has_columns:
            expected = "a first line with these names (--layout tsv or csv)"
            raise UserError("--column for a list without columns", path=self.path, expected=expected)
        yield from self._parts(first, following)
        self.layout.finish(self.path)
        self.options.get("warnings", []).extend(self.notices.warnings(blocks))

    def _parts(self, first: Block, following: Iterator[Block]) -> Iterator[NBest]:
        """The list in parts, by the fastest way that its layout has."""
        if self.layout.only_texts:
            yield from map(self._texts, chain([first], following))
            return
        lines = islice(enumerate(_lines(first), 1), LOOK_AHEAD)
        places = ((Place(self.path, k), line) for k, line in lines if k == 1 or line.strip(" \t"))
        arrays = None
        compiled = type(self.layout).arrays is not NBestLayout.arrays
        if compiled and self.given.source_ids is None and not self.given.with_score:
            self._found((place, fields) for place, line in places for fields in self.layout.hypotheses(line, place))
            arrays = self.layout.arrays(self.pattern)
        if arrays is None:
            yield from map(self._columns, self._slow(chain([first], following)))
            return
        for block in chain([first], following):
            yield self._columns(self._fast(block, arrays, following))

    def _found(self, hypotheses: Iterator[tuple[Place, Fields]]) -> None:
        """Find the pattern on the first hypotheses."""
        names, dense = self.options.get("names"), self.options.get("dense", ())
        self.pattern = find_pattern(
            hypotheses, names, dense, featureless=self.given.featureless, no_score=self.given.no_score
        )
        if self.given.with_score and ONLY_SCORE not in self.pattern.names.slices:
            raise UserError("--with-score", path=self.path, expected="totals, and features that have names")

    def _texts(self, block: Block) -> NBest:
        """A block of a layout whose lines are texts."""
        corpus = Corpus.of_bytes(block.data, self.words, self.path)
        kept, owner = self.layout.owners(corpus.lengths)
        if not self.given.featureless:
            expected = "numbers in files of their own (--feature NAME=FILE)"
            raise UserError("lists of texts without features", path=self.path, expected=expected)
        if len(owner):
            self.notices.block(owner, (block.first_line + np.flatnonzero(kept)).tolist())
        none = np.zeros((len(owner), 0))
        return NBest(
            FeatureNames(()), owner, self._changed(corpus.take(np.flatnonzero(kept))), none, np.zeros(len(owner))
        )

    def _slow(self, blocks: Iterator[Block]) -> Iterator[Rows]:
        """The hypotheses of a layout that has no compiled reader, some thousand at a time."""
        lines = (
            (Place(self.path, number), line)
            for block in blocks
            for number, line in enumerate(_lines(block), block.first_line)
        )
        hypotheses = self.layout.read(lines)
        if self.given.with_score:
            hypotheses = ((place, _with_score(fields)) for place, fields in hypotheses)
        head = list(islice(hypotheses, LOOK_AHEAD))
        if not head:
            raise UserError("no hypotheses", path=self.path, expected="an N-best list")
        self._found(iter(head))
        if self.options.get("learning", False) and self.pattern.named and not self.given.with_score:
            self._tell_of_totals()
        following = chain(head, hypotheses)
        while part := list(islice(following, _AT_ONCE)):
            read = [read_row(fields, self.pattern, place) for place, fields in part]
            rows = self._room(
                len(read), sum(len(row.text) // 2 + 1 for row in read), sum(len(row.sparse) for row in read)
            )
            for row in read:
                self._put(row, rows)
            self._notice(rows, [place.line or 0 for place, _ in part])
            yield rows

    def _fast(self, block: Block, arrays: LayoutArrays, following: Iterator[Block]) -> Rows:
        entries = len(block.data) // _SHORTEST_ENTRY + 1 if self.pattern.named else 0
        rows = self._room(int(np.count_nonzero(block.data == _LF)), len(block.data) // 2 + 1, entries, block.first_line)
        memory = self.options.get("repeats")
        if memory is not None:
            memory.reserve(len(rows.owner))
        repeats = _NO_REPEATS if memory is None else memory.arrays
        while True:
            todo = read_rows(block.data, arrays, self.words.arrays, self.names.arrays, repeats, rows)
            if todo == kernel.DONE:
                self._notice(rows, range(block.first_line, block.first_line + len(rows.line_owner)))
                return rows
            if todo == kernel.CAREFUL:
                self._careful(block, rows, following)
            elif todo == kernel.WORDS_FULL:
                self.words.grow()
            elif todo == kernel.NAMES_FULL:
                self.names.grow()
                rows = rows._replace(stamps=self._longer_stamps())

    def _room(self, n: int, tokens: int, entries: int, first_line: int = 1) -> Rows:
        """For up to `n` hypotheses with so many tokens and sparse features."""
        state = np.zeros(kernel.FIRST_LINE + 1, dtype=np.int64)
        state[kernel.FIRST_LINE] = first_line
        return Rows(
            np.empty(n, dtype=np.int32),
            np.zeros(n + 1, dtype=np.int64),
            np.empty(tokens, dtype=np.int32),
            np.empty((n, len(self.pattern.names))),
            np.empty(n),
            np.zeros(n + 1, dtype=np.int64),
            np.empty(entries, dtype=np.int32),
            np.empty(entries),
            np.empty(n, dtype=np.int32),
            np.full(len(self.pattern.order), -1, dtype=np.int64),
            self._longer_stamps(),
            state,
        )

    def _notice(self, rows: Rows, lines: Sequence[int]) -> None:
        if len(lines):
            self.notices.block(rows.line_owner, lines)
        self.notices.zeros += int(rows.state[kernel.ZEROS])
        self.notices.reordered += int(rows.state[kernel.REORDERED])

    def _longer_stamps(self) -> NDArray[np.int64]:
        """The stamps, as many as the vocabulary of sparse names has room for (it may grow elsewhere)."""
        missing = self.names.capacity - len(self.stamps)
        if missing:
            self.stamps = np.concatenate([self.stamps, np.full(missing, -1, dtype=np.int64)])
        return self.stamps

    def _careful(self, block: Block, rows: Rows, following: Iterator[Block]) -> None:
        """Read the line that the kernel did not."""
        start, number = int(rows.state[kernel.BYTE]), int(rows.state[kernel.LINE])
        end = start + int(np.argmax(block.data[start:] == _LF))
        line = block.data[start:end].tobytes().decode("utf-8")
        place = Place(self.path, block.first_line + number)
        if not line.strip(" \t"):
            last = end + 1 == len(block.data) and next(following, None) is None
            raise place.error("one extra blank last line" if last else "a blank line", remedy="remove it")
        (fields,) = self.layout.hypotheses(line, place)
        self._put(read_row(fields, self.pattern, place), rows)
        rows.state[kernel.BYTE] = end + 1

    def _put(self, row: Row, rows: Rows) -> None:
        """Put a hypothesis behind those that are there."""
        k, filled, entries, number = rows.state[kernel.ROW : kernel.LINE + 1].tolist()
        ids = [self.words.add(token) for token in tokens(row.text)]
        rows.owner[k], rows.dense[k], rows.score[k] = row.owner, row.dense, row.score
        rows.line_owner[number] = row.owner
        rows.ids[filled : filled + len(ids)] = ids
        rows.offsets[k + 1] = filled + len(ids)
        columns = [(self.names.add(name), value) for name, value in row.sparse.items()]
        kept = [(column, value) for column, value in columns if value]
        for entry, (column, value) in enumerate(kept, entries):
            rows.columns[entry], rows.values[entry] = column, value
        rows.starts[k + 1] = entries + len(kept)
        rows.state[kernel.ROW : kernel.FIRST_LINE] += (1, len(ids), len(kept), 1, row.zeros, row.reordered)

    def _columns(self, rows: Rows) -> NBest:
        """The block as an N-best list of its own, without the room that was not needed."""
        n, filled, entries = rows.state[kernel.ROW : kernel.ENTRIES + 1].tolist()
        corpus = Corpus(rows.ids[:filled].copy(), rows.offsets[: n + 1], self.words, self.path)
        if self.given.sum_scores and not self.layout.sums_itself:
            self._sum(rows, n, corpus.lengths)
        corpus = self._changed(corpus)
        names = self.names if len(self.names) else None
        sparse = _csr(rows.starts[: n + 1], rows.columns[:entries].copy(), rows.values[:entries].copy(), names)
        return NBest(self.pattern.names, rows.owner[:n], corpus, rows.dense[:n], rows.score[:n], sparse, names)

    def _tell_of_totals(self) -> None:
        if float(self.pattern.first.score or 0):
            self.options.get("warnings", []).append(
                f"{self.path}: the totals are no feature beside others: --with-score makes them one (a decoder's are "
                "made of the features, a neural system's are not)"
            )

    def _sum(self, rows: Rows, n: int, lengths: NDArray[np.int64]) -> None:
        """Totals that are means over the tokens and the end become sums."""
        rows.score[:n] *= lengths + 1
        if only_score(self.pattern.names) and self.pattern.first.groups is None and not self.pattern.first.numbers:
            rows.dense[:n, 0] *= lengths + 1
        elif self.given.with_score and self.pattern.named:
            rows.dense[:n, self.pattern.names.slices[ONLY_SCORE]] *= (lengths + 1)[:, None]

    def _changed(self, corpus: Corpus) -> Corpus:
        """The hypotheses as they are compared."""
        if self.preprocess is None:
            return corpus
        texts = [self.preprocess(corpus.text(k)) for k in range(len(corpus))]
        return Corpus.from_lines(texts, self.vocabulary)


def _lines(block: Block) -> Iterator[str]:
    return (line.decode("utf-8") for line in block.data.tobytes().split(b"\n")[:-1])


def _with_score(fields: Fields) -> Fields:
    """A hypothesis whose total is a feature too, if it has others."""
    if fields.groups is None or fields.score is None:
        return fields
    return replace(fields, groups=[Group(ONLY_SCORE, [fields.score], dense=True), *fields.groups])


def _csr(
    starts: NDArray[np.int64], columns: NDArray[np.int32], values: NDArray[np.float64], names: Vocabulary | None
) -> scipy.sparse.csr_array | None:
    if names is None:
        return None
    sparse = scipy.sparse.csr_array((values, columns, starts), shape=(len(starts) - 1, len(names)))
    sparse.sort_indices()
    return sparse
