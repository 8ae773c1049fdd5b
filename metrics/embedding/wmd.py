"""Word mover's distance (Kusner et al. 2015), and WMD_O, which adds word order and unknown words (Chow 2019).

The words of hypothesis e and reference r, each weighted by its share of its sentence, are moved onto each other at the
least cost; moving a word costs its cosine distance (or the Euclidean one). A word without a vector is at distance 0
from itself and 1 from all else (its Euclidean distance is that of the zero vector). Scores are one minus the distance.

WMD_O = WMD + delta * penalty + alpha * missing. `missing` is the share of unknown words in e. The penalty comes from
the flow: every word of r stands for a place in e, that of the word its largest flow goes to (of several places the one
nearest to where the last word's place makes one expect it); runs of places that follow each other are chunks, and the
penalty is chunks over words matched. A sentence against itself thus has distance 0 and one chunk.

An empty hypothesis is as far away as one of unknown words only: distance (from the zero vector, if it is Euclidean),
penalty and missing are 1. Empty against empty is equal: all three are 0.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import LARGEST, Metric, Signature
from lasw.metrics.embedding.stop_words import StopWords, is_number
from lasw.metrics.embedding.token_normalisation import Normaliser
from lasw.metrics.embedding.wmd_kernel import CHUNKS, DISTANCE, EMPTY, LATE, MATCHED, MISSING, ORDER, move_words
from lasw.metrics.errors import UserError, unknown
from lasw.metrics.ngram import ReferenceNgrams
from lasw.metrics.text import Corpus, References, distinct
from lasw.metrics.vectors import UNKNOWN, Embedding, described, open_vectors

CHOICES: dict[str, tuple[str, ...]] = {
    "distance": ("cosine", "euclidean"),
    "unknown": UNKNOWN,
    "numbers": ("no", "yes"),
    "preprocess": ("no", "yes"),
}
MOST_POWER = 20  # beyond it penalties above 1 would soon be infinite
ORDER_CHOICES: dict[str, tuple[str, ...]] = {
    "penalty": ("chunks", "listing", "order"),
    "combine": ("add", "multiply", "reversed", "limited"),
}


@dataclass(frozen=True)
class Wmd(Metric):
    """One minus the word mover's distance.

    Args:
        vectors: a file of word vectors, see `lasw.metrics.vectors.files`.
        distance: of words, ``cosine`` or ``euclidean``.
        unknown: the vector of a word that has none, ``zero``, ``random`` or ``average`` (Chow 2019, 3.4.2).
        numbers: ``yes`` gives unknown numbers the mean vector of the file's numbers (3.8.2).
        stop: words left out of both sides (3.4.3): a file with a word a line, or a number, the so many most frequent
            words of the references.
        seed: of random and average vectors.
        preprocess: ``yes`` prepares both sides as 3.1.2 does, see `lasw.metrics.embedding.token_normalisation`.

    Statistics, (n, 2) float64: score, 1; of several references that of the best. The corpus score is the mean.

    Raises:
        UserError: no vectors are given, there is no such file, or a value does not exist.
    """

    vectors: str = ""
    distance: str = "cosine"
    unknown: str = "zero"
    numbers: str = "no"
    stop: str = ""
    seed: int = 1
    preprocess: str = "no"

    name = "WMD"

    def __post_init__(self) -> None:
        check_vectors(self.name, self.vectors)
        check_seed(self.name, self.seed)
        for key, valid in self._choices().items():
            if getattr(self, key) not in valid:
                raise unknown(f"value of {self.name}:{key}", str(getattr(self, key)), list(valid))
        if self.stop and not is_number(self.stop) and not os.path.isfile(self.stop):
            raise UserError(f"{self.name}:stop={self.stop}", expected="a number, or a file with a word a line")

    def _choices(self) -> dict[str, tuple[str, ...]]:
        return CHOICES

    def signature(self) -> Signature:
        """All settings; vectors by file name and fingerprint."""
        settings = [(f.name, _shown(getattr(self, f.name))) for f in fields(self) if f.name != "vectors"]
        if self.stop and not is_number(self.stop):
            settings = [(key, described(self.stop) if key == "stop" else value) for key, value in settings]
        return Signature(self.name, (("vectors", described(self.vectors)), *settings))

    def prepare(self, references: References) -> EmbeddedReferences:
        """The references and the vectors of their words.

        Raises:
            UserError: the vectors cannot be read.
        """
        normaliser = Normaliser(references.vocabulary) if self.preprocess == "yes" else None
        if normaliser:
            references = References(tuple(map(normaliser.of, references.corpora)))
        embedding = Embedding(
            open_vectors(self.vectors),
            references.vocabulary,
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
        return np.stack([scores[inverse], np.ones(len(inverse))], axis=1)

    def measures(
        self, hypotheses: Corpus, prepared: EmbeddedReferences, owner: NDArray[np.integer]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """What scores are made of, (R, m, columns of `lasw.metrics.embedding.wmd_kernel`) for m distinct hypotheses.

        Returns:
            measures, and (n,) which of the m each hypothesis is.
        """
        references = prepared.references
        if hypotheses.vocabulary is not references.vocabulary:
            raise TypeError("hypotheses and references must share one vocabulary")
        owners: NDArray[np.int32] = np.ascontiguousarray(owner, dtype=np.int32)
        rows, inverse = distinct(hypotheses, owners)
        if len(owners) and not (owners.min() >= 0 and owners.max() < len(references)):
            raise ValueError(f"owner points outside the {len(references)} segments")
        out = move_words(
            prepared.normaliser.of(hypotheses) if prepared.normaliser else hypotheses,
            owners,
            rows,
            references,
            prepared.embedding.arrays(),
            prepared.stop.mask(references.vocabulary) if prepared.stop else None,
            euclidean=self.distance == "euclidean",
            order=self._needs_order(),
        )
        return out, inverse

    def _needs_order(self) -> bool:
        return False

    def _combined(self, measured: NDArray[np.float64]) -> NDArray[np.float64]:
        """(R, m) distances."""
        return measured[:, :, DISTANCE]

    def sentence_scores(self, statistics: NDArray[Any]) -> NDArray[np.float64]:
        """(n,) scores of single sentences."""
        return self.corpus_scores(statistics)

    def corpus_score(self, total: NDArray[Any]) -> float:
        """The mean of the scores."""
        return float(self.corpus_scores(np.asarray(total)[None])[0])

    def corpus_scores(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) means; of nothing 0."""
        sums = np.asarray(totals, dtype=np.float64)
        return np.divide(sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=sums[:, 1] > 0)


@dataclass(frozen=True)
class Wmdo(Wmd):
    """One minus WMD_O; also takes the settings of `Wmd`.

    Args:
        delta: of the penalty.
        alpha: of the share of unknown words in the hypothesis (3.8.1).
        penalty: ``chunks`` over matches, counted as the figures of 3.7 do, the first match opening the first chunk;
            ``listing``, as listing 3.9 does, which starts at 1 and adds one where the first match is not at the
            beginning, at most 1; ``order``, the sum of the words' shifts between relative positions (3.6, delta=1).
        cap: the penalty is at most that (table 3.7).
        power: exponent of the penalty, n in 3.7.1.
        combine: ``add`` it to the distance (3.7.1); the distance times ``multiply``: 1 - penalty + rho (3.7.2, the
            equation, which makes broken order better); ``reversed``: 1 + penalty - rho, which is what the text says;
            ``limited``: 1 - delta * (penalty + rho). alpha * missing is added in every case.
        rho: of 3.7.2.
    """

    delta: float = 0.18
    alpha: float = 0.1
    penalty: str = "chunks"
    cap: float = math.inf
    power: float = 1.0
    combine: str = "add"
    rho: float = 1.0

    name = "WMDO"

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("delta", "alpha", "power", "rho"):
            if not abs(getattr(self, key)) <= LARGEST:  # NaN is not
                limits = f"a number from {-LARGEST:g} to {LARGEST:g}"
                raise UserError(f"{self.name}:{key}={getattr(self, key)}", expected=limits)
        if math.isnan(self.cap) or self.cap < 0:
            raise UserError(f"{self.name}:cap={self.cap}", expected="a number of at least 0")
        if not 0 < self.power <= MOST_POWER:
            raise UserError(f"{self.name}:power={self.power}", expected=f"a number above 0, {MOST_POWER} at most")

    def _choices(self) -> dict[str, tuple[str, ...]]:
        return {**CHOICES, **ORDER_CHOICES}

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
    normaliser: Normaliser | None


def check_vectors(name: str, path: str) -> None:
    """Raise UserError unless there is a file of vectors."""
    if not path:
        raise UserError(f"{name} needs word vectors", expected=f"{name}:vectors=FILE")
    if not os.path.isfile(path):
        raise UserError("no such file of word vectors", path=path)


def check_seed(name: str, seed: int) -> None:
    """Raise UserError unless `seed` can be one."""
    if seed < 0:
        raise UserError(f"{name}:seed={seed}", expected="a whole number of at least 0")


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) or "none"


def from_spec(name: str, options: dict[str, str]) -> Wmd:
    """The metric of a specification, ``WMDO:vectors=FILE:delta=0.18:alpha=0.1``.

    Raises:
        UserError: an option that does not exist, with the nearest that does, or a bad value.
    """
    metric: Wmd = configured({"WMD": Wmd, "WMDO": Wmdo}[name], options)
    return metric


def configured(family: Any, options: dict[str, str]) -> Any:
    """A metric whose settings are the fields of a dataclass, from text.

    Raises:
        UserError: an option that does not exist, or a value of another type.
    """
    known: dict[str, Any] = {f.name: type(f.default) for f in fields(family)}
    values: dict[str, Any] = {}
    for key, text in options.items():
        if key not in known:
            raise unknown(f"option of {family.name}", key, list(known))
        try:
            values[key] = known[key](text)
        except ValueError:
            kind = "a whole number" if known[key] is int else "a number"
            raise UserError(f"{family.name}:{key}={text}", expected=kind) from None
    return family(**values)
