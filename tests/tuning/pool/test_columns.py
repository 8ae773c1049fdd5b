"""The columns of a pool: what varies, at which scale, and what becomes of a vector."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import scipy
from build import made_pool

from lasw.metrics import Corpus, References, UserError, Vocabulary
from lasw.tuning import FeatureNames, NBest, Pool, Weights, unit_weights
from lasw.tuning.pool.columns import Columns, centred, check_norm

NAMES = FeatureNames((("LM0", 1), ("TM0", 2)))


def pool_of(owner: list[int], dense: list[list[float]], sparse: list[list[float]] | None = None) -> Pool:
    """A pool whose texts all differ; column j of `sparse` is named ``sj``."""
    references = References.from_lines(["a b"] * (max(owner) + 1))
    texts = Corpus.from_lines([f"w{k}" for k in range(len(owner))], references.vocabulary)
    names, rows = None, None
    if sparse is not None:
        names, rows = Vocabulary(), scipy.sparse.csr_array(np.array(sparse))
        for j in range(rows.shape[1]):
            names.add(f"s{j}")
    pool = Pool(references)
    pool.add(
        NBest(
            NAMES,
            np.array(owner, dtype=np.int32),
            texts,
            np.array(dense),
            np.zeros(len(owner)),
            sparse=rows,
            sparse_names=names,
        )
    )
    return pool


def test_candidates_are_grouped_and_sentences_without_any_left_out() -> None:
    columns = Columns.of(pool_of([2, 0, 2], [[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
    assert columns.order.tolist() == [1, 0, 2]
    assert columns.starts.tolist() == [0, 1, 3]
    assert columns.dense.tolist() == [[4, 5, 6], [1, 2, 3], [7, 8, 9]]


def test_varies_within_a_sentence_only_and_by_more_than_rounding() -> None:
    # The first feature differs between sentences only, the second by rounding, the third really.
    columns = Columns.of(pool_of([0, 0, 1, 1], [[1, 1e6, 0], [1, 1e6 + 0.5, 1], [2, 1e6, 0], [2, 1e6, 0]]))
    assert columns.varies.tolist() == [False, False, True]
    assert columns.scale.tolist() == [1.0, 1.0, pytest.approx(np.sqrt(0.5 / 2))]


def test_what_few_candidates_have_is_as_large_as_it_is_there() -> None:
    """Against counting: the root mean square deviation for each candidate without a majority's value."""
    draw = np.random.default_rng(5)
    owner = np.sort(draw.integers(0, 8, 200)).astype(int)
    rare = np.where(draw.random(200) < 0.04, -2.0 - draw.random(200), 0.0)
    dense = np.column_stack([rare, draw.integers(0, 3, 200), draw.normal(size=200)]).astype(float)
    squares, others = np.zeros(3), np.zeros(3)
    for s in set(owner.tolist()):
        own = dense[owner == s]
        squares += ((own - own.mean(axis=0)) ** 2).sum(axis=0)
        for j in range(3):
            most = max(Counter(own[:, j].tolist()).values())
            others[j] += len(own) - (most if 2 * most > len(own) else 0)
    columns = Columns.of(pool_of(owner.tolist(), dense.tolist()))
    assert columns.scale == pytest.approx(np.sqrt(squares / others), rel=1e-12)
    assert 2 < columns.scale[0] < 3
    assert others[2] == 200


def test_sparse_columns() -> None:
    # s0: everywhere the same in its sentence; s1: absent in one candidate; s2: two values in all; s3: in the pool
    # once, alone in its sentence.
    sparse = [[3, 3, 1, 0], [3, 0, 2, 0], [0, 0, 0, 5]]
    columns = Columns.of(pool_of([0, 0, 1], [[0, 0, 0]] * 3, sparse))
    assert columns.varies.tolist() == [False] * 3 + [False, True, True, False]
    assert columns.scale[3:].tolist() == [1.0, 3.0, pytest.approx(np.sqrt(2.5)), 1.0]


def test_huge_values_do_not_overflow() -> None:
    columns = Columns.of(pool_of([0, 0], [[1e200, 0, 0], [-1e200, 0, 0]]))
    assert columns.scale[0] == pytest.approx(1e200)


def test_a_unit_too_small_for_its_weight() -> None:
    columns = Columns.of(pool_of([0, 0], [[1e-310, 0, 0], [-1e-310, 0, 1]]))
    with pytest.raises(UserError, match=r"weight of .* is not finite, its values differ by 1e-310"):
        columns.weights(np.array([np.inf, 0.0, 1.0]), Weights.constant(NAMES, 1.0))


def test_scores_are_the_dot_products_and_equal_rows_tie() -> None:
    generator = np.random.default_rng(3)
    dense = generator.normal(size=(40, 3))
    dense[20:] = dense[:20]
    sparse = generator.normal(size=(40, 5)) * (generator.random((40, 5)) < 0.4)
    sparse[20:] = sparse[:20]
    pool = pool_of([0] * 40, dense.tolist(), sparse.tolist())
    columns = Columns.of(pool)
    vector = generator.normal(size=8)
    scores = columns.scores(vector)
    assert scores == pytest.approx(np.hstack([dense, sparse]) @ vector, abs=1e-12)
    assert (scores[:20] == scores[20:]).all()


def test_weights_have_the_norm_and_what_does_not_vary_stays() -> None:
    columns = Columns.of(pool_of([0, 0], [[1, 1, 0], [1, 2, 1]], [[1, 0], [0, 0]]))
    start = Weights(NAMES, np.array([0.7, 0.1, 0.1]), {"s0": 9.0, "elsewhere": 0.5})
    weights = columns.weights(np.array([5.0, 3.0, -1.0, 2.0, 8.0]), start)
    assert weights.dense.tolist() == [0.7, 0.75, -0.25]
    assert weights.sparse == {"s0": 0.5, "elsewhere": 0.5}
    plain = columns.weights(np.array([5.0, 3.0, -1.0, 2.0, 8.0]), start, "none")
    assert plain.dense.tolist() == [0.7, 3.0, -1.0]


def test_an_unknown_norm_is_refused() -> None:
    with pytest.raises(UserError, match="unknown norm 'l3'"):
        check_norm("l3")


def test_weights_where_none_are_given_do_not_mind_units() -> None:
    # Each feature's differences within sentences, times its weight, are as large as the others'; what is the same
    # everywhere in a sentence keeps 1.
    pool = made_pool()
    weights = unit_weights(pool).dense
    effects = [np.sqrt(np.mean(centred(Columns.of(pool).starts, pool.dense[:, k] * weights[k]) ** 2)) for k in range(3)]
    assert effects[0] == pytest.approx(effects[1], rel=0.05)
    assert weights[2] == 1
    assert np.abs(weights[:2]).sum() == pytest.approx(1)
    scaled = unit_weights(made_pool(units=1000.0)).dense
    assert scaled[0] / scaled[1] == pytest.approx(weights[0] / weights[1] / 1e6)
