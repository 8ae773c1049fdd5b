"""Oracle choices on worked examples; likelihood, perceptron and ramp loss against slow versions of themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy
from build import NAMES, made_pool, start_of

from lasw.metrics import Corpus, References, UserError, Vocabulary, metric
from lasw.tuning import FeatureNames, NBest, Optimiser, Pool, Weights, make_optimiser
from lasw.tuning.nbest import ScoredList
from lasw.tuning.optimisers.base import DEFAULT_SEED
from lasw.tuning.optimisers.likelihood import Likelihood, MaximumLikelihood, targets
from lasw.tuning.optimisers.online import OnlineOptimiser, OnlineWeights, Parts, Rival, Step
from lasw.tuning.optimisers.oracle import Candidates, Hope, OracleChoice, are_references, highest, in_units, single
from lasw.tuning.optimisers.perceptron import Perceptron
from lasw.tuning.optimisers.ramp import Ramp
from lasw.tuning.pool.columns import Columns
from lasw.tuning.pool.standardised import Standardised


def standardised(pool: Pool) -> Standardised:
    return Standardised.of(Columns.of(pool))


# ---------------------------------------------------------------- oracle choices

STARTS = np.array([0, 4, 7])
METRIC = np.array([0.5, 0.9, 0.9, 0.1, 0.3, 0.3, 0.2])
MODEL = np.array([9.0, 1.0, 2.0, 3.0, 5.0, 4.0, 6.0])
REFERENCE = np.array([False, False, False, True, False, False, False])


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (OracleChoice("local"), [1, 2, 4, 5]),
        (OracleChoice("reference"), [3]),
        (OracleChoice("hybrid"), [3, 4, 5]),
        (OracleChoice("mixed", mu=0.0), [1, 2, 4, 5]),
        (OracleChoice("mixed", mu=1.0), [0, 6]),
    ],
)
def test_each_choice_on_two_sentences(choice: OracleChoice, expected: list[int]) -> None:
    assert np.flatnonzero(choice(Candidates(STARTS, METRIC, REFERENCE), MODEL)).tolist() == expected


def test_mixed_oracles_weigh_both_in_units_of_their_spread() -> None:
    # One sentence. Metric 0, 1, 2 (spread sqrt(2/3)), model 3, 2.9, 0 (mean 5.9/3): by hand, in units:
    starts, gain, model = np.array([0, 3]), np.array([0.0, 1.0, 2.0]), np.array([3.0, 2.9, 0.0])
    gains = (gain - 1) / np.sqrt(2 / 3)
    models = (model - 5.9 / 3) / np.sqrt(np.mean((model - 5.9 / 3) ** 2))
    sums = 0.5 * gains + 0.5 * models
    assert int(np.argmax(sums)) == 1  # neither the best by the metric nor by the model
    choice = OracleChoice("mixed", mu=0.5)
    assert choice(Candidates(starts, gain), model).tolist() == [False, True, False]
    assert choice(Candidates(starts, 1e6 * gain), 1e-3 * model + 5).tolist() == [False, True, False]


def test_hope_adds_the_metric_in_units_of_its_spread_to_the_model() -> None:
    candidates, model = Candidates(np.array([0, 3]), np.array([0.0, 10.0, 20.0])), np.array([3.0, 2.9, 0.0])
    # In units the metric is -1.22, 0, 1.22: the second leads from 0.1 / 1.22 on, the third from 2.9 / 1.22 on.
    places = {
        weight: np.flatnonzero(Hope(weight)(candidates, model)).tolist() for weight in (0.0, 0.08, 0.09, 2.3, 2.4)
    }
    assert places == {0.0: [0], 0.08: [0], 0.09: [1], 2.3: [1], 2.4: [2]}


def test_a_single_oracle_has_the_best_model_score_and_is_the_earliest_of_equal_ones() -> None:
    chosen = OracleChoice("local")(Candidates(STARTS, METRIC), MODEL)
    assert single(STARTS, chosen, MODEL).tolist() == [2, 4]
    assert single(STARTS, chosen, np.zeros(7)).tolist() == [1, 4]
    assert single(STARTS, REFERENCE, MODEL).tolist() == [3, -1]


def test_units_of_values_that_are_equal_or_huge() -> None:
    assert in_units(STARTS, np.full(7, 3.0)).tolist() == [0.0] * 7
    huge = in_units(np.array([0, 2]), np.array([-1e200, 1e200]))
    assert huge == pytest.approx([-1, 1])


def test_which_candidates_are_references_with_several_of_them() -> None:
    vocabulary = Vocabulary()
    pool = Pool(References.from_lines(["a b c", "d", ""], ["a b", "e", "f g"], vocabulary=vocabulary))
    texts = Corpus.from_lines(["a b", "a b c", "a", "a b c d", "d", "a b", "", "f g"], vocabulary)
    owner = np.array([0, 0, 0, 0, 1, 1, 2, 2], np.int32)
    pool.add(NBest(FeatureNames((("f", 1),)), owner, texts, np.arange(8.0)[:, None], np.zeros(8)))
    assert are_references(pool).tolist() == [True, True, False, False, True, False, True, True]


def test_choices_that_do_not_exist() -> None:
    with pytest.raises(UserError, match="did you mean 'mixed'"):
        OracleChoice("mixd")
    with pytest.raises(ValueError, match=r"mu is 1\.5"):
        OracleChoice("mixed", 1.5)
    with pytest.raises(ValueError, match="references"):
        OracleChoice("hybrid")(Candidates(STARTS, METRIC), MODEL)


@pytest.mark.parametrize("name", ["mle", "perceptron"])
def test_reference_oracles_of_lists_without_text_are_refused(name: str) -> None:
    pool = Pool.without_text()
    counts = np.array([[1, 2, 0, 1, 0, 0, 0, 0, 2], [2, 2, 1, 1, 0, 0, 0, 0, 2]], np.int32)
    scored = ScoredList(
        names=FeatureNames((("f", 1),)),
        owner=np.zeros(2, np.int32),
        statistics=counts,
        statistics_key=metric("BLEU").statistics_key(),
        dense=np.arange(2.0)[:, None],
    )
    pool.add(scored)
    start = Weights(FeatureNames((("f", 1),)), np.ones(1))
    with pytest.raises(UserError, match="without text"):
        make_optimiser(name, {"oracle": "hybrid"}).fit(pool, start)
    assert make_optimiser(name).fit(pool, start).weights.dense.tolist() == [1.0]


# ---------------------------------------------------------------- maximum likelihood


def test_equal_oracles_share_the_mass_and_sentences_that_teach_nothing_are_left_out() -> None:
    starts = np.array([0, 3, 5, 6])
    oracles = np.array([True, False, True, False, False, True])
    assert targets(starts, oracles).tolist() == [0.5, 0, 0.5, 0, 0, 0]


@pytest.mark.parametrize("sparse", [False, True])
def test_the_likelihood_and_its_gradient(sparse: bool) -> None:
    pool = made_pool(sparse=sparse, sentences=5)
    features = standardised(pool)
    scores = pool.sentence_scores(metric("BLEU+1"))[features.columns.order]
    target = targets(features.starts, highest(features.starts, scores))
    likelihood = Likelihood(features, target)
    v = np.random.default_rng(3).normal(size=features.width)

    def slow(v: np.ndarray) -> float:
        rows = features.dense if features.sparse is None else np.hstack([features.dense, features.sparse.toarray()])
        total, used = 0.0, 0
        for first, last in zip(features.starts[:-1], features.starts[1:], strict=True):
            model, wanted = rows[first:last] @ v, scores[first:last] == scores[first:last].max()
            if not wanted.all():
                total += (model - scipy.special.logsumexp(model))[wanted].mean()
                used += 1
        return float(-total / used + 0.35 * v @ v)

    value, gradient = likelihood.loss(v, 0.7)
    assert value == pytest.approx(slow(v), abs=1e-12)
    assert gradient == pytest.approx(scipy.optimize.approx_fprime(v, slow, 1e-7), abs=1e-5)
    far, slope = likelihood.loss(1e4 * v, 0.0)
    assert np.isfinite(far)
    assert np.isfinite(slope).all()


def test_one_feature_two_candidates_by_hand() -> None:
    # Two sentences in which the oracle has the higher value, one in which it has the lower: p = 1 / (1 + exp(-2 v))
    # is 2/3 at the maximum, v = log(2) / 2 in units in which the candidates are at -1 and 1.
    vocabulary = Vocabulary()
    pool = Pool(References.from_lines(["a b", "a b", "a b"], vocabulary=vocabulary))
    names = FeatureNames((("f", 1),))
    texts = Corpus.from_lines(["a b", "a x"] * 3, vocabulary)
    dense = np.array([[1.0], [-1], [1], [-1], [-1], [1]])
    pool.add(NBest(names, np.array([0, 0, 1, 1, 2, 2], np.int32), texts, dense, np.zeros(6)))
    fit = MaximumLikelihood(oracle="local", l2=0.0, norm="none").fit(pool, Weights(names, np.ones(1)))
    assert fit.weights.dense[0] == pytest.approx(np.log(2) / 2, abs=1e-4)
    assert fit.objective == pytest.approx((2 * np.log(2 / 3) + np.log(1 / 3)) / 3, abs=1e-8)


# ---------------------------------------------------------------- perceptron and ramp loss


def slow_online(
    rows: np.ndarray, starts: np.ndarray, base: np.ndarray, rounds: list, gain: np.ndarray, **settings: float
) -> tuple[np.ndarray, np.ndarray]:
    """The current and the averaged weights after all rounds, as the formula says."""
    w, total, steps = base.copy(), np.zeros_like(base), 0
    for order, target in rounds:
        for s in order:
            if target[s] < 0:
                continue
            places = np.arange(starts[s], starts[s + 1])
            rival = places[np.argmax(rows[places] @ w - settings["fear"] * gain[places])]
            w = w - settings["pull"] * (w - base)
            if gain[rival] != gain[target[s]]:
                w = w + settings["rate"] * (rows[target[s]] - rows[rival])
            total, steps = total + w, steps + 1
    return w, total / steps


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("fear", "pull", "tolerance"),
    [(0.0, 0.0, 1e-12), (1.5, 0.01, 1e-12), (0.5, 0.7, 1e-7), (0.5, 0.9999, 1e-7), (0.5, 1.0, 1e-12)],
)
def test_online_learning_is_what_the_formula_says(sparse: bool, fear: float, pull: float, tolerance: float) -> None:
    pool = made_pool(2, sparse=sparse)
    features = standardised(pool)
    rows = features.dense if features.sparse is None else np.hstack([features.dense, features.sparse.toarray()])
    gain = pool.sentence_scores(metric("BLEU+1"))[features.columns.order]
    base = np.linspace(-1, 1, features.width)
    draw = np.random.default_rng(1)
    target = single(features.starts, highest(features.starts, gain), features.scores(base))
    target[4] = -1
    weights = OnlineWeights(features, base)
    assert weights.average.tolist() == base.tolist()
    rounds = [(draw.permutation(15), target) for _ in range(4)]
    for order, places in rounds:
        weights.learn(order, places, gain, Rival(fear), Step(1.5, 10 * pull))
    current, average = slow_online(rows, features.starts, base, rounds, gain, fear=fear, rate=0.1, pull=pull)
    assert weights.updates > 0
    assert weights.current == pytest.approx(current, abs=tolerance)
    assert weights.average == pytest.approx(average, abs=tolerance)


def test_the_round_that_scored_best_first(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, pool = iter([0.1, 0.3, 0.3, 0.2]), made_pool()
    second = Ramp(rounds=2).fit(pool, start_of(pool))
    monkeypatch.setattr(Pool, "corpus_score", lambda *_: next(scores, 0.1))  # then signs are turned
    fit = Ramp(rounds=4).fit(pool, start_of(pool))
    assert (fit.objective, fit.iterations) == (0.3, 2)
    assert second.iterations == 2
    assert fit.weights.dense.tolist() == second.weights.dense.tolist()


@dataclass(frozen=True)
class Hinge(OnlineOptimiser):
    """A plain hinge: the best by the metric against the best by model - margin * metric, weights pulled back."""

    name = "HINGE"
    metric: str = "BLEU+1"
    margin: float = 1.0
    norm: str = "l1"
    seed: int = DEFAULT_SEED

    def parts(self) -> Parts:
        return Parts(OracleChoice("local"), Rival(self.margin), Step(5.0, 1e-3), rounds=10)


def test_no_update_where_the_oracle_scores_best() -> None:
    features = standardised(made_pool())
    best = np.array([features.starts[s] for s in range(15)])
    model = np.zeros(len(features.dense))
    model[best] = 1.0
    weights = OnlineWeights(features, np.zeros(2))
    # With weights 0 all tie, the earliest is the best-scoring one.
    weights.learn(np.arange(15), best, model, Rival(), Step(15.0))
    assert weights.updates == 0
    assert weights.current.tolist() == [0, 0]


# ---------------------------------------------------------------- all of them

OPTIMISERS = [MaximumLikelihood(), Perceptron(), Ramp(variant=1), Ramp(variant=2), Ramp(variant=3), Hinge()]


@pytest.mark.parametrize("optimiser", [*OPTIMISERS[1:], Perceptron(oracle="mixed"), MaximumLikelihood(oracle="hybrid")])
@pytest.mark.parametrize("units", [1.0, 1e4, 1e-3])
def test_what_knows_the_quality_gets_the_weight_in_any_unit(optimiser: Optimiser, units: float) -> None:
    pool = made_pool(units=units)
    start = Weights(NAMES, np.array([0.2 / units, 1.0 * units, 0.7]))
    fit = optimiser.fit(pool, start)
    bleu = metric("BLEU")
    assert pool.corpus_score(bleu, fit.weights) > pool.corpus_score(bleu, start) + 0.1
    assert fit.weights.dense[2] == 0.7
    assert np.abs(fit.weights.dense[:2]).sum() == pytest.approx(1)
    assert fit.warnings == ()


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_the_unit_does_not_change_what_is_learnt(optimiser: Optimiser) -> None:
    fits = []
    for units in (1.0, 1024.0):  # a power of two: the same digits
        start = Weights(NAMES, np.array([0.2 / units, 1.0 * units, 0.7]))
        dense = optimiser.fit(made_pool(units=units), start).weights.dense[:2] * [units, 1 / units]
        fits.append(dense / np.abs(dense).sum())
    assert fits[0] == pytest.approx(fits[1], rel=1e-6)


# Without variant 1, whose first round, of the start weights' own choices, here is the best.
@pytest.mark.parametrize("optimiser", [*OPTIMISERS[:2], *OPTIMISERS[3:]])
def test_sparse_features_and_the_same_bytes_again(optimiser: Optimiser) -> None:
    pool = made_pool(sparse=True)
    start = Weights(NAMES, np.array([0.2, 0.1, 0.7]), {"S_1": 0.05, "unseen": 0.25})
    fit, again = optimiser.fit(pool, start), optimiser.fit(made_pool(sparse=True), start)
    assert fit.weights.dense.tobytes() == again.weights.dense.tobytes()
    assert fit.weights.sparse == again.weights.sparse
    assert fit.weights.sparse["S_0"] < 0
    assert pool.corpus_score(metric("BLEU"), fit.weights) >= pool.corpus_score(metric("BLEU"), start)
    assert fit.weights.sparse["unseen"] == 0.25


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("what", ["texts", "features"])
def test_one_warning_and_the_start_weights_where_nothing_can_be_learnt(optimiser: Optimiser, what: str) -> None:
    vocabulary = Vocabulary()
    pool = Pool(References.from_lines(["a b c d", ""], vocabulary=vocabulary))
    texts = ["a b", "a b", "", ""] if what == "texts" else ["a b", "a b c", "", ""]
    dense = np.arange(4.0)[:, None] if what == "texts" else np.array([[1.0], [1.0], [2.0], [2.0]])
    names = FeatureNames((("f", 1),))
    corpus = Corpus.from_lines(texts, vocabulary)
    pool.add(NBest(names, np.array([0, 0, 1, 1], np.int32), corpus, dense, np.zeros(4)))
    start = Weights(names, np.array([7.0]))
    fit = optimiser.fit(pool, start)
    assert fit.weights is start
    assert len(fit.warnings) == 1


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_start_weights_of_zero(optimiser: Optimiser) -> None:
    pool = made_pool()
    fit = optimiser.fit(pool, Weights.constant(NAMES, 0.0))
    assert np.isfinite(fit.weights.dense).all()
    assert pool.corpus_score(metric("BLEU"), fit.weights) > 0.5


def test_other_seeds_other_orders() -> None:
    pool = made_pool(sentences=40)
    for kind in (Perceptron, Ramp):
        one, other = (kind(seed=seed).fit(pool, start_of(pool)).weights.dense for seed in (1, 2))
        assert one.tobytes() != other.tobytes()


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("ramp", {"variant": "4"}, "variant is 4"),
        ("ramp", {"c": "-1"}, "c is -1.0"),
        ("perceptron", {"rate": "0"}, "rate is 0.0, expected a number above 0"),
        ("perceptron", {"oracle": "locl"}, "did you mean 'local'"),
        ("mle", {"rounds": "0"}, "rounds is 0"),
        ("mle", {"mu": "2"}, "mu is 2.0"),
        ("mle", {"norm": "l2"}, "unknown norm"),
        ("mle", {"seed": "2"}, "unknown option"),
    ],
)
def test_hyper_parameters_that_make_no_sense(name: str, options: dict[str, str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        make_optimiser(name, options)


def test_the_signature_has_every_hyper_parameter() -> None:
    text = str(Ramp(metric="PABC4:alpha=3", variant=2, seed=9).signature())
    assert text.startswith("RAMP|metric:PABC4|")
    assert all(part in text for part in ("alpha:3", "variant:2", "|seed:9|", "|c:0.001|", "|norm:l1|"))


@pytest.mark.parametrize("name", ["mle", "ramp", "perceptron", "expected"])
@pytest.mark.parametrize("start", [-5.0, 1.0])
def test_a_wrong_sign_that_stays_is_told_with_what_it_costs(name: str, start: float) -> None:
    pool = made_pool()
    fit = make_optimiser(name).fit(pool, Weights(NAMES, np.array([start, 0.1, 0.1])))
    if fit.weights.dense[0] > 0:
        assert fit.warnings == ()
        return
    assert (name, start) in [("mle", -5.0), ("ramp", -5.0)]  # go downhill from where they start
    other = Weights(NAMES, fit.weights.dense * [-1, 1, 1])
    scores = [pool.corpus_score(metric("BLEU+1"), weights) for weights in (other, fit.weights)]
    said = f"would be {100 * scores[0]:.2f} instead of {100 * scores[1]:.2f}: start it with that"
    assert [said in warning for warning in fit.warnings] == [True]
    assert fit.warnings[0].startswith("good has kept the sign of its start weight, with the other one BLEU+1")
    again = make_optimiser(name).fit(pool, other)
    assert (again.weights.dense[0] > 0, again.warnings) == (True, ())
