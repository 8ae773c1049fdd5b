"""Files of word vectors that gensim opens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError
from lasw.metrics.vectors.base import FORMATS, VectorFile, finite


class GensimFile(VectorFile):
    """What gensim opens: its own format, memory-mapped where it is, and fastText's binary one."""

    def __init__(self, path: str, *, fasttext: bool) -> None:
        self.path = path
        try:
            if fasttext:
                from gensim.models.fasttext import load_facebook_vectors

                self._vectors: Any = load_facebook_vectors(path)
            else:
                from gensim.models import KeyedVectors

                found: Any = KeyedVectors.load(path, mmap="r")
                self._vectors = getattr(found, "wv", found)  # of a whole model its vectors
            self.size = int(self._vectors.vector_size)
        except Exception as error:  # unpickling can fail in any way
            raise UserError(f"gensim cannot read it ({error})", path=path, expected=FORMATS) from None
        self._extra: dict[str, int] = {}  # words made of n-grams, and their rows

    def __len__(self) -> int:
        return len(self._vectors.index_to_key)

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """See `VectorFile`; words made of n-grams get rows behind the others."""
        return np.array([self._find(word) for word in words], dtype=np.int64)

    def _find(self, word: str) -> int:
        row = self._vectors.key_to_index.get(word, -1)
        if row < 0 and hasattr(self._vectors, "vectors_ngrams") and word in self._vectors:
            return self._extra.setdefault(word, len(self) + len(self._extra))
        return int(row)

    def word(self, row: int) -> str:
        """See `VectorFile`."""
        return str(self._vectors.index_to_key[row]) if row < len(self) else list(self._extra)[row - len(self)]

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `VectorFile`."""
        out = np.empty((len(rows), self.size), dtype=np.float32)
        for k, row in enumerate(rows.tolist()):
            out[k] = self._vectors.get_vector(self.word(row)) if row >= len(self) else self._vectors.vectors[row]
        return finite(out, rows, self)
