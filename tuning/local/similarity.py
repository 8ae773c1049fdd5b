"""How similar a sentence is to each sentence of the development set, on its source side. A new one is a line here.

A similarity is made once from the development sentences and then asked about any sentence. Lines are taken as
tokenised, split on space and tab.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Registry, UserError

Floats = NDArray[np.float64]


class Similarity(ABC):
    """Compares sentences with S development sentences; values in [0, 1]."""

    @abstractmethod
    def to(self, line: str) -> Floats:
        """(S,) similarity of each development sentence to `line`."""

    def matrix(self, lines: Sequence[str]) -> Floats:
        """(T, S) the same for many lines."""
        rows = [self.to(line) for line in lines]
        return np.stack(rows) if rows else np.empty((0, 0))

    def fingerprint(self) -> str:
        """Of what the similarity depends on besides the development sentences; empty if that is nothing."""
        return ""


SIMILARITIES: Registry[Any] = Registry(
    "similarity",
    {
        "bleu": "lasw.tuning.local.similarity_bleu:BleuSimilarity",
        "words": "lasw.tuning.local.similarity_tfidf:WordSimilarity",
        "characters": "lasw.tuning.local.similarity_tfidf:CharacterSimilarity",
        "embedding": "lasw.tuning.local.similarity_embedding:EmbeddingSimilarity",
    },
)


def make_similarity(name: str, source: Sequence[str], *, vectors: str | os.PathLike[str] | None = None) -> Similarity:
    """The similarity `name` to the sentences `source`.

    Args:
        name: one of `SIMILARITIES`.
        source: the S development sentences.
        vectors: a file of word vectors; only `embedding` needs it.

    Raises:
        UserError: an unknown name (with the nearest valid one), no file of vectors where one is needed, or one that
            cannot be read.
    """
    made = SIMILARITIES.find(name)
    if name != "embedding":
        return cast(Similarity, made(source))
    if vectors is None:
        raise UserError("similarity embedding without word vectors", remedy="name their file with --vectors")
    return cast(Similarity, made.from_file(source, vectors))


def words_of(line: str) -> list[str]:
    """The tokens of a line."""
    return [word for word in line.replace("\t", " ").split(" ") if word]
