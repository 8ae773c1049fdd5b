"""METEOR as it was first published (Banerjee & Lavie 2005), with the stages exact and stem.

Words of the hypothesis are aligned to words of the reference one to one: equal words first, then what is left and has
the same stem, as many as there are. With m matches in c chunks, runs that stand together and in order on both sides,
P = m/|e| and R = m/|r|, the score is 10PR / (R + 9P) times 1 - 0.5 (c/m)^3. Song (2015, eq. 2.31) has no cube:
``power=1``. The formula leaves even a perfect sentence of n words a penalty of 0.5/n^3.

Finding the alignment with the fewest chunks is hard in general. The one here takes in each stage the longest run that
is still free, again and again, what is aligned beside it already counting to its length; of equally long ones the one
moved least. The matches are always as many as can be, the chunks sometimes more than need be.

Stems are of lower-cased words, so words that differ in case alone match in the second stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Metric
from lasw.metrics.errors import unknown
from lasw.metrics.kernels import borrowing, nested
from lasw.metrics.ngram import Pairs, ReferenceNgrams
from lasw.metrics.registry import Limits, check_options
from lasw.metrics.text import Corpus, PerWord, References, Vocabulary

NO_STEMS = "none"
_ABOVE_0 = "a number above 0"


@dataclass(frozen=True)
class Meteor(Metric):
    """METEOR; scores in [0, 1).

    Args:
        stem: the language whose Snowball stemmer is used, ``porter`` for the first English one, ``none`` to match equal
            words only.
        power: of chunks over matches in the penalty.

    Statistics, (n, 4) int32: matches, chunks, words of the hypothesis, words of the reference; of several references
    those of the one with the best sentence score.

    Raises:
        UserError: a language or a value that does not exist.
    """

    stem: str = "english"
    power: Annotated[float, Limits(_ABOVE_0, above=0, unreadable=_ABOVE_0)] = 3.0

    name = "METEOR"

    def __post_init__(self) -> None:
        check_options(self)
        if self.stem not in (NO_STEMS, "english"):
            import snowballstemmer  # type: ignore[import-untyped]

            valid = [NO_STEMS, *snowballstemmer.algorithms()]
            if self.stem not in valid:
                raise unknown("value of METEOR:stem", self.stem, valid)

    def prepare(self, references: References) -> StemmedReferences:
        """The references' tokens and stems."""
        stems = None if self.stem == NO_STEMS else _stems(references.vocabulary, self.stem)
        return StemmedReferences(ReferenceNgrams.of(references), stems)

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        """See the class for the layout; the same text of a segment is looked at once."""
        references: ReferenceNgrams = prepared.references
        pairs = Pairs.of(hypotheses, references, owner)
        rows = pairs.rows
        vocabulary = len(references.vocabulary)
        stems = prepared.stems.numbers() if prepared.stems else np.arange(vocabulary, dtype=np.int32)
        lengths = references.lengths[pairs.owner[rows]]
        words, many = int(hypotheses.lengths.max(initial=0)), lengths.shape[1]
        longest = int(references.lengths.max(initial=0))
        counts: NDArray[np.int32] = np.zeros((many, len(rows), 4), dtype=np.int32)
        counts[:, :, 2] = hypotheses.lengths[rows]
        counts[:, :, 3] = lengths.T
        _count(
            *pairs.arrays,
            stems,
            1 if self.stem == NO_STEMS else 2,
            np.full((2, vocabulary), -1, dtype=np.int32),
            np.empty((2, longest + 1), dtype=np.int32),
            np.empty(words + 1, dtype=np.int32),
            np.empty((3, longest + 1), dtype=np.int64),
            counts,
        )
        scores = self.corpus_scores(counts.reshape(-1, 4)).reshape(many, len(rows))
        best: NDArray[np.int32] = counts[scores.argmax(axis=0), np.arange(len(rows))]
        return best[pairs.inverse]

    @property
    def by_segment(self) -> bool:
        """It does."""
        return True

    def corpus_scores(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) scores; without a match 0."""
        matches, chunks, ours, theirs = np.asarray(totals, dtype=np.float64).T
        # 10PR / (R + 9P), both ratios written out.
        below = ours + 9.0 * theirs
        mean = np.divide(10.0 * matches, below, out=np.zeros_like(matches), where=below > 0)
        share = np.divide(chunks, matches, out=np.zeros_like(matches), where=matches > 0)
        return np.asarray(mean * (1.0 - 0.5 * share**self.power))


@dataclass(frozen=True)
class StemmedReferences:
    """Tokens of the references, and stems of all words; None: words are matched as they are."""

    references: ReferenceNgrams
    stems: PerWord | None


def _stems(vocabulary: Vocabulary, language: str) -> PerWord:
    """The stem of each word, as a number."""
    import snowballstemmer

    known: dict[str, int] = {}
    stem = snowballstemmer.stemmer(language).stemWord
    return PerWord(vocabulary, lambda word: known.setdefault(stem(word.lower()), len(known)))


@borrowing
def _count(  # type: ignore[no-untyped-def]
    ids, offsets, owner, rows, reference_ids, reference_offsets, stems, stages, heads, following, aligned, runs, counts
):
    """Matches and chunks of hypothesis rows[k] with reference r, counts[r, k, :2].

    Scratch: heads (2, words), all -1 between references, the last place of a word and of a stem in the reference;
    following (2, places), the place before it; aligned, per word of the hypothesis; runs (3, places), see `_align`.
    """
    for r in range(reference_offsets.shape[0]):
        k = 0
        while k < rows.shape[0]:
            s = owner[rows[k]]
            first, last = reference_offsets[r, s], reference_offsets[r, s + 1]
            for j in range(first, last):
                word = reference_ids[j]
                following[0, j - first] = heads[0, word]
                heads[0, word] = j - first
                following[1, j - first] = heads[1, stems[word]]
                heads[1, stems[word]] = j - first
            while k < rows.shape[0] and owner[rows[k]] == s:
                start, end = offsets[rows[k]], offsets[rows[k] + 1]
                _align(ids, start, end, last - first, stems, stages, heads, following, aligned, runs)
                for i in range(end - start):
                    if aligned[i] >= 0:
                        counts[r, k, 0] += 1
                        if i == 0 or aligned[i - 1] < 0 or aligned[i - 1] + 1 != aligned[i]:
                            counts[r, k, 1] += 1
                k += 1
            for j in range(first, last):
                heads[0, reference_ids[j]] = -1
                heads[1, stems[reference_ids[j]]] = -1


@nested
def _align(ids, start, end, places, stems, stages, heads, following, aligned, runs):  # type: ignore[no-untyped-def]
    """Fill `aligned`: the place in the reference of each word, or -1.

    runs: 0, whether a place is taken; 1 and 2, the length of the free run that ends there, and with which word and in
    which round that is.
    """
    size = end - start
    for place in range(size):
        aligned[place] = -1
    for place in range(places):
        runs[0, place] = 0
        runs[2, place] = -1
    rounds = np.int64(0)
    for stage in range(stages):
        while True:
            rounds += size + 2
            best, best_size, best_moved = np.int64(0), np.int64(0), np.int64(0)
            best_i, best_j = np.int64(0), np.int64(0)
            for place in range(size):
                i = np.int64(place)
                if aligned[i] >= 0:
                    continue
                word = ids[start + i]
                j = np.int64(heads[stage, stems[word] if stage else word])
                while j >= 0:  # from the last place to the first, so that runs[1, j - 1] is still that of word i - 1
                    if runs[0, j] == 0:
                        length = np.int64(1)
                        if j > 0 and runs[2, j - 1] == rounds + i - 1:
                            length += runs[1, j - 1]
                        runs[1, j] = length
                        runs[2, j] = rounds + i
                        value = length
                        before, there = i - length, j - length
                        value += before >= 0 and there >= 0 and aligned[before] == there
                        value += i + 1 < size and aligned[i + 1] == j + 1
                        moved = np.int64(abs(i - j))
                        if value > best or (
                            value == best and (length > best_size or (length == best_size and moved < best_moved))
                        ):
                            best, best_size, best_moved, best_i, best_j = value, length, moved, i, j
                    j = np.int64(following[stage, j])
            if best == 0:
                break
            for back in range(best_size):
                aligned[best_i - back] = best_j - back
                runs[0, best_j - back] = 1
