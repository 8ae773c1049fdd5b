"""The pool against dictionaries: which candidates it keeps, how they are grouped, scored and chosen."""

from __future__ import annotations

import numpy as np
import pytest
from build import ones, some_pool
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse as sp

from lasw.metrics import Corpus, References, UserError, Vocabulary, metric, read_corpus
from lasw.tuning import FeatureNames, NBest, Pool, Weights, stream_nbest
from lasw.tuning.formats.nbest.growing import Growing
from lasw.tuning.nbest import ScoredList

NAMES = FeatureNames((("LM0", 1), ("TM0", 1)))
BLEU = metric("PGBC4")


def references(count=3):
    return References.from_lines(["a b c d", "b c", "d e f"][:count])


def listed(vocabulary, rows, names=NAMES, words=None):
    """An N-best list of rows (sentence, text, dense values, sparse values by name)."""
    sparse = None
    if words is not None:
        entries = [(k, words.add(name), value) for k, row in enumerate(rows) for name, value in row[3].items()]
        at, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
        sparse = sp.csr_array((values, (at, columns)), shape=(len(rows), len(words)), dtype=np.float64)
    return NBest(
        names,
        np.array([row[0] for row in rows], dtype=np.int32),
        Corpus.from_lines([row[1] for row in rows], vocabulary),
        np.array([row[2] for row in rows], dtype=np.float64).reshape(len(rows), len(names)),
        np.zeros(len(rows)),
        sparse,
        words,
    )


ROWS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(["", "a", "a b", "b a", "a b c d e"]),
        st.tuples(st.sampled_from([0.0, -0.0, 1.0, 0.1]), st.sampled_from([0.0, 2.0])),
        st.dictionaries(st.sampled_from(["x", "y", "z"]), st.sampled_from([0.0, 1.0, 2.0])),
    ),
    max_size=30,
)


@given(st.lists(ROWS, max_size=4), st.booleans(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_equal_candidates_are_one(lists, sparse, shared):
    refs = references()
    pool = Pool(refs)
    expected = {}
    words = Vocabulary()
    for rows in lists:
        names = None if not sparse else words if shared else Vocabulary()
        before = len(expected)
        for sentence, text, dense, extra in rows:
            kept = {k: v for k, v in extra.items() if v} if sparse else {}
            expected.setdefault((sentence, text, dense, tuple(sorted(kept.items()))), len(expected))
        assert pool.add(listed(refs.vocabulary, rows, words=names)) == len(expected) - before
        # what was handed out stays valid while the pool grows
        view, copy = pool.dense, pool.dense.copy()
        pool.add(listed(refs.vocabulary, []))
        assert (view == copy).all()
    assert len(pool) == len(expected)
    for k, (sentence, text, dense, extra) in enumerate(expected):
        assert pool.owner[k] == sentence
        assert pool.hypotheses.text(k) == text
        assert tuple(pool.dense[k]) == dense
        if pool.sparse is not None:
            row = pool.sparse.toarray()[k]
            assert {n: v for n, v in zip(pool.sparse_names, row.tolist(), strict=True) if v} == dict(extra)
    for s in range(3):
        members = pool.order[pool.starts[s] : pool.starts[s + 1]].tolist()
        assert members == [k for k, key in enumerate(expected) if key[0] == s]
    if len(pool):
        check_scores(pool)


def check_scores(pool):
    sparse = {"x": 0.5, "y": -1.0}
    weights = Weights(NAMES, np.array([0.1, -0.7]), sparse)
    scores = pool.model_scores(weights)
    expected = pool.dense @ weights.dense
    if pool.sparse is not None:
        expected = expected + pool.sparse.toarray() @ [sparse.get(name, 0.0) for name in pool.sparse_names]
    assert scores == pytest.approx(expected, abs=1e-12)
    best = []
    for s in range(3):
        members = [k for k in range(len(pool)) if pool.owner[k] == s]
        if members:
            best.append(max(members, key=lambda k: (scores[k], -k)))
    assert pool.best(weights).tolist() == best
    statistics = BLEU.statistics(pool.hypotheses, BLEU.prepare(pool.references), pool.owner)
    assert (pool.statistics(BLEU) == statistics).all()
    assert pool.corpus_score(BLEU, weights) == BLEU.corpus_score(statistics[best].sum(axis=0))
    assert (pool.sentence_scores(BLEU) == BLEU.sentence_scores(statistics)).all()


class Counting:
    """A metric that says how many hypotheses it has been asked about."""

    def __init__(self, inner):
        self.inner, self.seen = inner, 0

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def statistics(self, hypotheses, prepared, owner):
        self.seen += len(hypotheses)
        return self.inner.statistics(hypotheses, prepared, owner)


def test_statistics_are_computed_once_and_extended():
    refs = references()
    pool = Pool(refs)
    counting = Counting(BLEU)
    assert pool.statistics(counting).shape[0] == 0
    pool.add(listed(refs.vocabulary, [(0, "a b", (1, 2)), (1, "b", (1, 2))]))
    pool.statistics(counting)
    pool.sentence_scores(counting)
    pool.statistics(metric("PABC3"))
    assert counting.seen == 2
    pool.add(listed(refs.vocabulary, [(0, "a b", (1, 2)), (2, "d e", (1, 2))]))
    assert len(pool.sentence_scores(counting)) == 3
    assert counting.seen == 3


def test_equal_features_tie_wherever_they_stand():
    rng = np.random.default_rng(4)
    names = FeatureNames((("F", 13),))
    refs = references()
    row = tuple(rng.normal(size=13))
    pool = Pool(refs)
    pool.add(listed(refs.vocabulary, [(k % 3, f"w{k}", row) for k in range(1001)], names))
    weights = Weights(names, rng.normal(size=13))
    assert len(set(pool.model_scores(weights).tolist())) == 1
    assert pool.best(weights).tolist() == [0, 1, 2]


def test_scores_that_overflow_are_refused():
    pool = Pool(references())
    pool.add(listed(pool.references.vocabulary, [(1, "a", (2.0,) * len(NAMES)), (0, "b", (0.0,) * len(NAMES))]))
    with pytest.raises(UserError, match=r"a score of sentence 1 is beyond the range of numbers.*divide all weights"):
        pool.best(Weights.constant(NAMES, 1e308))


def test_what_does_not_fit_is_refused():
    refs = references()
    pool = Pool(refs)
    with pytest.raises(ValueError, match="an empty pool"):
        pool.corpus_score(BLEU, Weights.constant(NAMES, 1.0))
    pool.add(listed(refs.vocabulary, [(0, "a", (1, 2))]))
    other = FeatureNames((("LM0", 2),))
    with pytest.raises(UserError, match=r"features LM0\(2\); expected LM0\(1\) TM0\(1\), as in the lists before"):
        pool.add(listed(refs.vocabulary, [(0, "a", (1, 2))], other))
    with pytest.raises(UserError, match="sentence id 3; expected 0 to 2, there are 3 references"):
        pool.add(listed(refs.vocabulary, [(3, "a", (1, 2))]))
    with pytest.raises(ValueError, match="finite"):
        pool.add(listed(refs.vocabulary, [(0, "a", (1, np.nan))]))
    with pytest.raises(TypeError, match="share one vocabulary"):
        pool.add(listed(Vocabulary(), [(0, "a", (1, 2))]))
    with pytest.raises(ValueError, match="weights of"):
        pool.model_scores(Weights.constant(other, 1.0))
    assert len(pool) == 1


def test_pool_without_text():
    statistics = np.array([[1, 2, 0, 1, 0, 0, 0, 0, 2], [2, 2, 1, 1, 0, 0, 0, 0, 2], [1, 2, 0, 1, 0, 0, 0, 0, 2]])
    scored = ScoredList(
        NAMES,
        np.array([0, 0, 0], dtype=np.int32),
        np.ones((3, 2)),
        statistics,
        BLEU.statistics_key(),
        path="features.dat",
    )
    pool = Pool.without_text()
    assert pool.add(scored) == 2
    assert pool.add(scored) == 0
    assert pool.statistics(metric("PABC2")).tolist() == statistics[:2].tolist()
    assert pool.sentence_scores(metric("BLEU+1")).shape == (2,)
    with pytest.raises(UserError, match="RABC2 cannot be computed from lists without text"):
        pool.statistics(metric("RABC2"))
    with pytest.raises(ValueError, match="without text has no references"):
        pool.add(listed(Vocabulary(), [(0, "a", (1, 2))]))
    with pytest.raises(TypeError, match="without text in a pool with text"):
        Pool(references()).add(scored)


@pytest.mark.parametrize("large", [0, 1 << 26])
def test_growing(monkeypatch, large):
    monkeypatch.setattr("lasw.tuning.formats.nbest.growing._LARGE", large)
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1000, 3))
    grown, held = Growing(np.float64, 3), []
    for start in range(0, 1000, 7):
        grown.append(rows[start : start + 7])
        if start % 3 == 0:
            held.append(grown.rows)
    assert (grown.rows == rows).all()
    assert all((view == rows[: len(view)]).all() for view in held)


def test_real_lists(shared_data):
    refs = References((read_corpus(shared_data / "multi30k" / "dev.en.gz"),))
    pool = Pool(refs)
    for iteration in range(1, 9):
        for block in stream_nbest(shared_data / "moses" / "de-en" / f"run{iteration}.best100.out.gz", refs.vocabulary):
            pool.add(block)
    assert len(pool) == 165_469
    rows = np.column_stack([pool.owner, pool.dense])
    assert len(np.unique(rows, axis=0)) == 165_381


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_the_candidates_of_some_sentences(sparse, known):
    """The same as a pool that never had the others, whether statistics were there already or not."""
    pool = some_pool(3, sentences=9, sparse=sparse)
    loss = metric("PABC3")
    if known:
        pool.sentence_scores(loss)
    keep = np.array([True, False, True, True, False, True, False, False, True])
    part = pool.of_sentences(keep)
    rows = np.flatnonzero(keep[pool.owner])
    assert part.owner.tolist() == pool.owner[rows].tolist()
    assert part.dense.tolist() == pool.dense[rows].tolist()
    assert part.statistics(loss).tolist() == pool.statistics(loss)[rows].tolist()
    assert part.sentence_scores(loss).tolist() == pool.sentence_scores(loss)[rows].tolist()
    assert part.lengths.tolist() == pool.lengths[rows].tolist()
    assert np.diff(part.starts).tolist() == [30 if there else 0 for there in keep]
    assert [part.hypotheses.text(k) for k in (0, 31)] == [pool.hypotheses.text(int(rows[k])) for k in (0, 31)]
    weights = ones(pool)
    best = [row for row in pool.best(weights).tolist() if keep[pool.owner[row]]]
    assert rows[part.best(weights)].tolist() == best
    if sparse:
        assert part.sparse.toarray().tolist() == pool.sparse.toarray()[rows].tolist()
        assert part.sparse_names == pool.sparse_names
    else:
        assert part.sparse is None
    with pytest.raises(ValueError, match="takes no candidates"):
        part.add(None)  # refused before it is looked at
