"""WE and WE_WPI: the paper's example, POT on matrices written out, edge cases."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import ot
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lasw.metrics import Corpus, References, metric
from lasw.metrics.embedding.wewpi import We, WeWpi
from lasw.metrics.embedding.wewpi_kernel import align

WORDS = ["a", "b", "c", "d", "e", "f"]
VECTORS = dict(zip(WORDS, np.random.default_rng(6).normal(size=(6, 4)).round(3), strict=True))
VECTORS["aa"] = 2 * VECTORS["a"]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "v.txt"
    path.write_text("".join(f"{w} {' '.join(map(str, v))}\n" for w, v in VECTORS.items()))
    return str(path)


def scores(m, hypotheses, *references):
    refs = References.from_lines(*references)
    corpus = Corpus.from_lines(hypotheses, refs.vocabulary)
    return m.sentence_scores(m.statistics(corpus, m.prepare(refs), np.arange(len(hypotheses))))


def cosine(a, b):
    if a == b:
        return 1.0
    if a not in VECTORS or b not in VECTORS:
        return 0.0
    u, v = VECTORS[a], VECTORS[b]
    # Rounded, so that a word and twice its vector are alike: ties go to the first word, and no last digit breaks them.
    return max(0.0, round(float(u @ v / np.linalg.norm(u) / np.linalg.norm(v)), 12))


def slow_weights(sentence, texts):
    def weight(word):
        df = sum(word in text.split() for text in texts) or 1
        return sentence.count(word) * (math.log(len(texts) / df) + 1)

    found = np.array([weight(word) for word in sentence])
    return found / found.sum()


def slow_costs(e, r, *, aligned):
    """Equations 7, 8 and 12 word for word."""
    m, n = len(e), len(r)
    if not aligned:
        return np.array([[1 - cosine(a, b) for b in r] for a in e])
    shift = [[float(abs(Fraction(i + 1, m) - Fraction(j + 1, n))) for j in range(n)] for i in range(m)]
    score = [[cosine(e[i], r[j]) * (1 - shift[i][j]) for j in range(n)] for i in range(m)]
    chosen = [max(range(n), key=lambda j: score[i][j]) for i in range(m)]
    costs = np.ones((m, n))
    for j in range(n):
        takers = [i for i in range(m) if chosen[i] == j]
        if takers:
            i = max(takers, key=lambda i: score[i][j])
            costs[i, j] = 1 - cosine(e[i], r[j]) * math.exp(-shift[i][j])
    return costs


def slow_score(e, r, hypotheses, references, *, aligned):
    e, r = e.split(), r.split()
    weights = slow_weights(e, hypotheses), slow_weights(r, references)
    return 1 - ot.emd2(*weights, slow_costs(e, r, aligned=aligned))


def test_table_3_of_the_paper():
    translation = ["Are", "there", "topics", "that", "you", "think", "should", "discuss", "world", "?"]
    reference = ["Are", "there", "topics", "you", "want", "to", "get", "the", "world", "talking", "about", "?"]
    cosines = np.array([[float(a == b) for b in reference] for a in translation])
    for a, b, value in (
        ("discuss", "talking", 0.460),
        ("discuss", "topics", 0.477),
        ("that", "you", 0.478 / (1 - abs(4 / 10 - 4 / 12))),
        ("think", "want", 0.6535),
    ):
        cosines[translation.index(a), reference.index(b)] = value
    m, n = cosines.shape
    aligned, similarity = np.empty(m, dtype=np.int64), np.empty(m)
    align(cosines, np.arange(m), m, np.arange(n), n, aligned, np.empty(n, dtype=np.int64), similarity, np.empty(n))
    found = {
        (word, reference[j]): round(1 - value, 3)
        for word, j, value in zip(translation, aligned, similarity, strict=True)
        if j >= 0
    }
    assert found == {
        ("Are", "Are"): 0.017,
        ("there", "there"): 0.033,
        ("topics", "topics"): 0.049,
        ("you", "you"): 0.154,
        ("think", "want"): 0.456,
        ("discuss", "talking"): 0.555,
        ("world", "world"): 0.139,
        ("?", "?"): 0.0,
    }


SENTENCES = st.lists(st.sampled_from([*WORDS, "aa", "x", "y"]), min_size=1, max_size=8).map(" ".join)


@settings(max_examples=60)
@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=5))
@example([("a a a a a aa b b", "a aa")])  # `aa` is as near to both words
@example([("a a a a a b", "b d d")])  # the last `a` is as near to both `d`
def test_scores_against_pot(vectors, pairs):
    hypotheses, references = map(list, zip(*pairs, strict=True))
    for family, aligned in ((We, False), (WeWpi, True)):
        for df, counted in (("references", references), ("hypotheses", hypotheses)):
            expected = [slow_score(e, r, counted, references, aligned=aligned) for e, r in pairs]
            assert np.allclose(scores(family(vectors, df=df), hypotheses, references), expected, atol=1e-9)


@pytest.mark.parametrize("name", ["WE", "WEWPI"])
def test_edges(vectors, name):
    m = metric(f"{name}:vectors={vectors}")
    same = ["a", "a b a", "x", "x a y x", "aa a aa"]
    assert scores(m, same, same).tolist() == pytest.approx([1.0] * 5, abs=1e-12)
    assert scores(m, ["", "", "a", "x"], ["a", "", "", "y"]).tolist() == [0.0, 1.0, 0.0, 0.0]
    assert scores(m, ["aa"], ["a"])[0] == pytest.approx(1.0)
    both = ["d e f", "a b d"]  # frequencies are of all references, the best of which counts
    best = max(slow_score("a b c", r, both, both, aligned=name == "WEWPI") for r in both)
    assert scores(m, ["a b c"], both[:1], both[1:])[0] == pytest.approx(best)
    long = " ".join(WORDS[k % 6] for k in range(300))
    assert 0 < scores(m, ["a"], [long])[0] < 1


def test_order_counts_for_one_of_them(vectors):
    assert scores(We(vectors), ["a b c d"], ["d c b a"])[0] == pytest.approx(1.0)
    assert scores(WeWpi(vectors), ["a b c d"], ["d c b a"])[0] < 0.9


def test_frequencies_of_another_text(vectors, tmp_path):
    path = tmp_path / "text"
    lines = ["a b", "a", "a c"]
    path.write_text("\n".join(lines) + "\n")
    expected = slow_score("a b x", "a d", lines, lines, aligned=False)
    assert scores(We(vectors, df=str(path)), ["a b x"], ["a d"])[0] == pytest.approx(expected)


def test_blocks_and_company_do_not_change_a_bit(vectors):
    generator = np.random.default_rng(7)
    refs = References.from_lines(["a b c d", "e f a"])
    lines = [" ".join(generator.choice([*WORDS, "x"], size=generator.integers(1, 9))) for _ in range(30)]
    owner = generator.integers(0, 2, size=30).astype(np.int32)
    corpus = Corpus.from_lines(lines, refs.vocabulary)
    for m in (We(vectors), WeWpi(vectors)):
        prepared = m.prepare(refs)
        whole = m.statistics(corpus, prepared, owner)
        parts = [m.statistics(corpus.take(np.arange(a, b)), prepared, owner[a:b]) for a, b in ((0, 11), (11, 30))]
        assert np.concatenate(parts).tobytes() == whole.tobytes()
