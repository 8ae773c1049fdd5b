"""CHRF: F-score of character n-grams (Popovic 2015), with word n-grams ``CHRF:words=2`` is chrF++ (Popovic 2017).

The numbers are sacreBLEU's (`CHRF(char_order=6, word_order=0, beta=2)`): white space is no character, a word's last (or
else first) punctuation mark is a word of its own, orders that the hypothesis or the reference is too short for are left
out, of several references the one with the best sentence score counts. A text without any n-gram scores 0, against an
empty reference too.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Metric
from lasw.metrics.kernels import borrowing
from lasw.metrics.ngram.candidate_ngrams import expected_matches, pair_matches
from lasw.metrics.ngram.counts import segments_of
from lasw.metrics.ngram.long_texts import MOST_NODES, common_ngrams
from lasw.metrics.ngram.trie import FREE, child_key, child_slot
from lasw.metrics.registry import Limits, check_options
from lasw.metrics.text import CandidatePairs, Corpus, References, Spelling, Vocabulary, distinct

MOST_CHARS, MOST_WORDS, MOST_BETA = 20, 4, 1e6

_PUNCTUATION = frozenset(string.punctuation)


@dataclass(frozen=True)
class Chrf(Metric):
    """chrF and chrF++; scores in [0, 1].

    Args:
        chars: largest character n-gram.
        words: largest word n-gram, 0 for chrF, 2 for chrF++.
        beta: recall counts beta times as much as precision.

    Statistics, (n, 3 (chars + words)) int32: for each order, characters first, n-grams of the hypothesis, of the
    reference, and of both (clipped).

    Raises:
        UserError: a value out of range.
    """

    chars: Annotated[int, Limits(f"1 to {MOST_CHARS}", least=1, most=MOST_CHARS)] = 6
    words: Annotated[int, Limits(f"0 to {MOST_WORDS}", least=0, most=MOST_WORDS)] = 0
    beta: Annotated[float, Limits(f"a number above 0, {MOST_BETA:g} at most", above=0, most=MOST_BETA)] = 2.0

    name = "CHRF"

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def of_words(self) -> bool:
        """Only if word n-grams count."""
        return self.words > 0

    def prepare(self, references: References) -> PreparedReferences:
        """The references as characters, and as words if they count."""
        return PreparedReferences(references, with_words=self.words > 0)

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        """See the class for the layout; the same text of a segment is looked at once."""
        references: PreparedReferences = prepared
        owner = segments_of(hypotheses, owner, references.vocabulary, references.segments)
        rows, inverse = distinct(hypotheses, owner)
        kept, segments = hypotheses.take(rows), owner[rows]
        best: NDArray[np.int32] = np.zeros((len(rows), 3 * (self.chars + self.words)), dtype=np.int32)
        best_scores = np.full(len(rows), -1.0)
        texts = [spelling.of(kept) for spelling in references.spellings]
        for reference in references.spelt:
            sides = zip(texts, reference, (self.chars, self.words), strict=False)
            counts = np.hstack([_counts(text, other, segments, order) for text, other, order in sides])
            scores = self.corpus_scores(counts)
            better = scores > best_scores
            best[better], best_scores[better] = counts[better], scores[better]
        return best[inverse]

    @property
    def by_segment(self) -> bool:
        """It does."""
        return True

    def prepare_pairs(self, vocabulary: Vocabulary) -> list[Spelling]:
        """How words are spelt."""
        return spellings(vocabulary, with_words=self.words > 0)

    def pair_statistics(self, pairs: CandidatePairs, prepared: Any) -> NDArray[Any]:
        """See `Metric`; n-grams are counted once a text."""
        shared, columns = pairs.shared, []
        for spelling, orders in zip(prepared, (self.chars, self.words), strict=False):
            texts = spelling.of(shared.texts)
            both = pair_matches(texts, shared, orders)
            totals = _ngrams(texts.lengths, orders)
            ours, theirs = totals[shared.hypothesis][pairs.hypothesis], totals[shared.reference][pairs.reference]
            columns.append(_with_totals(ours, theirs, both))
        return np.hstack(columns)

    def aggregated_statistics(
        self, pairs: CandidatePairs, weights: NDArray[np.float64], prepared: Any
    ) -> NDArray[np.float64]:
        """See `Metric`."""
        shared, columns = pairs.shared, []
        for spelling, orders in zip(prepared, (self.chars, self.words), strict=False):
            texts = spelling.of(shared.texts)
            both = expected_matches(texts, shared, weights, orders)
            totals = _ngrams(texts.lengths, orders)
            theirs = pairs.expected(totals[shared.reference], weights)
            columns.append(_with_totals(totals[shared.hypothesis], theirs, both))
        return np.hstack(columns)

    def corpus_scores(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) F-scores, of mean precision and mean recall over the orders that both sides have."""
        counts = np.asarray(totals, dtype=np.float64).reshape(len(totals), self.chars + self.words, 3)
        precision, recall, orders = np.zeros(len(counts)), np.zeros(len(counts)), np.zeros(len(counts))
        for k in range(counts.shape[1]):  # one after the other, so that equal counts give sacreBLEU's very bits
            ours, theirs, both = counts[:, k].T
            valid = (ours > 0) & (theirs > 0)
            precision += np.divide(both, ours, out=np.zeros_like(both), where=valid)
            recall += np.divide(both, theirs, out=np.zeros_like(both), where=valid)
            orders += valid
        precision /= np.maximum(orders, 1)
        recall /= np.maximum(orders, 1)
        factor = self.beta**2
        below = factor * precision + recall
        return np.divide((1 + factor) * precision * recall, below, out=np.zeros_like(below), where=below > 0)


class PreparedReferences:
    """R references of n segments, spelt out.

    Attributes:
        spellings: as characters, and as words if they count.
        spelt: R lists, a corpus of symbols a spelling.
    """

    def __init__(self, references: References, *, with_words: bool) -> None:
        self.vocabulary = references.vocabulary
        self.segments = len(references)
        self.spellings = spellings(self.vocabulary, with_words=with_words)
        self.spelt = [[spelling.of(corpus) for spelling in self.spellings] for corpus in references.corpora]


def spellings(vocabulary: Vocabulary, *, with_words: bool) -> list[Spelling]:
    """Its words as characters, and as words of chrF++ if they count."""
    found = [Spelling(vocabulary, _characters)]
    if with_words:
        words = Vocabulary()
        found.append(Spelling(vocabulary, lambda token: [words.add(w) for w in words_of(token)]))
    return found


def _characters(token: str) -> list[int]:
    return list(map(ord, "".join(token.split())))


def words_of(token: str) -> list[str]:
    """The words in a token: a punctuation mark at its end, or else at its start, is one of its own."""
    words: list[str] = []
    for part in token.split():  # a token may hold white space that does not separate tokens, a no-break space
        if len(part) > 1 and part[-1] in _PUNCTUATION:
            words += [part[:-1], part[-1]]
        elif len(part) > 1 and part[0] in _PUNCTUATION:
            words += [part[0], part[1:]]
        else:
            words.append(part)
    return words


def _counts(text: Corpus, reference: Corpus, segments: NDArray[np.int32], order: int) -> NDArray[np.int32]:
    """(m, 3 order): per order n-grams of the text, of the reference, of both."""
    ours = text.lengths
    both = np.zeros((len(text), order), dtype=np.int32)
    theirs = _ngrams(reference.lengths, order)[segments]
    out = _with_totals(_ngrams(ours, order), theirs, both).reshape(len(text), order, 3)
    rows, longest = np.arange(len(text)), int(reference.lengths.max(initial=0))
    if order * longest > MOST_NODES:
        lengths = reference.lengths[segments]
        long = order * lengths > MOST_NODES
        for row in np.flatnonzero(long).tolist():
            found = common_ngrams([reference.sentence(int(segments[row]))], text.sentence(row), order)
            out[row, :, 2] = [common.clipped for common in found]
        rows = rows[~long]
        longest = int(lengths[rows].max(initial=0))
    nodes = order * longest + 1
    slots = 1 << (2 * nodes).bit_length()
    _match(
        text.ids,
        text.offsets,
        rows,
        segments,
        reference.ids,
        reference.offsets,
        order,
        np.zeros(slots, dtype=np.int64),
        np.zeros(slots, dtype=np.int32),
        np.zeros((2, nodes), dtype=np.int32),
        np.zeros(nodes, dtype=np.int32),
        out,
    )
    return out.reshape(len(text), 3 * order)


def _ngrams(lengths: NDArray[np.int64], orders: int) -> NDArray[np.int32]:
    """(n, orders) how many n-grams of each order texts of these lengths have."""
    return np.asarray(np.maximum(lengths[:, None] - np.arange(orders), 0), dtype=np.int32)


def _with_totals(ours: NDArray[np.int32], theirs: NDArray[Any], both: NDArray[Any]) -> NDArray[Any]:
    """(m, 3 orders) the layout of statistics.

    Args:
        ours: (m, orders) n-grams of the hypothesis, which count where the reference has some.
        theirs: (m, orders) n-grams of the reference.
        both: (m, orders) matches; what comes back has their type.
    """
    out = np.empty((*both.shape, 3), dtype=both.dtype)
    out[:, :, 0] = np.where(theirs > 0, ours, 0)
    out[:, :, 1] = theirs
    out[:, :, 2] = both
    return out.reshape(len(both), 3 * both.shape[1])


@borrowing
def _match(ids, offsets, rows, segments, reference_ids, reference_offsets, order, keys, children, counts, touched, out):  # type: ignore[no-untyped-def]
    """Clipped matches, out[rows, :, 2]. Rows of a segment must stand together.

    Scratch: the reference's n-grams as a trie, nodes found by open addressing in `keys` and `children`, node 0 being
    none; counts (2, nodes) in the reference and in the hypothesis; nodes that the hypothesis touched.
    """
    segment = -1
    mask = np.int64(0)
    for row in rows:
        if segments[row] != segment:
            segment = segments[row]
            first, last = reference_offsets[segment], reference_offsets[segment + 1]
            size = np.int64(2)
            while size < 2 * order * (last - first) + 2:
                size *= 2
            mask = size - 1
            for i in range(size):
                keys[i] = FREE
            nodes = np.int64(0)
            for i in range(first, last):
                node = np.int64(0)
                for j in range(i, min(i + order, last)):
                    slot = child_slot(node, reference_ids[j], keys, mask)
                    if keys[slot] == FREE:
                        nodes += 1
                        keys[slot] = child_key(node, reference_ids[j])
                        children[slot] = nodes
                        counts[0, nodes] = 0
                        counts[1, nodes] = 0
                    node = np.int64(children[slot])
                    counts[0, node] += 1
        many = 0
        end = offsets[row + 1]
        for i in range(offsets[row], end):
            node = np.int64(0)
            for k in range(min(order, end - i)):
                slot = child_slot(node, ids[i + k], keys, mask)
                if keys[slot] == FREE:
                    break
                node = np.int64(children[slot])
                if counts[1, node] < counts[0, node]:
                    counts[1, node] += 1
                    out[row, k, 2] += 1
                    touched[many] = node
                    many += 1
        for i in range(many):
            counts[1, touched[i]] = 0
