"""What LA selection is compared with: chance, and similarity to a test set that is known (Song 2015, section 2.5.1).

A pool sentence's similarity to a test set is its largest to any test sentence. `local_sets` gives every test sentence a
development set of its own instead (Liu et al. 2012).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Corpus, Pairs, ReferenceNgrams, References, Vocabulary, WordErrorRate, tokens
from lasw.selection.pool import OK, PairBlock, Scored, Scorer
from lasw.selection.rankings.method import SAMPLE, Material, Method, RankedBy

_AT_ONCE = 1000  # pool sentences compared with all test sentences together
_FRACTION = 2.0**30  # squared weights are added up as whole multiples of its inverse: sums that no order changes


@dataclass(frozen=True)
class Chance(Method):
    """Ranks by pseudo-random numbers, each a function of seed and line number: any sharding draws the same.

    Args:
        seed: of the draw.
    """

    meaning = "chance, within the limits of length"
    seed: int = 1

    def scorer(self, material: Material) -> Scorer:
        """See `Method`."""
        return RankedBy(material.la, self)

    def __call__(self, block: PairBlock, scored: Scored, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(m,) in [0, 1): the generator splitmix64 (Steele et al. 2014) at the place of the line number."""
        with np.errstate(over="ignore"):
            start = _mixed(np.array([self.seed % (1 << 64)], dtype=np.uint64))
            mixed = _mixed(start + block.line_numbers[rows].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        return np.asarray((mixed >> np.uint64(11)).astype(np.float64) / (1 << 53))


class AnyChance(Chance):
    """The same for pairs of any length."""

    meaning = "chance, without limits of length"

    def scorer(self, material: Material) -> Scorer:
        """See `Method`."""
        return RankedBy(material.la.any_length(), self)


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class ToTest(Method):
    """Ranks by the largest similarity of the source sentence to one of a test set.

    Args:
        test: its source sentences, at least one.
    """

    test: tuple[str, ...]

    @abstractmethod
    def matrix(self, texts: list[str]) -> NDArray[np.float64]:
        """(n, m) similarities to the m sentences of the test set; a row depends on nothing but its text."""

    def __call__(self, block: PairBlock, scored: Scored, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """See `Ranking`."""
        return np.concatenate([self.matrix(block.source.take(part).texts()).max(axis=1) for part in _parts(rows)])

    def ready(self, material: Material) -> ToTest:
        """With what it must know of the pool."""
        return self

    def scorer(self, material: Material) -> Scorer:
        """See `Method`."""
        return RankedBy(material.la, self.ready(material))


@dataclass(frozen=True)
class TfIdf(ToTest):
    """Cosine of vectors of tf * log(idf), idf = sentences / sentences with the word (equations 2.33 and 2.34).

    Args:
        containing: sentences that contain a word, by word; a word without entry counts as in one sentence.
        sentences: that were counted.
    """

    meaning = "TF-IDF cosine to a test set"
    containing: dict[str, int] = field(default_factory=dict, repr=False)
    sentences: int = 0

    def ready(self, material: Material) -> TfIdf:
        """See `ToTest`."""
        return self.counted(text for block in material.pool.first(SAMPLE) for text in block.source.texts())

    def counted(self, pool: Iterable[str]) -> TfIdf:
        """With the counts of the test set and of some sentences of the pool."""
        containing: Counter[str] = Counter()
        sentences = 0
        for text in (*self.test, *pool):
            containing.update(set(tokens(text)))
            sentences += 1
        return TfIdf(self.test, dict(containing), sentences)

    def matrix(self, texts: list[str]) -> NDArray[np.float64]:
        """See `ToTest`; a sentence without a weighty word is similar to none."""
        columns, test = self._test
        return np.asarray((self._vectors(texts, columns) @ test).toarray())

    @cached_property
    def _test(self) -> tuple[dict[str, int], Any]:
        words = {word for text in self.test for word in tokens(text)}
        columns = {word: k for k, word in enumerate(sorted(words))}
        return columns, self._vectors(self.test, columns).T.tocsr()

    def __getstate__(self) -> dict[str, Any]:
        # What is computed on use is not sent along.
        return {name: value for name, value in self.__dict__.items() if name != "_test"}

    def _vectors(self, texts: Sequence[str], columns: dict[str, int]) -> Any:
        """(n, w) CSR of unit vectors over all words, of which the columns of the test set's words are kept."""
        import scipy.sparse

        offsets, places, values = [0], [], []
        for text in texts:
            kept, square = [], 0
            for word, count in Counter(tokens(text)).items():
                weight = count * math.log(self.sentences / self.containing.get(word, 1))
                square += round(weight * weight * _FRACTION)
                if word in columns:
                    kept.append((columns[word], weight))
            norm = math.sqrt(square / _FRACTION)
            for place, weight in sorted(kept) if norm else ():
                places.append(place)
                values.append(weight / norm)
            offsets.append(len(places))
        return scipy.sparse.csr_array(
            (np.array(values, dtype=np.float64), np.array(places, dtype=np.int64), np.array(offsets, dtype=np.int64)),
            shape=(len(texts), len(columns)),
        )


class EditDistance(ToTest):
    """1 - edit distance in words / words of the longer sentence."""

    meaning = "edit distance to a test set"

    def matrix(self, texts: list[str]) -> NDArray[np.float64]:
        """See `ToTest`; two empty sentences are equal."""
        vocabulary = Vocabulary()
        test = Corpus.from_lines(self.test, vocabulary)
        corpus = Corpus.from_lines(texts, vocabulary)
        references = ReferenceNgrams.of(References((test,)))
        rows = np.arange(len(texts), dtype=np.int64)
        edits = np.empty((len(texts), 1), dtype=np.int32)
        out = np.empty((len(texts), len(test)))
        wer = WordErrorRate()
        for k in range(len(test)):
            wer.count(Pairs(corpus, references, np.full(len(texts), k, dtype=np.int32), rows, rows), edits)
            out[:, k] = edits[:, 0]
        longer = np.maximum(np.maximum(corpus.lengths[:, None], test.lengths[None, :]), 1)
        return np.asarray(1.0 - out / longer)


@dataclass(frozen=True)
class LocalSets:
    """For each of m test sentences the k pairs of a pool with the most similar source sentences.

    Attributes:
        lines: (m, k) int64, most similar first, of equal ones the first line.
        similarities: (m, k) float64.
        verdicts: pairs of the pool by verdict.
    """

    lines: NDArray[np.int64]
    similarities: NDArray[np.float64]
    verdicts: Counter[int]


def local_sets(blocks: Iterable[tuple[PairBlock, Scored]], similarity: ToTest, size: int) -> LocalSets:
    """For every test sentence the `size` most similar pairs; less if there are not so many candidates.

    Args:
        blocks: of the pool, and which pairs are candidates (no fault, right length).
        similarity: to the test sentences.
        size: pairs for each.
    """
    lines = np.empty((len(similarity.test), 0), dtype=np.int64)
    values = np.empty((len(similarity.test), 0))
    verdicts: Counter[int] = Counter()
    for block, scored in blocks:
        verdicts.update(scored.verdicts.tolist())
        for rows in _parts(np.flatnonzero(scored.verdicts == OK)):
            more = similarity.matrix(block.source.take(rows).texts()).T
            values = np.concatenate([values, more], axis=1)
            lines = np.concatenate([lines, np.broadcast_to(block.line_numbers[rows], more.shape)], axis=1)
            # Lines come in order, so that a stable sort keeps the first of equal ones in front.
            order = np.argsort(-values, axis=1, kind="stable")[:, :size]
            values, lines = np.take_along_axis(values, order, 1), np.take_along_axis(lines, order, 1)
    return LocalSets(lines, values, verdicts)


def _parts(rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    return (rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE))
