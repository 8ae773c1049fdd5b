"""WMD and WMD_O: the paper's examples, a slow reference, edge cases, and agreement with people."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import pearsonr

from lasw.metrics import Corpus, Preprocessing, References, UserError, metric
from lasw.metrics.embedding.wmd import Wmd, Wmdo
from lasw.metrics.embedding.wmd_kernel import CHUNKS, DISTANCE, MATCHED, ORDER
from lasw.metrics.embedding.words import normalised

TEXT = "a b c d e f the sun is shining brightly on cool summer day work only fun when weather good there"
WORDS = TEXT.split()
GENERATOR = np.random.default_rng(1)
VECTORS = dict(zip(WORDS, GENERATOR.normal(size=(len(WORDS), 6)).astype(np.float32).astype(float), strict=True))
VECTORS["aa"] = 3 * VECTORS["a"]  # collinear


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "v.txt"
    path.write_text("".join(f"{w} {' '.join(map(repr, v.tolist()))}\n" for w, v in VECTORS.items()))
    return str(path)


def measured(m, hypothesis, reference):
    refs = References.from_lines([reference])
    corpus = Corpus.from_lines([hypothesis], refs.vocabulary)
    return m.measures(corpus, m.prepare(refs), np.zeros(1, dtype=np.int32))[0][0, 0]


def scores(m, hypotheses, references, owner=None):
    refs = References.from_lines(*references)
    corpus = Corpus.from_lines(hypotheses, refs.vocabulary)
    owner = np.arange(len(hypotheses)) if owner is None else np.array(owner)
    return m.sentence_scores(m.statistics(corpus, m.prepare(refs), owner))


def slow_distance(hypothesis, reference, euclidean=False):
    """A linear program over words as they stand, each with its share of the sentence."""

    def cost(a, b):
        if a == b:
            return 0.0
        u, v = (VECTORS.get(w, np.zeros(6)) for w in (a, b))
        if euclidean:
            return np.linalg.norm(u - v)
        lengths = np.linalg.norm(u) * np.linalg.norm(v)
        return 1.0 - (u @ v / lengths if lengths else 0.0)

    e, r = hypothesis.split(), reference.split()
    m, n = len(e), len(r)
    costs = np.array([[cost(a, b) for b in r] for a in e])
    rows = [np.repeat(np.eye(m)[i], n) for i in range(m)] + [np.tile(np.eye(n)[j], m) for j in range(n)]
    return linprog(costs.ravel(), A_eq=np.array(rows), b_eq=[1 / m] * m + [1 / n] * n).fun


def test_word_order_penalty_of_figure_3_8(vectors):
    reference, candidate = "work is only fun when weather is good there", "work is fun only when there is good weather"
    seen = measured(Wmdo(vectors, penalty="order"), candidate, reference)
    assert seen[DISTANCE] == 0.0
    assert seen[ORDER] == pytest.approx(1.0)


def test_penalties_of_figures_3_12_and_3_14(vectors):
    reference = "the sun is shining brightly on a cool summer day"
    candidate = "shining brightly on a cool summer day is the sun"
    seen = measured(Wmdo(vectors, penalty="order"), candidate, reference)
    assert seen[DISTANCE] == 0.0
    assert seen[ORDER] == pytest.approx(42 / 9)
    assert (seen[CHUNKS], seen[MATCHED]) == (3, 10)
    (score,) = scores(Wmdo(vectors), [candidate], [[reference]])
    assert score == pytest.approx(1 - 0.18 * 0.3)
    (score,) = scores(Wmdo(vectors, penalty="listing"), [candidate], [[reference]])
    assert score == pytest.approx(1 - 0.18 * 0.4)  # the first match, at the end, opens a second chunk
    (score,) = scores(Wmdo(vectors, penalty="order", delta=1.0, cap=0.05), [candidate], [[reference]])
    assert score == pytest.approx(1 - 0.05)


def listing_3_9(candidate, reference):
    """Chunks of a candidate that has the reference's words in another order, taken literally: each word's place is the
    occurrence closest to the current one, of two the first; and whether the first place is not the beginning."""
    chunks, current, late = 1, -1, False
    for i, word in enumerate(reference):
        occurrences = [q for q, other in enumerate(candidate) if other == word]
        matched_index = min(occurrences, key=lambda q: (abs(q - current), q))
        if current + 1 != matched_index:
            chunks += 1
            late = late or i == 0
        current = matched_index
    return chunks, late


@settings(max_examples=300)
@given(st.data())
def test_ties_go_to_the_place_nearest_to_the_current_one(vectors, data):
    reference = data.draw(st.lists(st.sampled_from("abcx"), min_size=1, max_size=9))
    candidate = data.draw(st.permutations(reference))
    chunks, late = listing_3_9(candidate, reference)
    e, r, n = " ".join(candidate), " ".join(reference), len(reference)
    (score,) = scores(Wmdo(vectors, penalty="listing", delta=0.5, alpha=0.0), [e], [[r]])
    assert score == pytest.approx(1 - 0.5 * min(chunks / n, 1.0), abs=1e-15)
    (score,) = scores(Wmdo(vectors, delta=0.5, alpha=0.0), [e], [[r]])
    assert score == pytest.approx(1 - 0.5 * (chunks - late) / n, abs=1e-15)


@pytest.mark.parametrize(
    ("sentence", "chunks"),
    [("a", 1), ("a b c", 1), ("a a a b", 4), ("the sun day the", 1), ("x y x z", 3), ("the sun the day the sun", 5)],
)
def test_a_sentence_against_itself(vectors, sentence, chunks):
    """Distance 0; one chunk, but for words that come again within two places."""
    assert scores(metric(f"WMD:vectors={vectors}"), [sentence], [[sentence]])[0] == 1.0
    n = len(sentence.split())
    missing = sum(w in "xyz" for w in sentence.split()) / n
    (score,) = scores(metric(f"WMDO:vectors={vectors}"), [sentence], [[sentence]])
    assert score == pytest.approx(1 - 0.18 * chunks / n - 0.1 * missing, abs=1e-15)


def test_combinations_of_distance_and_penalty(vectors):
    e, r = "day a b sun", "sun a c day d"
    d = 1 - scores(Wmd(vectors), [e], [[r]])[0]
    p = measured(Wmdo(vectors), e, r)
    p = p[CHUNKS] / p[MATCHED]
    expected = {
        ("add", 0.2, 3.0): d + 0.2 * p**2,
        ("multiply", 0.2, 3.0): d * (1 - p**2 + 3),
        ("reversed", 0.2, 0.5): d * (1 + p**2 - 0.5),
        ("limited", -0.2, 3.0): d * (1 + 0.2 * (p**2 + 3)),
    }
    for (combine, delta, rho), distance in expected.items():
        m = Wmdo(vectors, combine=combine, power=2.0, delta=delta, rho=rho)
        assert scores(m, [e], [[r]])[0] == pytest.approx(1 - distance)
        assert ("broken order" in "".join(m.remarks(np.array([1.0, 1.0])))) == (combine == "multiply")


@pytest.mark.parametrize("combine", ["add", "reversed:rho=0.5", "reversed:rho=1", "limited:delta=-0.5:rho=1"])
def test_broken_order_is_never_better(vectors, combine):
    m = metric(f"WMDO:vectors={vectors}:alpha=0:combine={combine}")
    whole, broken = scores(m, ["a b c e", "c e a b"], [["a b c d", "a b c d"]])
    assert whole >= broken


@pytest.mark.parametrize(
    ("combine", "message"),
    [
        ("limited", "delta=0.18, under which broken order is better; expected delta at most 0; combine=reversed"),
        ("limited:delta=-2:rho=-1", "rho=-1, under which farther words are better; expected delta . rho at most 1"),
        ("reversed:rho=1.5", "rho=1.5, under which farther words are better; expected rho at most 1"),
    ],
)
def test_factors_that_prefer_the_worse_are_refused(vectors, combine, message):
    with pytest.raises(UserError, match=message):
        metric(f"WMDO:vectors={vectors}:combine={combine}")


SENTENCES = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "aa", "x", "y"]), min_size=1, max_size=9).map(" ".join)


@settings(max_examples=60)
@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=4))
def test_distances_against_a_linear_program(vectors, pairs):
    hypotheses, references = zip(*pairs, strict=True)
    for euclidean, m in ((False, Wmd(vectors)), (True, Wmd(vectors, distance="euclidean"))):
        expected = [1 - slow_distance(e, r, euclidean) for e, r in pairs]
        assert np.allclose(scores(m, hypotheses, [references]), expected, atol=1e-9)
        assert np.allclose(scores(m, references, [hypotheses]), expected, atol=1e-9)  # symmetric


def test_collinear_and_unknown_words(vectors):
    m = Wmd(vectors)
    assert scores(m, ["aa", "x", "x", "a"], [["a", "x", "y", "x"]]).tolist() == pytest.approx([1.0, 1.0, 0.0, 0.0])
    assert scores(Wmdo(vectors), ["x"], [["y"]])[0] == pytest.approx(1 - 1 - 0.18 - 0.1)


def test_empty_sides(vectors):
    m, mo = Wmd(vectors), Wmdo(vectors)
    assert scores(m, ["", "", "a"], [["a b", "", ""]]).tolist() == [0.0, 1.0, 0.0]
    assert scores(mo, ["", "", "a"], [["a b", "", ""]]).tolist() == pytest.approx([-0.28, 1.0, -0.18])
    assert m.corpus_score(np.zeros(2)) == 0.0
    euclidean = Wmd(vectors, distance="euclidean")
    unknown = scores(euclidean, ["x", "a b"], [["a b", "x"]])
    assert scores(euclidean, ["", "a b"], [["a b", ""]]).tolist() == pytest.approx(unknown.tolist())


def test_one_against_three_hundred(vectors):
    long = " ".join(WORDS[k % len(WORDS)] for k in range(300))
    expected = 1 - slow_distance("a", long)
    assert scores(Wmd(vectors), ["a", long], [[long, "a"]]).tolist() == pytest.approx([expected, expected])


def test_the_best_reference_counts(vectors):
    m = Wmdo(vectors)
    e, r1, r2 = "a b c d", "b a d c", "a b c e"
    alone = [scores(m, [e], [[r]])[0] for r in (r1, r2)]
    assert scores(m, [e], [[r1], [r2]])[0] == max(alone)


def test_blocks_and_company_do_not_change_a_bit(vectors):
    m = Wmdo(vectors)
    refs = References.from_lines(["the sun is shining", "work is only fun"])
    lines = [" ".join(GENERATOR.choice([*WORDS, "x"], size=GENERATOR.integers(1, 12))) for _ in range(40)]
    owner = GENERATOR.integers(0, 2, size=40).astype(np.int32)
    prepared = m.prepare(refs)
    corpus = Corpus.from_lines(lines, refs.vocabulary)
    whole = m.statistics(corpus, prepared, owner)
    for cut in (1, 7, 33):
        parts = [m.statistics(corpus.take(np.arange(a, b)), prepared, owner[a:b]) for a, b in ((0, cut), (cut, 40))]
        assert np.concatenate(parts).tobytes() == whole.tobytes()
    backwards = m.statistics(corpus.take(np.arange(40)[::-1]), prepared, owner[::-1])[::-1]
    assert backwards.tobytes() == whole.tobytes()


def test_stop_words(vectors, tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("the\nis\n")
    e, r = "the sun is a day", "sun is the b"
    expected = 1 - slow_distance("sun a day", "sun b")
    assert scores(Wmd(vectors, stop=str(path)), [e], [[r]])[0] == pytest.approx(expected)
    assert "|stop:stop.txt#" in str(Wmd(vectors, stop=str(path)).signature())
    refs = ["the is sun the is b", "the is"]
    frequent = scores(Wmd(vectors, stop="2"), [e, e], [refs])
    assert frequent[0] == pytest.approx(expected)
    assert scores(Wmd(vectors, stop="2"), ["the"], [["is the"]])[0] == 1.0  # nothing left on either side


def test_preprocessing_of_3_1_2(vectors):
    line = "This 3 dollars is $3, 10% of my income/thirty-percent of my future. #work"
    prepared = "this 3 dollars is $ 3 10 % of my income thirty percent of my future # work"
    assert [w for token in line.split() for w in normalised(token)] == prepared.split()
    assert [normalised(t) for t in ("Don't", "N.Y.", "1,000.5", "29-year-old", "...", "Ä/b")] == [
        ["dont"],
        ["ny"],
        ["10005"],
        ["29", "year", "old"],
        [],
        ["ä", "b"],
    ]
    m, plain = Wmdo(vectors), Wmdo(vectors, preprocess="no")  # yes is WMDO's default, as in the thesis
    e, r = ["A-b, c.", "..."], ["A b/D !", "a"]
    assert scores(m, e, [r]).tolist() == scores(plain, ["a b c", ""], [["a b d", "a"]]).tolist()


def test_vectors_of_unknown_words(vectors):
    base = scores(Wmd(vectors), ["x a"], [["b c"]])[0]
    for unknown in ("random", "average"):
        m = Wmd(vectors, unknown=unknown)
        score = scores(m, ["x a"], [["b c"]])[0]
        assert score != base
        assert score == scores(m, ["y y", "x a"], [["b c", "b c"]])[1]
        assert score != scores(Wmd(vectors, unknown=unknown, seed=2), ["x a"], [["b c"]])[0]
        assert scores(m, ["x"], [["x"]])[0] == 1.0


def test_unknown_numbers(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("1 1 0\n2 0 1\nword -1 0\n")
    m = Wmd(str(path), numbers="yes")
    assert scores(m, ["3.5", "x"], [["1", "1"]]).tolist() == pytest.approx([np.sqrt(0.5), 0.0])
    assert scores(Wmd(str(path)), ["3.5"], [["1"]])[0] == 0.0


def test_signature_names_vectors_and_settings(vectors):
    text = str(metric(f"WMDO:vectors={vectors}:alpha=0.2").signature())
    assert text.startswith("WMDO|vectors:v.txt#")
    assert "|delta:0.18|alpha:0.2|" in text
    assert str(metric(f"WMDO:vectors={vectors}").signature()) != text


def test_agreement_with_people(shared_data, tmp_path):
    """Direct assessments of WMT17: WMD_O beats WMD, WMD beats sentence BLEU on at least three of four pairs."""
    path = tmp_path / "v.bin"
    path.write_bytes(gzip.decompress((shared_data / "vectors" / "glove-6b-50d-subset.bin.gz").read_bytes()))
    prepare = Preprocessing("13a", True).function()
    table = []
    for pair in ("cs-en", "de-en", "fi-en", "lv-en"):
        with gzip.open(shared_data / "wmt17" / pair / "seg_da.tsv.gz", "rt", encoding="utf-8", newline="\n") as stream:
            rows = [line.rstrip("\n").split("\t") for line in stream][1:]
        human = [float(row[2]) for row in rows]
        texts = [[prepare(row[k]) for row in rows] for k in (3, 4)]
        specs = "BLEU+1", f"WMD:vectors={path}", f"WMDO:vectors={path}"
        table.append([pearsonr(scores(metric(spec), texts[0], [texts[1]]), human)[0] for spec in specs])
    bleu, wmd, wmdo = np.array(table).T
    assert np.abs(bleu - [0.43, 0.42, 0.57, 0.39]).max() <= 0.02
    assert (wmd > bleu).sum() >= 3
    assert (wmdo > wmd).all()


@pytest.mark.parametrize("name", ["WMD", "WE", "WEWPI"])
def test_long_lines_take_no_more_than_their_different_words_do(vectors, name):
    """A flow between all places of a line of 400 000 words would take 1.3 TB."""
    m = metric(f"{name}:vectors={vectors}")
    long, short = ["a b " * 200_000], ["a b " * 20]
    assert scores(m, long, [short])[0] == pytest.approx(1.0 if name != "WEWPI" else scores(m, short, [long])[0])
    if name == "WMD":
        u, v = VECTORS["a"], VECTORS["b"]
        moved = 0.25 * (1 - u @ v / (np.linalg.norm(u) * np.linalg.norm(v)))
        assert scores(m, ["a a a b " * 100_000], [short])[0] == pytest.approx(1 - moved)
