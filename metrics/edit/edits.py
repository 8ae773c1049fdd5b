"""Error rates: edits that turn a hypothesis into its reference, over the reference's length. WER, PER and CDER.

People read the rate, of which less is better. The score, and the loss that is optimised, is one minus it, since every
metric here is higher-is-better: signatures name that ``1-WER``. It falls below 0 where a hypothesis needs more edits
than its reference has words.

- WER: words inserted, deleted and substituted, in order (Levenshtein distance; Niessen et al. 2000).
- PER: the same for bags of words (Tillmann et al. 1997): the longer side's words less those that both have. Where the
  hypothesis is the longer one, what it has too much counts, as in Moses. Song (2015, table 2.2 and eq. 2.25) has the
  opposite sign and slips in its example values.
- CDER: block movement at the cost of one edit: the reference must be covered once and in full, from one place in the
  hypothesis to any other a jump costs 1 (Leusch et al. 2006; without its length penalty, as in Moses).

Two empty texts need no edits: rate 0, score 1. A text whose references are all empty has rate 1, as in sacreBLEU.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Metric
from lasw.metrics.kernels import borrowing, nested
from lasw.metrics.ngram import Pairs, ReferenceNgrams
from lasw.metrics.registry import check_options
from lasw.metrics.text import Corpus, References

_WORD_BITS = 64
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True)
class EditRate(Metric):
    """One minus an error rate.

    Args:
        reflen: with several references, ``average``: the edits to the reference that needs least, over the mean length
            of the references (Snover et al. 2006, sacreBLEU); ``best``: those to the reference with the smallest rate,
            over its own length (Niessen et al. 2000).

    Statistics, (n, 2) int32: edits, reference length. With ``average`` and R references both are R times that, so that
    mean lengths remain integers.

    Raises:
        UserError: a value that does not exist.
    """

    reflen: Literal["average", "best"] = "average"

    error_rate = True

    def __post_init__(self) -> None:
        check_options(self)

    def prepare(self, references: References) -> ReferenceNgrams:
        """The references' tokens."""
        return ReferenceNgrams.of(references)

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        """See the class for the layout; the same text of a segment is looked at once."""
        pairs = Pairs.of(hypotheses, prepared, owner)
        lengths = pairs.references.lengths[pairs.owner[pairs.rows]]
        edits: NDArray[np.int32] = np.empty(lengths.shape, dtype=np.int32)
        self.count(pairs, edits)
        if self.reflen == "average":
            counts = np.stack([edits.min(axis=1) * edits.shape[1], lengths.sum(axis=1)], axis=1)
        else:
            best = error_rates(edits, lengths).argmin(axis=1)
            counts = np.stack([x[np.arange(len(edits)), best] for x in (edits, lengths)], axis=1)
        return np.asarray(counts, dtype=np.int32)[pairs.inverse]

    @property
    def by_segment(self) -> bool:
        """It does."""
        return True

    @abstractmethod
    def count(self, pairs: Pairs, out: NDArray[np.int32]) -> None:
        """Fill `out` (m, R): the edits from each of m hypotheses to each of its R references."""

    def corpus_scores(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) one minus the rates of m sums."""
        return np.asarray(1.0 - error_rates(totals[:, 0], totals[:, 1]))

    def score_gradient(self, total: NDArray[Any]) -> NDArray[np.float64]:
        """(2,) derivatives of one minus edits over length; 0 where there is no length."""
        edits, length = np.asarray(total, dtype=np.float64)
        return np.array([-1.0 / length, edits / length**2]) if length > 0 else np.zeros(2)


class WordErrorRate(EditRate):
    """WER, see the module."""

    name = "WER"

    def count(self, pairs: Pairs, out: NDArray[np.int32]) -> None:
        """Levenshtein distances."""
        masks = np.zeros(len(pairs.references.vocabulary), dtype=np.uint64)
        line = np.zeros(int(pairs.references.lengths.max(initial=0)) + 1, dtype=np.int32)
        _levenshtein(*pairs.arrays, masks, line, out)


class PositionIndependentErrorRate(EditRate):
    """PER, see the module."""

    name = "PER"

    def count(self, pairs: Pairs, out: NDArray[np.int32]) -> None:
        """The longer side's words less those that both have."""
        _bags(*pairs.arrays, np.zeros(len(pairs.references.vocabulary), dtype=np.int32), out)


class CoverDisjointErrorRate(EditRate):
    """CDER, see the module."""

    name = "CDER"

    def count(self, pairs: Pairs, out: NDArray[np.int32]) -> None:
        """Edits and jumps."""
        line = np.zeros(int(pairs.hypotheses.lengths.max(initial=0)) + 1, dtype=np.int32)
        _jumps(*pairs.arrays, line, out)


def error_rates(edits: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.float64]:
    """Edits over lengths; against no words at all the rate is 1, or 0 if there are no edits either."""
    rates: NDArray[np.float64] = (np.asarray(edits) > 0).astype(np.float64)
    np.divide(edits, lengths, out=rates, where=np.asarray(lengths) > 0)
    return rates


@borrowing
def _levenshtein(ids, offsets, owner, rows, reference_ids, reference_offsets, masks, line, out):  # type: ignore[no-untyped-def]
    """Levenshtein distances. Scratch: a mask per word, all zero between references; a row of the matrix.

    References of up to 64 words: Myers (1999) as Hyyro (2003) has it, a column of the matrix as two words of bits.
    """
    for r in range(reference_offsets.shape[0]):
        k = 0
        while k < rows.shape[0]:
            s = owner[rows[k]]
            first, last = reference_offsets[r, s], reference_offsets[r, s + 1]
            size = last - first
            if size <= _WORD_BITS:
                for j in range(first, last):
                    masks[reference_ids[j]] |= _ONE << np.uint64(j - first)
            while k < rows.shape[0] and owner[rows[k]] == s:
                start, end = offsets[rows[k]], offsets[rows[k] + 1]
                if size == 0:
                    out[k, r] = end - start
                elif size <= _WORD_BITS:
                    out[k, r] = _bit_parallel(ids, start, end, masks, size)
                else:
                    out[k, r] = _by_rows(ids, start, end, reference_ids, first, last, line)
                k += 1
            if size <= _WORD_BITS:
                for j in range(first, last):
                    masks[reference_ids[j]] = _ZERO


@nested
def _bit_parallel(ids, start, end, masks, size):  # type: ignore[no-untyped-def]
    """Bit j of `up` (`down`): the cell of reference word j is one more (less) than the one before it."""
    up, down = _ALL, _ZERO
    top = np.uint64(size - 1)
    distance = np.int64(size)
    for i in range(start, end):
        equal = masks[ids[i]]
        diagonal = (((equal & up) + up) ^ up) | equal | down
        more = down | ~(diagonal | up)
        less = up & diagonal
        distance += np.int64((more >> top) & _ONE) - np.int64((less >> top) & _ONE)
        more = (more << _ONE) | _ONE
        up = (less << _ONE) | ~(diagonal | more)
        down = more & diagonal
    return distance


@nested
def _by_rows(ids, start, end, reference_ids, first, last, line):  # type: ignore[no-untyped-def]
    while start < end and first < last and ids[start] == reference_ids[first]:
        start += 1
        first += 1
    while start < end and first < last and ids[end - 1] == reference_ids[last - 1]:
        end -= 1
        last -= 1
    for j in range(last - first + 1):
        line[j] = j
    for i in range(start, end):
        word = ids[i]
        diagonal = line[0]
        line[0] = diagonal + 1
        for j in range(last - first):
            above = line[j + 1]
            line[j + 1] = min(diagonal + (word != reference_ids[first + j]), min(above, line[j]) + 1)
            diagonal = above
    return np.int64(line[last - first])


@borrowing
def _bags(ids, offsets, owner, rows, reference_ids, reference_offsets, counts, out):  # type: ignore[no-untyped-def]
    """max(|e|, |r|) - words that both have. Scratch: a count per word, all zero between references."""
    for r in range(reference_offsets.shape[0]):
        k = 0
        while k < rows.shape[0]:
            s = owner[rows[k]]
            first, last = reference_offsets[r, s], reference_offsets[r, s + 1]
            for j in range(first, last):
                counts[reference_ids[j]] += 1
            while k < rows.shape[0] and owner[rows[k]] == s:
                start, end = offsets[rows[k]], offsets[rows[k] + 1]
                matches = np.int64(0)
                for i in range(start, end):
                    matches += counts[ids[i]] > 0
                    counts[ids[i]] -= 1
                for i in range(start, end):
                    counts[ids[i]] += 1
                out[k, r] = max(end - start, last - first) - matches
                k += 1
            for j in range(first, last):
                counts[reference_ids[j]] = 0


@borrowing
def _jumps(ids, offsets, owner, rows, reference_ids, reference_offsets, line, out):  # type: ignore[no-untyped-def]
    """CDER's edits. `line[i]`: the cheapest way to have covered the reference so far and stand behind word i."""
    for k in range(rows.shape[0]):
        start = offsets[rows[k]]
        size = offsets[rows[k] + 1] - start
        s = owner[rows[k]]
        for r in range(reference_offsets.shape[0]):
            line[0] = 0
            for i in range(1, size + 1):
                line[i] = 1
            for j in range(reference_offsets[r, s], reference_offsets[r, s + 1]):
                word = reference_ids[j]
                diagonal = line[0]
                before = diagonal + 1
                line[0] = before
                least = before
                for i in range(size):
                    above = line[i + 1]
                    before = min(diagonal + (ids[start + i] != word), min(above, before) + 1)
                    diagonal = above
                    line[i + 1] = before
                    least = min(least, before)
                least += 1
                for i in range(size + 1):
                    line[i] = min(line[i], least)
            out[k, r] = line[size]
