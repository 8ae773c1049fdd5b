"""What the pairwise network sees of a translation: a vector, and numbers that compare it with the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from lasw.metrics.base import Lookup, Metric
from lasw.metrics.errors import UserError
from lasw.metrics.registry import metric
from lasw.metrics.text import Corpus, References, Vocabulary, distinct, read_lines, tokens
from lasw.metrics.vectors import Embedding, open_vectors

Floats = NDArray[np.float64]

BLEU_PARTS = "BLEUCOMP"
WORDS, SENTENCES = "words", "sentences"
_PARTS = 15


@dataclass(frozen=True)
class PairwiseInputs:
    """Which sentence vectors and which skip features.

    Args:
        skip: specifications of metrics, whose sentence scores are features; or ``BLEUCOMP`` for BLEU's components
            (Guzmán et al. 2015, 6.1): four precisions, matches and totals, the reference's length, the ratio of lengths
            and the brevity penalty.
        vectors: a file of word vectors, whose mean over the known words of a sentence is its vector, 0 without any.
        sentences: files of sentence vectors, a line ``sentence TAB numbers with spaces between``. What a sentence has
            in each, and the mean, are one vector, as of meaning and syntax in the paper (4.1).
    """

    skip: tuple[str, ...] = ()
    vectors: str = ""
    sentences: tuple[str, ...] = ()
    _metrics: tuple[Metric | None, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not (self.skip or self.files):
            raise UserError("neither vectors nor skip features", expected="at least one of them")
        for what, named in (("skip feature", self.skip), ("file of sentence vectors", self.sentences)):
            twice = next((one for k, one in enumerate(named) if one in named[:k]), None)
            if twice is not None:
                raise UserError(f"{what} {twice!r} twice", expected="each once")
        metrics = tuple(None if spec == BLEU_PARTS else metric(spec) for spec in self.skip)
        object.__setattr__(self, "_metrics", metrics)

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        """Kind, `WORDS` or `SENTENCES`, and path of each file of vectors, in the order of their numbers."""
        words = ((WORDS, self.vectors),) if self.vectors else ()
        return words + tuple((SENTENCES, path) for path in self.sentences)

    @property
    def width(self) -> int:
        """Number of skip features, k."""
        return sum(_PARTS if m is None else 1 for m in self._metrics)

    @property
    def of_words(self) -> bool:
        """As of a metric: all of them look at words."""
        return True

    def lookups(self) -> tuple[Lookup, ...]:
        """The word vectors, and those of metrics that are skip features."""
        own = (Lookup(self.vectors),) if self.vectors else ()
        return own + tuple(lookup for m in self._metrics if m is not None for lookup in m.lookups())

    def signature(self) -> str:
        """The skip features with all their settings, but for this package's version."""
        return ",".join(BLEU_PARTS if m is None else str(m.signature()).rpartition("|")[0] for m in self._metrics)

    def prepare(self, references: References) -> PreparedInputs:
        """Digest the references once.

        Raises:
            UserError: a file of vectors cannot be read, or has none for a reference.
        """
        words = [MeanVectors(self.vectors, references.vocabulary)] if self.vectors else []
        sources: tuple[MeanVectors | GivenVectors, ...] = (*words, *(given_vectors(path) for path in self.sentences))
        prepared = tuple((m or metric("BLEU")).prepare(references) for m in self._metrics)
        vectors = [_side_by_side(sources, corpus) for corpus in references.corpora]
        return PreparedInputs(prepared, sources, np.mean(vectors, axis=0))

    def of(self, hypotheses: Corpus, prepared: PreparedInputs, owner: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """(n, d) vectors and (n, k) skip features of n hypotheses; arguments as `Metric.statistics`.

        Raises:
            UserError: a sentence has no vector, where they are from a file.
        """
        vectors = _side_by_side(prepared.sources, hypotheses)
        columns = []
        for m, digest in zip(self._metrics, prepared.metrics, strict=True):
            statistics = (m or metric("BLEU")).statistics(hypotheses, digest, owner)
            columns.append(m.sentence_scores(statistics)[:, None] if m else bleu_parts(statistics))
        return vectors, np.hstack([np.zeros((len(hypotheses), 0)), *columns])


@dataclass(frozen=True)
class PreparedInputs:
    """What the metrics made of the references, where vectors come from, and (s, d) the references' own.

    A segment with several references has the mean of their vectors.
    """

    metrics: tuple[Any, ...]
    sources: tuple[MeanVectors | GivenVectors, ...]
    vectors: Floats


class MeanVectors:
    """The mean of the vectors of a sentence's words, of those that have one."""

    def __init__(self, path: str, vocabulary: Vocabulary) -> None:
        self._embedding = Embedding(open_vectors(path), vocabulary, unit=False)

    def of(self, corpus: Corpus) -> Floats:
        """(n, d) vectors of n sentences."""
        arrays = self._embedding.arrays()
        known = arrays.place[corpus.ids] > 0
        places = arrays.place[corpus.ids][known]
        ends = np.concatenate([[0], np.cumsum(known)])[corpus.offsets]
        # A sparse product adds a sentence's words in order, whatever sentences stand beside it.
        shape = (len(corpus), len(arrays.vectors))
        counts = scipy.sparse.csr_array((np.ones(len(places)), places, ends), shape=shape)
        sums = np.asarray(counts @ arrays.vectors)
        return sums / np.maximum(np.diff(ends), 1)[:, None]


@dataclass(frozen=True)
class GivenVectors:
    """A vector for each of some sentences.

    Attributes:
        path: where they are from.
        row: of a sentence in `vectors`.
        vectors: (m, d).
    """

    path: str
    row: dict[str, int]
    vectors: Floats

    def of(self, corpus: Corpus) -> Floats:
        """(n, d) vectors of n sentences.

        Raises:
            UserError: there is none for a sentence.
        """
        rows, inverse = distinct(corpus, np.zeros(len(corpus), dtype=np.int32))
        texts = [corpus.text(row) for row in rows.tolist()]
        for text in texts:
            if text not in self.row:
                raise UserError(f"no vector for the sentence {_short(text)!r}", path=self.path, expected="all of them")
        return self.vectors[np.array([self.row[text] for text in texts], dtype=np.int64)][inverse]


def _side_by_side(sources: Sequence[MeanVectors | GivenVectors], corpus: Corpus) -> Floats:
    return np.hstack([np.zeros((len(corpus), 0)), *(source.of(corpus) for source in sources)])


def given_vectors(path: str) -> GivenVectors:
    """Read a file of sentence vectors; sentences are split and joined again as text is.

    Raises:
        UserError: it cannot be read, a line is not of this form, a number is not finite, or a sentence has two vectors.
    """
    row: dict[str, int] = {}
    rows: list[list[float]] = []
    for number, line in enumerate(read_lines(path), start=1):
        text, tab, values = line.rpartition("\t")
        vector = _numbers(values.split())
        if not tab or not vector or (rows and len(vector) != len(rows[0])):
            expected = "SENTENCE TAB NUMBERS" + (f", {len(rows[0])} finite ones" if rows else ", finite ones")
            raise UserError(f"{_short(line)!r}", path=path, line=number, expected=expected)
        key = " ".join(tokens(text))
        if row.setdefault(key, len(rows)) != len(rows) and rows[row[key]] != vector:
            raise UserError(f"another vector for {_short(key)!r}", path=path, line=number, expected="one a sentence")
        rows.append(vector)
    if not rows:
        raise UserError("the file is empty", path=path, expected="a line a sentence")
    return GivenVectors(path, row, np.array(rows))


def _numbers(texts: Sequence[str]) -> list[float]:
    try:
        values = [float(text) for text in texts]
    except ValueError:
        return []
    return values if np.isfinite(values).all() else []


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]} ..."


def bleu_parts(statistics: NDArray[Any]) -> Floats:
    """(n, 15) components of BLEU from its statistics (n, 9): match1 total1 ... match4 total4 reference length."""
    x = np.asarray(statistics, dtype=np.float64)
    matches, totals, reference = x[:, 0:8:2], x[:, 1:8:2], x[:, 8]
    length = totals[:, 0]
    precisions = matches / np.maximum(totals, 1)
    ratio = length / np.maximum(reference, 1)
    shorter = np.maximum(reference / np.maximum(length, 1) - 1, 0)
    return np.column_stack([precisions, matches, totals, reference, ratio, np.exp(-shorter)])
