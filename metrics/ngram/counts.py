"""N-gram matches of hypotheses with references: the counting kernel behind every n-gram metric.

The references of the segment at hand are indexed by word: where a word first stands, and from each place the next place
of the same word. A position of a hypothesis looks up its word, then walks along the places of that word as long as the
words behind them differ, and stops at its first order that no place matches. An n-gram is named by the first place on
that walk, so counts and limits are small arrays that stay in the processor's first cache. The index is built whenever
the segment changes, which costs less than to read one from memory that was built before. Texts so long that such walks
could take long are counted in another way (`lasw.metrics.ngram.long_texts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.kernels import borrowing, nested
from lasw.metrics.ngram.long_texts import common_ngrams
from lasw.metrics.text import Corpus, References, Vocabulary, distinct

ORDERS = 4  # largest n-gram; every metric of the family reads what it needs from the same counts
COLUMNS = 2 * ORDERS + 1

CLIPPED = 0  # an n-gram of the hypothesis counts at most as often as some reference has it
UNCLIPPED = 1  # every occurrence in the hypothesis of an n-gram that a reference has
UNCLIPPED_RECALL = 2  # every occurrence in the reference of an n-gram that the hypothesis has

CLOSEST, SHORTEST = 0, 1

_MOST_WALKED = 1 << 24  # words of a text times words of its references: some 50 ms
_PLACE = 0xFFFFFFFF  # the half of an entry of `heads` that holds the place
_NO_WORD = -1  # stands behind each reference, so that no n-gram reaches into the next


@dataclass(frozen=True)
class ReferenceNgrams:
    """The n-grams of R references of each of n segments, those of one segment together.

    Attributes:
        ids: int32, tokens of all references.
        offsets: (R, n + 1) int64, into `ids`.
        lengths: (n, R) int64, tokens of each reference.
        vocabulary: that hypotheses must share.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]
    vocabulary: Vocabulary

    def __len__(self) -> int:
        return len(self.lengths)

    @classmethod
    def of(cls, references: References) -> ReferenceNgrams:
        """All references of a segment together."""
        corpora = references.corpora
        ids = corpora[0].ids if len(corpora) == 1 else np.concatenate([corpus.ids for corpus in corpora])
        shifts = np.cumsum([0] + [len(corpus.ids) for corpus in corpora[:-1]])
        offsets = np.stack([corpus.offsets + shift for corpus, shift in zip(corpora, shifts, strict=True)])
        lengths = np.ascontiguousarray(np.diff(offsets, axis=1).T)
        return cls(ids, offsets, lengths, references.vocabulary)

    @classmethod
    def of_each(cls, references: References) -> tuple[ReferenceNgrams, ...]:
        """Each of the R references alone."""
        return tuple(cls.of(References((corpus,))) for corpus in references.corpora)

    def statistics(
        self,
        hypotheses: Corpus,
        owner: NDArray[np.integer],
        *,
        counting: int = CLIPPED,
        reference_length: int = CLOSEST,
    ) -> NDArray[np.int32]:
        """Matches, candidate n-grams and reference length of each hypothesis, in the layout of Moses' extractor.

        Args:
            hypotheses: n sentences over the references' vocabulary.
            owner: (n,) segment of each hypothesis, in any order.
            counting: `CLIPPED`, `UNCLIPPED` or `UNCLIPPED_RECALL`.
            reference_length: `CLOSEST` (of two equally close ones the shorter) or `SHORTEST`.

        Returns:
            (n, 9) int32: match1 total1 ... match4 total4 reflen.

        Raises:
            TypeError: the hypotheses have another vocabulary.
            ValueError: `owner` has another length or points outside the segments.
        """
        owner = segments_of(hypotheses, owner, self.vocabulary, len(self))
        grouped = bool((owner[1:] >= owner[:-1]).all())
        rows = np.arange(len(owner)) if grouped else np.argsort(owner, kind="stable")
        out = np.zeros((len(owner), COLUMNS), dtype=np.int32)
        words = self.lengths.sum(axis=1)
        longest = int(words.max(initial=0))
        if longest * int(hypotheses.lengths.max(initial=0)) > _MOST_WALKED:
            long = words[owner] * hypotheses.lengths > _MOST_WALKED
            for row in np.flatnonzero(long):
                out[row] = self._of_long_text(hypotheses, int(row), int(owner[row]), counting, reference_length)
            rows = rows[~long[rows]]
            longest = int(words[owner[rows]].max(initial=0))
        places = longest + self.lengths.shape[1] + ORDERS
        _match(
            hypotheses.ids,
            hypotheses.offsets,
            owner,
            rows,
            self.ids,
            self.offsets,
            counting,
            reference_length,
            np.zeros(len(self.vocabulary), dtype=np.int64),
            *np.full((3, places), _NO_WORD, dtype=np.int32),
            np.zeros(ORDERS * places, dtype=np.int64),
            np.zeros(ORDERS * places, dtype=np.int32),
            out,
        )
        return out

    def texts(self, segment: int) -> list[NDArray[np.int32]]:
        """The references of a segment."""
        return [self.ids[first:last] for first, last in self.offsets[:, segment : segment + 2].tolist()]

    def _of_long_text(
        self, hypotheses: Corpus, row: int, segment: int, counting: int, reference_length: int
    ) -> NDArray[np.int64]:
        """(9,) a row of `statistics`."""
        text = hypotheses.sentence(row)
        out = np.zeros(COLUMNS, dtype=np.int64)
        for n, common in enumerate(common_ngrams(self.texts(segment), text, ORDERS)):
            if counting == CLIPPED:
                out[2 * n] = common.clipped
            elif counting == UNCLIPPED:
                out[2 * n] = common.counts[common.limits > 0].sum()
            else:
                out[2 * n] = common.limits[common.counts > 0].sum()
            out[2 * n + 1] = max(len(text) - n, 0)
        lengths = self.lengths[segment].tolist()
        closest = min(lengths, key=lambda length: (abs(length - len(text)), length))
        out[-1] = min(lengths) if reference_length == SHORTEST else closest
        return out


def segments_of(
    hypotheses: Corpus, owner: NDArray[np.integer], vocabulary: Vocabulary, segments: int
) -> NDArray[np.int32]:
    """(n,) `owner` as kernels take it.

    Args:
        hypotheses: n sentences.
        owner: (n,) the segment of each.
        vocabulary: of the references.
        segments: how many references there are.

    Raises:
        TypeError: the hypotheses have another vocabulary.
        ValueError: `owner` has another length or points outside the segments.
    """
    if hypotheses.vocabulary is not vocabulary:
        raise TypeError("hypotheses and references must share one vocabulary")
    checked: NDArray[np.int32] = np.ascontiguousarray(owner, dtype=np.int32)
    if checked.shape != (len(hypotheses),):
        raise ValueError(f"owner has shape {checked.shape} for {len(hypotheses)} hypotheses")
    if len(checked) and not (checked.min() >= 0 and checked.max() < segments):
        raise ValueError(f"owner points outside the {segments} segments")
    return checked


@dataclass(frozen=True)
class Pairs:
    """Hypotheses to be compared with the references of their segments, the same text of a segment once.

    Attributes:
        hypotheses: n sentences.
        references: R of each segment.
        owner: (n,) the segment of each hypothesis.
        rows: (m,) the hypotheses that are compared, those of a segment together.
        inverse: (n,) which of `rows` each hypothesis is the same as.
    """

    hypotheses: Corpus
    references: ReferenceNgrams
    owner: NDArray[np.int32]
    rows: NDArray[np.int64]
    inverse: NDArray[np.int64]

    @classmethod
    def of(cls, hypotheses: Corpus, references: ReferenceNgrams, owner: NDArray[np.integer]) -> Pairs:
        """All of them; raises as `segments_of`."""
        checked = segments_of(hypotheses, owner, references.vocabulary, len(references))
        return cls(hypotheses, references, checked, *distinct(hypotheses, checked))

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What kernels read: ids, offsets, owner and rows of hypotheses, ids and offsets of references."""
        texts, references = self.hypotheses, self.references
        return texts.ids, texts.offsets, self.owner, self.rows, references.ids, references.offsets


@borrowing
def _match(  # type: ignore[no-untyped-def]
    ids,
    offsets,
    owner,
    rows,
    reference_ids,
    reference_offsets,
    counting,
    reference_length,
    heads,
    words,
    following,
    reference,
    counts,
    limits,
    out,
):
    """Fill `out`.

    Scratch: heads, per word (number of the index << 32) + its first place; per place its word, the next place of the
    same word that follows, and its reference; counts and limits of the n-gram of n + 1 words at place k are at
    ORDERS * k + n. Counts stand above a base that grows with every text, so they need no resetting.
    """
    last = ids.shape[0] - 1
    index = 0
    base = 0
    segment = -1
    for row in rows:
        s = owner[row]
        if s != segment:
            segment = s
            index += 1
            _index(reference_ids, reference_offsets, s, index, heads, words, following, reference, limits)
        end = offsets[row + 1]
        length = end - offsets[row]
        ones = twos = threes = fours = np.int64(0)
        for p in range(offsets[row], end):
            head = heads[ids[p]]
            if head >> 32 != index:
                continue
            k = head & _PLACE
            first = ORDERS * k
            if following[k] < 0 and counts[first] <= base:
                # The word stands once in the references and was not met before in this hypothesis: every order that
                # goes on matching counts, and no branch depends on how many do.
                two = np.int64(words[k + 1] == ids[min(p + 1, last)]) & np.int64(p + 1 < end)
                three = np.int64(words[k + 2] == ids[min(p + 2, last)]) & np.int64(p + 2 < end) & two
                four = np.int64(words[k + 3] == ids[min(p + 3, last)]) & np.int64(p + 3 < end) & three
                counts[first] = base + 1
                counts[first + 1] = base + two
                counts[first + 2] = base + three
                counts[first + 3] = base + four
                ones += 1
                twos += two
                threes += three
                fours += four
                continue
            for n in range(min(ORDERS, end - p)):
                k = _place(words, following, k, ids, p, n)
                if k < 0:
                    break
                node = ORDERS * k + n
                count = max(counts[node], base)
                counts[node] = count + 1
                gain = np.int64(1)
                if counting == UNCLIPPED_RECALL:
                    gain = _limit(words, following, reference, limits, k, n) if count == base else np.int64(0)
                elif counting == CLIPPED and count > base:  # the first always counts, whatever the limit
                    gain = np.int64(count - base < _limit(words, following, reference, limits, k, n))
                out[row, 2 * n] += gain
        out[row, 0] += ones
        out[row, 2] += twos
        out[row, 4] += threes
        out[row, 6] += fours
        base += length
        for n in range(ORDERS):
            out[row, 2 * n + 1] = max(length - n, 0)
        out[row, 2 * ORDERS] = _reference_length(reference_offsets, s, length, reference_length)


@nested
def _index(reference_ids, reference_offsets, s, index, heads, words, following, reference, limits):  # type: ignore[no-untyped-def]
    """Index the words of the references of segment `s`; limits become 0, that is unknown."""
    place = 0
    for r in range(reference_offsets.shape[0]):
        for j in range(reference_offsets[r, s], reference_offsets[r, s + 1]):
            word = reference_ids[j]
            head = heads[word]
            words[place] = word
            following[place] = head & _PLACE if head >> 32 == index else -1
            reference[place] = r
            heads[word] = (np.int64(index) << 32) + place
            for n in range(ORDERS):
                limits[ORDERS * place + n] = 0
            place += 1
        words[place] = _NO_WORD
        place += 1


@nested
def _place(words, following, k, text, p, n):  # type: ignore[no-untyped-def]
    """From place `k` on, the first whose n + 1 words are those of `text` at `p`; -1 if there is none."""
    while k >= 0:
        j = n
        while j > 0 and words[k + j] == text[p + j]:
            j -= 1
        if j == 0:
            return k
        k = np.int64(following[k])
    return k


@nested
def _limit(words, following, reference, limits, k, n):  # type: ignore[no-untyped-def]
    """Largest count in one reference of the n-gram of n + 1 words whose first place is `k`."""
    node = ORDERS * k + n
    if limits[node] == 0:
        count = 0
        before = np.int64(-1)
        other = _place(words, following, k, words, k, n)
        while other >= 0:
            count = 1 if reference[other] != before else count + 1
            before = np.int64(reference[other])
            limits[node] = max(limits[node], count)
            other = _place(words, following, np.int64(following[other]), words, k, n)
    return np.int64(limits[node])


@nested
def _reference_length(reference_offsets, s, length, rule):  # type: ignore[no-untyped-def]
    chosen = reference_offsets[0, s + 1] - reference_offsets[0, s]
    for r in range(1, reference_offsets.shape[0]):
        other = reference_offsets[r, s + 1] - reference_offsets[r, s]
        if rule == SHORTEST:
            chosen = min(chosen, other)
        else:
            closer = abs(other - length) - abs(chosen - length)
            if closer < 0 or (closer == 0 and other < chosen):
                chosen = other
    return chosen
