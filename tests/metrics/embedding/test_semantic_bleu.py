"""Semantic BLEU against a slow reference, and nearest neighbours against a full sort."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lasw.metrics import Corpus, References, metric, nearest, open_vectors
from lasw.metrics.embedding.semantic_bleu import SemanticBleu

WORDS = [f"w{k}" for k in range(8)]
MATRIX = np.random.default_rng(8).normal(size=(8, 3)).round(3)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "v.txt"
    path.write_text("".join(f"{w} {' '.join(map(str, v))}\n" for w, v in zip(WORDS, MATRIX, strict=True)))
    return str(path)


def slow_neighbours(k):
    unit = MATRIX.astype(np.float32).astype(float)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = unit @ unit.T
    found = {}
    for i, word in enumerate(WORDS):
        order = [j for j in np.argsort(-cosines[i], kind="stable") if j != i][:k]
        found[word] = {WORDS[j]: cosines[i, j] for j in order}
    return found


def ngrams(words, n):
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def slow_matches(hypothesis, references, k):
    neighbours = slow_neighbours(k)
    out = []
    for n in range(1, 5):
        left = Counter()
        for r in references:
            left |= Counter(ngrams(r.split(), n))
        total, rest = 0.0, []
        for gram in ngrams(hypothesis.split(), n):
            if left[gram] > 0:
                left[gram] -= 1
                total += 1
            else:
                rest.append(gram)
        kinds = list(dict.fromkeys(gram for r in references for gram in ngrams(r.split(), n)))
        soft = []
        for i, e in enumerate(rest):
            for j, r in enumerate(kinds):
                differing = [(a, b) for a, b in zip(e, r, strict=True) if a != b]
                if len(differing) == 1:
                    a, b = differing[0]
                    cosine = neighbours.get(b, {}).get(a, 0.0)
                    if cosine > 0:
                        soft.append((-cosine, i, j, r))
        used = set()
        for cosine, i, _, r in sorted(soft):
            if i not in used and left[r] > 0:
                used.add(i)
                left[r] -= 1
                total -= cosine
        out.append(total)
    return out


def statistics(m, hypotheses, *references):
    refs = References.from_lines(*references)
    corpus = Corpus.from_lines(hypotheses, refs.vocabulary)
    return m.statistics(corpus, m.prepare(refs), np.arange(len(hypotheses)))


def test_the_example_of_the_paper(tmp_path):
    """`supermarket` is near `store`: as a word and in the n-grams that end in it, it counts their cosine."""
    path = tmp_path / "v"
    path.write_text("store 1 0\nsupermarket 0.2 0.9797959\nboy -1 0\n")
    rows = statistics(SemanticBleu(str(path)), ["The boy went to the supermarket"], ["The boy went to the store"])
    assert rows[0, :8] == pytest.approx([5.2, 6, 4.2, 5, 3.2, 4, 2.2, 3], abs=1e-6)
    plain = statistics(SemanticBleu(str(path), k=0), ["The boy went to the supermarket"], ["The boy went to the store"])
    assert plain[0].tolist() == [5, 6, 4, 5, 3, 4, 2, 3, 6]


SENTENCES = st.lists(st.sampled_from([*WORDS, "x"]), max_size=9).map(" ".join)


@settings(max_examples=80)
@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3), st.integers(1, 4))
def test_matches_against_a_slow_reference(vectors, hypothesis, references, k):
    rows = statistics(SemanticBleu(vectors, k=k), [hypothesis], *([r] for r in references))
    assert rows[0, 0:8:2] == pytest.approx(slow_matches(hypothesis, references, k), abs=1e-6)


def test_scores_are_those_of_bleu_without_soft_matches(vectors):
    hypotheses, references = ["w1 w2 w3 w4 w5", "x y z"], ["w1 w2 w3 w4 w6", "x y"]
    bleu, bleu1, m = metric("BLEU"), metric("BLEU+1"), metric(f"SRBLEU:vectors={vectors}:k=0")
    refs = References.from_lines(references)
    corpus = Corpus.from_lines(hypotheses, refs.vocabulary)
    counts = bleu.statistics(corpus, bleu.prepare(refs), np.arange(2))
    rows = m.statistics(corpus, m.prepare(refs), np.arange(2))
    assert np.array_equal(rows, counts)
    assert m.corpus_score(rows.sum(axis=0)) == bleu.corpus_score(counts.sum(axis=0))
    assert np.array_equal(m.sentence_scores(rows), bleu1.sentence_scores(counts))
    soft = metric(f"SRBLEU:vectors={vectors}:k=7")
    assert (soft.sentence_scores(statistics(soft, hypotheses, references)) >= bleu1.sentence_scores(counts)).all()


def test_blocks_do_not_change_a_bit(vectors):
    m = SemanticBleu(vectors)
    generator = np.random.default_rng(9)
    refs = References.from_lines(["w1 w2 w3 w4 w5", "w0 w7 w7 x"])
    lines = [" ".join(generator.choice([*WORDS, "x", "y"], size=generator.integers(0, 8))) for _ in range(30)]
    owner = generator.integers(0, 2, size=30).astype(np.int32)
    corpus = Corpus.from_lines(lines, refs.vocabulary)
    prepared = m.prepare(refs)
    whole = m.statistics(corpus, prepared, owner)
    parts = [m.statistics(corpus.take(np.arange(a, b)), prepared, owner[a:b]) for a, b in ((0, 13), (13, 30))]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    there_and_back = whole.sum(axis=0)
    for row in (*whole[::2], *whole[1::2]):
        there_and_back = there_and_back - row
    assert not there_and_back.any()  # exactly 0, whatever was added and taken away in between


def test_room_for_similar_words_grows(vectors, monkeypatch):
    draw = np.random.default_rng(3)
    lines = [" ".join(draw.choice([*WORDS, "x"], size=length)) for length in (3, 30, 5, 60, 0, 40)]
    others = [" ".join(draw.choice(WORDS, size=25)) for _ in lines]
    m = SemanticBleu(vectors)
    wanted = statistics(m, lines, others, others[::-1])
    assert wanted[:, 0].max() > 20
    monkeypatch.setattr("lasw.metrics.embedding.semantic_kernel._ROOM", 1)
    assert statistics(m, lines, others, others[::-1]).tobytes() == wanted.tobytes()


def test_neighbours_against_a_full_sort(tmp_path, monkeypatch):
    monkeypatch.setattr("lasw.metrics.vectors.vectors._BLOCK", 7)
    monkeypatch.setattr("lasw.metrics.vectors.neighbours._AT_ONCE", 5)
    monkeypatch.setattr("lasw.metrics.vectors.neighbours._FIRST", 3)
    monkeypatch.setattr("lasw.metrics.vectors.neighbours._SPARE", 2)
    matrix = np.random.default_rng(10).normal(size=(40, 4)).astype(np.float32)
    matrix[3] = 0
    matrix[20] = 2 * matrix[10]
    matrix[11] *= 1e38  # squares of these are beyond single precision
    matrix[12] *= 1e-30
    path = tmp_path / "v"
    path.write_text("".join(f"v{i} {' '.join(map(repr, v.tolist()))}\n" for i, v in enumerate(matrix)) + "v5 1 2 3 4\n")
    file = open_vectors(path)
    unit = matrix.astype(float)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-300)
    rows = np.array([0, 10, 20, 39, 3, 17, 5])
    for k in (1, 3, 50):
        near, cosines = nearest(file, rows, k)
        for i, row in enumerate(rows):
            expected = [j for j in np.argsort(-(unit @ unit[row]), kind="stable") if j != row][:k]
            if row != 3:  # all cosines of the zero vector are 0
                assert near[i, : len(expected)].tolist() == expected or np.allclose(
                    (unit @ unit[row])[near[i, : len(expected)]], (unit @ unit[row])[expected], atol=1e-12
                )
            assert np.allclose(cosines[i, : len(expected)], (unit @ unit[row])[near[i, : len(expected)]], atol=1e-7)
            assert (near[i, len(expected) :] == -1).all()


def test_the_penalties_in_the_signature_are_those_of_bleu(vectors):
    """Without neighbours it is BLEU+1 of sentences and BLEU of corpora, both with the penalty that is not smoothed."""
    alone = metric(f"SRBLEU:vectors={vectors}:k=0")
    assert "|sentence-alpha:1|sentence-bp:plain|corpus-bp:plain|" in str(alone.signature())
    references = References.from_lines(["w0 w1 w2 w3 w4 w5 w6", "w1 w2 w3 w4 w5"])
    corpus = Corpus.from_lines(["w0 w1 w2 w3 w4", "w1 w2 w3 w4"], references.vocabulary)
    owner = np.arange(2)
    statistics = [m.statistics(corpus, m.prepare(references), owner) for m in (alone, metric("BLEU+1:bp=plain"))]
    total = statistics[0].sum(axis=0)
    sentences = metric("BLEU+1:bp=plain").sentence_scores(statistics[1])
    np.testing.assert_allclose(alone.sentence_scores(statistics[0]), sentences, rtol=1e-12)
    assert alone.corpus_score(total) == pytest.approx(metric("BLEU:bp=plain").corpus_score(total), rel=1e-12)
    smoothed = metric("BLEU+1:bp=smoothed").sentence_scores(statistics[1])
    assert (np.abs(smoothed - sentences) > 1e-3).all()
