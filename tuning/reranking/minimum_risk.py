"""Minimum Bayes risk: the hypothesis that is worth most on average, whichever of the candidates were the reference.

A sentence's hypotheses h are compared with its references r: the hypotheses of its list, h itself and all repetitions
included (Kumar & Byrne 2004), or samples of the model (Eikema & Aziz 2020):

    E(h) = sum over r of p(r) u(h, r)

p is 1 over the number of references, or a softmax of their scores. Of hypotheses whose expectations differ by no more
than rounding does the first in the list wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Corpus, Metric, UserError, Vocabulary
from lasw.tuning.nbest import NBest, check_finite
from lasw.tuning.reranking.lists import ListReranker, whole_sentences
from lasw.tuning.reranking.utility import ExpectedUtility

Floats = NDArray[np.float64]
ROUNDING = 1e-12  # of the largest expectation of the sentence


class MinimumRisk(ListReranker):
    """Sorts the hypotheses of each sentence by their expected utility, the new `score`.

    Args:
        metric: the utility.
        vocabulary: of the lists and of the samples.
        samples: references; by default the hypotheses are each other's.
        probability: from references to their scores, whose softmax weighs them; by default all count alike.
        scale: of these scores.
        aggregated: compare with one reference that stands for all, see `Metric.aggregated_statistics`.
        preprocess: applied to texts before they are compared.
    """

    def __init__(
        self,
        metric: Metric,
        vocabulary: Vocabulary,
        *,
        samples: Samples | None = None,
        probability: Callable[[NBest], Floats] | None = None,
        scale: float = 1.0,
        aggregated: bool = False,
        preprocess: Callable[[str], str] | None = None,
    ) -> None:
        self._vocabulary, self._preprocess = vocabulary, preprocess
        self._utility = ExpectedUtility(metric, vocabulary, aggregated=aggregated)
        self._samples, self._probability, self._scale = samples, probability, scale

    def scores(self, nbest: NBest) -> Floats:
        """(n,) expected utilities.

        Raises:
            UserError: a sentence has no samples, or the metric or the scores of references say so.
        """
        references = nbest if self._samples is None else self._samples.of(nbest.owner)
        weights = self._weights(references)
        texts = self._texts(nbest.hypotheses)
        others = texts if references is nbest else self._texts(references.hypotheses)
        return self._utility.of(texts, nbest.owner, others, references.owner, weights)

    def order(self, scored: NBest) -> NDArray[np.int64]:
        """By sentence, expectation and place; expectations that differ by no more than rounding are equal."""
        order = np.lexsort((-scored.score, scored.owner))
        score, owner = scored.score[order], scored.owner[order]
        first = np.diff(owner, prepend=-1) > 0
        sizes = np.maximum.reduceat(np.abs(score), np.flatnonzero(first))[np.cumsum(first) - 1] if len(order) else score
        ranks = np.cumsum(first | (-np.diff(score, prepend=np.inf) > ROUNDING * sizes))
        return np.asarray(order[np.lexsort((order, ranks))])

    def warnings(self) -> tuple[str, ...]:
        """Sentences that have samples alone."""
        return () if self._samples is None else self._samples.warnings()

    def _texts(self, corpus: Corpus) -> Corpus:
        if self._preprocess is None:
            return corpus
        return Corpus.from_lines(map(corpus.text, range(len(corpus))), self._vocabulary, self._preprocess)

    def _weights(self, references: NBest) -> Floats:
        if self._probability is None:
            return np.ones(len(references))
        scores = self._scale * self._probability(references)
        check_finite(scores, references.owner)
        most: Floats = np.full(int(references.owner.max(initial=-1)) + 1, -np.inf)
        np.maximum.at(most, references.owner, scores)
        return np.exp(scores - most[references.owner])


def list_totals(nbest: NBest) -> Floats:
    """(n,) the totals that the list came with, as log-probabilities.

    Raises:
        UserError: it came with none.
    """
    if len(nbest) and not nbest.score.any():
        remedy = "weigh references by a file of weights, or alike"
        raise UserError("no totals behind the features", expected="a total of every hypothesis", remedy=remedy)
    return nbest.score


class Samples:
    """References from a list of their own, read as far as the sentences at hand need.

    Args:
        blocks: one list in parts, its sentences in order; or one whole list in any order.
        path: where they come from, for messages.
    """

    def __init__(self, blocks: Iterable[NBest], path: str) -> None:
        self._blocks = whole_sentences(blocks)
        self._path = path
        self._waiting: NBest | None = None
        self._unused = 0  # sentences

    def of(self, owner: NDArray[np.integer]) -> NBest:
        """The samples of the sentences `owner` (n,), in order; sentences before them are over.

        Raises:
            UserError: a sentence has none.
        """
        wanted = np.unique(owner)
        found = list(self._until(int(wanted[-1])))
        samples = NBest.joined(found) if found else None
        there = np.unique(samples.owner) if samples is not None else np.empty(0, dtype=np.int32)
        missing = np.setdiff1d(wanted, there)
        if samples is None or len(missing):
            remedy = "samples of the same sentences, with the same numbers"
            raise UserError(f"no samples for sentence {missing[0]}", path=self._path, expected=remedy)
        self._unused += len(there) - len(wanted)
        return samples.take(np.flatnonzero(np.isin(samples.owner, wanted)))

    def warnings(self) -> tuple[str, ...]:
        """Sentences that have samples and no hypotheses; reads to the end."""
        rest = [block.owner for block in (*(() if self._waiting is None else (self._waiting,)), *self._blocks)]
        self._waiting = None
        unused = self._unused + (len(np.unique(np.concatenate(rest))) if rest else 0)
        return (f"{self._path}: {unused} sentences have samples and no hypotheses",) if unused else ()

    def _until(self, last: int) -> Iterator[NBest]:
        """What there is up to sentence `last`; the rest waits."""
        while True:
            block = self._waiting if self._waiting is not None else next(self._blocks, None)
            self._waiting = None
            if block is None:
                return
            over = block.owner > last
            if over.any():
                self._waiting = block.take(np.flatnonzero(over))
                block = block.take(np.flatnonzero(~over))
            if len(block):
                yield block
            if self._waiting is not None:
                return
