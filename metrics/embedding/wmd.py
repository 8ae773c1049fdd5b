"""Word mover's distance (Kusner et al. 2015), and WMD_O, which adds word order and unknown words (Chow 2019).

The words of hypothesis e and reference r, each weighted by its share of its sentence, are moved onto each other at the
least cost; moving a word costs its cosine distance (or the Euclidean one). A word without a vector is at distance 0
from itself and 1 from all else (its Euclidean distance is that of the zero vector). Scores are one minus the distance.

WMD_O = WMD + delta * penalty + alpha * missing. `missing` is the share of unknown words in e. The penalty comes from
the flow: every word of r stands for a place in e, that of the word its largest flow goes to (of several places the one
nearest to the last word's place, of two the first: listing 3.9); runs of places that follow each other are chunks, and
the penalty is chunks over words matched, at most 1. A sentence against itself thus has distance 0 and one chunk, unless
a word stands in it twice within two places: the first of them is then met again.

An empty hypothesis is as far away as one of unknown words only: distance (from the zero vector, if it is Euclidean),
penalty and missing are 1. Empty against empty is equal: all three are 0.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import LARGEST, Lookup, MeanMetric, with_ones
from lasw.metrics.embedding.wmd_kernel import CHUNKS, DISTANCE, EMPTY, LATE, MATCHED, MISSING, ORDER, move_words
from lasw.metrics.embedding.words import StopWords, is_number, normalised
from lasw.metrics.errors import UserError
from lasw.metrics.ngram import Pairs, ReferenceNgrams
from lasw.metrics.registry import Limits, Seed, check_options
from lasw.metrics.text import Corpus, References, Spelling
from lasw.metrics.vectors import Embedding, UnknownWords, described, embedding_of, open_vectors

MOST_POWER = 20  # beyond it penalties above 1 would soon be infinite

_Factor = Annotated[float, Limits(f"a number from {-LARGEST:g} to {LARGEST:g}", least=-LARGEST, most=LARGEST)]


@dataclass(frozen=True)
class Wmd(MeanMetric):
    """One minus the word mover's distance.

    Args:
        vectors: a file of word vectors, see `lasw.metrics.vectors.files`.
        distance: of words, ``cosine`` or ``euclidean``.
        unknown: the vector of a word that has none, ``zero``, ``random`` or ``average`` (Chow 2019, 3.4.2).
        numbers: ``yes`` gives unknown numbers the mean vector of the file's numbers (3.8.2).
        stop: words left out of both sides (3.4.3): a file with a word a line, or a number, the so many most frequent
            words of the references.
        seed: of random and average vectors.
        preprocess: ``yes`` prepares both sides as 3.1.2 does, see `lasw.metrics.embedding.words`.

    Statistics, (n, 2) float64: score, 1; of several references that of the best. The corpus score is the mean.

    Raises:
        UserError: no vectors are given, there is no such file, or a value does not exist.
    """

    vectors: str = ""
    distance: Literal["cosine", "euclidean"] = "cosine"
    unknown: UnknownWords = "zero"
    numbers: Literal["no", "yes"] = "no"
    stop: str = ""
    seed: Seed = 1
    preprocess: Literal["no", "yes"] = "no"

    name = "WMD"

    def __post_init__(self) -> None:
        check_vectors(self.name, self.vectors)
        check_options(self)
        if self.stop and not is_number(self.stop) and not os.path.isfile(self.stop):
            raise UserError(f"{self.name}:stop={self.stop}", expected="a number, or a file with a word a line")

    def shown(self, setting: str) -> str:
        """Files by name and fingerprint."""
        is_file = setting == "vectors" or (setting == "stop" and self.stop and not is_number(self.stop))
        return described(getattr(self, setting)) if is_file else super().shown(setting)

    def lookups(self) -> tuple[Lookup, ...]:
        """Its vectors."""
        return (Lookup(self.vectors, normalised if self.preprocess == "yes" else None),)

    def prepare(self, references: References) -> EmbeddedReferences:
        """The references and the vectors of their words.

        Raises:
            UserError: the vectors cannot be read.
        """
        normaliser, vocabulary = None, references.vocabulary
        if self.preprocess == "yes":
            normaliser = Spelling(vocabulary, lambda token: [vocabulary.add(word) for word in normalised(token)])
            references = References(tuple(map(normaliser.of, references.corpora)))
        embedding = embedding_of(
            open_vectors(self.vectors),
            vocabulary,
            unit=self.distance == "cosine",
            unknown=self.unknown,
            numbers=self.numbers == "yes",
            seed=self.seed,
        )
        stop = StopWords.of(self.stop, references) if self.stop else None
        return EmbeddedReferences(ReferenceNgrams.of(references), embedding, stop, normaliser)

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        """(n, 2) score and 1; the same text of a segment is looked at once."""
        measured, inverse = self.measures(hypotheses, prepared, owner)
        scores = 1.0 - self._combined(measured).min(axis=0, initial=math.inf)
        return with_ones(scores[inverse])

    def measures(
        self, hypotheses: Corpus, prepared: EmbeddedReferences, owner: NDArray[np.integer]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """What scores are made of, (R, m, columns of `lasw.metrics.embedding.wmd_kernel`) for m distinct hypotheses.

        Returns:
            measures, and (n,) which of the m each hypothesis is.
        """
        pairs = Pairs.of(hypotheses, prepared.references, owner)
        out = move_words(
            replace(pairs, hypotheses=prepared.normaliser.of(hypotheses)) if prepared.normaliser else pairs,
            prepared.embedding.arrays(),
            prepared.stop.mask(prepared.references.vocabulary) if prepared.stop else None,
            euclidean=self.distance == "euclidean",
            order=self._needs_order(),
        )
        return out, pairs.inverse

    def _needs_order(self) -> bool:
        return False

    def _combined(self, measured: NDArray[np.float64]) -> NDArray[np.float64]:
        """(R, m) distances."""
        return measured[:, :, DISTANCE]


@dataclass(frozen=True)
class Wmdo(Wmd):
    """One minus WMD_O; also takes the settings of `Wmd`, of which `preprocess` is on as in the paper.

    Args:
        delta: of the penalty.
        alpha: of the share of unknown words in the hypothesis (3.8.1).
        penalty: ``chunks`` over matches, counted as the figures of 3.7 do, the first match opening the first chunk;
            ``listing``, as listing 3.9 does, which starts at 1 and adds one where the first match is not at the
            beginning, at most 1; ``order``, the sum of the words' shifts between relative positions (3.6, delta=1).
        cap: the penalty is at most that (table 3.7).
        power: exponent of the penalty, n in 3.7.1.
        combine: ``add`` it to the distance (3.7.1); the distance times ``multiply``: 1 - penalty + rho (3.7.2, the
            equation, which makes broken order better); ``reversed``: 1 + penalty - rho, which is what the text says
            (rho at most 1); ``limited``: 1 - delta * (penalty + rho) (delta at most 0). alpha * missing is added in
            every case.
        rho: of 3.7.2.

    Raises:
        UserError: as `Wmd`, or a distance times a factor under which the worse of two hypotheses is the better one.
    """

    preprocess: Literal["no", "yes"] = "yes"
    delta: _Factor = 0.18
    alpha: _Factor = 0.1
    penalty: Literal["chunks", "listing", "order"] = "chunks"
    cap: Annotated[float, Limits("a number of at least 0", least=0, most=math.inf)] = math.inf
    power: Annotated[float, Limits(f"a number above 0, {MOST_POWER} at most", above=0, most=MOST_POWER)] = 1.0
    combine: Literal["add", "multiply", "reversed", "limited"] = "add"
    rho: _Factor = 1.0

    name = "WMDO"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.combine == "limited" and self.delta > 0:  # the factor falls where the penalty rises
            raise UserError(
                f"{self.name}:combine=limited with delta={self.delta:g}, under which broken order is better",
                expected="delta at most 0",
                remedy="combine=reversed is what 3.7.2 describes",
            )
        least = 1 - self.delta * self.rho if self.combine == "limited" else 1 - self.rho
        if self.combine in ("limited", "reversed") and least < 0:  # a negative factor turns distances round
            shown = f"{self.name}:combine={self.combine} with rho={self.rho:g}, under which farther words are better"
            raise UserError(shown, expected="rho at most 1" if self.combine == "reversed" else "delta * rho at most 1")

    def remarks(self, total: NDArray[Any]) -> tuple[str, ...]:
        """Says it where the equation of 3.7.2 is taken at its word."""
        if self.combine != "multiply":
            return ()
        return (
            "combine=multiply makes broken order better, as the equation of 3.7.2 has it; combine=reversed does not",
        )

    def _needs_order(self) -> bool:
        return self.penalty == "order"

    def _combined(self, measured: NDArray[np.float64]) -> NDArray[np.float64]:
        distance, missing = measured[:, :, DISTANCE], measured[:, :, MISSING]
        penalty = np.minimum(self.penalties(measured), self.cap) ** self.power
        if self.combine == "add":
            moved = distance + self.delta * penalty
        elif self.combine == "multiply":
            moved = distance * (1.0 - penalty + self.rho)
        elif self.combine == "reversed":
            moved = distance * (1.0 + penalty - self.rho)
        else:
            moved = distance * (1.0 - self.delta * (penalty + self.rho))
        return np.asarray(moved + self.alpha * missing)

    def penalties(self, measured: NDArray[np.float64]) -> NDArray[np.float64]:
        """(R, m) penalties, before cap and power."""
        if self.penalty == "order":
            penalty = measured[:, :, ORDER]
        else:
            chunks = measured[:, :, CHUNKS] + (measured[:, :, LATE] if self.penalty == "listing" else 0.0)
            matched = measured[:, :, MATCHED]
            penalty = np.minimum(np.divide(chunks, matched, out=np.zeros_like(chunks), where=matched > 0), 1.0)
        return np.where(measured[:, :, EMPTY] > 0, 1.0, penalty)


@dataclass(frozen=True)
class EmbeddedReferences:
    """References, vectors of the vocabulary's words, which words are left out, and what prepares text."""

    references: ReferenceNgrams
    embedding: Embedding
    stop: StopWords | None
    normaliser: Spelling | None


def check_vectors(name: str, path: str) -> None:
    """Raise UserError unless there is a file of vectors."""
    if not path:
        raise UserError(f"{name} needs word vectors", expected=f"{name}:vectors=FILE")
    if not os.path.isfile(path):
        raise UserError("no such file of word vectors", path=path)
