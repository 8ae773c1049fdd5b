"""ROSE: the thesis' example, all features against a slow reference, scores, tagged text."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from lasw.metrics import (
    Corpus,
    References,
    Rose,
    RoseFeatures,
    RoseModel,
    UserError,
    joined,
    metric,
    tagged,
    tagger,
    write_trained_metric,
)
from lasw.metrics.learned.rose.features import CORE, POS
from lasw.metrics.learned.rose.rose import read_rose
from lasw.metrics.learned.tagging import parted
from lasw.metrics.learned.word_classes import frequent_words, is_punctuation, listed_function_words

Sentence = list[str]


def matrix(features: RoseFeatures, hypotheses: list[str], *references: list[str]) -> np.ndarray:
    refs = References.from_lines(*references)
    corpus = Corpus.from_lines(hypotheses, refs.vocabulary)
    return features.matrix(corpus, features.prepare(refs), np.arange(len(hypotheses)))


def test_mixed_matches_of_the_thesis() -> None:
    """Tables 3.2 and 3.3: matches 3/2/1 of car and rose, 2/1/0 of red red; on words alone all have 2/1/0."""
    candidates = ["A|DT red|ADJ car|NN", "A|DT red|ADJ rose|NN", "A|DT red|ADJ red|ADJ"]
    found = matrix(RoseFeatures(pos=True), candidates, ["A|DT red|ADJ vehicle|NN"] * 3)
    names = list(CORE + POS)
    mixed = found[:, names.index("mixed-precision1") :] * [3, 2, 1, 0]
    assert mixed.round(9).tolist() == [[3, 2, 1, 0], [3, 2, 1, 0], [2, 1, 0, 0]]
    words = found[:, names.index("precision1") :][:, :4] * [3, 2, 1, 0]
    assert words.round(9).tolist() == [[2, 1, 0, 0]] * 3


def test_without_clipping_a_repeated_word_counts_again() -> None:
    names = list(CORE + POS)
    found = matrix(RoseFeatures(pos=True, clip=False), ["A|DT red|ADJ red|ADJ"], ["A|DT red|ADJ vehicle|NN"])[0]
    assert found[names.index("precision1")] == 1
    assert found[names.index("recall1")] == pytest.approx(2 / 3)
    assert found[names.index("mixed-precision1")] == 1


def grams(sentence: Sentence, n: int) -> list[tuple[str, ...]]:
    return [tuple(sentence[k : k + n]) for k in range(len(sentence) - n + 1)]


def ngram_features(e: Sentence, refs: list[Sentence], clip: bool) -> list[list[float]]:
    """Precision, recall, F1 by order."""
    out: list[list[float]] = []
    for n in range(1, 5):
        own, others = Counter(grams(e, n)), [Counter(grams(r, n)) for r in refs]
        if clip:
            most = {g: max(o[g] for o in others) for g in own}
            matched = sum(min(c, most[g]) for g, c in own.items())
            recalled = [sum(min(c, own[g]) for g, c in o.items()) for o in others]
        else:
            matched = sum(c for g, c in own.items() if any(g in o for o in others))
            recalled = [sum(c for g, c in o.items() if g in own) for o in others]
        p = matched / own.total() if own else 0.0
        r = max(x / o.total() if o else 0.0 for x, o in zip(recalled, others, strict=True))
        out.append([p, r, 2 * p * r / (p + r) if p + r else 0.0])
    return [list(column) for column in zip(*out, strict=True)]


def mixed_features(e: list[tuple[str, ...]], refs: list[list[tuple[str, ...]]], clip: bool) -> list[float]:
    out = []
    for n in range(1, 5):
        own = [e[k : k + n] for k in range(len(e) - n + 1)]
        best = 0
        for r in refs:
            other = [r[k : k + n] for k in range(len(r) - n + 1)]
            alike = np.array(
                [[all(a[0] == b[0] or a[1] == b[1] for a, b in zip(x, y, strict=True)) for y in other] for x in own],
                dtype=bool,
            ).reshape(len(own), len(other))
            if clip:
                rows, columns = linear_sum_assignment(~alike)
                best = max(best, int(alike[rows, columns].sum()))
            else:
                best = max(best, int(alike.any(axis=1).sum()))
        out.append(best / len(own) if own else 0.0)
    return out


def count_features(e: Sentence, refs: list[Sentence], function: set[str], ratio: bool) -> list[float]:
    def kind(token: str) -> int:
        return 1 if token in {".", ","} else 0 if token in function else 2

    def share(own: int, other: int) -> float:
        return own / other if other else own + 1.0

    lengths = [share(len(e), len(r)) for r in refs]
    out = [min(lengths, key=lambda x: abs(x - 1))]
    for k in range(3):
        own = sum(kind(t) == k for t in e)
        others = [sum(kind(t) == k for t in r) for r in refs]
        if ratio:
            out.append(min((share(own, x) for x in others), key=lambda x: abs(x - 1)))
        else:
            out.append(min(((own - x) / max(len(r), 1) for x, r in zip(others, refs, strict=True)), key=abs))
    return out


TOKENS = [f"{word}|{tag}" for word, tag in itertools.product("ab.", "XY")] + ["the|Z", "|||Z"]
SENTENCE = st.lists(st.sampled_from(TOKENS), max_size=8)


@settings(max_examples=120)
@given(
    st.lists(st.tuples(SENTENCE, SENTENCE, SENTENCE), min_size=1, max_size=4),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_features_equal_a_slow_reference(
    rows: list[tuple[Sentence, Sentence, Sentence]], two: bool, clip: bool, ratio: bool
) -> None:
    texts = [[" ".join(row[k]) for row in rows] for k in range(3)]
    features = RoseFeatures(("the", "a"), pos=True, clip=clip, ratio=ratio)
    found = matrix(features, texts[0], *texts[1 : 3 if two else 2])
    for row, values in zip(rows, found, strict=True):
        e, *refs = [[token.rpartition("|")[::2] for token in sentence] for sentence in row[: 3 if two else 2]]
        words = ngram_features([w for w, _ in e], [[w for w, _ in r] for r in refs], clip)
        # "||" is punctuation like the stop
        plain = [["." if w == "||" else w for w, _ in x] for x in (e, *refs)]
        expected = [
            *itertools.chain(*words),
            sum(words[0]) / 4,
            *count_features(plain[0], plain[1:], {"the", "a"}, ratio),
            *itertools.chain(*ngram_features([t for _, t in e], [[t for _, t in r] for r in refs], clip)),
            *mixed_features(e, refs, clip),
        ]
        assert values.tolist() == pytest.approx(expected, abs=1e-12)


def test_mixed_matches_of_long_sentences() -> None:
    """Beyond one block of bits, with few tags, so that n-grams must often move."""
    draw = random.Random(3)
    for clip in (True, False):
        texts = [[[draw.choice(TOKENS) for _ in range(draw.randint(60, 140))] for _ in range(6)] for _ in range(2)]
        lines = [[" ".join(sentence) for sentence in text] for text in texts]
        found = matrix(RoseFeatures(pos=True, clip=clip), lines[0], lines[1])[:, -4:]
        for e, r, values in zip(*texts, found, strict=True):
            pairs = [[token.rpartition("|")[::2] for token in sentence] for sentence in (e, r)]
            assert values.tolist() == pytest.approx(mixed_features(pairs[0], [pairs[1]], clip), abs=1e-12)


def test_core_features_are_those_of_tagged_text_without_its_tags() -> None:
    bare = matrix(RoseFeatures(("a",)), ["a b . c", ""], ["a b c d", "x"])
    whole = matrix(RoseFeatures(("a",), pos=True), ["a|X b|Y .|P c|X", ""], ["a|X b|X c|X d|Y", "x|Q"])
    assert np.array_equal(bare, whole[:, : len(CORE)])


def character_features(e: str, r: str, orders: int) -> list[float]:
    own, other = list(e.replace(" ", "")), list(r.replace(" ", ""))
    counts = [(Counter(grams(own, n)), Counter(grams(other, n))) for n in range(1, orders + 1)]
    matched = [(x & y).total() for x, y in counts]
    precision = [m / x.total() if x else 0.0 for m, (x, _) in zip(matched, counts, strict=True)]
    recall = [m / y.total() if y else 0.0 for m, (_, y) in zip(matched, counts, strict=True)]
    return precision + recall


@settings(max_examples=60)
@given(st.lists(st.tuples(*[st.text("ab .", max_size=12)] * 2), min_size=1, max_size=4), st.integers(1, 5))
def test_features_of_characters_equal_a_slow_reference(rows: list[tuple[str, str]], orders: int) -> None:
    features = RoseFeatures(characters=orders)
    found = matrix(features, [e for e, _ in rows], [r for _, r in rows])
    assert features.names[: len(CORE)] == CORE
    assert features.names[len(CORE) :: orders] == ("char-precision1", "char-recall1")
    for (e, r), values in zip(rows, found[:, len(CORE) :].tolist(), strict=True):
        assert values == pytest.approx(character_features(e, r, orders), abs=1e-12)


def test_features_of_characters_are_those_of_the_words_of_tagged_text() -> None:
    bare = matrix(RoseFeatures(characters=3), ["ab c"], ["abc d"])
    whole = matrix(RoseFeatures(characters=3, pos=True), ["ab|X c|Y"], ["abc|X d|Y"])
    assert np.array_equal(bare[:, len(CORE) :], whole[:, len(CORE + POS) :])
    assert matrix(RoseFeatures(characters=3), [], []).shape == (0, len(CORE) + 6)


def test_files_of_models_with_and_without_characters(tmp_path: Path) -> None:
    for name, one in (("with.json", model(characters=2)), ("without.json", model())):
        write_trained_metric(tmp_path / name, one)
        assert read_rose(tmp_path / name) == one
        assert ("characters" in json.loads((tmp_path / name).read_text())) == (name == "with.json")
    assert "characters:2" in str(Rose(model(characters=2)).signature())
    assert "characters" not in str(Rose(model()).signature())
    document = json.loads((tmp_path / "with.json").read_text())
    (tmp_path / "wrong.json").write_text(json.dumps({**document, "characters": 21}))
    with pytest.raises(UserError, match="1 to 20"):
        read_rose(tmp_path / "wrong.json")


def model(**settings: object) -> RoseModel:
    features = RoseFeatures(("a",), **settings)  # type: ignore[arg-type]
    d = len(features.names)
    return RoseModel("rank", features, tuple(np.linspace(-1, 1, d)), (0.25,) * d, (0.5,) * d, 0.125)


def rows(m: Rose, hypotheses: list[str], *references: list[str]) -> np.ndarray:
    refs = References.from_lines(*references)
    corpus = Corpus.from_lines(hypotheses, refs.vocabulary)
    return m.statistics(corpus, m.prepare(refs), np.arange(len(hypotheses)))


def test_score_is_the_scaled_features_times_weights() -> None:
    hypotheses, references = ["a b c", "", "d . a"], ["a b d", "b", "a d ."]
    m = Rose(model())
    statistics = rows(m, hypotheses, references)
    X = matrix(m.model.features, hypotheses, references)
    expected = (X - 0.25) / 0.5 @ np.linspace(-1, 1, 17) + 0.125
    assert m.sentence_scores(statistics) == pytest.approx(expected)
    assert m.corpus_score(statistics.sum(axis=0)) == pytest.approx(expected.mean())
    assert m.corpus_score(np.zeros(2)) == 0.0
    stepped = Rose(model(), step=0.1).sentence_scores(rows(Rose(model(), step=0.1), hypotheses, references))
    assert stepped == pytest.approx(np.round(expected, 1))


def test_scores_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [" ".join("abcd.x"[(k * j) % 6] for j in range(k % 7)) for k in range(40)]
    whole = rows(Rose(model()), lines, lines[::-1], lines[5:] + lines[:5])
    monkeypatch.setattr("lasw.metrics.learned.rose.rose._STEP", 3)
    assert np.array_equal(whole, rows(Rose(model()), lines, lines[::-1], lines[5:] + lines[:5]))


def test_words_met_after_the_references_were_prepared() -> None:
    refs = References.from_lines(["a b", "c"])
    features = RoseFeatures(("a", "new"))
    prepared = features.prepare(refs)
    later = Corpus.from_lines(["a new , word"], refs.vocabulary)
    assert features.matrix(later, prepared, np.array([0]))[0, 14:].tolist() == [0.5, 0.5, 0.0]


def test_specification(tmp_path: Path) -> None:
    path = tmp_path / "rose.json"
    write_trained_metric(path, model(ratio=True))
    m = metric(f"ROSE:model={path}:step=0.01")
    assert m == Rose(model(ratio=True), 0.01)
    assert str(m.signature()).startswith(f"ROSE|step:0.01|kind:rank|model:{model(ratio=True).fingerprint()}|clip:yes|")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": [1e200] * 17}, "weights: .* expected 17 finite numbers"),
        ({"scale": [1.0] * 16 + [1e-300]}, "scale 1e-300; expected numbers above 0"),
        ({"scale": [1.0] * 16 + [0]}, "scale 0.0; expected numbers above 0"),
        ({"intercept": True}, "intercept: True; expected a finite number"),
        ({"clip": 1}, "clip: 1; expected a value of type bool"),
        ({"kind": "ranks"}, "kind: 'ranks'; expected rank or reg"),
        ({"features": ["p1"]}, "features that this version does not have in that order"),
        ({"version": 99}, "99"),
        ({"format": "other"}, "lasw ROSE model"),
    ],
)
def test_a_model_with_wrong_values_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "rose.json"
    write_trained_metric(path, model())
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UserError, match=message):
        read_rose(path)


def test_what_is_punctuation_and_what_is_frequent() -> None:
    assert [is_punctuation(token) for token in (".", "...", "€", "a.", "1", "—", "'s")] == [True] * 3 + [
        False,
        False,
        True,
        False,
    ]
    corpora = [Corpus.from_lines(["b a . .", "a c ."]), Corpus.from_lines(["c d"])]
    assert frequent_words(corpora, 3) == ("a", "c", "b")


def test_tagged_tokens() -> None:
    assert [parted(t) for t in ("a|X", "a|b|X", "|||P", "a", "|", "a|", "|X")] == [
        ("a", "X"),
        ("a|b", "X"),
        ("||", "P"),
        ("a", ""),
        ("|", ""),
        ("a", ""),
        ("|X", ""),
    ]
    assert joined(["a b", ""], ["X Y", ""], path="t", tag_path="u") == ["a|X b|Y", ""]
    with pytest.raises(UserError, match=r"u:2: 1 tags; expected 2, one for each word of t"):
        joined(["a", "a b"], ["X", "Y"], path="t", tag_path="u")
    with pytest.raises(UserError, match=r"u: 1 lines; expected 2, as many as t has"):
        joined(["a", "a b"], ["X"], path="t", tag_path="u")
    with pytest.raises(UserError, match=r"token 'b' without a tag; expected word\|TAG"):
        matrix(RoseFeatures(pos=True), ["a|X b"], ["a|X"])
    with pytest.raises(UserError, match=r"unknown tagger 'hanta-em'.*did you mean 'hanta-en'"):
        tagger("hanta-em")
    shout = tagged(["a  b", ""], lambda words: [word.upper() for word in words], path="t")
    assert shout == ["a|A b|B", ""]


def test_a_tagger_whose_model_comes_with_it() -> None:
    pytest.importorskip("HanTa", reason="the extra 'pos' is not installed")
    tag = tagger("hanta-en")
    assert len(tag(["the", "red", "car", "."])) == 4
    assert tag(["the", "house"]) == tag(["the", "house"])
    m = Rose(RoseModel("rank", RoseFeatures(pos=True), (1.0,) * 33, (0.0,) * 33, (1.0,) * 33, 0.0, tagger="hanta-en"))
    refs = References.from_lines(["the red car stands here ."])
    corpus = Corpus.from_lines(["the blue house stands here ."], refs.vocabulary)
    found = m.features(corpus, m.prepare(refs), np.array([0]))[0]
    by_hand = ["|".join(x) for x in zip(corpus.tokens(0), tag(corpus.tokens(0)), strict=True)]
    reference = ["|".join(x) for x in zip(refs.corpora[0].tokens(0), tag(refs.corpora[0].tokens(0)), strict=True)]
    assert np.array_equal(found, matrix(RoseFeatures(pos=True), [" ".join(by_hand)], [" ".join(reference)])[0])
    assert m.sentence_scores(m.statistics(corpus, m.prepare(refs), np.array([0]))) == pytest.approx([found.sum()])


def test_function_words_of_a_language_need_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "wordfreq", None)
    with pytest.raises(UserError, match="need the package wordfreq"):
        listed_function_words("en")
