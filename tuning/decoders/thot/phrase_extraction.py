"""Phrase pairs of word-aligned text, counted (Och, Tillmann and Ney 1999; Koehn, Och and Marcu 2003).

A source span and a target span form a phrase pair if at least one point joins them and no point joins a word inside one
to a word outside the other. Unaligned words at the edges may belong to either span, so one target span can have several
source spans.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Corpus, allocating

MAX_LENGTH = 7  # tokens of a phrase, either side: the default of both Thot and Moses

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PhraseSpans:
    """The distinct word sequences of up to L words in a corpus.

    Attributes:
        at: (L, T) int64, number of the sequence of l + 1 words that begins at token t; -1 if the sentence ends before.
        start, length: (m,) where sequence m is first seen, and its number of words.
    """

    at: Ints
    start: Ints
    length: Ints


@dataclass(frozen=True)
class PhrasePairs:
    """Phrase pairs in ascending order of source phrase.

    Attributes:
        source, target: (m,) numbers of the phrases in the spans of their sides.
        count: (m,) how often the pair was extracted.
        source_count, target_count: (m,) how often the source (target) phrase was extracted with any partner.
    """

    source: Ints
    target: Ints
    count: Ints
    source_count: Ints
    target_count: Ints

    def __len__(self) -> int:
        return len(self.source)


def spans(corpus: Corpus, longest: int) -> PhraseSpans:
    """Number the word sequences of `corpus` with up to `longest` words."""
    tokens, vocabulary = len(corpus.ids), max(len(corpus.vocabulary), 1)
    room = np.repeat(corpus.offsets[1:], corpus.lengths) - np.arange(tokens)  # words to the sentence's end
    at = np.full((longest, tokens), -1, dtype=np.int64)
    starts, lengths = [], []
    known = 0
    for n in range(longest):
        places = np.flatnonzero(room > n)
        keys = corpus.ids[places + n].astype(np.int64)
        if n:
            keys += at[n - 1, places] * vocabulary
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        at[n, places] = known + number
        starts.append(places[first])
        lengths.append(np.full(len(first), n + 1, dtype=np.int64))
        known += len(first)
    return PhraseSpans(at, np.concatenate(starts), np.concatenate(lengths))


def extract(
    source: tuple[Corpus, PhraseSpans], target: tuple[Corpus, PhraseSpans], points: NDArray[np.int32], offsets: Ints
) -> PhrasePairs:
    """Count the phrase pairs of aligned text.

    Args:
        source, target: the two sides, n sentences each, and their numbered word sequences.
        points: (P, 2) aligned positions, source and target, counted from 0 in each sentence.
        offsets: (n + 1,) the points of pair k are points[offsets[k]:offsets[k + 1]].
    """
    corpora = (source[0].offsets, target[0].offsets)
    tables = (source[1].at, target[1].at)
    width = np.int64(len(target[1].start))
    size = int(_extract(*corpora, *tables, points, offsets, width, np.empty(0, dtype=np.int64)))
    found = np.empty(size, dtype=np.int64)
    _extract(*corpora, *tables, points, offsets, width, found)
    keys, count = np.unique(found, return_counts=True)
    first, second = keys // width, keys % width
    return PhrasePairs(first, second, count, _totals(first, count), _totals(second, count))


def phrase_texts(corpus: Corpus, spans: PhraseSpans, wanted: Ints) -> Iterator[str]:
    """The words of the sequences `wanted`, joined by spaces."""
    words = [corpus.vocabulary[k] for k in range(len(corpus.vocabulary))]
    ids = corpus.ids.tolist()
    for start, length in zip(spans.start[wanted].tolist(), spans.length[wanted].tolist(), strict=True):
        yield " ".join([words[k] for k in ids[start : start + length]])


def _totals(phrase: Ints, count: Ints) -> Ints:
    return np.asarray(np.bincount(phrase, weights=count)[phrase], dtype=np.int64)


@allocating
def _extract(source_offsets, target_offsets, source_at, target_at, points, offsets, width, found):  # type: ignore[no-untyped-def]
    """Number of phrase pairs; their keys (source number * width + target number) go into `found` if it has room."""
    longest = source_at.shape[0]
    n = 0
    for k in range(offsets.shape[0] - 1):
        s0, t0 = source_offsets[k], target_offsets[k]
        size, width_t = source_offsets[k + 1] - s0, target_offsets[k + 1] - t0
        # First and last partner of every word; first > last where there is none.
        s_first, s_last = np.full(size, width_t), np.full(size, -1)
        t_first, t_last = np.full(width_t, size), np.full(width_t, -1)
        for p in range(offsets[k], offsets[k + 1]):
            i, j = np.int64(points[p, 0]), np.int64(points[p, 1])
            s_first[i], s_last[i] = min(s_first[i], j), max(s_last[i], j)
            t_first[j], t_last[j] = min(t_first[j], i), max(t_last[j], i)
        for j1 in range(width_t):
            low, high = size, -1
            for j2 in range(j1, min(width_t, j1 + longest)):
                low, high = min(low, t_first[j2]), max(high, t_last[j2])
                if high < 0:
                    continue
                if high - low >= longest:
                    break
                closed = True
                for inner in range(low, high + 1):
                    if s_last[inner] >= 0 and (s_first[inner] < j1 or s_last[inner] > j2):
                        closed = False
                        break
                if not closed:
                    continue
                i1 = low
                while i1 >= 0 and (i1 == low or s_last[i1] < 0):
                    i2 = high
                    while i2 < size and i2 - i1 < longest and (i2 == high or s_last[i2] < 0):
                        if n < found.shape[0]:
                            found[n] = source_at[i2 - i1, s0 + i1] * width + target_at[j2 - j1, t0 + j1]
                        n += 1
                        i2 += 1
                    i1 -= 1
    return n
