"""Lists of texts and numbers of a Python program: a pool of them, the best of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lasw.metrics import Corpus, References, UserError, Vocabulary
from lasw.tuning.nbest import NBest
from lasw.tuning.pool import Floats, Pool
from lasw.tuning.reranking.lists import one_per_sentence
from lasw.tuning.reranking.weighted import Reranker
from lasw.tuning.weights import FeatureNames, Weights

Features = Mapping[str, ArrayLike | Sequence[Sequence[float]]]


def pool_of(
    hypotheses: Sequence[Sequence[str]], features: Features, references: References | Sequence[str] | None = None
) -> Pool:
    """A pool that optimisers learn from.

    Args:
        hypotheses: the candidates of each of S sentences, tokens separated by spaces.
        features: by name the values of all n hypotheses, sentence by sentence: (n,), (S, candidates of each), or S
            lists as long as the lists of hypotheses.
        references: S lines; more of them by `References.from_lines`; None: compared with nothing (`with_losses`).

    Raises:
        UserError: a feature with another number of values or one that is not finite, a sentence without reference.
    """
    if references is not None and not isinstance(references, References):
        references = References.from_lines(references)
    pool = Pool.without_references(Vocabulary()) if references is None else Pool(references)
    if references is not None and len(hypotheses) != len(references):
        raise UserError(f"hypotheses of {len(hypotheses)} sentences", expected=f"{len(references)}, as references")
    pool.add(_list(hypotheses, features, pool.references.vocabulary))
    return pool


def rerank(hypotheses: Sequence[Sequence[str]], features: Features, weights: Weights) -> list[str]:
    """The best hypothesis of each sentence, the first among equals; an empty text where there is none.

    Args:
        hypotheses: see `pool_of`.
        features: see `pool_of`.
        weights: of these features, as `Fit.weights` or `read_weights` gives them.

    Raises:
        UserError: see `pool_of`; weights of other features.
    """
    best = [""] * len(hypotheses)
    for block in Reranker(weights).sort([_list(hypotheses, features, Vocabulary())]):
        for sentence, text in one_per_sentence(block):
            best[sentence] = text
    return best


def _list(hypotheses: Sequence[Sequence[str]], features: Features, vocabulary: Vocabulary) -> NBest:
    if any(isinstance(texts, str) for texts in hypotheses):
        raise TypeError("hypotheses is a list of texts; expected a list of texts for every sentence")
    sizes = [len(texts) for texts in hypotheses]
    owner = np.repeat(np.arange(len(hypotheses), dtype=np.int32), sizes)
    columns = [_column(name, values, sizes) for name, values in features.items()]
    corpus = Corpus.from_lines(chain.from_iterable(hypotheses), vocabulary)
    dense = np.column_stack(columns) if columns else np.empty((len(owner), 0))
    return NBest(FeatureNames(tuple((name, 1) for name in features)), owner, corpus, dense, np.zeros(len(owner)))


def _column(name: str, values: ArrayLike | Iterable[Iterable[float]], sizes: Sequence[int]) -> Floats:
    wanted = f"{sum(sizes)}, one for every hypothesis"
    try:
        rows: list[Any] = list(values)  # type: ignore[arg-type]
        nested = any(isinstance(row, Iterable) and not isinstance(row, str) for row in rows)
        same = not nested or [len(row) for row in rows] == list(sizes)
        column = np.array(list(chain.from_iterable(rows)) if nested else rows, dtype=np.float64)
    except (ValueError, TypeError):
        raise UserError(f"values of the feature {name}", expected=wanted) from None
    if column.shape != (sum(sizes),):
        raise UserError(f"{column.size} values of the feature {name}", expected=wanted)
    if not same:
        raise UserError(f"lists of values of the feature {name}", expected="lists as long as those of hypotheses")
    if not np.isfinite(column).all():
        lost = int(np.argmin(np.isfinite(column)))
        raise UserError(f"value {lost} of the feature {name} is {column[lost]}", expected="finite numbers")
    return column
