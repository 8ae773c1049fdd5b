"""Reading N-best lists of any decoder, block by block."""

from __future__ import annotations

import os
from collections.abc import Collection

import numpy as np
from scipy import sparse as sp

from lasw.metrics.errors import UserError
from lasw.metrics.files import Blocks
from lasw.metrics.text import Corpus, Vocabulary
from lasw.tuning.nbest import NBest
from lasw.tuning.nbest_careful import read_row
from lasw.tuning.nbest_fields import Place
from lasw.tuning.nbest_layout import find_layout
from lasw.tuning.weights import FeatureNames


def read_nbest(
    path: str | os.PathLike[str],
    vocabulary: Vocabulary,
    *,
    sparse_names: Vocabulary | None = None,
    names: FeatureNames | None = None,
    dense: Collection[str] = (),
    segments: int | None = None,
    unsorted: bool = False,
    encoding: str = "utf-8",
    warnings: list[str] | None = None,
) -> NBest:
    name = os.fspath(path)
    layout = None
    owner = []
    offsets = [0]
    ids = []
    rows = []
    score = []
    cols = []
    vals = []
    starts = [0]
    sparse_names = Vocabulary() if sparse_names is None else sparse_names
    number = 0
    for block in Blocks(name, encoding):
        lines = block.text().split("\n")[:-1]
        if layout is None:
            layout = find_layout(lines, Place(name, 1), names, dense)
        for line in lines:
            number += 1
            row = read_row(line, layout, Place(name, number), 1)
            owner.append(row.owner)
            ids.extend(vocabulary.add(t) for t in row.text.replace("\t", " ").split(" ") if t)
            offsets.append(len(ids))
            rows.append(row.dense)
            score.append(row.score)
            for k, v in row.sparse.items():
                c = sparse_names.add(k)
                if v:
                    cols.append(c)
                    vals.append(v)
            starts.append(len(cols))
    if layout is None:
        raise UserError("the file is empty", path=name, expected="an N-best list")
    sparse = None
    if len(sparse_names):
        sparse = sp.csr_array(
            (np.array(vals, float), np.array(cols, np.int32), np.array(starts, np.int64)),
            shape=(len(owner), len(sparse_names)),
        )
        sparse.sort_indices()
    return NBest(
        layout.names,
        np.array(owner, np.int32),
        Corpus(np.array(ids, np.int32), np.array(offsets), vocabulary, name),
        np.array(rows, float).reshape(len(owner), -1),
        np.array(score),
        sparse,
        sparse_names if sparse is not None else None,
    )
