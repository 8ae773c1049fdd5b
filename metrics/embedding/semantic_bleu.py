"""Semantic BLEU (Trombley & Morgan 2014): BLEU in which a near word counts for its cosine.

An n-gram of the hypothesis without an exact match may match an n-gram of a reference that differs from it in exactly
one word, if the hypothesis' word is among the k nearest neighbours of the reference's word in the whole file of
vectors. It then counts the cosine of the two, where exact ones count 1. Every n-gram of the references is used at most
as often as some reference has it: by exact matches first, then by the most similar ones (of equally similar ones the
first in the hypothesis, then in the references).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Lookup, Metric, Signature
from lasw.metrics.embedding.semantic_kernel import match_softly
from lasw.metrics.embedding.wmd import check_vectors
from lasw.metrics.ngram import COLUMNS, Pairs, ReferenceNgrams, SimpBleu
from lasw.metrics.registry import Limits, check_options
from lasw.metrics.text import Corpus, References
from lasw.metrics.vectors import Embedding, described, embedding_of, nearest, open_vectors

MOST_NEIGHBOURS = 1000  # the words of the references have as many each in memory

# Cosines are taken in steps of 2^-24: sums and differences of counts are then exact in any order, and what a line
# search takes away again leaves 0 and not a trace that the geometric mean makes much of.
_STEPS = float(1 << 24)


@dataclass(frozen=True)
class SemanticBleu(Metric):
    """Semantic BLEU; scores in [0, 1].

    Args:
        vectors: a file of word vectors, see `lasw.metrics.vectors.files`.
        k: how many neighbours a word has.
        alpha: added to numerator and denominator of every order of a sentence's score, as in BLEU+1.

    Statistics, (n, 9) float64: match1 total1 ... match4 total4 reflen, as of BLEU; the reference length is the closest.

    Raises:
        UserError: no vectors are given, there is no such file, or a value is out of range.
    """

    vectors: str = ""
    k: Annotated[int, Limits(f"a whole number from 0 to {MOST_NEIGHBOURS}", least=0, most=MOST_NEIGHBOURS)] = 3
    alpha: float = 1.0

    name = "SRBLEU"

    def __post_init__(self) -> None:
        check_vectors(self.name, self.vectors)
        check_options(self)
        self._sentence_bleu()  # refuses a bad alpha

    def signature(self) -> Signature:
        """All settings, and the brevity penalties, which are not smoothed; vectors by file name and fingerprint."""
        settings = [("vectors", described(self.vectors)), ("k", str(self.k)), ("sentence-alpha", f"{self.alpha:g}")]
        penalties = [("sentence-bp", "plain"), ("corpus-bp", "plain")]
        return Signature(self.name, (*settings, *penalties))

    def statistics_key(self) -> str:
        """The same whatever the smoothing."""
        return f"semantic:{described(self.vectors)}:{self.k}"

    def lookups(self) -> tuple[Lookup, ...]:
        """Its vectors."""
        return (Lookup(self.vectors),)

    def prepare(self, references: References) -> NeighbourlyReferences:
        """The references, and the neighbours of their words: one matrix product of them with the whole file.

        Raises:
            UserError: the vectors cannot be read.
        """
        file = open_vectors(self.vectors)
        embedding = embedding_of(file, references.vocabulary)
        embedding.arrays()
        found = embedding.rows
        ids = np.unique(np.concatenate([corpus.ids for corpus in references.corpora])).astype(np.int64)
        ids = ids[found[ids] >= 0]
        near = np.full((len(found), self.k), -1, dtype=np.int64)
        cosines = np.zeros((len(found), self.k))
        if self.k:
            near[ids], exact = nearest(file, found[ids], self.k)
            cosines[ids] = np.round(exact * _STEPS) / _STEPS
        return NeighbourlyReferences(ReferenceNgrams.of(references), embedding, near, cosines)

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        """See the class for the layout; the same text of a segment is looked at once."""
        references: ReferenceNgrams = prepared.references
        pairs = Pairs.of(hypotheses, references, owner)
        rows = pairs.rows
        out = references.statistics(hypotheses.take(rows), pairs.owner[rows]).astype(np.float64)
        prepared.embedding.arrays()
        soft = match_softly(pairs, prepared.embedding.rows, prepared.near, prepared.cosines)
        out[:, 0 : COLUMNS - 1 : 2] += soft
        return out[pairs.inverse]

    def sentence_scores(self, statistics: NDArray[Any]) -> NDArray[np.float64]:
        """(n,) BLEU of single sentences, smoothed."""
        return self._sentence_bleu().sentence_scores(statistics)

    def corpus_scores(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) BLEU of m sums."""
        return SimpBleu("BLEU").corpus_scores(totals)

    def _sentence_bleu(self) -> SimpBleu:
        return SimpBleu("BLEU+1", alpha=self.alpha)


@dataclass(frozen=True)
class NeighbourlyReferences:
    """References and the neighbours of their words.

    Attributes:
        near: (words when it was prepared, k) rows of the file, -1 for none.
        cosines: the same shape.
    """

    references: ReferenceNgrams
    embedding: Embedding
    near: NDArray[np.int64]
    cosines: NDArray[np.float64]
