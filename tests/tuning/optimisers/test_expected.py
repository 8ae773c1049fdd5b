"""The expected metric: probabilities, gradients, and what it learns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy
from build import NAMES, made_pool, start_of

from lasw.metrics import Corpus, References, UserError, Vocabulary, metric, read_corpus
from lasw.scripts.main import main
from lasw.tuning import FeatureNames, NBest, Pool, Weights, make_optimiser, match, read_pool, read_weights
from lasw.tuning.optimisers.expected import Expected, ExpectedScore
from lasw.tuning.optimisers.softmax import softmax
from lasw.tuning.pool.columns import Columns
from lasw.tuning.pool.standardised import Standardised

METRICS = ["BLEU", "PABC4:alpha=3", "RGC2", "PGB4:corpus=mean", "PGBC4:refs=each", "WER", "CHRF", "NIST"]


@pytest.fixture(scope="module")
def real_run(shared_data: Path) -> tuple[Pool, Weights]:
    """The 100-best lists of a first iteration and the weights that made them."""
    run = shared_data / "moses" / "de-en"
    references = References((read_corpus(shared_data / "multi30k" / "dev.en.gz"),))
    pool, _ = read_pool([run / "run1.best100.out.gz"], references)
    assert pool.names is not None
    return pool, match(read_weights(run / "run1.moses.ini"), pool.names).weights


def slow_score(pool: Pool, spec: str, v: np.ndarray, entropy: float, l2: float) -> float:
    """-F, sentence by sentence."""
    loss, columns = metric(spec), Columns.of(pool)
    features, statistics = Standardised.of(columns), pool.statistics(metric(spec))[columns.order]
    rows = features.dense if features.sparse is None else np.hstack([features.dense, features.sparse.toarray()])
    total, entropies = np.zeros(statistics.shape[1]), []
    for first, last in zip(columns.starts[:-1], columns.starts[1:], strict=True):
        p = scipy.special.softmax(rows[first:last] @ v)
        total += p @ statistics[first:last]
        entropies.append(scipy.stats.entropy(p))
    return float(-loss.corpus_score(total) - entropy * np.mean(entropies) + l2 / 2 * v @ v)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("spec", METRICS)
@pytest.mark.parametrize("entropy", [0.0, 0.3])
def test_value_and_gradient_are_those_of_the_definition(spec: str, sparse: bool, entropy: float) -> None:
    pool = made_pool(4, sentences=6, candidates=8, sparse=sparse)
    columns = Columns.of(pool)
    features = Standardised.of(columns)
    statistics = pool.statistics(metric(spec))[columns.order].astype(np.float64)
    v = np.random.default_rng(1).normal(size=features.width)
    value, gradient = ExpectedScore(metric(spec), features, statistics).loss(v, entropy, 0.2)

    def slow(v: np.ndarray) -> float:
        return slow_score(pool, spec, v, entropy, 0.2)

    assert value == pytest.approx(slow(v), abs=1e-12)
    steps = 1e-5 * np.eye(len(v))
    expected = [(slow(v + step) - slow(v - step)) / 2e-5 for step in steps]
    assert gradient == pytest.approx(expected, rel=1e-6, abs=1e-7)


def test_a_score_gradient_by_hand() -> None:
    # RAC1 is match1 / total1: its derivatives are 1 / total1 and -match1 / total1^2.
    unigrams = metric("RAC1")
    gradient = unigrams.score_gradient(np.array([3.0, 8.0, 1, 7, 0, 6, 0, 5, 8, 8]))
    assert gradient == pytest.approx([1 / 8, -3 / 64] + [0] * 8, abs=1e-9)
    # BLEU without any 4-gram: the score is 0 and stays 0, there is no slope to follow.
    flat = metric("BLEU").score_gradient(np.array([3.0, 8, 1, 7, 1, 6, 0, 5, 8]))
    assert np.isfinite(flat).all()
    assert flat[6] == 0


def test_probabilities_of_scores_of_any_size() -> None:
    starts = np.array([0, 2, 5, 6])
    scores = np.array([1e6, 1e6 + np.log(3), -800.0, 0.0, 800.0, 5.0])
    probability, normaliser, entropy = np.empty(6), np.empty(3), np.empty(3)
    softmax(starts, scores, probability, normaliser, entropy)
    assert probability == pytest.approx([0.25, 0.75, 0, 0, 1, 1])
    assert normaliser == pytest.approx([1e6 + np.log(4), 800, 5])
    assert entropy == pytest.approx([np.log(4) - 0.75 * np.log(3), 0, 0], abs=1e-9)


def test_two_candidates_by_hand() -> None:
    # Loss RAC1: the first sentence's candidates match 2 and 1 of 2 words, the feature says so; in the second it says
    # the contrary of 1 and 0 words. Expected matches: 1 + p + (1 - p): no weight changes the score but the penalty,
    # which wants 0. With another first sentence p has the majority and grows without end but for the penalty.
    vocabulary = Vocabulary()
    pool = Pool(References.from_lines(["a b", "a b", "a b"], vocabulary=vocabulary))
    names = FeatureNames((("f", 1),))
    texts = Corpus.from_lines(["a b", "a x", "x x", "a y", "a b", "b x"], vocabulary)
    dense = np.array([[1.0], [-1], [1], [-1], [1], [-1]])
    pool.add(NBest(names, np.array([0, 0, 1, 1, 2, 2], np.int32), texts, dense, np.zeros(6)))
    fit = Expected(metric="RAC1", l2=0.03, norm="none").fit(pool, Weights(names, np.ones(1)))
    v = fit.weights.dense[0]
    p = 1 / (1 + np.exp(-2 * v))
    # F = (3 + p) / 6 - 0.03 / (2 * 3) v^2; p' = 2 p (1 - p).
    assert 2 * p * (1 - p) / 6 == pytest.approx(0.01 * v, abs=1e-4)
    assert fit.objective == pytest.approx((3 + p) / 6 - 0.005 * v**2, abs=1e-9)


@pytest.mark.parametrize("units", [1.0, 1e4, 1e-3])
@pytest.mark.parametrize("spec", ["BLEU", "PABC4", "RABC2", "PGB4:corpus=mean"])
def test_what_knows_the_quality_gets_the_weight_in_any_unit(spec: str, units: float) -> None:
    pool = made_pool(units=units)
    start = Weights(NAMES, np.array([0.2 / units, 1.0 * units, 0.7]))
    fit = Expected(metric=spec).fit(pool, start)
    assert pool.corpus_score(metric(spec), fit.weights) > pool.corpus_score(metric(spec), start) + 0.1
    assert fit.weights.dense[0] * units > 2 * abs(fit.weights.dense[1]) / units
    assert fit.weights.dense[2] == 0.7
    assert np.abs(fit.weights.dense[:2]).sum() == pytest.approx(1)
    assert fit.warnings == ()


def test_sparse_features_and_the_same_bytes_again() -> None:
    start = Weights(NAMES, np.array([0.2, 1.0, 0.7]), {"S_1": 0.5, "unseen": 0.25})
    fit, again = (Expected().fit(made_pool(sparse=True), start) for _ in range(2))
    assert fit.weights.dense.tobytes() == again.weights.dense.tobytes()
    assert fit.weights.sparse == again.weights.sparse
    assert fit.weights.sparse["S_0"] < 0
    assert fit.weights.sparse["unseen"] == 0.25


def test_annealing_ends_at_the_same_objective_or_a_better_one() -> None:
    pool = made_pool(3, sentences=30)
    start = Weights(NAMES, np.array([-1.0, 3.0, 0.7]))
    plain, annealed = Expected(l2=3e-3).fit(pool, start), Expected(l2=3e-3, stages=3).fit(pool, start)
    assert annealed.objective > plain.objective - 1e-4
    assert annealed.iterations > plain.iterations


def test_the_entropy_term_keeps_the_softmax_flat() -> None:
    pool = made_pool()
    flat, sharp = (Expected(entropy=t, norm="none").fit(pool, start_of(pool)).weights.dense for t in (1.0, 0.0))
    assert np.abs(flat[:2]).sum() < 0.3 * np.abs(sharp[:2]).sum()


@pytest.mark.parametrize("what", ["texts", "features", "no 4-grams"])
def test_one_warning_and_the_start_weights_where_nothing_can_be_learnt(what: str) -> None:
    vocabulary = Vocabulary()
    pool = Pool(References.from_lines(["a b c d", ""], vocabulary=vocabulary))
    texts = ["a b", "a b", "", ""] if what == "texts" else ["a b", "a b c", "", ""]
    dense = np.array([[1.0], [1.0], [2.0], [2.0]]) if what == "features" else np.arange(4.0)[:, None]
    names = FeatureNames((("f", 1),))
    corpus = Corpus.from_lines(texts, vocabulary)
    pool.add(NBest(names, np.array([0, 0, 1, 1], np.int32), corpus, dense, np.zeros(4)))
    start = Weights(names, np.array([7.0]))
    fit = Expected().fit(pool, start)
    assert fit.weights is start
    assert len(fit.warnings) == 1
    assert "BLEU" in fit.warnings[0]


def test_a_solver_that_is_stopped_says_so() -> None:
    pool = made_pool()
    fit = Expected(iterations=1).fit(pool, start_of(pool))
    assert fit.warnings == ("the solver did not converge in 1 iterations",)


def test_a_scale_that_leaves_the_softmax_no_slope() -> None:
    with pytest.raises(UserError, match=r"scale 1e\+09 leaves .* expected a smaller one"):
        Expected(scale=1e9).fit(made_pool(), Weights.constant(NAMES, 1.0))


def test_by_name_with_a_seed_that_it_has_no_use_for() -> None:
    assert make_optimiser("expected", {"l2": "0.1", "stages": "2"}, metric="PABC3", seed=5) == Expected(
        metric="PABC3", l2=0.1, stages=2
    )
    for options, words in [
        ({"l2": "-1"}, "l2 is -1.0"),
        ({"scale": "inf"}, "scale is inf"),
        ({"entropy": "nan"}, "entropy is nan"),
        ({"stages": "0"}, "stages is 0"),
        ({"seed": "3"}, "unknown option"),
    ]:
        with pytest.raises(UserError, match=words):
            make_optimiser("expected", options, seed=1)
    assert str(Expected(l2=0.5).signature()).startswith("EXPECTED|metric:BLEU|metric.alpha:0|")


@pytest.mark.parametrize(
    ("name", "least"), [("expected", 0.4055), ("mle", 0.3975), ("perceptron", 0.3940), ("ramp", 0.4035)]
)
def test_on_the_first_list_of_a_real_run(real_run: tuple[Pool, Weights], name: str, least: float) -> None:
    pool, start = real_run
    assert pool.corpus_score(metric("BLEU"), start) == pytest.approx(0.3910, abs=5e-5)
    fit = make_optimiser(name).fit(pool, start)
    assert pool.corpus_score(metric("BLEU"), fit.weights) > least
    assert fit.warnings == ()
    again = make_optimiser(name).fit(pool, start)
    assert again.weights.dense.tobytes() == fit.weights.dense.tobytes()


@pytest.mark.parametrize("name", ["expected", "mle", "perceptron", "ramp"])
def test_from_lists_to_weights_on_disk(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ref").write_text("a b c d e\nf g h i j\n")
    # The second candidate is right; at the start the first scores a little more, the third far less.
    lines = ["a b c x e ||| LM= -3 TM= -1 -1", "a b c d e ||| LM= -1 TM= -3.2 -1", "x x c x e ||| LM= -8 TM= -2 -1"]
    ranked = [f"0 ||| {line} ||| 0\n" for line in lines]
    Path("list").write_text("".join([*ranked, "1 ||| f g h i j ||| LM= -2 TM= -2 -1 ||| 0\n"]))
    Path("start.json").write_text('{"dense": {"LM": [1], "TM": [1, 1]}, "sparse": {}}')
    options = ["--optimiser", name, "--references", "ref", "--start", "start.json", "--step", "1", "--quiet"]
    assert main(["optimise", *options, "--output", "weights.json", "--json", "list"]) == 0
    assert json.loads(capsys.readouterr().out)["pool_bleu"] == 1.0
    weights = read_weights(tmp_path / "weights.json").by_group()
    assert weights["LM"][0] * 2 > weights["TM"][0] * 2.2
    assert weights["TM"][1] == 1.0
