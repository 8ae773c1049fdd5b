"""Training ROSE: known weights are found again, model files, the commands, agreement with people on real judgements."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_text import write_judgements

from lasw.metrics import (
    Corpus,
    Evaluation,
    Judgements,
    Preprocessing,
    References,
    Rose,
    RoseFeatures,
    RoseModel,
    UserError,
    metric,
    read_direct_assessment,
    read_preferences,
    train_rank,
    train_reg,
    training_fingerprint,
    write_trained_metric,
)
from lasw.metrics.learned.learning import preference_columns
from lasw.metrics.learned.rose.features import CORE
from lasw.metrics.learned.rose.rose import read_rose
from lasw.scripts.main import main

SYSTEMS, SEGMENTS = 5, 120
WEIGHTS = {"recall1": 2.0, "precision2": 1.0, "punctuation": -3.0}


def sentences(draw: random.Random) -> list[str]:
    words = [*"abcdefgh", ".", "the"]
    return [" ".join(draw.choices(words, k=draw.randint(3, 9))) for _ in range(SEGMENTS)]


def truth() -> Rose:
    weights = tuple(WEIGHTS.get(name, 0.0) for name in CORE)
    return Rose(RoseModel("reg", RoseFeatures(("the",)), weights, (0.0,) * 17, (1.0,) * 17, 0.0))


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of judgements by someone whose preferences are `truth`."""
    folder = tmp_path_factory.mktemp("judged")
    draw = random.Random(1)
    references, systems = sentences(draw), {f"s{k}": sentences(draw) for k in range(SYSTEMS)}
    refs = References.from_lines(references)
    corpora = tuple(Corpus.from_lines(lines, refs.vocabulary) for lines in systems.values())
    scores = Evaluation(refs, corpora).sentence_scores(truth())
    pairs = []
    for k in range(SEGMENTS):
        for a, b in itertools.combinations(range(SYSTEMS)[::-1], 2):
            relation = "=" if scores[a, k] == scores[b, k] else "<" if scores[a, k] > scores[b, k] else ">"
            pairs.append(f"{k + 1}\ts{a}\ts{b}\t{relation}\n")
    return write_judgements(folder, references, systems, pairs)


def test_ranking_finds_known_weights(judged: Path) -> None:
    data = read_preferences([judged])
    model = train_rank(data, RoseFeatures(("the",)), cost=100.0)
    assert model.training["ordered-right"] > 0.99

    def columns(references: References) -> Any:
        features = RoseFeatures(("the",))
        return lambda hypotheses, owner: features.matrix(hypotheses, features.prepare(references), owner)

    better, worse = preference_columns(data, columns)
    slopes = np.array(model.slopes()[0])
    known = np.array([WEIGHTS.get(name, 0.0) for name in CORE])
    ours, theirs = (better - worse) @ slopes, (better - worse) @ known
    assert np.corrcoef(ours, theirs)[0, 1] > 0.98


def test_ranking_scores_are_0_without_a_match_and_1_for_the_reference(judged: Path) -> None:
    m = Rose(train_rank(read_preferences([judged]), RoseFeatures(("the",))))
    refs = References.from_lines(["a b the c ."])
    corpus = Corpus.from_lines(["a b the c .", "x y z q !"], refs.vocabulary)
    # "the" is a function word, so that the second text is put against a reference of its own mix.
    own = References.from_lines(["a b c d ."], vocabulary=refs.vocabulary)
    same = m.statistics(corpus, m.prepare(refs), np.zeros(2, dtype=np.int32))
    other = m.statistics(corpus, m.prepare(own), np.zeros(2, dtype=np.int32))
    assert same[0, 0] == pytest.approx(1.0)
    assert other[1, 0] == pytest.approx(0.0, abs=1e-12)


def marks_table(path: Path, judged: Path, *, slope: float = 7.0) -> Path:
    references = (judged / "ref.txt").read_text().splitlines()
    scores = read_preferences([judged])[0].evaluation.sentence_scores(truth())
    rows = ["human\thyp\tref"]
    for k in range(SYSTEMS):
        hypotheses = (judged / "hyp" / f"s{k}.txt").read_text().splitlines()
        rows += [f"{slope * x + 3:.12f}\t{h}\t{r}" for x, h, r in zip(scores[k], hypotheses, references, strict=True)]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_regression_finds_known_weights(tmp_path: Path, judged: Path) -> None:
    data = read_direct_assessment(marks_table(tmp_path / "marks.tsv", judged))
    m = Rose(train_reg([data], RoseFeatures(("the",)), cost=10.0))
    predicted = m.statistics(data.hypotheses, m.prepare(data.references), data.owner)[:, 0]
    # The loss forgives a tenth of a deviation.
    assert np.abs(predicted - data.marks).max() < 0.15 * data.marks.std()
    with pytest.raises(UserError, match="all 600 marks are 3; expected some better than others"):
        train_reg([read_direct_assessment(marks_table(tmp_path / "x.tsv", judged, slope=0.0))], RoseFeatures())
    tiny = read_direct_assessment(marks_table(tmp_path / "marks.tsv", judged))
    tiny.marks[:] = 1e-300 * np.arange(len(tiny.marks))
    with pytest.raises(UserError, match="all 600 marks are 0; expected some better than others"):
        train_reg([tiny], RoseFeatures())


def test_training_that_does_not_end_is_told(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lasw.metrics.learned.rose.training._STEPS", 2)
    with pytest.raises(UserError, match=r"no end after 2 steps of training; .*; a smaller --cost helps"):
        train_rank(read_preferences([judged]), RoseFeatures(("the",)), cost=1e6)


def test_the_same_data_give_the_same_model_and_turned_pairs_too(judged: Path) -> None:
    data = read_preferences([judged])
    model = train_rank(data, RoseFeatures(("the",)))
    assert train_rank(data, RoseFeatures(("the",))) == model
    assert hash(Rose(model)) == hash(Rose(model))
    turned = dataclasses.replace(data[0], better=data[0].worse, worse=data[0].better)
    ours, others = (np.array(x.slopes()[0]) for x in (model, train_rank([turned], RoseFeatures(("the",)))))
    assert ours / np.linalg.norm(ours) == pytest.approx(-others / np.linalg.norm(others), abs=1e-4)


def test_rose_as_a_loss_and_in_a_mixture(tmp_path: Path) -> None:
    """In blocks as pools come, and beside another metric."""
    path = tmp_path / "rose.json"
    write_trained_metric(path, truth().model)
    mixed, alone = metric(f"MIX:ROSE:model={path}=0.5:BLEU+1=2"), metric(f"ROSE:model={path}")
    references = References.from_lines(["a b the c .", "d e"])
    corpus = Corpus.from_lines(["a b", "the c .", "d", "e d e", ""], references.vocabulary)
    owner = np.array([0, 0, 1, 1, 1])
    whole = alone.statistics(corpus, alone.prepare(references), owner)
    prepared = alone.prepare(references)
    parts = [alone.statistics(corpus.take(np.array([k])), prepared, owner[k : k + 1]) for k in range(5)]
    assert np.array_equal(whole, np.concatenate(parts))
    bleu = metric("BLEU+1")
    expected = 0.5 * alone.sentence_scores(whole) + 2 * bleu.sentence_scores(
        bleu.statistics(corpus, bleu.prepare(references), owner)
    )
    found = mixed.sentence_scores(mixed.statistics(corpus, mixed.prepare(references), owner))
    assert found == pytest.approx(expected)
    assert alone.score_gradient(whole.sum(axis=0)) == pytest.approx(
        [1 / 5, -alone.corpus_score(whole.sum(axis=0)) / 5], abs=1e-6
    )


def test_the_model_file_is_the_model(tmp_path: Path) -> None:
    model = RoseModel(
        "rank", RoseFeatures(("the", "straße"), clip=False), tuple(np.arange(17) / 7), (0.1,) * 17, (3.0,) * 17, -1.5
    )
    write_trained_metric(tmp_path / "a.json", model)
    assert read_rose(tmp_path / "a.json") == model
    write_trained_metric(tmp_path / "b.json", read_rose(tmp_path / "a.json"))
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def changed(document: dict[str, Any], **changes: Any) -> str:
    return json.dumps({key: value for key, value in {**document, **changes}.items() if value is not ...})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "x"}, 'not a lasw ROSE model; expected "format": "lasw ROSE model"'),
        ({"version": 2}, "model version 2; expected 1; train it again"),
        ({"weights": ...}, "no 'weights'; expected a whole model; train it again"),
        ({"weights": [1.0]}, r"weights: \[1.0\]; expected 17 finite numbers"),
        ({"weights": [float("nan")] * 17}, "weights: .* expected 17 finite numbers"),
        ({"weights": [True] * 17}, "weights: .* expected 17 finite numbers"),
        ({"scale": [0.0] * 17}, "scale 0.0; expected numbers above 0"),
        ({"pos": True}, "features that this version does not have in that order|features: "),
        ({"pos": 1}, "pos: 1; expected a value of type bool"),
        ({"intercept": "1"}, "intercept: '1'; expected a finite number"),
        ({"intercept": True}, "intercept: True; expected a finite number"),
        ({"kind": "svm"}, "kind: 'svm'; expected rank or reg"),
        ({"function_words": [1]}, r"function_words: \[1\]; expected a list of words"),
        ({"text": {"tok": 1}}, "text: .*; expected names and strings"),
        ({"features": ["x"]}, "features that this version does not have"),
    ],
)
def test_a_wrong_model_file_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "m.json"
    write_trained_metric(path, truth().model)
    path.write_text(changed(json.loads(path.read_text()), **changes))
    with pytest.raises(UserError, match=message) as caught:
        read_rose(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    for name, content in (("a", b"<x>"), ("b", b"\xff\xfe\x00"), ("c", b"[]"), ("d", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError, match=r"no JSON|not a lasw ROSE model"):
            read_rose(tmp_path / name)
    with pytest.raises(UserError, match="no such file"):
        metric(f"ROSE:model={tmp_path / 'none'}")


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def tau(judgements: Judgements, spec: str) -> float:
    """Of WMT14: the metric's ties count as pairs."""
    scores = judgements.evaluation.sentence_scores(metric(spec))
    better, worse = (scores[x, judgements.segment] for x in (judgements.better, judgements.worse))
    return float(np.sign(better - worse).mean())


def test_the_command_trains_and_the_model_scores(
    tmp_path: Path, judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "rose.json"
    code, out, err = run(capsys, "train-metric", "rose", "--data", judged, "--output", model, "--language", "xx")
    assert (code, "judged" in err or "preferences" in err) == (0, True)
    assert "recall1" in out
    assert f"in {model}" in out
    first = model.read_bytes()
    document = json.loads(first)
    assert document["training"]["fingerprint"] == training_fingerprint([judged])
    assert (document["language"], document["text"]) == ("xx", {"case": "mixed", "tok": "spaces"})
    assert set(document["function_words"]) == {*"abcdefgh", "the"}
    assert (
        run(capsys, "train-metric", "rose", "--data", judged, "--output", model, "--language", "xx", "--quiet")[2] == ""
    )
    assert model.read_bytes() == first
    taus = [tau(read_preferences([judged])[0], spec) for spec in (f"ROSE:model={model}", "BLEU+1")]
    assert taus[0] > 0.95 > taus[1]
    code, out, _ = run(
        capsys, "features", "-m", f"ROSE:model={model}", "-r", judged / "ref.txt", judged / "hyp" / "s0.txt"
    )
    header, *lines = [line.split("\t") for line in out.splitlines()]
    assert header == ["segment", *CORE, "score"]
    assert [line[0] for line in lines] == [str(k + 1) for k in range(SEGMENTS)]
    slopes, constant = read_rose(model).slopes()
    values = np.array(lines, dtype=float)
    assert values[:, 1:18] @ slopes + constant == pytest.approx(values[:, 18])


def test_features_of_two_metrics_in_a_file(tmp_path: Path, judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "features.tsv"
    words = ["features", "-m", "PGBC4", "-m", "RAC1", "-r", judged / "ref.txt", judged / "hyp" / "s0.txt"]
    assert run(capsys, *words, "--output", out) == (0, "", "")
    header, first = out.read_text().splitlines()[:2]
    assert header.split("\t")[:2] == ["segment", "PGBC4 statistic1"]
    assert header.split("\t")[-1] == "RAC1 score"
    assert len(first.split("\t")) == 1 + 9 + 1 + 10 + 1


def test_training_with_characters(tmp_path: Path, judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "m.json"
    assert run(capsys, "train-metric", "rose", "--characters", 2, "--data", judged, "--output", model)[0] == 0
    assert read_rose(model).features.names[len(CORE) :: 2] == ("char-precision1", "char-recall1")
    code, out, _ = run(capsys, "features", "-m", f"ROSE:model={model}", "-r", judged / "ref.txt", judged / "ref.txt")
    assert (code, out.splitlines()[1].split("\t")[-1]) == (0, "1")


def test_training_with_parts_of_speech(tmp_path: Path, judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tagged = tmp_path / "tagged"
    (tagged / "hyp").mkdir(parents=True)
    tags = tmp_path / "tags"
    for path in [judged / "ref.txt", *(judged / "hyp").iterdir()]:
        lines = path.read_text().splitlines()
        tags.write_text("".join(" ".join("XY"[w in "abcd"] for w in line.split()) + "\n" for line in lines))
        target = tagged / path.relative_to(judged)
        assert run(capsys, "tag", path, "--tags", tags, "--output", target)[0] == 0
    (tagged / "pairs.tsv").write_bytes((judged / "pairs.tsv").read_bytes())
    model = tmp_path / "m.json"
    assert run(capsys, "train-metric", "rose", "--pos", "--data", tagged, "--output", model)[0] == 0
    assert len(read_rose(model).weights) == 33
    assert set(read_rose(model).features.function_words) == {*"abcdefgh", "the"}
    code, _, err = run(capsys, "score", "-m", f"ROSE:model={model}", "-r", judged / "ref.txt", judged / "ref.txt")
    assert (code, "without a tag; expected word|TAG; 'lasw tag' makes such text" in err) == (1, True)
    assert str(judged / "ref.txt:1") in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cost", "0"], "--cost 0; expected a number above 0"),
        (["--cost", "1e300"], "--cost 1e+300; expected a number above 0, 1e+06 at most"),
        (["--characters", "21"], "--characters 21; expected 0 to 20"),
        (["--pos", "--tokenize", "13a"], "--pos and --tokenize; expected text that is tokenised"),
        (["--function-words", "wordfreq"], "--function-words wordfreq without a language"),
        (["--function-words", "/nowhere"], "/nowhere: no such file"),
        (["--data", "/nowhere"], "/nowhere: no such folder"),
        (["--output", "/nowhere/rose.json"], "/nowhere: no such folder; expected one that the model"),
    ],
)
def test_what_training_refuses(
    tmp_path: Path, judged: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    out = tmp_path / "rose.json"
    code, _, err = run(capsys, "train-metric", "rose", "--data", judged, "--output", out, *words)
    assert (code, message in err, out.exists()) == (1, True, False), err


def test_the_same_folder_twice(judged: Path) -> None:
    with pytest.raises(UserError, match="the same folder twice"):
        read_preferences([judged, judged / "hyp" / ".."])


def test_agreement_on_real_judgements(shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Trained on one pair of languages of WMT11, tested on another of WMT13: better than smoothed BLEU."""
    model = tmp_path / "rose.json"
    words = ["--data", shared_data / "wmt11" / "cs-en", "--output", model, "--lowercase", "--quiet"]
    assert run(capsys, "train-metric", "rose", *words)[0] == 0
    preprocess = Preprocessing(lowercase=True).function()
    held_out = read_preferences([shared_data / "wmt13" / "es-en"], preprocess=preprocess)[0]
    assert tau(held_out, f"ROSE:model={model}") > tau(held_out, "BLEU+1") + 0.02


@pytest.mark.parametrize("name", ["rose", "pairwise", "combine"])
def test_what_is_learnt_from_is_not_overwritten(judged: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    before = (judged / "ref.txt").read_bytes()
    metrics = ["-m", "BLEU+1", "-m", "TER"] if name == "combine" else []
    words = ["train-metric", name, *metrics, "--data", str(judged), "--output", str(judged / "ref.txt")]
    assert main(words) == 1
    assert "ref.txt: the output would overwrite what is read; give another --output" in capsys.readouterr().err
    assert (judged / "ref.txt").read_bytes() == before
