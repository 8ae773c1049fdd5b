"""The pairwise network: its formulas, gradients, training, model files, and the metric made of it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lasw.metrics import (
    Corpus,
    Evaluation,
    Examples,
    Judgements,
    PairwiseInputs,
    PairwiseModel,
    References,
    Settings,
    UserError,
    comparisons,
    examples,
    metric,
    train_pairwise,
    write_trained_metric,
)
from lasw.metrics.learned.pairwise.inputs import bleu_parts, given_vectors
from lasw.metrics.learned.pairwise.model import Scaling, read_pairwise
from lasw.metrics.learned.pairwise.network import Network, Shape, Triples, averaged, cost_and_gradient, initial, parts
from lasw.metrics.learned.pairwise.pairwise import Pairwise
from lasw.metrics.learned.pairwise.training import check_hidden, split, train

WORDS = ["a", "b", "c", "d", "e", "f", "g", "h"]
SKIP = ("PABC2:alpha=1", "WER")


def vectors_file(folder: Path, name: str = "vectors.txt") -> str:
    random = np.random.default_rng(5)
    lines = [f"{word} {' '.join(f'{x:.3f}' for x in random.normal(size=3))}" for word in WORDS[:-1]]
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def judgements(segments: int = 40, seed: int = 1) -> Judgements:
    """Four systems that replace ever more words; a person nearly always prefers who replaced fewer."""
    random = np.random.default_rng(seed)
    references = [list(random.choice(WORDS, size=8)) for _ in range(segments)]
    systems = []
    for share in (0.1, 0.3, 0.5, 0.7):
        systems.append(
            [" ".join(str(random.choice(WORDS)) if random.random() < share else w for w in ref) for ref in references]
        )
    refs = References.from_lines([" ".join(ref) for ref in references])
    corpora = tuple(Corpus.from_lines(lines, refs.vocabulary) for lines in systems)
    rows = []
    for segment in range(segments):
        for _ in range(4):
            first, second = sorted(random.choice(4, size=2, replace=False).tolist())
            rows.append((segment, first, second) if random.random() < 0.9 else (segment, second, first))
    segment, better, worse = np.array(rows).T
    return Judgements("made", ("1", "2", "3", "4"), Evaluation(refs, corpora), segment, better, worse, 0, 0)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> PairwiseModel:
    inputs = PairwiseInputs(SKIP, vectors_file(tmp_path_factory.mktemp("vectors")))
    return train_pairwise(inputs, examples([judgements()], inputs), settings=Settings(epochs=8))


def triples(random: np.random.Generator, m: int, shape: Shape) -> Triples:
    return Triples(*(random.normal(size=(m, size)) for size in (shape.d, shape.d, shape.d, shape.k, shape.k)))


def by_the_formula(theta: Any, shape: Shape, x: Triples, row: int) -> float:
    """f(t1, t2, r) of the paper's equations, one sum after the other."""
    p = parts(theta, shape)
    pairs = [(x.first, x.second), (x.first, x.reference), (x.second, x.reference)]
    total = float(p.bias[0])
    for group, (left, right) in enumerate(pairs):
        inputs = [*left[row], *right[row]]
        for node in range(shape.H):
            a = p.biases[group, node] + sum(inputs[i] * p.weights[group, i, node] for i in range(2 * shape.d))
            total += p.output[group, node] * math.tanh(a)
    for k in range(shape.k):
        total += p.skip[0, k] * x.first_skip[row, k] + p.skip[1, k] * x.second_skip[row, k]
    return 1 / (1 + math.exp(-total))


@pytest.mark.parametrize("shape", [Shape(3, 2, 4), Shape(0, 3, 0), Shape(2, 0, 1)])
def test_outputs_are_those_of_the_formula(shape: Shape) -> None:
    random = np.random.default_rng(3)
    theta = random.normal(size=shape.parameters)
    x = triples(random, 5, shape)
    network = Network(theta, shape)
    first, second = network.projected(x.first), network.projected(x.second)
    skips = network.skipped(x.first_skip), network.skipped(x.second_skip)
    logits = network.logits(first, second, network.projected_references(x.reference), *skips)
    expected = [by_the_formula(theta, shape, x, row) for row in range(5)]
    np.testing.assert_allclose(1 / (1 + np.exp(-logits)), expected, rtol=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "kendall"])
@pytest.mark.parametrize("shape", [Shape(3, 2, 4), Shape(0, 3, 0)])
def test_costs_are_those_of_the_paper_and_gradients_those_of_differences(loss: str, shape: Shape) -> None:
    random = np.random.default_rng(4)
    theta = initial(shape, random) + 0.05 * random.normal(size=shape.parameters)
    x, decay, step = triples(random, 6, shape), 0.03, 1e-6
    cost, gradient = cost_and_gradient(theta, shape, x, loss, decay)
    p = parts(theta, shape)
    expected = decay / 2 * sum(float((w**2).sum()) for w in (p.weights, p.output, p.skip))
    for row in range(6):
        forward = by_the_formula(theta, shape, x, row)
        backward = by_the_formula(theta, shape, x.swapped(), row)
        if loss == "logistic":
            expected -= (math.log(forward) + math.log(1 - backward)) / 12
        else:
            delta = forward - backward
            expected += (1 / (1 + math.exp(100 * delta)) + math.exp(-50 * delta**2)) / 6
    assert cost == pytest.approx(expected, rel=1e-10)
    for k in range(shape.parameters):
        moved = [theta.copy() for _ in range(2)]
        moved[0][k] += step
        moved[1][k] -= step
        up, down = (cost_and_gradient(t, shape, x, loss, decay)[0] for t in moved)
        assert gradient[k] == pytest.approx((up - down) / (2 * step), rel=2e-4, abs=2e-6)


def test_an_averaged_network_has_the_mean_log_odds() -> None:
    random, shape = np.random.default_rng(8), Shape(3, 2, 2)
    networks = [Network(random.normal(size=shape.parameters), shape) for _ in range(3)]
    x = triples(random, 4, shape)
    odds = [[math.log(f / (1 - f)) for f in (by_the_formula(n.theta, shape, x, k) for n in networks)] for k in range(4)]
    whole = averaged(networks)
    found = [by_the_formula(whole.theta, whole.shape, x, k) for k in range(4)]
    np.testing.assert_allclose([math.log(f / (1 - f)) for f in found], np.mean(odds, axis=1), rtol=1e-9)


def test_first_weights_are_glorots() -> None:
    shape = Shape(50, 4, 4)
    p = parts(initial(shape, np.random.default_rng(1)), shape)
    bound = math.sqrt(6 / (100 + 4))
    assert bound * 0.95 < np.abs(p.weights).max() <= bound
    assert np.abs(p.output).max() <= math.sqrt(6 / (12 + 8 + 1))
    assert not any(x.any() for x in (p.biases, p.skip, p.bias))


def test_scaling_maps_what_was_seen_onto_minus_one_to_one() -> None:
    vectors, references = np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([[4.0, 1.0]])
    scaling = Scaling.of(vectors, references, np.array([[1.0], [3.0]]))
    np.testing.assert_array_equal(scaling.vectors(vectors), [[-1, 0], [0, 0]])
    np.testing.assert_array_equal(scaling.skip(np.array([[1.0], [2.0], [5.0]])), [[-1], [0], [3]])


def test_training_learns_and_is_the_same_every_time(model: PairwiseModel) -> None:
    inputs = model.inputs
    data = examples([judgements()], inputs)
    again = train_pairwise(inputs, data, settings=Settings(epochs=8))
    assert again.network.theta.tobytes() == model.network.theta.tobytes()
    other = train_pairwise(inputs, data, settings=Settings(epochs=8, seed=2))
    assert other.fingerprint() != model.fingerprint() == again.fingerprint()
    unseen = judgements(seed=9)
    m = Pairwise(model)
    prepared = m.prepare(unseen.evaluation.references)
    scores = np.stack([m.statistics(x, prepared, np.arange(40))[:, 0] for x in unseen.evaluation.systems])
    better, worse = scores[unseen.better, unseen.segment], scores[unseen.worse, unseen.segment]
    assert (better > worse).mean() > 0.7


def test_kendalls_cost_begins_where_the_logistic_one_ended(model: PairwiseModel) -> None:
    data = examples([judgements()], model.inputs)
    found = train_pairwise(model.inputs, data, settings=Settings(loss="both", epochs=8)).training
    assert found["passes"] > model.training["passes"]
    assert found["tau"] >= model.training["tau"] > 0.4


def test_kendalls_cost_falls() -> None:
    random, shape = np.random.default_rng(6), Shape(0, 2, 0)
    better = random.normal(0.3, 1, size=(300, 2))
    x = Triples(*(np.zeros((300, 0)),) * 3, better, random.normal(size=(300, 2)))
    count = np.arange(300)
    data = Examples(
        np.zeros((600, 0)), np.vstack([better, x.second_skip]), np.zeros((300, 0)), count, count + 300, count
    )
    network, scaling, _ = train(data, data, Settings(loss="kendall", epochs=30, patience=30))
    scaled = x._replace(first_skip=scaling.skip(x.first_skip), second_skip=scaling.skip(x.second_skip))
    start = initial(shape, np.random.default_rng([1, 0]))
    before, after = (cost_and_gradient(t, shape, scaled, "kendall", 0.0)[0] for t in (start, network.theta))
    assert after < before - 0.05


def test_data_is_split_by_segment(model: PairwiseModel) -> None:
    data = examples([judgements(), judgements(seed=2)], model.inputs)
    rest, held = split(data, 0.25, 1)
    assert not set(rest.segment) & set(held.segment)
    assert len(set(held.segment)) == 20
    assert len(rest) + len(held) == len(data)
    # The second folder's preferences are about the second folder's translations.
    assert data.better[160:].min() >= 160


def test_decisions_and_wins(model: PairwiseModel) -> None:
    data = judgements(4)
    m = Pairwise(model)
    refs = data.evaluation.references
    lines = [x.text(s) for x in data.evaluation.systems for s in range(4)]
    corpus = Corpus.from_lines(lines, refs.vocabulary)
    owner = np.tile(np.arange(4), 4)
    prepared = m.prepare(refs)
    wins = m.mean_wins(corpus, prepared, owner)
    for row in range(16):
        others = [k for k in range(16) if owner[k] == owner[row] and k != row]
        forward = m.decisions(corpus, prepared, owner, [row] * 3, others)
        backward = m.decisions(corpus, prepared, owner, others, [row] * 3)
        assert wins[row] == pytest.approx(np.mean((forward + 1 - backward) / 2), abs=1e-12)
    with pytest.raises(ValueError, match="different segments"):
        m.decisions(corpus, prepared, owner, [0], [1])
    assert m.mean_wins(corpus.take(np.array([3])), prepared, owner[[3]]).tolist() == [0.5]


def test_scores_do_not_depend_on_what_stands_beside(model: PairwiseModel) -> None:
    data = judgements(30)
    m = Pairwise(model)
    refs, corpus = data.evaluation.references, data.evaluation.systems[2]
    prepared, owner = m.prepare(refs), np.arange(30)
    whole = m.statistics(corpus, prepared, owner)
    blocks = [m.statistics(corpus.take(owner[k : k + 7]), prepared, owner[k : k + 7]) for k in range(0, 30, 7)]
    assert np.concatenate(blocks).tobytes() == whole.tobytes()
    assert ((whole[:, 0] > 0) & (whole[:, 0] < 1)).all()
    assert m.corpus_score(whole.sum(axis=0)) == pytest.approx(whole[:, 0].mean())
    assert m.corpus_score(np.zeros(2)) == 0.0


def test_comparisons_are_those_of_the_paper_pair_by_pair(model: PairwiseModel) -> None:
    data, m = judgements(12), Pairwise(model)
    refs, systems = data.evaluation.references, data.evaluation.systems
    prepared = m.prepare(refs)
    decided, won = [], []
    for segment, better, worse in zip(data.segment, data.better, data.worse, strict=True):
        texts = Corpus.from_lines([system.text(segment) for system in systems], refs.vocabulary)
        owner = np.full(4, segment)
        forward, backward = m.decisions(texts, prepared, owner, [better, worse], [worse, better])
        decided.append(np.sign(forward - backward))
        wins = m.mean_wins(texts, prepared, owner)
        won.append(np.sign(wins[better] - wins[worse]))
    found = comparisons(m, data)
    assert found.decisions[14].value == pytest.approx(np.mean(decided))
    assert found.mean_wins[14].value == pytest.approx(np.mean(won))
    assert 0.3 < np.mean(decided) < 1.0
    assert found.decisions[12].n == len(data.segment)


def test_inputs_are_means_of_vectors_and_scores_of_metrics(tmp_path: Path) -> None:
    path = vectors_file(tmp_path)
    table = {line.split()[0]: np.array(line.split()[1:], float) for line in Path(path).read_text().splitlines()}
    inputs = PairwiseInputs((*SKIP, "BLEUCOMP"), path)
    refs = References.from_lines(["a b c d", "h"], ["a b", "c"])
    prepared = inputs.prepare(refs)
    corpus = Corpus.from_lines(["a b h c", "h h", ""], refs.vocabulary)
    vectors, skip = inputs.of(corpus, prepared, np.array([0, 1, 0]))
    expected = (table["a"] + table["b"] + table["c"]) / 3
    np.testing.assert_allclose(vectors, [expected, np.zeros(3), np.zeros(3)], rtol=1e-6)
    both = [(sum(table[w] for w in "abcd") / 4 + (table["a"] + table["b"]) / 2) / 2, table["c"] / 2]
    np.testing.assert_allclose(prepared.vectors, both, rtol=1e-6)
    for column, spec in enumerate(SKIP):
        m = metric(spec)
        statistics = m.statistics(corpus, m.prepare(refs), np.array([0, 1, 0]))
        np.testing.assert_array_equal(skip[:, column], m.sentence_scores(statistics))
    assert skip.shape == (3, inputs.width) == (3, 17)


def test_bleu_parts() -> None:
    found = bleu_parts(np.array([[3, 4, 1, 3, 0, 2, 0, 1, 6], [0, 0, 0, 0, 0, 0, 0, 0, 2]]))
    expected = [0.75, 1 / 3, 0, 0, 3, 1, 0, 0, 4, 3, 2, 1, 6, 4 / 6, math.exp(1 - 6 / 4)]
    np.testing.assert_allclose(found[0], expected)
    assert np.isfinite(found[1]).all()


def test_sentence_vectors_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "sentences.tsv"
    path.write_text("a  b\t1 2\nc\t3 4\n\t0 0\n", encoding="utf-8")
    inputs = PairwiseInputs((), sentences=(str(path),))
    prepared = inputs.prepare(References.from_lines(["c", "a b"]))
    np.testing.assert_array_equal(prepared.vectors, [[3, 4], [1, 2]])
    with pytest.raises(UserError, match="no vector for the sentence 'x'"):
        inputs.prepare(References.from_lines(["x"]))
    for text, message in [
        ("a\t1 x\n", "'a.*expected SENTENCE TAB NUMBERS"),
        ("a\t1\nb\t1 2\n", ":2: .*expected SENTENCE TAB NUMBERS, 1 finite"),
        ("a\t1\na\t2\n", "another vector for 'a'"),
        ("a\tnan\n", "finite"),
        ("a 1\n", "TAB"),
        ("", "empty"),
    ]:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UserError, match=message):
            given_vectors(str(path))


def test_vectors_of_several_files_stand_side_by_side(tmp_path: Path) -> None:
    """Words' mean, then each file of sentence vectors in the order given; a model finds them all again."""
    words = vectors_file(tmp_path)
    judged = judgements()
    corpora = [*judged.evaluation.references.corpora, *judged.evaluation.systems]
    texts = sorted({corpus.text(k) for corpus in corpora for k in range(len(corpus))})
    files = [tmp_path / "syntax.tsv", tmp_path / "other.tsv"]
    for file, size in zip(files, (2, 1), strict=True):
        rows = np.random.default_rng(size).normal(size=(len(texts), size)).round(3)
        lines = zip(texts, rows.tolist(), strict=True)
        file.write_text("".join(f"{text}\t{' '.join(map(str, row))}\n" for text, row in lines), encoding="utf-8")
    alone = [PairwiseInputs((), words), *(PairwiseInputs((), "", (str(file),)) for file in files)]
    inputs = PairwiseInputs(("WER",), words, tuple(map(str, files)))
    found = examples([judged], inputs)
    parts = [examples([judged], one) for one in alone]
    np.testing.assert_array_equal(found.vectors, np.hstack([part.vectors for part in parts]))
    np.testing.assert_array_equal(found.references, np.hstack([part.references for part in parts]))
    trained = train_pairwise(inputs, found, settings=Settings(epochs=2))
    path = tmp_path / "model.json"
    write_trained_metric(path, trained)
    assert json.loads(path.read_text())["kind"] == "words+sentences+sentences"
    again = read_pairwise(path)
    assert (again.fingerprint(), again.inputs.sentences) == (trained.fingerprint(), inputs.sentences)
    assert str(Pairwise(again).signature()).count("#") == 3
    moved = [tmp_path / f"moved{k}" for k in range(3)]
    for old, new in zip([Path(words), *files], moved, strict=True):
        old.rename(new)
    with pytest.raises(UserError, match="PAIRWISE:model=FILE:vectors=FILE,FILE,FILE"):
        read_pairwise(path)
    assert read_pairwise(path, ",".join(map(str, moved))).fingerprint() == trained.fingerprint()
    with pytest.raises(UserError, match="2 files of vectors"):
        read_pairwise(path, ",".join(map(str, moved[:2])))
    with pytest.raises(UserError, match="trained with other vectors"):
        read_pairwise(path, ",".join(map(str, moved[::-1])))


def test_model_files(model: PairwiseModel, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    write_trained_metric(path, replace(model, text={"case": "lc"}))
    again = read_pairwise(path)
    assert again.fingerprint() == model.fingerprint()
    assert "trained-case:lc" in str(metric(f"PAIRWISE:model={path}").signature())
    document = json.loads(path.read_text())
    cases: list[tuple[dict[str, Any], str]] = [
        ({"format": "x"}, "not a lasw pairwise model"),
        ({"version": 2}, "version 2"),
        ({"theta": document["theta"][:-1]}, "theta: .*finite numbers"),
        ({"skip_low": [1.0, None]}, "skip_low"),
        ({"hidden": -1}, "hidden: -1"),
        ({"skip": ["BLUE", "WER"]}, "unknown metric 'BLUE'"),
        ({"skip": ["BLEU", "WER"]}, "in another way"),
        ({"vectors": "vectors.txt#000000000000"}, "trained with other vectors"),
        ({"file": "gone.txt"}, "no such file of vectors.*PAIRWISE:model=FILE:vectors=FILE"),
        ({"text": 3}, "text: 3"),
    ]
    for change, message in cases:
        path.write_text(json.dumps({**document, **change}))
        with pytest.raises(UserError, match=message):
            read_pairwise(path)
    moved = vectors_file(tmp_path, "moved.txt")
    path.write_text(json.dumps({**document, "file": "gone.txt"}))
    assert read_pairwise(path, moved).fingerprint() == model.fingerprint()
    path.write_text("{")
    with pytest.raises(UserError, match="no JSON"):
        read_pairwise(path)


def test_vectors_need_a_hidden_layer(tmp_path: Path) -> None:
    """The tie of all decisions that comes without one is tau -1."""
    path = vectors_file(tmp_path)
    with pytest.raises(UserError, match=r"without hidden nodes, which does not see them; expected hidden at least 1$"):
        check_hidden(PairwiseInputs((), path), Settings(hidden=0))
    with pytest.raises(UserError, match=r"at least 1; or skip features alone, without vectors$"):
        check_hidden(PairwiseInputs(("WER",), path), Settings(hidden=0))
    check_hidden(PairwiseInputs(("WER",)), Settings(hidden=0))  # logistic regression
    check_hidden(PairwiseInputs((), path), Settings(hidden=1))


def test_wrong_settings() -> None:
    for change in ({"loss": "x"}, {"hidden": -1}, {"decay": math.nan}, {"epochs": 0}, {"held_out": 1.0}, {"seed": -1}):
        with pytest.raises(UserError):
            Settings(**change)
    with pytest.raises(UserError, match="neither vectors nor skip"):
        PairwiseInputs()
    with pytest.raises(UserError, match="twice"):
        PairwiseInputs(("WER", "WER"))
    with pytest.raises(UserError, match="file of sentence vectors 'b' twice"):
        PairwiseInputs((), "a", ("b", "b"))
