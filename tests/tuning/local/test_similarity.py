"""Similarities to development sentences against slow definitions and scikit-learn."""

import gzip
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lasw.metrics import UserError
from lasw.tuning import make_similarity
from lasw.tuning.local.similarities import EmbeddingSimilarity

SOURCE = [
    "ein roter bus",
    "der bus faehrt heute nicht",
    "",
    "heute faehrt ein bus ueber die bruecke",
    "ein ein ein bus",
]
WORDS = ["ein", "roter", "bus", "der", "faehrt", "heute", "nie", "zug"]
lines = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


def slow_bleu(hypothesis, reference):
    """BLEU+1 with add-1 for every order, plain brevity penalty; an empty hypothesis has 0."""
    e, r = hypothesis.split(), reference.split()
    if not e:
        return 0.0
    product = 1.0
    for n in range(1, 5):
        have = Counter(tuple(e[k : k + n]) for k in range(len(e) - n + 1))
        want = Counter(tuple(r[k : k + n]) for k in range(len(r) - n + 1))
        product *= (sum((have & want).values()) + 1) / (sum(have.values()) + 1)
    return product**0.25 * math.exp(min(0.0, 1 - len(r) / len(e)))


@given(line=lines, source=st.lists(lines, min_size=1, max_size=6))
def test_bleu(line, source):
    found = make_similarity("bleu", source).to(line)
    assert found == pytest.approx([slow_bleu(one, line) for one in source])


def test_unknown_words_leave_nothing_behind():
    similarity = make_similarity("bleu", SOURCE)
    size = len(similarity._source.vocabulary)
    first = similarity.to("nie gesehene worte und ein bus")
    assert first == pytest.approx([slow_bleu(one, "nie gesehene worte und ein bus") for one in SOURCE])
    assert len(similarity._source.vocabulary) == size


@given(line=lines, source=st.lists(lines.filter(bool), min_size=1, max_size=6))
def test_words_are_scikit_learns_tfidf(line, source):
    text = pytest.importorskip("sklearn.feature_extraction.text")
    vectors = text.TfidfVectorizer(token_pattern=r"[^ ]+")
    right = (vectors.fit_transform(source) @ vectors.transform([line]).T).toarray().ravel()
    assert make_similarity("words", source).to(line) == pytest.approx(right, abs=1e-12)


@given(line=lines, source=st.lists(lines.filter(bool), min_size=1, max_size=6))
def test_characters_are_scikit_learns_tfidf(line, source):
    text = pytest.importorskip("sklearn.feature_extraction.text")
    vectors = text.TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4))
    right = (vectors.fit_transform(source) @ vectors.transform([line]).T).toarray().ravel()
    mine = make_similarity("characters", source).to(line)
    # char_wb counts a word that is shorter than an order once more, whole: only then do the two differ.
    if all(len(word) >= 2 for word in " ".join([line, *source]).split()):
        assert mine == pytest.approx(right, abs=1e-12)


def test_embeddings_are_cosines_of_means():
    vectors = {"bus": np.array([1.0, 0.0]), "zug": np.array([0.8, 0.6]), "nicht": np.array([-1.0, 0.0])}
    similarity = EmbeddingSimilarity(["bus", "zug bus", "unbekannt", "nicht"], vectors.get, 2)
    mean = np.array([0.9, 0.3]) / math.hypot(0.9, 0.3)
    assert similarity.to("bus was") == pytest.approx([1.0, mean[0], 0.0, 0.0])
    assert similarity.to("").tolist() == [0.0] * 4


def test_vectors_from_files(tmp_path):
    glove = "bus 1 0\nzug 0.8 0.6\n"
    (tmp_path / "glove").write_text(glove)
    (tmp_path / "w2v").write_text("2 2\n" + glove)
    packed = b"2 2\n" + b"".join(
        word.encode() + b" " + np.array(values, np.float32).tobytes() + b"\n"
        for word, values in (("bus", [1, 0]), ("zug", [0.8, 0.6]))
    )
    (tmp_path / "w2v.bin").write_bytes(packed)
    (tmp_path / "w2v.bin.gz").write_bytes(gzip.compress(packed))
    for name in ("glove", "w2v", "w2v.bin", "w2v.bin.gz"):
        similarity = make_similarity("embedding", ["bus", "zug"], vectors=tmp_path / name)
        assert similarity.to("bus") == pytest.approx([1.0, 0.8], abs=1e-6)
    with pytest.raises(UserError, match="--vectors"):
        make_similarity("embedding", ["bus"])
    (tmp_path / "none").write_text("2 2\nbus 1\n")
    with pytest.raises(UserError, match="none:2: 1 numbers; expected a word and 2"):
        make_similarity("embedding", ["bus"], vectors=tmp_path / "none")


@pytest.mark.parametrize("name", ["bleu", "words", "characters"])
def test_values_are_shares_and_a_sentence_is_most_like_itself(name):
    matrix = make_similarity(name, SOURCE).matrix(SOURCE)
    assert matrix.min() >= 0
    assert matrix.max() <= 1
    filled = [0, 1, 3, 4]
    assert np.diag(matrix)[filled] == pytest.approx(np.ones(4))
    assert matrix[:, 2].tolist() == [0.0] * 5
