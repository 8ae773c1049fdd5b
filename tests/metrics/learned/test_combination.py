"""Weights of metrics learnt from preferences, and the metric they make."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from lasw.metrics import (
    CombinationModel,
    Corpus,
    Evaluation,
    Judgements,
    Metric,
    References,
    UserError,
    metric,
    train_combination,
    write_trained_metric,
)
from lasw.metrics.learned.combination import combination, read_combination
from lasw.metrics.learned.combination_training import _logistic, fit_weights

SPECS = ("PABC2:alpha=1", "WER", "CHRF")


def judgements(seed: int = 1) -> Judgements:
    """Three systems; people prefer by the mean of PABC2 and WER, with noise."""
    random = np.random.default_rng(seed)
    words = list("abcdefgh")
    references = [list(random.choice(words, size=7)) for _ in range(60)]
    systems = []
    for share in (0.2, 0.4, 0.6):
        systems.append([" ".join(w for w in ref if random.random() > share) or "x" for ref in references])
    refs = References.from_lines([" ".join(ref) for ref in references])
    evaluation = Evaluation(refs, tuple(Corpus.from_lines(lines, refs.vocabulary) for lines in systems))
    quality = sum(evaluation.sentence_scores(metric(spec)) for spec in SPECS[:2])
    rows = []
    for segment in range(60):
        for first, second in ((0, 1), (1, 2), (0, 2)):
            better = quality[first, segment] + random.normal(0, 0.3) > quality[second, segment]  # type: ignore[index]
            rows.append((segment, *((first, second) if better else (second, first))))
    return Judgements("made", ("1", "2", "3"), evaluation, *np.array(rows).T, 0, 0)


@pytest.mark.parametrize("kind", ["linear", "log-linear"])
def test_weights_are_those_of_logistic_regression(kind: str) -> None:
    data = judgements()
    model = train_combination([data, judgements(2)], SPECS, kind=kind, penalty=0.05, signed=True)
    better, worse = [], []
    for x in (data, judgements(2)):
        scores = np.stack([x.evaluation.sentence_scores(metric(spec)) for spec in SPECS], axis=-1)
        if kind == "log-linear":
            scores = np.log(np.maximum(scores, 0) + 0.01)
        better.append(scores[x.better, x.segment])
        worse.append(scores[x.worse, x.segment])
    a, b = np.concatenate(better), np.concatenate(worse)
    scale = np.concatenate([a, b]).std(axis=0)
    differences = (a - b) / scale
    differences = differences[differences.any(axis=1)]
    both = np.concatenate([differences, -differences])
    # sklearn: w'w / 2 + C * summed losses; ours: the mean loss + penalty / 2 * w'w, and every pair stands there twice.
    peer = LogisticRegression(C=1 / (0.05 * len(both)), fit_intercept=False, tol=1e-10, max_iter=1000)
    weights = peer.fit(both, np.repeat([1, 0], len(differences))).coef_[0] / scale
    np.testing.assert_allclose(model.weights, weights / np.abs(weights).sum(), rtol=1e-4, atol=1e-5)
    assert sum(map(abs, model.weights)) == pytest.approx(1)


def test_weights_are_not_negative_unless_asked_for() -> None:
    random = np.random.default_rng(1)
    x = random.normal(0.5, 1, size=(200, 1))
    x = np.hstack([x, -x + random.normal(0, 0.3, size=x.shape), random.normal(0.2, 1, size=x.shape)])
    assert _logistic(x, 0.01, True)[1] < 0
    held = _logistic(x, 0.01, False)
    assert held[1] == 0
    np.testing.assert_allclose(held[[0, 2]], _logistic(x[:, [0, 2]], 0.01, True))
    assert not _logistic(-np.abs(x), 0.01, False).any()


def test_metrics_without_weight_are_left_out() -> None:
    better = np.array([[2.0, 0.0], [3.0, 1.0], [2.0, 1.0]])
    model = fit_weights(better, better + np.array([-1.0, 1.0]), ["WER", "CHRF"])
    assert (model.specs, model.weights) == (("WER",), (1.0,))
    assert model.training["weights-of-deviations"]["CHRF"] == 0
    neither = fit_weights(better, better + 1.0, ["WER", "CHRF"])
    assert (neither.specs, neither.weights) == (("WER", "CHRF"), (0.0, 0.0))


def test_scores_are_sums_and_logarithms_of_products(tmp_path: Path) -> None:
    refs = References.from_lines(["a b c d", "e f"])
    corpus = Corpus.from_lines(["a b c", "x y z w"], refs.vocabulary)
    parts = []
    for spec in SPECS:
        m = metric(spec)
        statistics = m.statistics(corpus, m.prepare(refs), np.arange(2, dtype=np.int32))
        parts.append((m.sentence_scores(statistics), m.corpus_score(statistics.sum(axis=0))))
    weights = (0.5, 0.2, 0.3)
    for kind in ("linear", "log-linear"):
        model = CombinationModel(kind, SPECS, weights, text={"case": "lc"})
        path = tmp_path / "model.json"
        write_trained_metric(path, model)
        assert read_combination(path) == model
        m = metric(f"COMBINATION:model={path}")
        statistics = m.statistics(corpus, m.prepare(refs), np.arange(2, dtype=np.int32))

        def one(x: float, kind: str = kind) -> float:
            return x if kind == "linear" else math.log(max(x, 0) + 0.01)

        expected = [sum(w * one(x[0][k]) for w, x in zip(weights, parts, strict=True)) for k in range(2)]
        np.testing.assert_allclose(m.sentence_scores(statistics), expected)
        total = statistics.sum(axis=0)
        corpus_score = sum(w * one(x[1]) for w, x in zip(weights, parts, strict=True))
        assert m.corpus_score(total) == pytest.approx(corpus_score)
        np.testing.assert_allclose(m.score_gradient(total), Metric.score_gradient(m, total), rtol=1e-5, atol=1e-8)
        assert f"kind:{kind}" in str(m.signature())
        assert "trained-case:lc" in str(m.signature())
        assert str(combination(model).signature()) == str(m.signature())
    mixed = metric(model.mixture_spec())
    np.testing.assert_allclose(
        mixed.sentence_scores(statistics), sum(w * x[0] for w, x in zip(weights, parts, strict=True))
    )


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    data = judgements()
    with pytest.raises(UserError, match="'WER' twice"):
        train_combination([data], ["WER", "WER"])
    with pytest.raises(UserError, match="no metrics"):
        train_combination([data], [])
    with pytest.raises(UserError, match="did you mean 'linear'"):
        train_combination([data], ["WER"], kind="linaer")
    path = tmp_path / "model.json"
    write_trained_metric(path, CombinationModel("linear", ("WER",), (1.0,)))
    document = json.loads(path.read_text())
    for change, message in (
        ({"weights": []}, "1 finite numbers"),
        ({"kind": "x"}, "linear or log-linear"),
        ({"floor": 0.0}, "above 0"),
        ({"specs": []}, "specifications"),
        ({"format": "y"}, "not a lasw combination"),
    ):
        path.write_text(json.dumps({**document, **change}))
        with pytest.raises(UserError, match=message):
            read_combination(path)
