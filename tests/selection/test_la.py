"""LA selection: features against a slow reading of table 4.1, selection against a transcription of algorithm 4.1."""

from __future__ import annotations

import functools
import itertools
import math
import pickle
import random
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs import block, choice, chosen, write_bitext

from lasw.metrics import Corpus, UserError, Vocabulary, workers
from lasw.selection import LENGTH, Bitext, Diversity, LAScorer, PairBlock, choose, most_frequent
from lasw.selection.choice.candidates import Collection
from lasw.selection.choice.diversity import Window, translation_similarity
from lasw.selection.choice.la import SIMILAR, UNTRANSLATED
from lasw.selection.pool import EMPTY_SOURCE, EMPTY_TARGET, NO_POINTS, OK, OUT_OF_RANGE
from lasw.selection.rankings.la_features import features_of, is_punctuation

Points = set[tuple[int, int]]


def longest(flags: list[bool], wanted: bool) -> int:
    """The longest run of `wanted`."""
    return max((len(run) for run in "".join("x" if flag == wanted else " " for flag in flags).split()), default=0)


def slow_features(f: list[str], r: list[str], points: Points, function_words: set[str]) -> list[float]:
    """Table 4.1 word for word."""
    source = [any(i == k for i, _ in points) for k in range(len(f))]
    target = [any(j == k for _, j in points) for k in range(len(r))]
    fertility = [*sorted((len({i for i, j in points if j == k}) for k in range(len(r))), reverse=True), 0, 0]
    penalised = sum(word in function_words or all(not letter.isalnum() for letter in word) for word in r)
    return [
        sum(source) / len(f),
        sum(target) / len(r),
        (sum(source) + sum(target)) / (len(f) + len(r)),
        *(-fertility[k] / len(f) for k in range(3)),
        longest(source, True) / len(f),
        longest(target, True) / len(r),
        -longest(source, False) / len(f),
        -longest(target, False) / len(r),
        min(len(f), len(r)) / max(len(f), len(r)),
        -math.exp(-penalised / len(r)),
    ]


words = st.sampled_from(["der", "die", "Haus", "ein-Wort", ",", ".", "«", "überaus", "x" * 9, "y" * 20, "😀a", "..."])
sentence = st.lists(words, min_size=1, max_size=9)


@settings(max_examples=60)
@given(st.lists(st.tuples(sentence, sentence, st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)))), max_size=5))
def test_features_equal_a_slow_reading_of_the_table(pairs: list[tuple[list[str], list[str], Points]]) -> None:
    inside = [(f, r, {(i, j) for i, j in points if i < len(f) and j < len(r)}) for f, r, points in pairs]
    function_words = ("der", "x" * 9, "überaus")
    given_block = block(
        ["  ".join(f) for f, _, _ in inside],
        [" " + "\t".join(r) + " " for _, r, _ in inside],
        [" ".join(f"{i}-{j}" for i, j in points) for _, _, points in inside],
    )
    features, verdicts, lengths = features_of(given_block, function_words, 2, 8)
    assert lengths.tolist() == [[len(f), len(r)] for f, r, _ in inside]
    assert verdicts.tolist() == [OK if 2 < len(f) < 8 else LENGTH for f, _, _ in inside]
    for row, (f, r, points) in zip(features.tolist(), inside, strict=True):
        expected = slow_features(f, r, points, set(function_words)) if 2 < len(f) < 8 else [0.0] * 12
        assert row == pytest.approx(expected, abs=1e-15)


def test_long_sentences_take_several_words_of_a_mask() -> None:
    draw = random.Random(1)
    f, r = [f"f{k}" for k in range(150)], [f"r{k}" for k in range(140)]
    points = {(draw.randrange(150), draw.randrange(140)) for _ in range(300)} | {(149, 139), (63, 1), (64, 1)}
    line = " ".join(f"{i}-{j}" for i, j in sorted(points))
    features, verdicts, _ = features_of(block([" ".join(f)], [" ".join(r)], [line]), (), 10, 200)
    assert verdicts.tolist() == [OK]
    assert features[0].tolist() == pytest.approx(slow_features(f, r, points, set()), abs=1e-15)


def test_a_worked_example() -> None:
    # Source word 2 is free, target word 1 comes from three source words, "the" and "." are penalised.
    given_block = block(["a b c d e f"], ["the x y ."], ["0-0 1-1 3-1 4-1 5-3 5-3"])
    features, _, _ = features_of(given_block, ("the",), 1, 50)
    expected = [5 / 6, 3 / 4, 8 / 10, -3 / 6, -1 / 6, -1 / 6, 3 / 6, 2 / 4, -1 / 6, -1 / 4, 4 / 6, -math.exp(-2 / 4)]
    assert features[0].tolist() == pytest.approx(expected, abs=1e-15)
    scorer = LAScorer(("the",), 1, 50)
    assert scorer.score(given_block).score[0] == pytest.approx(sum(expected), abs=1e-14)
    added = LAScorer(("the",), 1, 50, added_sign=True)
    assert added.score(given_block).score[0] == pytest.approx(sum(expected[:11]) - expected[11], abs=1e-14)
    only = LAScorer(("the",), 1, 50).alone("TAR")
    assert only.score(given_block).score[0] == 0.8


def test_without_alignment_the_text_features_stay() -> None:
    features, verdicts, _ = features_of(block(["a b c"], ["x y"]), (), 1, 50)
    assert (verdicts.tolist(), features[0].tolist()) == ([OK], [0.0] * 10 + [2 / 3, -1.0])


@pytest.mark.parametrize(
    ("points", "verdict"),
    [
        ("", OK),
        ("0-0:0.25 1?1  2-2:1e-05 ", OK),
        ("0-3", OUT_OF_RANGE),
        ("3-0", OUT_OF_RANGE),
        ("0-0 999999999-0", OUT_OF_RANGE),
        ("0-0 9999999999-0", NO_POINTS),
        ("0-3 x", NO_POINTS),
        ("0", NO_POINTS),
        ("0-", NO_POINTS),
        ("-0", NO_POINTS),
        ("0--1", NO_POINTS),
        ("0-0:", NO_POINTS),
        ("0-0:x", NO_POINTS),
        ("0-0-0", NO_POINTS),
        ("0:0", NO_POINTS),
        ("0-0,1-1", NO_POINTS),
    ],
)
def test_what_is_an_alignment(points: str, verdict: int) -> None:
    for low, fine in ((1, OK), (5, LENGTH)):  # pairs of another length are checked as well
        _, verdicts, _ = features_of(block(["a b c"], ["x y z"], [points]), (), low, 50)
        assert verdicts.tolist() == [verdict or fine]


def test_marks_of_sure_and_possible_points_are_read_past() -> None:
    plain, _, _ = features_of(block(["a b c"], ["x y z"], ["0-0 1-1 2-2"]), (), 1, 50)
    marked, _, _ = features_of(block(["a b c"], ["x y z"], ["0-0:0.25 1?1 2?2:1e-05"]), (), 1, 50)
    assert plain.tolist() == marked.tolist()


def test_empty_sides() -> None:
    _, verdicts, _ = features_of(block(["", "a b", " \t", "|", "a"], ["x", "", "", "<b>", "|||"], [""] * 5), (), 0, 50)
    assert verdicts.tolist() == [EMPTY_SOURCE, EMPTY_TARGET, EMPTY_SOURCE, OK, OK]


def test_function_words_are_the_most_frequent_that_are_no_punctuation() -> None:
    text = ["b b b . . . . a\ta c", "c a a , é é é é é"]
    assert most_frequent([block(["x"] * 2, text)], 3) == ("é", "a", "b")
    assert most_frequent([block(["x"], ["z y z y x"])], 2) == ("y", "z")
    assert [is_punctuation(token) for token in (".", "«»", "$", "a.", "1", "-", "—", "。")] == [
        *(True, True, True, False, False, True, True, True)
    ]


def pool(n: int, seed: int, folder: Path) -> tuple[Bitext, list[tuple[list[str], list[str], Points]]]:
    """A pool with many equal scores, near duplicates and untranslated copies, in three files."""
    draw = random.Random(seed)
    pairs: list[tuple[list[str], list[str], Points]] = []
    for _ in range(n):
        kind = draw.random()
        if kind < 0.25 and pairs:  # nearly the same as one before
            f, r, points = draw.choice(pairs)
            f = [word if draw.random() < 0.9 else "w0" for word in f]
        else:
            size = draw.randint(1, 14)
            f = [f"w{min(int(draw.paretovariate(0.5)), 300)}" for _ in range(size)]
            r = list(f) if kind > 0.9 else [f"t{min(int(draw.paretovariate(0.6)), 90)}" for _ in range(size)]
            points = {(k, k) for k in range(size) if draw.random() < 0.8}
        pairs.append((f, r, points))
    points = [" ".join(f"{i}-{j}" for i, j in sorted(points)) for _, _, points in pairs]
    return write_bitext(folder, [[" ".join(f) for f, _, _ in pairs], [" ".join(r) for _, r, _ in pairs], points]), pairs


@functools.cache
def ngrams(sentence: tuple[str, ...]) -> list[Counter[tuple[str, ...]]]:
    return [Counter(sentence[k : k + n] for k in range(len(sentence) - n + 1)) for n in range(1, 5)]


def bleu_plus_one(e: list[str], r: list[str]) -> float:
    """Sentence BLEU with one added to matches and totals of every order (Moses' pro)."""
    logs = 0.0
    for n, (ours, theirs) in enumerate(zip(ngrams(tuple(e)), ngrams(tuple(r)), strict=True)):
        matches = sum(min(count, theirs[gram]) for gram, count in ours.items() if gram in theirs)
        logs += math.log((matches + 1) / (max(len(e) - n, 0) + 1)) / 4
    return math.exp(logs + min(0.0, 1 - len(r) / len(e)))


def algorithm(
    pairs: list[tuple[list[str], list[str], Points]], score: list[float], low: int, high: int, n: int, window: int = 200
) -> tuple[list[int], Counter[str]]:
    """Algorithm 4.1: the numbers of the selected pairs from 1, and how many each filter rejected."""
    ranked = sorted((k for k, (f, _, _) in enumerate(pairs) if low < len(f) < high), key=lambda k: (-score[k], k))
    selected: list[int] = []
    rejected: Counter[str] = Counter()
    size = 0
    for k in ranked:
        if size >= n:
            break
        f, r, _ = pairs[k]
        if bleu_plus_one(f, r) >= 0.6:
            rejected[UNTRANSLATED] += 1
        elif max((bleu_plus_one(f, pairs[other][0]) for other in selected[-window:]), default=0.0) >= 0.3:
            rejected[SIMILAR] += 1
        else:
            selected.append(k)
            size += len(f)
    return [k + 1 for k in selected], rejected


def collected(
    blocks: list[PairBlock], scorer: LAScorer, budget: int, after: tuple[float, int] | None = None
) -> Collection:
    collection = Collection(budget, after)
    for pairs in blocks:
        collection.add(pairs, scorer.score(pairs))
    return collection


def test_the_selection_is_algorithm_4_1_for_any_workers_and_shards(tmp_path: Path) -> None:
    bitext, pairs = pool(5000, 1, tmp_path)
    scorer = LAScorer(("t1", "t2"), 3, 13)
    table = scorer.score(bitext.first(5000)[0])
    slow = [sum(slow_features(f, r, points, {"t1", "t2"})) for f, r, points in pairs[:200]]
    inside = table.verdicts[:200] == OK
    assert table.score[:200][inside] == pytest.approx(np.array(slow)[inside], abs=1e-13)
    expected, rejected = algorithm(pairs, table.score.tolist(), 3, 13, 2500)
    assert len(expected) > 250
    assert min(rejected.values()) > 10
    for n in (1, 2, 7):
        with workers(n) as threads:
            selection = choice(bitext, scorer, 2500, workers=threads)
        assert (chosen(selection), selection.reasons, selection.readings) == (expected, rejected, 1)
        assert selection.words == sum(len(pairs[line - 1][0]) for line in expected)
    whole = bitext.first(5000)[0]
    for cuts in ((0, 1, 700, 701, 4000, 5000), (0, 2500, 5000)):
        shards = [whole[start:end] for start, end in itertools.pairwise(cuts)]

        def sharded(budget: int, after: tuple[float, int] | None, shards: list[PairBlock] = shards) -> Collection:
            parts = [pickle.loads(pickle.dumps(collected([s], scorer, budget, after))) for s in shards]
            for part in parts[-2::-1]:  # in another order than the input
                parts[-1].merge(part)
            return parts[-1]

        again = choose(sharded, 2500)
        assert (chosen(again), again.reasons) == (expected, rejected)
        assert (again.profile, selection.profile) == (selection.profile, again.profile)


@pytest.mark.parametrize("reach", [1, 2])
def test_a_pool_is_read_again_where_memory_did_not_reach(tmp_path: Path, reach: int) -> None:
    bitext, pairs = pool(600, 3, tmp_path)
    scorer = LAScorer((), 3, 13)
    score = scorer.score(bitext.first(600)[0]).score.tolist()
    for wanted in (400, 10**6):
        expected, _ = algorithm(pairs, score, 3, 13, wanted)
        selection = choice(bitext, scorer, wanted, reach=reach)
        assert chosen(selection) == expected
        assert selection.readings > 1 or wanted > 400
        assert selection.profile.pairs == 600


def test_other_similarities_windows_and_no_filter(tmp_path: Path) -> None:
    bitext, pairs = pool(400, 4, tmp_path)
    scorer = LAScorer((), 3, 13)
    score = scorer.score(bitext.first(400)[0]).score.tolist()
    assert (
        chosen(choice(bitext, scorer, 10**6, Diversity(window=3)))
        == (algorithm(pairs, score, 3, 13, 10**6, window=3)[0])
    )
    everything = choice(bitext, scorer, 10**6, Diversity(threshold=2, untranslated=2))
    assert sorted(chosen(everything)) == [k + 1 for k, (f, _, _) in enumerate(pairs) if 3 < len(f) < 13]
    # A metric counted from the sentence's side, and the same through the path that any metric takes.
    fast = choice(bitext, scorer, 10**6, Diversity(similarity="PAC1:alpha=0"))
    any_metric = choice(bitext, scorer, 10**6, Diversity(similarity="PAC1:alpha=0:reflen=shortest"))
    assert chosen(fast) == chosen(any_metric)
    assert 0 < len(fast) < len(everything)
    with pytest.raises(UserError, match="unknown metric"):
        choice(bitext, scorer, 100, Diversity(similarity="BLUE"))
    for name in ("threshold", "untranslated"):
        with pytest.raises(UserError, match=f"{name} of similarity nan; expected a number"):
            Diversity(**{name: math.nan})


def ten(shared: int, of: str, rest: str) -> str:
    """Ten words, of which the first are those of another sentence."""
    return " ".join(f"{of if k < shared else rest}{k}" for k in range(10))


def test_a_similarity_exactly_at_its_threshold_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Line 12 takes a pair whose similarity is below 0.3 to all before and below 0.6 to its translation; shares of ten
    # words meet both to the bit.
    source = ["d", "a", ten(3, "a", "b"), ten(2, "a", "c"), "f", ten(3, "f", "g")]
    source = [text if " " in text else ten(10, text, "") for text in source]
    target = [ten(6, "d", "w")] + [ten(0, "", k) for k in "tuv"] + [ten(5, "f", "x"), ten(0, "", "y")]
    bitext = write_bitext(tmp_path, [source, target])
    selection = choice(bitext, LAScorer((), 3, 12), 10**6, Diversity(similarity="PAC1:alpha=0"))
    assert chosen(selection) == [2, 4, 5]
    assert [(r.line, r.reason, r.similarity, r.other) for r in selection.rejections] == [
        (1, UNTRANSLATED, 0.6, 0),
        (3, SIMILAR, 0.3, 2),
        (6, SIMILAR, 0.3, 5),
    ]
    assert (selection.reached, selection.readings, selection.followed) == (6, 1, None)
    just_above = Diversity(math.nextafter(0.3, 1), 200, math.nextafter(0.6, 1), "PAC1:alpha=0")
    assert chosen(choice(bitext, LAScorer((), 3, 12), 10**6, just_above)) == [1, 2, 3, 4, 5, 6]
    followed = choice(bitext, LAScorer((), 3, 12), 10**6, Diversity(similarity="PAC1:alpha=0"), follow=3).followed
    assert followed is not None
    assert replace(followed, texts=selection.rejections[1].texts) == selection.rejections[1]
    assert selection.rejections[1].texts == (source[2], target[2])
    monkeypatch.setattr("lasw.selection.choice.la.REJECTED", 2)
    assert (
        choice(bitext, LAScorer((), 3, 12), 10**6, Diversity(similarity="PAC1:alpha=0")).rejections
        == (selection.rejections[:2])
    )


@pytest.mark.parametrize("similarity", ["BLEU+1", "PAC1:alpha=0", "PA2:alpha=1", "RAC1:alpha=1", "CHRF"])
def test_similarity_to_a_window_is_that_of_the_metric(similarity: str) -> None:
    draw = random.Random(6)
    sentences = [" ".join(draw.choices("abcd", k=draw.randint(1, 6))) for _ in range(40)]
    vocabulary = Vocabulary()
    corpus = Corpus.from_lines(sentences, vocabulary)
    ids = [corpus.ids[start:end] for start, end in itertools.pairwise(corpus.offsets.tolist())]
    settings = Diversity(window=5, similarity=similarity)
    window = Window(settings, vocabulary)
    assert window.most_similar(corpus.take(np.arange(2))) == [(-math.inf, 0)] * 2
    for k in range(40):
        kept = np.arange(max(0, k - 5), k)
        if k:
            repeated = corpus.take(np.full(len(kept), k))
            values = translation_similarity(settings, repeated, corpus.take(kept))
            rows = np.arange(k, min(k + window.most_at_once, 40))
            assert window.most_similar(corpus.take(rows))[0] == (values.max(), kept[np.argmax(values)] + 1)
            together = [window.most_similar(corpus.take(rows[j : j + 1]))[0] for j in range(len(rows))]
            assert window.most_similar(corpus.take(rows)) == together
        window.add(k + 1, ids[k].copy())


def test_sentences_that_are_compared_together_are_chosen_as_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where most are too similar, and some not translated, many are compared with the window at once."""
    draw = random.Random(3)
    source = [" ".join(draw.choices("abcd", k=draw.randint(3, 9))) for _ in range(600)]
    target = [line if draw.random() < 0.2 else line.upper() for line in source]
    bitext = write_bitext(tmp_path, [source, target])
    settings = Diversity(0.5, 20, 0.9)
    found = []
    for most in (1, 3, 64):
        monkeypatch.setattr("lasw.selection.choice.diversity._AT_ONCE", most)
        selection = choice(bitext, LAScorer((), 2, 12), 10**6, settings)
        found.append((chosen(selection), selection.rejections, selection.reasons, selection.reached))
    assert found[0] == found[1] == found[2]
    assert 10 < len(found[0][0]) < 300
    assert min(found[0][2].values()) > 50


def test_each_reading_keeps_twice_as_much_up_to_a_limit() -> None:
    asked: list[int] = []

    def collect_pool(budget: int, after: tuple[float, int] | None) -> Collection:
        asked.append(budget)
        collection = collected([block(["a b"], first_line=len(asked))], LAScorer((), 0, 9), budget, after)
        collection.dropped = int(len(asked) < 7)
        return collection

    off = Diversity(threshold=2, untranslated=2)
    choose(collect_pool, 50, off, reach=2)
    assert asked == [100, 200, 400, 800, 1600, 1600, 1600]
    for words, reach, budget in ((2, 3, 6), (2, None, 1_000_000), (40_000, None, 1_280_000)):
        asked.clear()
        choose(collect_pool, words, off, reach=reach)
        assert asked[0] == budget
        assert (len(asked) == 1) == (words == 2)


def test_equal_scores_keep_the_order_of_the_input(tmp_path: Path) -> None:
    lines = [" ".join(f"{letter}{k}" for k in range(6)) for letter in "dcba"]
    bitext = write_bitext(tmp_path, [lines, ["x y z u v w"] * 4])
    for words in (10, 12):  # the last one may go beyond
        selection = choice(bitext, LAScorer((), 3, 9), words)
        assert (chosen(selection), selection.words) == ([1, 2], 12)


def test_profiles_add_up_in_any_order() -> None:
    draw = random.Random(5)
    texts = [" ".join("ab"[draw.randrange(2)] for _ in range(draw.randint(1, 9))) for _ in range(300)]
    scorer = LAScorer(("a",), 2, 8)
    whole = collected([block(texts, texts[::-1])], scorer, 50)
    parts = [block(texts[k : k + 7], texts[::-1][k : k + 7], first_line=k + 1) for k in range(0, 300, 7)]
    draw.shuffle(parts)
    pieces = collected(parts, scorer, 50)
    assert pieces.profile == whole.profile
    first, second = pieces.ranked(), whole.ranked()
    assert pieces.dropped == whole.dropped > 0  # once both have dropped all that they can
    assert first is not None
    assert second is not None
    assert first.line.tolist() == second.line.tolist()
    assert first.source.texts() == second.source.texts()
    assert sum(map(len, (text.split() for text in first.source.texts()))) >= 50
    with pytest.raises(ValueError, match="different budgets"):
        whole.merge(Collection(51))


def test_scorers_can_be_sent_to_another_process() -> None:
    scorer = LAScorer(("a",), 0, 9)
    given_block = block(["a b", "c"], ["x y", "z"], ["0-0", "0-0"], first_line=4)
    with ProcessPoolExecutor(1) as pool_of_one:
        there = pool_of_one.submit(scorer.score, given_block[1:2]).result()
    assert there.score.tolist() == scorer.score(given_block).score[1:].tolist()


def test_settings_that_make_no_sense() -> None:
    for low, high in ((10, 11), (-1, 5)):
        with pytest.raises(UserError, match=f"length limits {low} and {high}; expected low"):
            LAScorer((), low, high)
    assert LAScorer((), 0, 2).score(block(["a", "a b"])).verdicts.tolist() == [OK, LENGTH]
    assert (LAScorer(()).low, LAScorer(()).high) == (10, 50)
    with pytest.raises(UserError, match="no feature 'TAR2'"):
        LAScorer((), weights={"TAR2": 1.0})
