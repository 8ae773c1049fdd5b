"""Features and BLEU statistics of an N-best list in the text files that Moses' extractor makes of it.

`lasw.tuning.formats.moses_files` reads them. As the extractor does it: numbers are single precision with six digits,
every number and every name is followed by a blank, sparse values below 0.00001 are left out, and of candidates of a
sentence with equal dense features and equal statistics the first is kept. A duplicate gives its place to the last
candidate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import atomic_write
from lasw.tuning.formats.weights import FilePath
from lasw.tuning.nbest import NBest

_LEAST_SPARSE = 1e-5


def write_moses_files(features: FilePath, scores: FilePath, nbest: NBest, statistics: NDArray[Any]) -> None:
    """Write a features file and the scores file that belongs to it.

    Args:
        features: the files.
        scores: the files.
        nbest: the candidates; those of a sentence may stand apart.
        statistics: (n, 9) of BLEU: match and total of four orders, length of the reference (of a mean the whole part).
    """
    table = _Table.of(nbest, statistics)
    labels = [f"{name}_{k}" for name, size in nbest.names.groups for k in range(size)]
    with atomic_write(features) as out, atomic_write(scores) as beside:
        for sentence, rows in table.sentences():
            head = f"{sentence} {len(rows)}"
            body = "".join(table.features(k) + "\n" for k in rows)
            shown = "".join(label + " " for label in labels)
            text = f"FEATURES_TXT_BEGIN_0 {head} {len(labels)} {shown}\n{body}FEATURES_TXT_END_0\n"
            out.write(text.encode("utf-8"))
            body = "".join("".join(f"{count} " for count in table.statistics[k]) + "\n" for k in rows)
            beside.write(f"SCORES_TXT_BEGIN_0 {head} 9 BLEU\n{body}SCORES_TXT_END_0\n".encode())


@dataclass(frozen=True)
class _Table:
    """The candidates as rows of numbers, single precision as far as they are no counts."""

    owner: NDArray[np.int32]
    dense: list[list[float]]
    statistics: list[list[int]]
    sparse: list[str]

    @classmethod
    def of(cls, nbest: NBest, statistics: NDArray[Any]) -> _Table:
        dense = nbest.dense.astype(np.float32).tolist()
        return cls(nbest.owner, dense, statistics.astype(np.int64).tolist(), _sparse(nbest))

    def sentences(self) -> Iterator[tuple[int, list[int]]]:
        """Every sentence that has candidates, in the order of the list, with those that are kept."""
        order = np.argsort(self.owner, kind="stable")
        owners, starts = np.unique(self.owner[order], return_index=True)
        parts = np.split(order, starts[1:])
        first = np.array([part[0] for part in parts])
        for k in np.argsort(first, kind="stable").tolist():
            yield int(owners[k]), self._distinct(parts[k].tolist())

    def _distinct(self, rows: list[int]) -> list[int]:
        seen = set()
        k, end = 0, len(rows) - 1
        while k <= end:
            key = (*self.dense[rows[k]], *self.statistics[rows[k]])
            if key in seen:
                rows[k], rows[end] = rows[end], rows[k]
                end -= 1
            else:
                seen.add(key)
                k += 1
        return rows[:k]

    def features(self, row: int) -> str:
        """The line of a candidate."""
        return "".join(f"{value:g} " for value in self.dense[row]) + self.sparse[row]


def _sparse(nbest: NBest) -> list[str]:
    """``NAME=VALUE`` of every sparse feature of every candidate, in the order in which the list first has them."""
    if nbest.sparse is None or nbest.sparse_names is None:
        return [""] * len(nbest)
    matrix, names = nbest.sparse.sorted_indices(), nbest.sparse_names
    found = []
    for start, end in zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True):
        entries = zip(matrix.indices[start:end].tolist(), matrix.data[start:end].tolist(), strict=True)
        kept = ((names[column], np.float32(value)) for column, value in entries)
        found.append("".join(f"{name}={value:g} " for name, value in kept if abs(value) >= _LEAST_SPARSE))
    return found
