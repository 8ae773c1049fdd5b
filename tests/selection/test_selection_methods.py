"""Selection methods: chance, similarity to a test set, N-best lists, the learned ranking, and known damage."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from damage import CLEAN, KINDS, LONG, NEAR_DUPLICATE, SHORT, DamagedPool, damage
from hypothesis import given
from hypothesis import strategies as st
from pairs import block, choice, chosen, write_bitext

from lasw.metrics import UserError
from lasw.selection import METHODS, NAMES, Diversity, LAScorer, Lists, Material, PairBlock, collector, local_sets
from lasw.selection.rankings.baselines import Chance, EditDistance, TfIdf
from lasw.selection.rankings.learned import learn, train
from lasw.selection.rankings.method import RankedBy
from lasw.selection.rankings.oracle import (
    ByLine,
    FirstBest,
    OracleScore,
    Separability,
    class_separability,
    score_separability,
)

WORDS = ["a", "b", "c", "d", "e", "f"]
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join), min_size=1, max_size=8)
ANY = LAScorer(("the",)).any_length()


def draws(pairs: PairBlock, seed: int) -> list[float]:
    return RankedBy(ANY, Chance(seed)).score(pairs).score.tolist()


def test_chance_is_even_and_follows_line_number_and_seed() -> None:
    n = 4000
    whole = draws(block(["a"] * n), 1)
    assert draws(block(["a"] * 10, first_line=101), 1) == whole[100:110]
    assert draws(block(["a"] * n), 2) != whole
    assert len(set(whole)) == n
    assert min(whole) >= 0
    assert max(whole) < 1
    # 16 cells of pairs of neighbours: chi-square with 15 degrees of freedom is below 38 with probability 0.999.
    cells = Counter((int(4 * x), int(4 * y)) for x, y in zip(whole[::2], whole[1::2], strict=True))
    expected = n / 2 / 16
    assert sum((cells[a, b] - expected) ** 2 / expected for a in range(4) for b in range(4)) < 38


def test_splitmix64_as_published() -> None:
    # The generator's first two outputs from state 0 (the seed is mixed too, which leaves 0 as it is).
    out = draws(block(["a"] * 2), 0)
    assert out == [(output >> 11) / 2**53 for output in (0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4)]


def slow_tfidf(a: str, b: str, counts: Counter[str], n: int) -> float:
    def vector(text: str) -> dict[str, float]:
        return {w: k * math.log(n / counts.get(w, 1)) for w, k in Counter(text.split()).items()}

    x, y = vector(a), vector(b)
    norm = math.sqrt(sum(v * v for v in x.values()) * sum(v * v for v in y.values()))
    return sum(x[w] * y.get(w, 0.0) for w in x) / norm if norm else 0.0


@given(SENTENCES, SENTENCES)
def test_tfidf(pool: list[str], test: list[str]) -> None:
    similarity = TfIdf(tuple(test)).counted(pool)
    counts = Counter(word for text in test + pool for word in set(text.split()))
    texts = [*pool, "unseen words"]
    expected = [[slow_tfidf(a, b, counts, len(test + pool)) for b in test] for a in texts]
    found = similarity.matrix(texts)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    # A row is the same to the bit, whatever stands beside it.
    assert [similarity.matrix([text]).tolist()[0] for text in texts] == found.tolist()


def slow_edits(a: list[str], b: list[str]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            before, row[j] = row[j], min(before + (x != y), row[j] + 1, row[j - 1] + 1)
    return row[-1]


@given(SENTENCES, SENTENCES)
def test_edit_distance(pool: list[str], test: list[str]) -> None:
    expected = [
        [1 - slow_edits(a.split(), b.split()) / max(len(a.split()), len(b.split()), 1) for b in test] for a in pool
    ]
    np.testing.assert_allclose(EditDistance(tuple(test)).matrix(pool), expected, atol=1e-12)


def test_most_similar_pairs_of_each_test_sentence() -> None:
    pool = ["a b c", "x y", "a b d", "a b c", "", "q"]
    similarity = EditDistance(("a b c", "x y z"))
    blocks = [block(pool[:2]), block(pool[2:], first_line=3)]
    scored = [(pairs, ANY.score(pairs)) for pairs in blocks]
    found = local_sets(scored, similarity, 3)
    # An empty sentence is no candidate; of equal ones the first line comes first.
    assert found.lines.tolist() == [[1, 4, 3], [2, 1, 3]]
    np.testing.assert_allclose(found.similarities, [[1, 1, 2 / 3], [2 / 3, 0, 0]])
    assert local_sets(scored, similarity, 9).lines.shape == (2, 5)
    assert found.verdicts == {0: 5, 2: 1}


def lists(scores: list[list[float]], features: list[list[list[float]]]) -> Lists:
    starts = np.cumsum([0, *map(len, scores)])
    return Lists(starts, np.array([x for one in features for x in one]), np.array([x for one in scores for x in one]))


def test_oracle_scores() -> None:
    found = OracleScore(lists([[0.1, 0.4], [], [0.2]], [[[1.0], [2.0]], [], [[0.0]]])).values()
    np.testing.assert_array_equal(found, [0.4, np.nan, 0.2])


def test_separability_by_hand() -> None:
    # N = 3, M(R_1) = 0.5, others 0.2 and 0.3: B = 2 * 0.25 / 0.5.
    assert score_separability(0.5, np.array([0.2, 0.3])) == pytest.approx(1.0)
    # Oracle (2, 0); others (-1, 1) and (-1, -1): mean (0, 0), class means (2, 0) and (-1, 0); between 4 + 1; oracles
    # are not scattered, the others by 1 around their mean. As printed: 4 - 2.
    features, oracle = np.array([[2.0, 0], [-1, 1], [-1, -1]]), np.array([True, False, False])
    assert class_separability(features, oracle) == pytest.approx(5.0)
    assert class_separability(features, oracle, as_printed=True) == pytest.approx(2.0)
    # Feature 1 has standard deviation sqrt(2), feature 2 sqrt(2/3): between 5/2, within 3/2.
    found = Separability(lists([[0.5, 0.2, 0.3]], [features.tolist()])).values()
    assert found[0] == pytest.approx(5 / 3)


def test_separability_where_it_is_not_defined() -> None:
    found = Separability(
        lists([[0.5], [], [0.5, 0.1], [0.0, 0.0, 0.0]], [[[1.0]], [], [[1.0], [2.0]], [[1.0]] * 3])
    ).values()
    np.testing.assert_array_equal(found, [0, np.nan, 0, 0])


def test_first_best_similarity() -> None:
    pool = lists([[0.0, 0.0], [0.0], [], [0.0]], [[[4.0, 1], [0, 1]], [[0.0, 3]], [], [[0.0, 1]]])
    test = lists([[0.0]], [[[8.0, 1.0]]])
    mean, deviation = pool.features.mean(axis=0), pool.features.std(axis=0)

    def unit(x: list[float]) -> np.ndarray:
        standard = (np.array(x) - mean) / deviation
        return np.asarray(standard / np.linalg.norm(standard))

    expected = [unit([4, 1]) @ unit([8, 1]), unit([0, 3]) @ unit([8, 1]), np.nan, unit([0, 1]) @ unit([8, 1])]
    np.testing.assert_allclose(FirstBest(pool, test).values(), expected)
    with pytest.raises(UserError, match="3 features"):
        FirstBest(pool, lists([[0.0]], [[[1.0, 2.0, 3.0]]])).values()


def test_pairs_without_a_list_are_refused() -> None:
    scorer = RankedBy(ANY, ByLine(np.array([0.5, np.nan, 0.1])))
    assert scorer.score(block(["a", "", "b"])).score.tolist() == [0.5, 0, 0.1]  # the empty one is no candidate
    for faulty, line in ((block(["a", "b"]), 2), (block(["a", "b"], first_line=3), 4)):
        with pytest.raises(UserError, match=f"no N-best list of the pool's line {line}"):
            scorer.score(faulty)


def test_decision_values_are_those_of_scikit_learn() -> None:
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    draw = np.random.default_rng(1)
    good, bad = draw.normal(0.5, 1, (60, len(NAMES))), draw.normal(-0.5, 1, (60, len(NAMES)))
    good[:, 3] = bad[:, 3] = 0.25
    rows, labels = np.concatenate([good, bad]), np.repeat([1, 0], 60)
    scaler = StandardScaler().fit(rows)
    machine = SVC(gamma=1 / (len(NAMES) - 1)).fit(scaler.transform(rows), labels)
    new = draw.normal(0, 1, (50, len(NAMES)))
    new[:, 3] = 0.25
    decision = train(good, bad)
    np.testing.assert_allclose(decision.values(new), machine.decision_function(scaler.transform(new)), atol=1e-9)
    assert decision.values(new[7:8])[0] == decision.values(new)[7]


def translated(n: int, aligned: float, seed: int) -> list[list[str]]:
    """Sentences of 12 words of which a share is aligned, one to one."""
    draw = np.random.default_rng(seed)
    source = [" ".join(f"f{k}" for k in draw.integers(0, 500, 12)) for _ in range(n)]
    target = [" ".join(f"e{k}" for k in draw.integers(0, 500, 12)) for _ in range(n)]
    points = [" ".join(f"{i}-{i}" for i in range(12) if i == 0 or draw.random() < aligned) for _ in range(n)]
    return [source, target, points]


def test_learned_selection_finds_pairs_like_the_trusted_ones(tmp_path: Path) -> None:
    good, bad = translated(100, 0.8, 1), translated(100, 0.3, 2)
    pool = write_bitext(tmp_path, [a + b for a, b in zip(good, bad, strict=True)])
    trusted = write_bitext(tmp_path, translated(100, 0.8, 3), "trusted")
    la = LAScorer(("e1",))
    material = Material(pool, la, lambda scorer: collector(pool, scorer), words=600)
    scorer = METHODS.find("svm")(trusted).scorer(material)
    assert (np.array(chosen(choice(pool, scorer, 600, Diversity(2, 200, 2)))) <= 100).mean() > 0.9
    # Trained on the first of the trusted corpus and the worst of the pool, as many of each.
    features = la.score(next(iter(trusted.blocks()))).features[:50]
    scored = la.score(next(iter(pool.blocks())))
    worst = np.lexsort((np.arange(200), scored.score))[:50]
    expected = train(features, scored.features[worst])
    found = learn(trusted, la, material.collect, 600)
    np.testing.assert_array_equal(found.values(scored.features), expected.values(scored.features))


def test_learned_selection_without_anything_to_learn_from(tmp_path: Path) -> None:
    pool = write_bitext(tmp_path, translated(20, 0.8, 1))
    short = write_bitext(tmp_path, [["a"], ["b"], ["0-0"]], "short")
    for trusted, read, message in (
        (short, pool, "short.de: the trusted corpus"),
        (pool, short, "the pool has no pair"),
    ):
        with pytest.raises(UserError, match=message):
            learn(trusted, LAScorer(("e1",)), lambda scorer, read=read: collector(read, scorer), 100)  # type: ignore[misc]


def test_single_features_rank_by_nothing_else(tmp_path: Path) -> None:
    pool = write_bitext(tmp_path, translated(50, 0.5, 1))
    la = LAScorer(("e1",), weights={"RAR": 3.0})
    material = Material(pool, la, lambda scorer: collector(pool, scorer))
    for k, name in enumerate(NAMES):
        scored = METHODS.find(name)().scorer(material).score(next(iter(pool.blocks())))
        np.testing.assert_array_equal(scored.score, scored.features[:, k])


def test_methods_have_names() -> None:
    assert list(METHODS)[:9] == ["la", "svm", "random", "length", "tfidf", "edit", "features", "oracle", "separability"]
    with pytest.raises(UserError, match=r"unknown method 'lda'; expected la, svm.*did you mean 'la'"):
        METHODS.find("lda")


RATES = dict.fromkeys(KINDS, 0.07)


def clean_pairs(n: int = 200) -> tuple[list[str], list[str]]:
    columns = translated(n, 1.0, 5)
    return columns[0], columns[1]


def test_every_kind_of_damage_is_what_it_says() -> None:
    source, target = clean_pairs()
    pool = damage(source, target, RATES, seed=3)
    assert Counter(pool.damage) == Counter(dict.fromkeys(KINDS, 14) | {CLEAN: 200 - 7 * 14})
    for k, kind in enumerate(pool.damage):
        f, e = pool.source[k], pool.target[k]
        original = pool.original[k]
        assert (original == k) == (kind != NEAR_DUPLICATE)
        match kind:
            case "":
                assert (f, e) == (source[k], target[k])
            case "shuffled":
                assert f == source[k]
                assert e != target[k]
                assert pool.damage[target.index(e)] == "shuffled"
            case "untranslated":
                assert f == e == source[k]
            case "truncated":
                assert f == source[k]
                assert target[k].startswith(e + " ")
                assert 0.1 < len(e.split()) / 12 <= 0.6
            case "wrong language":
                assert f == source[k]
                assert not set(e.split()) & set(target[k].split())
                assert len(set(e.split())) == len(set(target[k].split()))
            case "near duplicate":
                assert e == target[original]
                assert pool.damage[original] == CLEAN
                assert slow_edits(f.split(), source[original].split()) == 1
            case "too short":
                assert source[k].startswith(f + " ")
                assert target[k].startswith(e + " ")
                assert len(f.split()) <= SHORT
            case "too long":
                assert len(f.split()) >= LONG
                assert len(f.split()) == len(e.split())
    assert damage(source, target, RATES, seed=3) == pool
    assert damage(source, target, RATES, seed=4) != pool


def test_third_language_is_taken_in_order() -> None:
    source, target = clean_pairs(40)
    pool = damage(source, target, {"wrong language": 0.1}, foreign=["un", "deux", "trois"])
    found = [e for e, kind in zip(pool.target, pool.damage, strict=True) if kind]
    assert Counter(found) == {"un": 2, "deux": 1, "trois": 1}


def test_a_near_duplicate_does_harm_beside_its_original_only() -> None:
    names = (CLEAN, NEAR_DUPLICATE, NEAR_DUPLICATE, "shuffled", CLEAN)
    pool = DamagedPool(("a",) * 5, ("b",) * 5, names, (0, 0, 0, 3, 4))
    assert pool.damaged([1, 5]) == {}
    assert pool.damaged([2]) == {}
    assert pool.damaged([1, 2, 3, 4, 5]) == {NEAR_DUPLICATE: 2, "shuffled": 1}
    assert pool.damaged([2, 3]) == {NEAR_DUPLICATE: 1}


@pytest.mark.parametrize(
    ("rates", "message"),
    [({"torn": 0.1}, "no damage 'torn'"), ({"shuffled": -0.1}, "rates"), ({"shuffled": 0.6, "too long": 0.6}, "rates")],
)
def test_faulty_rates(rates: dict[str, float], message: str) -> None:
    source, target = clean_pairs(20)
    with pytest.raises(UserError, match=message):
        damage(source, target, rates)
