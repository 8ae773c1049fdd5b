"""`lasw train-metric pairwise` and `combine`, and what `lasw agree` and `lasw score` make of their models."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_text import write_judgements

from lasw.metrics import UserError, trainer
from lasw.metrics.learned.combination import read_combination
from lasw.metrics.learned.pairwise.model import read_pairwise
from lasw.scripts.main import main

WORDS = list("abcdefgh")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgements of three systems, of which the first is mostly the best; word vectors; scores of every sentence."""
    folder = tmp_path_factory.mktemp("judged")
    random = np.random.default_rng(2)
    references = [list(random.choice(WORDS, size=7)) for _ in range(30)]
    table, systems = ["hyp\tref\tscore\n"], {}
    for name, share in (("one", 0.1), ("two", 0.4), ("three", 0.7)):
        lines = [" ".join(str(random.choice(WORDS)) if random.random() < share else w for w in r) for r in references]
        systems[name] = lines
        table += [f"{line}\t{' '.join(r)}\t{-share}\n" for line, r in zip(lines, references, strict=True)]
    pairs = [
        f"{k + 1}\t{a}\t{b}\t<\n" for k in range(30) for a, b in (("one", "two"), ("two", "three"), ("one", "three"))
    ]
    write_judgements(folder, [" ".join(ref) for ref in references], systems, pairs)
    (folder / "vectors.vec").write_text(
        "".join(f"{w} {' '.join(f'{x:.3f}' for x in random.normal(size=3))}\n" for w in WORDS)
    )
    rows = dict(line.split("\t", 2)[::2] for line in table[1:])
    assert len(rows) > 60
    (folder / "scores.tsv").write_text("".join(dict.fromkeys(table)))
    return folder


def printed(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_a_metric_that_prefers_the_worse_is_told(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Held-out judgements that say the opposite of the others, and vectors that the network does not see."""
    held_out = tmp_path / "opposite"
    shutil.copytree(judged, held_out)
    (held_out / "pairs.tsv").write_text((judged / "pairs.tsv").read_text().replace("<", ">"))
    train = ["train-metric", "pairwise", "--skip", "WER", "--data", str(judged), "--held-out", str(held_out)]
    train += ["--epochs", "5", "--loss", "logistic", "--quiet", "--output", str(tmp_path / "m.json")]
    assert main([*train, "--json"]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert result["training"]["tau"] < 0
    (warning,) = result["warnings"]
    assert err == f"lasw train-metric: warning: {warning}\n"
    assert warning.startswith(f"held-out tau is {result['training']['tau']:.3f}: ")
    assert main([*train, "--vectors", str(judged / "vectors.vec"), "--hidden", "0"]) == 1
    assert "vectors for a network without hidden nodes" in capsys.readouterr().err


def test_a_network_is_trained_and_used(judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.json"
    train = ["train-metric", "pairwise", "--skip", "WER", "CHRF", "--vectors", str(judged / "vectors.vec")]
    train += ["--data", str(judged), "--epochs", "60", "--lowercase", "--quiet", "--output", str(path)]
    out = printed(capsys, train)
    assert "held-out tau" in out
    assert "from 1 in the mean" in out
    first = path.read_bytes()
    result = json.loads(printed(capsys, [*train, "--json"]))
    assert path.read_bytes() == first
    model = read_pairwise(path)
    assert result["model"] == model.fingerprint()
    assert model.text == {"case": "lc", "tok": "spaces"}
    spec = f"PAIRWISE:model={path}"
    agreed = json.loads(printed(capsys, ["agree", "-m", spec, "--json", "--quiet", str(judged)]))
    assert agreed["metrics"][0]["sets"][0]["segments"]["kendall"]["value"] > 0.6
    table = printed(capsys, ["agree", "-m", spec, "--decisions", "--quiet", str(judged)]).splitlines()[-1].split()
    (entry,) = json.loads(printed(capsys, ["agree", "-m", spec, "--decisions", "--json", "--quiet", str(judged)]))[
        "decisions"
    ]
    assert (entry["n"], entry["decisions"]["tau12"] > 0.6, entry["mean_wins"]["tau12"] > 0.6) == (90, True, True)
    assert table[2:4] == ["90", f"{entry['decisions']['tau12']:.3f}"]
    for words, message in (
        (["agree", "-m", "WER", "--decisions", str(judged)], "--decisions without a network"),
        (["agree", "-m", spec, "--decisions", "--tsv", str(judged)], "--decisions and --tsv"),
    ):
        assert main(words) == 1
        assert message in capsys.readouterr().err
    hypotheses = str(judged / "hyp" / "one.txt")
    scored = json.loads(printed(capsys, ["score", "-m", spec, "-r", str(judged / "ref.txt"), hypotheses, "--json"]))
    assert 50 < scored["systems"][0]["results"][0]["score"] < 100


def test_other_data_may_say_when_to_stop(judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.json"
    train = ["train-metric", "pairwise", "--skip", "WER", "--data", str(judged), "--held-out", str(judged)]
    result = json.loads(printed(capsys, [*train, "--epochs", "2", "--output", str(path), "--quiet", "--json"]))
    assert result["training"]["held-out-preferences"] == result["training"]["preferences"] == 90


@pytest.mark.parametrize("kind", ["linear", "log-linear"])
def test_a_combination_is_learnt_and_used(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    path = tmp_path / "model.json"
    train = ["train-metric", "combine", "-m", "WER", "-m", "PABC2:alpha=1", "--kind", kind, "--data", str(judged)]
    out = printed(capsys, [*train, "--quiet", "--output", str(path)])
    model = read_combination(path)
    assert ("MIX:WER=" in out) == (kind == "linear")
    agreed = printed(capsys, ["agree", "-m", f"COMBINATION:model={path}", "--json", "--quiet", str(judged)])
    assert json.loads(agreed)["metrics"][0]["sets"][0]["segments"]["kendall"]["value"] > 0.6
    if kind == "linear":
        mixed = printed(capsys, ["agree", "-m", model.mixture_spec(), "--json", "--quiet", str(judged)])
        assert _sets(mixed) == _sets(agreed)


def _sets(text: str) -> Any:
    return json.loads(text)["metrics"][0]["sets"]


def test_given_scores_are_a_metric_among_others(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = str(judged / "scores.tsv")
    arguments = ["agree", "-m", "WER", "--scores", scores, "--json", "--quiet", str(judged)]
    found = json.loads(printed(capsys, arguments))["metrics"]
    assert [x["metric"] for x in found] == ["WER", f"SCORES:file={scores}"]
    assert found[1]["sets"][0]["segments"]["kendall"]["value"] == 1.0
    one = ["score", "--scores", scores, "-r", str(judged / "ref.txt"), str(judged / "hyp" / "two.txt"), "--json"]
    assert json.loads(printed(capsys, one))["systems"][0]["results"][0]["score"] == pytest.approx(-0.4)


def test_both_are_trained_on_folds(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["agree", "--train", "COMBINATION:metrics=WER,PABC2;alpha=1", "--folds", "3", "--json", "--quiet"]
    arguments += ["--train", f"PAIRWISE:skip=WER,CHRF:vectors={judged / 'vectors.vec'}:epochs=30", str(judged)]
    found = json.loads(printed(capsys, arguments))["metrics"]
    for x in found:
        assert x["sets"][0]["segments"]["kendall"]["value"] > 0.3
    assert "COMBINATION|kind:linear|metrics:1-WER|reflen:average,PABC2|alpha:1" in found[0]["signature"]
    assert "PAIRWISE|skip:WER,CHRF|vectors:vectors.vec#" in found[1]["signature"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("COMBINATION", "of no metrics"),
        ("COMBINATION:metrics=WER,BLUE", "unknown metric 'BLUE'"),
        ("COMBINATION:metrics=WER:kind=linaer", "did you mean 'linear'"),
        ("PAIRWISE:skp=WER", "did you mean 'skip'"),
        ("PAIRWISE:skip=WER:epochs=x", "expected a whole number"),
        ("PAIRWISE:skip=WER:vectors=/nowhere/x", "no such file"),
        ("PAIRWISE:skip=WER:loss=x", "loss 'x'"),
    ],
)
def test_wrong_trainers(spec: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        trainer(spec)


EXTERNAL = """
import sys
for line in sys.stdin:
    hypothesis, reference = (text.split() for text in line.rstrip("\\n").split("\\t"))
    print(sum(a == b for a, b in zip(hypothesis, reference)))
"""


@pytest.mark.parametrize("kind", ["PAIRWISE", "COMBINATION", "EXTERNAL", "SCORES"])
def test_each_is_a_loss(judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    """F0 counts the words that were replaced, F1 is noise; with both at 1 the noise decides."""
    random = np.random.default_rng(3)
    references = [line.split() for line in (judged / "ref.txt").read_text().splitlines()]
    lines, table = [], {}
    for s, reference in enumerate(references):
        for _ in range(6):
            replaced = random.random(7) < random.random()
            text = " ".join("x" if r else w for r, w in zip(replaced, reference, strict=True))
            lines.append(f"{s} ||| {text} ||| F0= {-replaced.sum()} F1= {9 * random.normal():.4f} ||| 0")
            table[text, " ".join(reference)] = -int(replaced.sum())
    (tmp_path / "nbest").write_text("\n".join(lines) + "\n")
    (tmp_path / "program.py").write_text(EXTERNAL)
    rows = "".join(f"{text}\t{reference}\t{score}\n" for (text, reference), score in table.items())
    (tmp_path / "scores").write_text("hyp\tref\tscore\n" + rows)
    model, common = str(tmp_path / "model"), ["--data", str(judged), "--quiet", "--output", str(tmp_path / "model")]
    if kind == "PAIRWISE":
        assert main(["train-metric", "pairwise", "--skip", "WER", "--epochs", "30", *common]) == 0
    if kind == "COMBINATION":
        assert main(["train-metric", "combine", "-m", "WER", "-m", "CHRF", *common]) == 0
    spec = {
        "EXTERNAL": f"EXTERNAL:cmd={sys.executable} {tmp_path / 'program.py'}",
        "SCORES": f"SCORES:file={tmp_path / 'scores'}",
    }.get(kind, f"{kind}:model={model}")
    weights = tmp_path / "weights.json"
    optimise = ["optimise", "--optimiser", "pro", "--metric", spec, "--quiet", "-r", str(judged / "ref.txt")]
    assert main([*optimise, "--output", str(weights), str(tmp_path / "nbest")]) == 0
    capsys.readouterr()
    found = dict(_numbers(json.loads(weights.read_text())))
    assert found["F0"] > 3 * abs(found["F1"])


def _numbers(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Weights with their names, however a file of weights nests them."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _numbers(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from _numbers(part, name)
    elif isinstance(value, float | int):
        yield name, value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pairwise"], "neither vectors nor skip features"),
        (["pairwise", "--skip", "BLUE"], "unknown metric 'BLUE'"),
        (["pairwise", "--skip", "WER", "--epochs", "0"], "epochs 0"),
        (["pairwise", "--skip", "WER", "--held-out-share", "2"], "held-out 2"),
        (["combine", "-m", "WER", "--penalty", "0"], "--penalty 0"),
        (["combine", "-m", "WER", "-m", "WER"], "'WER' twice"),
    ],
)
def test_what_is_wrong_is_one_line(
    judged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    path = tmp_path / "model.json"
    action = ["train-metric", *arguments, "--data", str(judged), "--output", str(path), "--quiet"]
    assert main(action) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not path.exists()
