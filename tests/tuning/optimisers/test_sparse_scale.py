"""Many sparse features: names and numbers in bulk, pruning of rare ones, the same results as feature by feature."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy

from lasw.metrics import Corpus, References, UserError, Vocabulary, metric
from lasw.scripts.main import main
from lasw.tuning import FeatureNames, NBest, Pool, Weights, check_min_count, make_optimiser, pruned, read_weights
from lasw.tuning.optimisers.mira.mira import MIRA
from lasw.tuning.optimisers.pairs.base import beside
from lasw.tuning.pool.columns import with_values
from lasw.tuning.pool.sparse import names_from, numbers_in

NAMES = FeatureNames((("LM", 1), ("TM", 2)))


def vocabulary_of(words):
    vocabulary = Vocabulary()
    for word in words:
        vocabulary.add(word)
    return vocabulary


def sparse_pool(sentences=8, candidates=12, p=40, seed=1, vocabulary=None):
    """`good` sparse features 0 and 1 tell a candidate's quality; the others are there at random, some rarely."""
    rng = np.random.default_rng(seed)
    n = sentences * candidates
    owner = np.repeat(np.arange(sentences, dtype=np.int32), candidates)
    references = References.from_lines([f"a b c d e f s{k}" for k in range(sentences)])
    wrong = rng.integers(0, 7, n)
    lines = ["x " * k + " ".join("abcdef"[k:]) + f" s{s}" for k, s in zip(wrong, owner, strict=True)]
    values = rng.normal(size=(n, p)) * (rng.random((n, p)) < np.linspace(0.5, 0.01, p))
    values[:, 0], values[:, 1] = wrong > 2, wrong > 4
    names = vocabulary_of(f"f_{k}" for k in range(p)) if vocabulary is None else vocabulary
    pool = Pool(references)
    dense = rng.normal(size=(n, 3))
    texts = Corpus.from_lines(lines, references.vocabulary)
    pool.add(NBest(NAMES, owner, texts, dense, np.zeros(n), scipy.sparse.csr_array(values), names))
    return pool


def write_lists(pool, folder):
    """The pool as an N-best list, its references and sources."""
    rows, lines = pool.sparse.toarray(), []
    for k in range(len(pool)):
        sparse = " ".join(f"{name}= {v!r}" for name, v in zip(pool.sparse_names, rows[k].tolist(), strict=True) if v)
        lm, *tm = pool.dense[k].tolist()
        text = pool.hypotheses.text(k)
        lines.append(f"{pool.owner[k]} ||| {text} ||| LM= {lm!r} TM= {tm[0]!r} {tm[1]!r} {sparse} ||| 0\n")
    (folder / "nbest").write_text("".join(lines))
    (folder / "ref").write_text("".join(f"a b c d e f s{k}\n" for k in range(len(pool.references))))


def counted(pool):
    """In how many sentences each sparse feature is not 0, one by one."""
    matrix = pool.sparse.toarray()
    return np.array([len(set(pool.owner[matrix[:, j] != 0].tolist())) for j in range(matrix.shape[1])])


def test_names_in_bulk_are_the_names_one_by_one():
    words = ["a", "ß_ü", "WT_|~x", "longer-than-eight-bytes", "日本", "=", "F" * 300]
    vocabulary = vocabulary_of(words)
    assert names_from(vocabulary, 0) == tuple(words)
    assert names_from(vocabulary, 5) == tuple(words[5:])
    assert names_from(vocabulary, len(words)) == ()


def test_numbers_in_another_vocabulary_however_often_it_must_grow():
    words = [f"{'w' * (k % 23)}{k}" for k in range(70_000)]
    source, target = vocabulary_of(words), vocabulary_of(["w0", "first", words[17]])
    which = np.arange(len(words))[::-3].copy()
    numbers = numbers_in(target, source, which)
    assert [target[k] for k in numbers[:50].tolist() + numbers[-50:].tolist()] == [
        words[k] for k in which[:50].tolist() + which[-50:].tolist()
    ]
    assert len(target) == len({words[k] for k in which} | {"w0", "first", words[17]})
    assert len(set(numbers.tolist())) == len(which)


def test_lists_that_number_features_on_their_own():
    one = sparse_pool()
    other = Vocabulary()
    for name in reversed([f"f_{k}" for k in range(40)]):
        other.add(name)
    again = sparse_pool(seed=2, vocabulary=other)
    for part in (again, sparse_pool(seed=2)):  # the same candidates, numbered backwards and forwards: once new
        nbest = NBest(
            NAMES,
            part.owner,
            Corpus.from_lines([part.hypotheses.text(k) for k in range(len(part))], one.references.vocabulary),
            part.dense,
            np.zeros(len(part)),
            part.sparse,
            vocabulary_of(part.sparse_names),
        )
        before = len(one)
        added = one.add(nbest)
        if part is again:
            columns = [int(name[2:]) for name in part.sparse_names]
            order = np.argsort(columns)
            assert one.sparse.toarray()[before:] == pytest.approx(part.sparse.toarray()[:, order])
    assert one.sparse_names == tuple(f"f_{k}" for k in range(40))
    assert added == len(one) - before


@pytest.mark.parametrize("min_count", [2, 3, 5, 8])
def test_a_pool_without_rare_features(min_count):
    pool = sparse_pool()
    counts = counted(pool)
    view = pool.without_rare(min_count)
    keep = np.flatnonzero(counts >= min_count)
    assert 0 < len(keep) < len(counts)
    assert view.sparse_names == tuple(f"f_{k}" for k in keep)
    assert (view.sparse.toarray() == pool.sparse.toarray()[:, keep]).all()
    assert view.sparse.has_canonical_format
    assert view.sparse.nnz == np.count_nonzero(view.sparse.toarray())
    assert (view.dense == pool.dense).all()
    assert len(view) == len(pool)
    assert view.statistics(metric("BLEU")) is not None
    with pytest.raises(ValueError, match="view"):
        view.add(None)
    assert len(pool.sparse_names) == 40  # the pool itself is as it was


def test_all_or_nothing_is_rare():
    pool = sparse_pool()
    assert pool.without_rare(1) is pool or counted(pool).min() == 0
    none = pool.without_rare(9)
    assert none.sparse is None
    assert none.sparse_names == ()
    dense = Weights(NAMES, np.array([0.1, 0.2, 0.3]))
    assert (none.model_scores(dense) == pool.model_scores(dense)).all()


@pytest.mark.parametrize("optimiser", ["mira", "pro", "wro"])
def test_any_optimiser_leaves_them_out(optimiser):
    pool = sparse_pool()
    rare = {f"f_{k}" for k in np.flatnonzero(counted(pool) < 4)}
    a_rare_one = sorted(rare)[0]
    start = Weights(NAMES, np.ones(3), {a_rare_one: 5.0, "f_0": 0.5, "elsewhere": 0.25})
    given = pruned(pool, start, 4)
    assert given.left_out == len(rare)
    assert given.line == f"{len(rare)} of 40 sparse features, in fewer than 4 sentences, are left out"
    weights = make_optimiser(optimiser).fit(given.pool, given.start).weights
    assert not rare & set(weights.sparse)
    assert weights.sparse["elsewhere"] == 0.25
    assert weights.sparse["f_0"] < 0
    # The same as if the features had never been there.
    alone = sparse_pool()
    keep = [k for k in range(40) if f"f_{k}" not in rare]
    other = Pool(alone.references)
    names = vocabulary_of(f"f_{k}" for k in keep)
    sparse = scipy.sparse.csr_array(alone.sparse.toarray()[:, keep])
    zeros = np.zeros(len(alone))
    other.add(NBest(NAMES, alone.owner, alone.hypotheses, alone.dense, zeros, sparse, names))
    expected = make_optimiser(optimiser).fit(other, given.start).weights
    assert weights.dense.tolist() == expected.dense.tolist()
    assert dict(weights.sparse) == dict(expected.sparse)


def test_nothing_is_pruned_unless_asked_for():
    pool, start = sparse_pool(), Weights(NAMES, np.ones(3))
    for min_count in (0, 1):
        given = pruned(pool, start, min_count)
        assert given.pool is pool
        assert given.start is start
        assert given.line is None
    with pytest.raises(UserError, match="min-count is -1"):
        check_min_count(-1)


def test_dense_beside_sparse():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(6, 3))
    sparse = scipy.sparse.csr_array(rng.normal(size=(6, 9)) * (rng.random((6, 9)) < 0.3))
    whole = beside(dense, sparse)
    assert (whole.toarray() == np.hstack([dense, sparse.toarray()])).all()
    assert whole.has_canonical_format
    assert beside(dense[:0], sparse[:0]).shape == (0, 12)


def test_values_of_features():
    old = {"a": 1.0, "b": 2.0, "c": 3.0}
    assert with_values(old, ("b", "c", "d", "e"), np.array([0.0, 5.0, 6.0, 0.0])) == {"a": 1.0, "c": 5.0, "d": 6.0}
    assert old == {"a": 1.0, "b": 2.0, "c": 3.0}
    with pytest.raises(ValueError, match="2 weights for 1"):
        with_values({}, ("a",), np.zeros(2))


def test_features_that_are_nowhere_change_nothing():
    pool = sparse_pool(sentences=30, candidates=10, p=60)
    wide = Pool(pool.references)
    place = np.random.default_rng(4).permutation(100_000)[:60]
    place.sort()
    names = vocabulary_of(f"g_{k}" for k in range(100_000))
    rows = pool.sparse
    spread = scipy.sparse.csr_array((rows.data, place[rows.indices], rows.indptr), shape=(len(pool), 100_000))
    wide.add(NBest(NAMES, pool.owner, pool.hypotheses, pool.dense, np.zeros(len(pool)), spread, names))
    narrow = MIRA(passes=3).fit(pool, Weights(NAMES, np.ones(3))).weights
    other = MIRA(passes=3).fit(wide, Weights(NAMES, np.ones(3))).weights
    assert other.dense.tolist() == narrow.dense.tolist()
    assert dict(other.sparse) == {f"g_{place[int(name[2:])]}": value for name, value in narrow.sparse.items()}


@pytest.mark.parametrize("optimiser", ["mira", "pro", "wro"])
def test_the_command(tmp_path, capsys, optimiser):
    pool = sparse_pool(sentences=5)
    write_lists(pool, tmp_path)
    words = ["optimise", str(tmp_path / "nbest"), "--optimiser", optimiser, "--references", str(tmp_path / "ref")]
    rare = int(((counted(pool) < 3) & (counted(pool) > 0)).sum())
    present = int((counted(pool) > 0).sum())
    assert main([*words, "--min-count", "3", "--json"]) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert result["left_out"] == rare
    assert f"{rare} of {present} sparse features, in fewer than 3 sentences, are left out" in captured.err
    frequent = {f"f_{k}" for k in np.flatnonzero(counted(pool) >= 3)}
    assert set(result["weights"]["sparse"]) <= frequent
    assert result["pool_bleu"] > result["start_pool_bleu"]
    assert "min-count:3" in result["signature"]
    assert main([*words, "--min-count", "-1"]) == 1
    assert "min-count is -1" in capsys.readouterr().err


def test_a_tuning_run(tmp_path, capsys):
    pool = sparse_pool(sentences=5)
    write_lists(pool, tmp_path)
    (tmp_path / "weights.json").write_text('{"dense": {"LM": [1.0], "TM": [1.0, 1.0]}, "sparse": {}}')
    files = ["--source", str(tmp_path / "ref"), "--references", str(tmp_path / "ref"), "--run", str(tmp_path / "run")]
    lists = ["--decoder", "fixed", "--lists", str(tmp_path / "nbest"), "--initial", str(tmp_path / "weights.json")]
    assert main(["tune", *files, *lists, "--optimiser", "mira", "--iterations", "2", "--min-count", "3"]) == 0
    rare = int(((counted(pool) < 3) & (counted(pool) > 0)).sum())
    assert f"{rare} of " in capsys.readouterr().err
    frequent = {f"f_{k}" for k in np.flatnonzero(counted(pool) >= 3)}
    learnt = set(read_weights(tmp_path / "run/iterations/001/after.json").sparse)
    assert learnt
    assert learnt <= frequent
