"""TER, the translation edit rate (Snover et al. 2006): words inserted, deleted, substituted, and blocks shifted.

The edits are those that sacreBLEU counts (its `TER(case_sensitive=True)` on text that is tokenised already), with
Tercom's greedy search for shifts and its limits: blocks of up to 10 words, moved by up to 50, a beam of 25 cells around
the diagonal, 1000 shifts looked at.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.edit.edits import EditRate
from lasw.metrics.edit.ter_kernel import BEAM, shift_edits
from lasw.metrics.ngram import ReferenceNgrams
from lasw.metrics.text import Corpus


class TranslationEditRate(EditRate):
    """TER; settings, statistics and what is shown (``1-TER``) are those of every `EditRate`."""

    name = "TER"

    def count(
        self,
        hypotheses: Corpus,
        references: ReferenceNgrams,
        owner: NDArray[np.int32],
        rows: NDArray[np.int64],
        out: NDArray[np.int32],
    ) -> None:
        """Shifts and edits."""
        if not len(rows):
            return
        sizes, lengths = hypotheses.lengths[rows], references.lengths[owner[rows]].max(axis=1)
        tokens = int(max(sizes.max(), lengths.max())) + 1
        # The beam is wider where a reference is more than 50 times as long as the hypothesis.
        widths = 2 * (np.ceil(lengths / np.maximum(sizes, 1) / 2).astype(np.int64) + BEAM) + 2
        shift_edits(
            hypotheses.ids,
            hypotheses.offsets,
            owner,
            rows,
            references.ids,
            references.offsets,
            np.empty(int(((sizes + 2) * widths).max()), dtype=np.int32),
            np.empty((2, tokens + int(widths.max())), dtype=np.int32),
            np.empty((3, tokens), dtype=np.int32),
            np.zeros((3, tokens + 1), dtype=np.int32),
            np.zeros((2, tokens + 1), dtype=np.int32),
            out,
        )
