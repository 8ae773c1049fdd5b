"""Text as token ids: one vocabulary, sentences as flat ids and offsets.

A token is what stands between spaces and tabs; no other character separates (a no-break space, U+2028 or a lone CR is
part of its token). Tokens are compared as bytes of UTF-8, so NFC and NFD forms are different tokens.
"""

from __future__ import annotations

import dataclasses
import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError
from lasw.metrics.kernels import HIGH_BITS, borrowing, inlined, leading_bytes, load_word, lowest_bit, nested
from lasw.metrics.text.files import Blocks

_FIRST_WORDS = 1 << 14
_FIRST_BYTES = 1 << 17
_LINES_AT_ONCE = 512  # as bytes they stay in the processor's cache

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio (Knuth, volume 3, section 6.4), odd
_HASH_SHIFT = np.uint64(32)
_SENTENCE_SHIFT = np.uint64(29)
_SPACES_AND_ONE = np.uint64(0x2121212121212121)
_NONE = np.uint64(0)
_HALF = np.uint64(32)
_ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_SLOTS_PER_WORD = 2


class VocabularyArrays(NamedTuple):
    """What kernels see of a vocabulary; pass it whole.

    `slots` (power of two, 2) uint64, open addressing: a word's hash, and its bytes times 2^32 plus its id plus 1 (0 is
    free), side by side so that finding a common word touches one place in memory. Word k is
    `arena[starts[k]:starts[k + 1]]`. `used` (2,) int64: number of words, number of arena bytes.
    """

    slots: NDArray[np.uint64]
    starts: NDArray[np.int64]
    arena: NDArray[np.uint8]
    used: NDArray[np.int64]


class Vocabulary:
    """Tokens numbered 0, 1, ... in the order they are first met; grows as text comes in."""

    def __init__(self) -> None:
        self.arrays = VocabularyArrays(
            np.zeros((_SLOTS_PER_WORD * _FIRST_WORDS, 2), dtype=np.uint64),
            np.zeros(_FIRST_WORDS + 1, dtype=np.int64),
            np.zeros(_FIRST_BYTES, dtype=np.uint8),
            np.zeros(2, dtype=np.int64),
        )

    def __len__(self) -> int:
        return int(self.arrays.used[0])

    @property
    def capacity(self) -> int:
        """How many words there is room for before it must grow."""
        return len(self.arrays.starts) - 1

    def __getitem__(self, index: int) -> str:
        if not 0 <= index < len(self):
            raise IndexError(f"token id {index} of {len(self)}")
        starts = self.arrays.starts
        return self.arrays.arena[starts[index] : starts[index + 1]].tobytes().decode("utf-8")

    def add(self, token: str) -> int:
        """The id of `token`, a new one if it was never met."""
        data = np.frombuffer(token.encode("utf-8"), dtype=np.uint8)
        while True:
            index = int(_intern(self.arrays, data))
            if index >= 0:
                return index
            self.grow(len(data))

    def grow(self, token_bytes: int = 0) -> None:
        """Make room: kernels call for it by returning early when `intern_token` gives -1.

        Args:
            token_bytes: the longest token that must fit.
        """
        old = self.arrays
        words = 2 * self.capacity
        slots = np.zeros((_SLOTS_PER_WORD * words, 2), dtype=np.uint64)
        _refill(slots, old.slots)
        arena_bytes = max(2 * len(old.arena), len(old.arena) + 2 * token_bytes)
        self.arrays = VocabularyArrays(
            slots,
            _extended(old.starts, words + 1),
            _extended(old.arena, arena_bytes),
            old.used,
        )


@dataclass(frozen=True)
class Corpus:
    """Sentences as token ids: sentence i is `ids[offsets[i]:offsets[i + 1]]`.

    Attributes:
        ids: (T,) int32, into `vocabulary`.
        offsets: (n + 1,) int64, from 0 to T.
        vocabulary: shared by all that is compared.
        path: where it was read from, for messages.
        crlf_lines: how many of its lines ended in CR LF (the CR was dropped).
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vocabulary: Vocabulary = field(repr=False)
    path: str | None = None
    crlf_lines: int = 0

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"Corpus({len(self)} sentences, {len(self.ids)} tokens)"

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens per sentence, (n,)."""
        return np.diff(self.offsets)

    def sentence(self, index: int) -> NDArray[np.int32]:
        """The ids of one sentence, a view of `ids`."""
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    def tokens(self, index: int) -> list[str]:
        """The tokens of one sentence."""
        return [self.vocabulary[k] for k in self.sentence(index).tolist()]

    def text(self, index: int) -> str:
        """One sentence, its tokens joined by single spaces."""
        return " ".join(self.tokens(index))

    def __iter__(self) -> Iterator[list[str]]:
        return (self.tokens(i) for i in range(len(self)))

    def take(self, rows: NDArray[np.integer]) -> Corpus:
        """The sentences `rows` (m,), in that order, as a new corpus over the same vocabulary."""
        rows = np.asarray(rows, dtype=np.int64)
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(self.lengths[rows], out=offsets[1:])
        ids = np.empty(offsets[-1], dtype=np.int32)
        _gather(self.ids, self.offsets, rows, ids, offsets)
        return Corpus(ids, offsets, self.vocabulary, self.path)

    @classmethod
    def from_lines(
        cls, lines: Iterable[str], vocabulary: Vocabulary | None = None, preprocess: Callable[[str], str] | None = None
    ) -> Corpus:
        """A corpus from one string a sentence, split on spaces and tabs (after `preprocess`).

        Raises:
            TypeError: `lines` is one string, or a line is no string (a list of references, say).
        """
        if isinstance(lines, (str, bytes)):
            raise TypeError("lines is one string; expected one string per sentence")
        kept = list(lines)
        if not all(issubclass(kind, str) for kind in set(map(type, kept))):
            for number, line in enumerate(kept):
                if not isinstance(line, str):
                    raise TypeError(f"line {number} is {type(line).__name__}; expected a string per sentence")
        if preprocess:
            kept = [preprocess(line) for line in kept]
        blocks = (_joined(kept[k : k + _LINES_AT_ONCE]) for k in range(0, len(kept), _LINES_AT_ONCE))
        return _encoded(blocks, Vocabulary() if vocabulary is None else vocabulary, None)

    @classmethod
    def of_bytes(cls, data: NDArray[np.uint8], vocabulary: Vocabulary, path: str | None = None) -> Corpus:
        """A corpus from lines of UTF-8 (n,), each ended by LF, a sentence a line."""
        return _encoded([data], vocabulary, path)


def read_corpus(
    path: str | os.PathLike[str],
    vocabulary: Vocabulary | None = None,
    *,
    preprocess: Callable[[str], str] | None = None,
    encoding: str = "utf-8",
) -> Corpus:
    """Read a text file, one sentence a line (see `lasw.metrics.text.files` for compression, line ends and encodings).

    Args:
        path: the file, ``-`` for standard input.
        vocabulary: the one to share; a new one by default.
        preprocess: applied to every line before it is split (a tokeniser, lower-casing).
        encoding: of the file.

    Raises:
        UserError: the file cannot be read, is empty, or is no text.
    """
    name = os.fspath(path)
    vocabulary = Vocabulary() if vocabulary is None else vocabulary
    blocks = Blocks(name, encoding)
    if preprocess is None:
        corpus = _encoded((block.data for block in blocks), vocabulary, name)
    else:
        change = preprocess
        corpus = _encoded((_changed(block.text(), change) for block in blocks), vocabulary, name)
    if not len(corpus):
        raise UserError("the file is empty", path=name, expected="a sentence a line")
    return dataclasses.replace(corpus, crlf_lines=blocks.carriage_returns)


def read_corpora(
    paths: Iterable[str | os.PathLike[str]],
    vocabulary: Vocabulary,
    *,
    preprocess: Callable[[str], str] | None = None,
    encoding: str = "utf-8",
) -> tuple[Corpus, ...]:
    """Several texts over one vocabulary, see `read_corpus`."""
    return tuple(read_corpus(path, vocabulary, preprocess=preprocess, encoding=encoding) for path in paths)


def normal_form(corpus: Corpus) -> str | None:
    """`NFC` or `NFD` if the words of the corpus are all in one of the two forms and not in the other, else None."""
    forms = set()
    for index in np.unique(corpus.ids).tolist():
        word = corpus.vocabulary[index]
        if word.isascii():
            continue
        nfc, nfd = unicodedata.is_normalized("NFC", word), unicodedata.is_normalized("NFD", word)
        if nfc != nfd:
            forms.add("NFC" if nfc else "NFD")
    return forms.pop() if len(forms) == 1 else None


def distinct(hypotheses: Corpus, owner: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of every group of equal hypotheses of a segment, so that what costs much is computed once for them.

    Args:
        hypotheses: n sentences.
        owner: (n,) the segment of each.

    Returns:
        rows: (m,) one row of each distinct hypothesis, those of a segment together, segments ascending.
        inverse: (n,) hypothesis i is the same as `rows[inverse[i]]`.

    Raises:
        ValueError: `owner` has another length.
    """
    owner = np.ascontiguousarray(owner, dtype=np.int32)
    n = len(hypotheses)
    if owner.shape != (n,):
        raise ValueError(f"owner has shape {owner.shape} for {n} hypotheses")
    first = np.empty(n, dtype=np.int64)
    table = np.full(1 << max(1, (2 * n - 1).bit_length() if n else 1), -1, dtype=np.int64)
    _first_of_each(hypotheses.ids, hypotheses.offsets, owner, table, np.empty(n, dtype=np.uint64), first)
    rows = np.flatnonzero(first == np.arange(n))
    rows = rows[np.argsort(owner[rows], kind="stable")]
    place = np.empty(n, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    return rows, place[first]


def _changed(text: str, change: Callable[[str], str]) -> NDArray[np.uint8]:
    return _joined([change(line) for line in text.split("\n")[:-1]])


def _joined(lines: list[str]) -> NDArray[np.uint8]:
    """The lines as bytes, each ended by LF; a line break inside a line becomes a space."""
    text = "\n".join([*lines, ""])
    if text.count("\n") > len(lines):
        text = "\n".join([*(line.replace("\n", " ") for line in lines), ""])
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _encoded(blocks: Iterable[NDArray[np.uint8]], vocabulary: Vocabulary, path: str | None) -> Corpus:
    parts, all_ends, filled = list[NDArray[np.int32]](), [np.zeros(1, dtype=np.int64)], 0
    for data in blocks:
        ids = np.empty(len(data) // 2 + 1, dtype=np.int32)
        ends = np.empty(int(np.count_nonzero(data == 10)), dtype=np.int64)
        state = np.zeros(3, dtype=np.int64)
        while not _encode(vocabulary.arrays, data, ids, ends, state):
            vocabulary.grow(len(data))
        parts.append(ids[: state[1]].copy())
        ends += filled
        all_ends.append(ends)
        filled += int(state[1])
    offsets = np.concatenate(all_ends)
    ids = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=np.int32), *parts])
    return Corpus(ids, offsets, vocabulary, path)


def _extended(array: NDArray[np.generic], size: int) -> NDArray:  # type: ignore[type-arg]
    longer = np.zeros(size, dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@inlined
def intern_token(vocabulary, data, start, end):  # type: ignore[no-untyped-def]
    """Kernel: the id of the token `data[start:end]`, new if need be; -1 if the vocabulary must grow first."""
    size = end - start
    h = np.uint64(size)
    last = start  # of the up to eight bytes that make the last word
    while end - last > 8:
        h = (h ^ load_word(data, last)) * _HASH_FACTOR
        h ^= h >> _HASH_SHIFT
        last += 8
    word = leading_bytes(data, last, end - last)
    h = (h ^ word) * _HASH_FACTOR
    h ^= h >> _HASH_SHIFT
    return _number(vocabulary, data, start, end, h, word, last)


@borrowing
def _intern(vocabulary, data):  # type: ignore[no-untyped-def]
    """The same for a whole array, with a way in from Python."""
    return intern_token(vocabulary, data, 0, len(data))


@inlined
def _number(vocabulary, data, start, end, h, word, last):  # type: ignore[no-untyped-def]
    """The id of a token whose hash is `h` and whose bytes from `last` on are `word`."""
    size = end - start
    mask = np.uint64(vocabulary.slots.shape[0] - 1)
    slot = h & mask
    while True:
        entry = vocabulary.slots[slot, 1]
        if entry == _NONE:
            break
        if vocabulary.slots[slot, 0] == h and np.int64(entry >> _HALF) == size:
            index = np.int64(entry & _LOW_HALF) - 1
            if last == start:
                return index  # up to eight bytes: tokens of one length and one hash are the same
            i = vocabulary.starts[index]
            k = start
            while k < last and load_word(vocabulary.arena, i) == load_word(data, k):
                i += 8
                k += 8
            if k == last and leading_bytes(vocabulary.arena, i, end - last) == word:
                return index
        slot = (slot + np.uint64(1)) & mask
    count = vocabulary.used[0]
    room = vocabulary.used[1]
    if count == vocabulary.starts.shape[0] - 1 or room + size > vocabulary.arena.shape[0]:
        return np.int64(-1)
    for i in range(size):
        vocabulary.arena[room + i] = data[start + i]
    vocabulary.used[0] = count + 1
    vocabulary.used[1] = room + size
    vocabulary.starts[count + 1] = room + size
    vocabulary.slots[slot, 0] = h
    vocabulary.slots[slot, 1] = (np.uint64(size) << _HALF) | np.uint64(count + 1)
    return np.int64(count)


@nested
def token_end(data, i):  # type: ignore[no-untyped-def]
    """Kernel: where the token that starts at byte `i` ends: the next space, tab or LF, of which there must be one."""
    i += 1
    while i + 8 <= data.shape[0]:
        word = load_word(data, i)
        controls = ((word - _SPACES_AND_ONE) & ~word) & HIGH_BITS  # bytes up to the space
        if controls == _NONE:
            i += 8
            continue
        i += lowest_bit(controls) >> 3
        if data[i] == 32 or data[i] == 9 or data[i] == 10:
            return i
        i += 1
    while data[i] != 32 and data[i] != 10 and data[i] != 9:
        i += 1
    return i


@borrowing
def _encode(vocabulary, data, ids, ends, state):  # type: ignore[no-untyped-def]
    """Tokens of `data` from byte state[0] on; state: byte, ids written, lines ended. False: the vocabulary is full."""
    i, count, line = state[0], state[1], state[2]
    n = data.shape[0]
    while i < n:
        b = data[i]
        if b == 10:
            ends[line] = count
            line += 1
            i += 1
        elif b == 32 or b == 9:
            i += 1
        else:
            size = 0
            if i + 8 <= n:
                # Most tokens end within eight bytes, which then need to be loaded only once.
                word = load_word(data, i)
                size = lowest_bit(((word - _SPACES_AND_ONE) & ~word) & HIGH_BITS) >> 3
                b = data[i + (size & 7)]
            if 0 < size < 8 and (b == 32 or b == 10 or b == 9):
                end = i + size
                word &= _ALL_BITS >> np.uint64(64 - 8 * size)
                h = (np.uint64(size) ^ word) * _HASH_FACTOR
                h ^= h >> _HASH_SHIFT
                index = _number(vocabulary, data, i, end, h, word, i)
            else:
                end = token_end(data, i)
                index = intern_token(vocabulary, data, i, end)
            if index < 0:
                state[0], state[1], state[2] = i, count, line
                return False
            ids[count] = index
            count += 1
            i = end
    state[0], state[1], state[2] = i, count, line
    return True


@borrowing
def _refill(slots, old):  # type: ignore[no-untyped-def]
    mask = np.uint64(slots.shape[0] - 1)
    for k in range(old.shape[0]):
        if old[k, 1] != _NONE:
            slot = old[k, 0] & mask
            while slots[slot, 1] != _NONE:
                slot = (slot + np.uint64(1)) & mask
            slots[slot, 0] = old[k, 0]
            slots[slot, 1] = old[k, 1]


@borrowing
def _gather(ids, offsets, rows, out, out_offsets):  # type: ignore[no-untyped-def]
    for k in range(rows.shape[0]):
        start = offsets[rows[k]]
        place = out_offsets[k]
        for i in range(offsets[rows[k] + 1] - start):
            out[place + i] = ids[start + i]


@borrowing
def _first_of_each(ids, offsets, owner, table, hashes, first):  # type: ignore[no-untyped-def]
    """first[i]: the first hypothesis that equals i. `table` (power of two) holds rows, -1 is free."""
    mask = np.uint64(table.shape[0] - 1)
    for row in range(owner.shape[0]):
        start, end = offsets[row], offsets[row + 1]
        h = (np.uint64(owner[row]) ^ _HASH_FACTOR) * _HASH_FACTOR
        for i in range(start, end):
            h = (h ^ (h >> _SENTENCE_SHIFT) ^ np.uint64(ids[i])) * _HASH_FACTOR
        h ^= h >> _SENTENCE_SHIFT
        hashes[row] = h
        slot = h & mask
        first[row] = row
        while table[slot] >= 0:
            other = table[slot]
            if hashes[other] == h and owner[other] == owner[row] and offsets[other + 1] - offsets[other] == end - start:
                shift = offsets[other] - start
                i = start
                while i < end and ids[i] == ids[i + shift]:
                    i += 1
                if i == end:
                    first[row] = other
                    break
            slot = (slot + np.uint64(1)) & mask
        if first[row] == row:
            table[slot] = row


def check_parallel(first: Corpus, other: Corpus) -> None:
    """Line k of `other` must belong to line k of `first`.

    Raises:
        UserError: their numbers of lines differ; says so exactly if one blank last line is all that is too much.
    """
    if len(other) == len(first):
        return
    longer, shorter = (first, other) if len(first) > len(other) else (other, first)
    blank = len(longer) == len(shorter) + 1 and longer.lengths[-1] == 0
    remedy = f"if it is no sentence, delete the blank last line of {longer.path or 'the longer one'}"
    raise UserError(
        f"{len(other)} lines" + (", the last of them blank" if blank and longer is other else ""),
        path=other.path,
        expected=f"{len(first)}, as many as {first.path or 'the first'} has"
        + (", whose last one is blank" if blank and longer is first else ""),
        remedy=remedy if blank else None,  # else a line before it is lost, which nobody can tell
    )
