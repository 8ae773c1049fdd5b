"""`lasw optimise` with a loss computed elsewhere, its gain on sentences kept out, and what features are worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build import SpoiltLists, list_of

from lasw.metrics import References, metric
from lasw.scripts.main import main
from lasw.tuning import make_optimiser, read_pool, unit_weights, write_nbest
from lasw.tuning.loop.gains import gained, held_out


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """20 sentences of 10 hypotheses: `good` knows their errors, `noise` nothing; references, and 1 - WER as scores."""
    made = SpoiltLists.made(5, sentences=20, size=10)
    good = made.draw.normal(size=200) / 2 - made.wrong
    lengths = np.array([len(text.split()) for _, text in made.hypotheses])
    write_nbest(tmp_path / "list", list_of(made.hypotheses, {"good": good, "noise": made.draw.normal(size=200)}))
    (tmp_path / "ref").write_text("".join(f"{line}\n" for line in made.references))
    (tmp_path / "scores").write_text("".join(f"{score!r}\n" for score in (1 - made.wrong / lengths).tolist()))
    return tmp_path


def optimise(data: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["optimise", "--json", "--quiet", *words, str(data / "list")]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("optimiser", ["pro", "mira", "perceptron", "ramp"])
def test_scores_are_the_loss_as_the_metric_would_be(
    data: Path, capsys: pytest.CaptureFixture[str], optimiser: str
) -> None:
    # Sentence scores of WER are these very numbers; what sums up to a corpus differs, so the optimisers of sentences.
    given = optimise(data, capsys, "--optimiser", optimiser, "--loss-scores", str(data / "scores"))
    own = optimise(data, capsys, "--optimiser", optimiser, "--metric", "WER", "-r", str(data / "ref"))
    if optimiser == "pro":
        assert given["weights"] == own["weights"]
    assert given["weights"]["dense"]["good"][0] > abs(given["weights"]["dense"]["noise"][0])
    assert "pool_bleu" not in given
    assert given["loss"]["metric"] == "LOSS-SCORES"
    assert given["loss"]["pool"] > given["loss"]["start_pool"]
    scores = np.array([float(line) for line in (data / "scores").read_text().split()]).reshape(20, 10)
    assert scores.mean() < given["loss"]["pool"] <= scores.max(axis=1).mean()


def test_without_references_nobody_looks_at_the_length(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = SpoiltLists.made(5, sentences=120, size=10)  # enough for a search for length
    names = {"good": made.draw.normal(size=1200) / 2 - made.wrong, "noise": made.draw.normal(size=1200)}
    write_nbest(tmp_path / "list", list_of(made.hypotheses, names))
    (tmp_path / "scores").write_text("".join(f"{-wrong!r}\n" for wrong in made.wrong.tolist()))
    words = ["--optimiser", "pro", "--loss-scores", str(tmp_path / "scores")]
    found = optimise(tmp_path, capsys, *words)
    assert found["weights"] == optimise(tmp_path, capsys, *words, "--fit-length", "false")["weights"]
    assert found["loss"]["pool"] > found["loss"]["start_pool"]


def test_with_references_the_pool_has_a_bleu_too(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--optimiser", "pro", "--loss-scores", str(data / "scores")]
    alone = optimise(data, capsys, *words)
    both = optimise(data, capsys, *words, "-r", str(data / "ref"))
    assert both["weights"] == alone["weights"]
    assert both["loss"] == alone["loss"]
    assert both["pool_bleu"] > both["start_pool_bleu"] > 0


def test_what_does_not_go_together(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["optimise", "--optimiser", "pro", "--loss-scores", str(data / "scores")]
    for more, message in (
        (["--metric", "CHRF", str(data / "list")], "--loss-scores and --metric; expected one loss"),
        ([], "no N-best lists"),
        ([str(data / "list"), "--optimiser", "wro"], "cannot be computed without references; give --references, or an"),
    ):
        assert main([*words, *more]) == 1
        assert message in capsys.readouterr().err
    (data / "short").write_text("1\n2\n")
    assert main(["optimise", "--optimiser", "pro", "--loss-scores", str(data / "short"), str(data / "list")]) == 1
    assert "short: 2 values of the feature --loss-scores; expected more than 2" in capsys.readouterr().err


def test_the_gain_on_sentences_kept_out(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--optimiser", "pro", "-m", "CHRF", "-r", str(data / "ref"), "--folds", "5", "--seed", "3"]
    found = optimise(data, capsys, *words)["held_out"]
    chrf = metric("CHRF")
    pool, _ = read_pool([str(data / "list")], References.read([str(data / "ref")]))
    assert pool.names is not None
    optimiser, start = make_optimiser("pro", metric="CHRF", seed=3), unit_weights(pool)
    rows = held_out(pool, chrf, start, lambda part: optimiser.fit(part, start).weights, 5, 3)
    assert (found["folds"], found["gain"], found["noise"]) == (5, *gained(chrf, *rows, 3))
    assert found["gain"] > found["noise"] > 0
    # Every sentence's choice is made by weights that were learnt without it: here one fold of them, by hand.
    order = np.random.default_rng(np.random.SeedSequence([3, 3])).permutation(20)
    out = np.isin(np.arange(20), order[:5:1][np.arange(5) % 5 == 0])
    alone = optimiser.fit(pool.of_sentences(~np.isin(np.arange(20), order[0::5])), start).weights
    chosen = pool.statistics(chrf)[pool.best(alone)]
    assert out.sum() == 1
    assert (rows[1][order[0::5]] == chosen[order[0::5]]).all()


def test_a_gain_within_its_noise_is_told(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Scores by chance: nothing to learn.
    draw = np.random.default_rng(1)
    (data / "chance").write_text("".join(f"{score!r}\n" for score in draw.random(200).tolist()))
    words = ["optimise", "--optimiser", "pro", "--loss-scores", str(data / "chance"), "--folds", "4"]
    assert main([*words, "--quiet", str(data / "list")]) == 0
    out = capsys.readouterr().out
    assert "held out " in out
    assert "within its noise: these weights may be no better than those before" in out


@pytest.mark.parametrize("folds", ["0", "4"])
def test_what_features_are_worth(data: Path, capsys: pytest.CaptureFixture[str], folds: str) -> None:
    words = ["--optimiser", "pro", "--loss-scores", str(data / "scores"), "--ablate", "--folds", folds]
    found = {one["feature"]: one for one in optimise(data, capsys, *words)["ablation"]}
    assert list(found) == ["good", "noise"]
    assert found["good"]["lost"] > 2 * found["good"]["noise"] > 0
    assert abs(found["noise"]["lost"]) < found["good"]["lost"] / 3
    if folds == "0":  # without `good` the weights of `noise` alone decide, as they do where lists have nothing else
        pool, _ = read_pool([str(data / "list")], References.read([str(data / "ref")]))
        scores = np.array([float(line) for line in (data / "scores").read_text().split()]).reshape(20, 10)
        noise = pool.dense[:, 1].reshape(20, 10)
        by_noise = [scores[np.arange(20), rows].mean() for rows in (noise.argmax(axis=1), noise.argmin(axis=1))]
        with_all = optimise(data, capsys, *words)["loss"]["pool"]
        assert min(abs(with_all - found["good"]["lost"] - one) for one in by_noise) < 1e-12


@pytest.mark.parametrize("folds", ["1", "-2", "x"])
def test_folds_that_are_none(data: Path, capsys: pytest.CaptureFixture[str], folds: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["optimise", "--optimiser", "pro", "--folds", folds, str(data / "list")])
    assert stop.value.code == 2
    assert "expected a whole number of at least 2, or 0" in capsys.readouterr().err


def test_more_folds_than_sentences(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["optimise", "--optimiser", "pro", "--loss-scores", str(data / "scores"), "--folds", "21"]
    assert main([*words, str(data / "list")]) == 1
    assert "--folds 21; expected at most 20, the sentences with candidates" in capsys.readouterr().err


def test_texts_with_features_in_files_are_tuned_and_reranked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list").write_text("a b\nc d\ne f\ng h\n")
    (tmp_path / "good").write_text("1\n2\n4\n3\n")
    (tmp_path / "loss").write_text("0.1\n0.9\n0.8\n0.2\n")
    texts = ["--nbest-size", "2", "--feature", f"good={tmp_path / 'good'}", str(tmp_path / "list")]
    output = ["--output", str(tmp_path / "w.json")]
    assert main(["optimise", "--optimiser", "pro", "--loss-scores", str(tmp_path / "loss"), *output, *texts]) == 0
    capsys.readouterr()
    assert main(["rerank", "--weights", str(tmp_path / "w.json"), *texts]) == 0
    assert capsys.readouterr().out == "c d\ne f\n"


def tune(data: Path, *words: str) -> int:
    (data / "src").write_text("x\n" * 20)
    given = ["--decoder", "fixed", "--lists", str(data / "list"), "--optimiser", "expected", "--run", str(data / "run")]
    texts = ["--source", str(data / "src"), "--references", str(data / "ref"), "--iterations", "1", "--quiet"]
    return main(["tune", *given, *texts, *words])


def test_tune_takes_them_with_the_lists(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune(data, "--loss-scores", str(data / "scores")) == 0
    capsys.readouterr()
    found = optimise(data, capsys, "--optimiser", "expected", "--loss-scores", str(data / "scores"))["weights"]["dense"]
    tuned = json.loads((data / "run/weights.json").read_text())["dense"]
    assert tuned["good"] == pytest.approx(found["good"], abs=1e-6)
    assert tuned["noise"] == pytest.approx(found["noise"], abs=1e-6)
    described = json.loads((data / "run/run.json").read_text())
    assert "metric:LOSS-SCORES|" in described["signature"]
    # Another loss is another run.
    lines = (data / "scores").read_text().splitlines()
    (data / "scores").write_text("".join(f"{line}\n" for line in ["0.5", *lines[1:]]))
    assert tune(data, "--loss-scores", str(data / "scores")) == 1
    assert "give another --run" in capsys.readouterr().err


def test_what_tune_refuses(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (data / "scores").read_text().splitlines()
    (data / "short").write_text("".join(f"{line}\n" for line in lines[1:]))
    write_nbest(data / "list", list_of([(0, "a"), (0, "b"), (0, "a")], {"good": [1, 2, 3]}))
    (data / "two").write_text("1\n2\n3\n")
    (data / "one").write_text("1\n2\n1\n")
    for words, message in (
        (["--loss-scores", str(data / "short")], "short: 199 values of the feature --loss-scores; expected 3"),
        (["--loss-scores", str(data / "two")], "--loss-scores: 3.0 and 1.0 for one text of sentence 0"),
        (
            ["--loss-scores", str(data / "one"), "--metric", "CHRF"],
            "loss_scores of the decoder and a metric of the optim",
        ),
    ):
        assert tune(data, *words) == 1
        assert message in capsys.readouterr().err
