"""Words that a metric leaves out: from a file, or the most frequent ones of the references."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.text import References, Vocabulary, read_lines


def is_number(given: str) -> bool:
    """Whether what was given is how many words, and not the name of a file."""
    return given.isdigit() and not os.path.exists(given)


@dataclass(frozen=True)
class StopWords:
    """Words, by their ids in one vocabulary."""

    ids: NDArray[np.int64]

    @classmethod
    def of(cls, given: str, references: References) -> StopWords:
        """From ``given``: a number, so many most frequent words of the references (of equals the first met); else the
        path of a file with a word a line.

        Raises:
            UserError: the file cannot be read.
        """
        if is_number(given):
            ids = np.concatenate([corpus.ids for corpus in references.corpora])
            counts = np.bincount(ids, minlength=1)
            order = np.argsort(-counts, kind="stable")[: int(given)]
            return cls(order[counts[order] > 0].astype(np.int64))
        words = {line.strip() for line in read_lines(given)} - {""}
        return cls(np.array(sorted(map(references.vocabulary.add, words)), dtype=np.int64))

    def mask(self, vocabulary: Vocabulary) -> NDArray[np.bool_]:
        """(V,) True for these words."""
        out = np.zeros(len(vocabulary), dtype=np.bool_)
        out[self.ids] = True
        return out
