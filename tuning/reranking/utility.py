"""What each hypothesis of a list is worth if one of the references were right: the expectation that MBR maximises."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import CandidatePairs, Corpus, Metric, Vocabulary, distinct

Floats = NDArray[np.float64]
_PAIRS = 1 << 15  # statistics of so many pairs at once stay in the processor's caches


class ExpectedUtility:
    """Expected sentence scores, exact over all pairs of a hypothesis and a reference of its sentence.

    A text that a list has several times is compared once, and as a reference counts as often as it is there. A metric
    that looks at all references together (NIST's information, say) sees the distinct ones of the sentence.

    Args:
        metric: the utility.
        vocabulary: of all texts.
        aggregated: against one reference with the n-grams of all on average instead.
    """

    def __init__(self, metric: Metric, vocabulary: Vocabulary, *, aggregated: bool = False) -> None:
        self._metric, self._aggregated = metric, aggregated
        self._vocabulary, self._kept = vocabulary, metric.prepare_pairs(vocabulary)

    def of(
        self,
        hypotheses: Corpus,
        owner: NDArray[np.integer],
        references: Corpus,
        reference_owner: NDArray[np.integer],
        weights: Floats,
    ) -> Floats:
        """(n,) expected utilities, sum of weight times sentence score over sum of weights.

        Args:
            hypotheses: n texts.
            owner: (n,) the sentence of each.
            references: m texts; `hypotheses` itself where these are each other's references.
            reference_owner: (m,) the sentence of each; every sentence with hypotheses has some.
            weights: (m,) of references, positive.
        """
        rows, inverse = distinct(hypotheses, owner)
        texts, sentences = hypotheses.take(rows), np.asarray(owner)[rows]
        if references is hypotheses:
            others, other_sentences, which = texts, sentences, inverse
        else:
            other_rows, which = distinct(references, reference_owner)
            others, other_sentences = references.take(other_rows), np.asarray(reference_owner)[other_rows]
        summed = np.bincount(which, weights, minlength=len(others))
        names = np.unique(sentences)
        ends = np.searchsorted(sentences, names, side="left"), np.searchsorted(sentences, names, side="right")
        other_ends = tuple(np.searchsorted(other_sentences, names, side=side) for side in ("left", "right"))
        bounds = np.column_stack([*ends, *other_ends])
        utilities = np.empty(len(texts))
        for tile in self._tiles(bounds):
            first, last = tile[0, 0], tile[-1, 1]
            used = np.concatenate([np.arange(start, end) for start, end in tile[:, 2:].tolist()])
            alone = others is texts and (tile[:, :2] == tile[:, 2:]).all()
            ours = texts.take(np.arange(first, last))
            theirs = ours if alone else others.take(used)
            sizes = np.column_stack([tile[:, 1] - tile[:, 0], tile[:, 3] - tile[:, 2]])
            utilities[first:last] = self._expectation(CandidatePairs(ours, theirs, sizes), summed[used])
        return utilities[inverse]

    def _tiles(self, bounds: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """(s, 4) first and last hypothesis and reference of sentences that are looked at together.

        A sentence that has too many pairs comes in several parts, each a few hypotheses with all references.
        """
        waiting: list[tuple[int, int, int, int]] = []
        pairs = 0
        for first, last, start, end in bounds.tolist():
            # An aggregated reference is made once, so its sentence stays whole.
            step = last - first if self._aggregated else max(1, _PAIRS // (end - start))
            for k in range(first, last, step):
                part = min(k + step, last)
                pairs += (part - k) * (end - start)
                waiting.append((k, part, start, end))
                if pairs >= _PAIRS or not self._metric.by_segment:
                    yield np.array(waiting)
                    waiting, pairs = [], 0
        if waiting:
            yield np.array(waiting)

    def _expectation(self, pairs: CandidatePairs, weights: Floats) -> Floats:
        kept = self._kept
        if not self._metric.by_segment:
            # What depends on other references has no others: what comes before in the file must not matter.
            pairs = _by_itself(pairs)
            kept = self._metric.prepare_pairs(pairs.hypotheses.vocabulary)
        totals = pairs.expected(weights[:, None], np.ones(len(weights)))[:, 0]
        if self._aggregated:
            shares = weights / np.repeat(_of_sentences(totals, pairs), pairs.sizes[:, 1])
            return self._metric.sentence_scores(self._metric.aggregated_statistics(pairs, shares, kept))
        scores = self._metric.sentence_scores(self._metric.pair_statistics(pairs, kept))
        return np.asarray(np.add.reduceat(scores * weights[pairs.reference], pairs.first) / totals)


def _of_sentences(values: Floats, pairs: CandidatePairs) -> Floats:
    """(S,) of (n,) values that the hypotheses of a sentence share."""
    return np.asarray(values[np.cumsum(pairs.sizes[:, 0]) - pairs.sizes[:, 0]])


def _by_itself(pairs: CandidatePairs) -> CandidatePairs:
    """The same over a vocabulary that has the words of these texts alone, in the order of their first places."""
    ours, theirs = pairs.hypotheses, pairs.references
    ids = ours.ids if theirs is ours else np.concatenate([ours.ids, theirs.ids])
    words, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    vocabulary = Vocabulary()
    new: NDArray[np.int32] = np.empty(len(words), dtype=np.int32)
    new[order] = Corpus.from_lines(map(ours.vocabulary.__getitem__, words[order].tolist()), vocabulary).ids
    ids = new[inverse]
    hypotheses = Corpus(ids[: len(ours.ids)], ours.offsets, vocabulary)
    references = hypotheses if theirs is ours else Corpus(ids[len(ours.ids) :], theirs.offsets, vocabulary)
    return CandidatePairs(hypotheses, references, pairs.sizes)
