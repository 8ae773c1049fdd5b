"""Words of a text before they are moved: which are left out, and what tokens become (Chow 2019, 3.1.2 and 3.4.3).

Tokens become lower case, without punctuation, words apart. Apostrophes and full stops vanish (`don't` is `dont`, `N.Y.`
is `ny`), so do decimal points and commas inside numbers; all other punctuation parts words (`29-year-old` is three).
Percent, hash and currency signs and other symbols are words of their own. A token of nothing but punctuation is left
out.
"""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.text import References, Vocabulary, read_lines

_IN_NUMBERS = re.compile(r"(?<=\d)[.,](?=\d)")
_VANISH = re.compile("['’.]")
_KEPT = "%#"


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


def normalised(token: str) -> list[str]:
    """The words that a token becomes, perhaps none."""
    text = _VANISH.sub("", _IN_NUMBERS.sub("", token.lower()))
    return "".join(map(_separated, text)).split()


def _separated(character: str) -> str:
    kind = unicodedata.category(character)[0]
    if character in _KEPT or kind == "S":
        return f" {character} "
    return " " if kind in "PZ" else character
