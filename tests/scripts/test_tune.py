"""`lasw tune` from the command line, with a decoder made of a formula."""

from __future__ import annotations

import json
import random
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lasw.metrics import Corpus, UserError, Vocabulary
from lasw.scripts.main import main
from lasw.tuning import CONFIGURATION, OPTIMISERS, Decoder, FeatureNames, NBest, Weights, read_weights
from lasw.tuning.decoders import registry

WORDS = ["red", "blue", "house", "tree", "runs", "sees", "the", "a", "slowly", "today"]
NAMES = FeatureNames((("LM", 1), ("WP", 1)))


class Toy(Decoder):
    """Spoils sentences.

    Args:
        model: a file whose first word is in every message.
        strength: how much noise there is.
        jobs: processes.
        fail: whether to fail in the second call.
    """

    name = "toy"
    calls = 0

    def __init__(self, model: Path, strength: float = 0.1, jobs: int = 1, fail: bool = False) -> None:
        if not 0 <= strength < 1:
            raise ValueError(f"strength is {strength}, expected from 0 to 1")
        self.model, self.strength, self.fail = model, strength, fail

    def input_files(self) -> Sequence[Path]:
        return [self.model]

    def start_weights(self) -> Weights:
        return Weights.from_groups({"LM": [-0.5], "WP": [0.5]})

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        type(self).calls += 1
        if self.fail and self.calls == 2:
            raise UserError("toy: exit code 3; its last words: out of memory")
        rows = []
        for owner, line in enumerate(source):
            draw = random.Random(line)
            found = []
            for _ in range(40):
                spoilt = 0.6 * draw.random()
                words = [w if draw.random() > spoilt else draw.choice(WORDS) for w in line.split()]
                found.append(
                    (np.array([-spoilt, spoilt / 2]) + [draw.gauss(0, self.strength) for _ in range(2)], words)
                )
            found.sort(key=lambda c: -float(c[0] @ weights.dense))
            rows += [(owner, words, features) for features, words in found[:n]]
        dense = np.array([row[2] for row in rows])
        corpus = Corpus.from_lines(map(" ".join, [row[1] for row in rows]), vocabulary)
        return NBest(NAMES, np.array([row[0] for row in rows], np.int32), corpus, dense, dense @ weights.dense)

    def write_configuration(self, path: Any, weights: Weights, comment: Sequence[str] = ()) -> bool:
        Path(path).write_text("\n".join([*comment, repr(weights.dense.tolist())]))
        return True


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with development text in which `--decoder toy` works."""
    module = types.ModuleType("lasw_toy")
    module.Toy = Toy  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lasw_toy", module)
    monkeypatch.setitem(registry.DECODERS.places, "toy", "lasw_toy:Toy")
    Toy.calls = 0
    draw = random.Random(1)
    lines = [" ".join(draw.choices(WORDS, k=draw.randint(6, 12))) for _ in range(20)]
    (tmp_path / "dev").write_text("".join(line + "\n" for line in lines))
    (tmp_path / "model").write_text("toy model\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tune(*words: str, run: str = "run") -> int:
    given = ["--decoder", "toy", "--model", "model", "--source", "dev", "--references", "dev", "--run", run]
    small = ["--nbest", "8", "--iterations", "3", "--draws", "500", "--noise", "0", "--step", "whole"]
    return main(["tune", *given, *small, *words])


def test_a_development_score_that_is_an_error_rate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("--optimiser", "wro", "--dev-metric", "TER", "--json") == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    log = [json.loads(line) for line in (folder / "run/log.jsonl").read_text().splitlines()]
    rate = 100 * (1 - result["dev_score"])
    assert result["development"] == {"metric": "TER", "score": pytest.approx(rate), "better": "lower"}
    assert err.startswith(f"iteration 1: development TER {100 * (1 - log[0]['dev_score']):.2f} ↓ before, ")
    assert rate < 100 * (1 - log[0]["dev_score"])
    page = (folder / "run/report.html").read_text()
    before = 100 * (1 - log[0]["dev_score"])
    assert f"Development TER (an error rate, lower is better) went from {before:.2f} to {rate:.2f} with" in page
    assert "development score" not in page
    assert f"TER {rate / 100:.6f} on dev" in (folder / "run/decoder.cfg").read_text()
    assert tune("--optimiser", "wro", "--dev-metric", "TER") == 0
    assert f", development TER {rate:.2f} ↓)\n" in capsys.readouterr().out


def test_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("--optimiser", "wro", "--metric", "PABC3", "--json") == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert result["dev_score"] > json.loads((folder / "run/log.jsonl").read_text().split("\n")[0])["dev_score"] + 0.05
    assert err.startswith("iteration 1: development score ")
    assert "last weights: development score" in err
    weights = read_weights(folder / "run/weights.json")
    assert result["weights"]["dense"] == weights.by_group()
    said = json.loads((folder / "run/run.json").read_text())
    assert said["settings"]["optimiser"]["metric"] == "PABC3"
    assert said["settings"]["optimiser"]["oracle_share"] == 0.1
    assert said["signature"].startswith("WRO|metric:PABC3|")
    assert said["dev_signature"].startswith("BLEU|")
    assert {"python", "lasw", "numpy"} <= set(said["versions"])
    assert (folder / "run/report.html").read_text().startswith("<!DOCTYPE html>")
    written = (folder / "run/decoder.cfg").read_text().split("\n")
    assert written[0].startswith("BLEU 0.")
    assert json.loads(written[-1]) == weights.dense.tolist()


def test_the_decoder_is_asked_unless_told_otherwise(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("--optimiser", "wro", "--step", "trust", "--folds", "2") == 0
    shown = capsys.readouterr().err.split("\n")
    records = [json.loads(line) for line in (folder / "run/log.jsonl").read_text().splitlines()]
    for line, record in zip(shown, records[:3], strict=False):
        assert f", step {record['step']['share']:.2g}" in line
        assert record["held_out_gain"] < 1
    assert Toy.calls == 4 + sum(len(record["step"]["probes"]) for record in records[:3])
    report = (folder / "run/report.html").read_text()
    assert "<h2>Steps</h2>" in report
    assert "share taken" in report
    assert tune("--optimiser", "wro", "--step", "far") == 1
    assert "step is far, expected trust, growing, whole" in capsys.readouterr().err


def test_the_same_command_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("--optimiser", "pro") == 0
    first = {p: p.read_bytes() for p in folder.rglob("*.*")}
    calls = Toy.calls
    capsys.readouterr()
    assert tune("--optimiser", "pro") == 0
    out, err = capsys.readouterr()
    assert out.startswith("was finished already after 3 iterations")
    assert err == ""
    assert Toy.calls == calls
    assert {p: p.read_bytes() for p in folder.rglob("*.*")} == first
    assert tune("--optimiser", "pro", run="other") == 0
    assert (folder / "other/weights.json").read_bytes() == (folder / "run/weights.json").read_bytes()
    assert tune("--optimiser", "pro", "--seed", "2", run="third") == 0
    assert (folder / "third/weights.json").read_bytes() != (folder / "run/weights.json").read_bytes()


def test_another_run_in_the_same_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("--optimiser", "pro") == 0
    assert tune("--optimiser", "pro", "--psi", "0.5") == 1
    assert "this run was made with optimiser.psi = 1.0 (now 0.5)" in capsys.readouterr().err
    assert tune("--optimiser", "pro", "--jobs", "7") == 0
    (folder / "model").write_text("another model\n")
    assert tune("--optimiser", "pro") == 1
    assert 'this run was made with decoder.model = "' in capsys.readouterr().err
    (folder / "model").write_text("toy model\n")
    (folder / "dev").write_text((folder / "dev").read_text().replace("red", "blue"))
    assert tune("--optimiser", "pro") == 1
    assert 'references.1 = "' in capsys.readouterr().err


def test_a_file_and_options_over_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "c.toml").write_text(
        '[run]\ndirectory = "here"\niterations = 1\nseed = 5\n[data]\nsource = "../dev"\nreferences = ["../dev"]\n'
        '[decoder]\nname = "toy"\nmodel = "../model"\nstrength = 0.2\n'
        '[optimiser]\nname = "wro"\nglobal_weight = true\noracle_share = 0.3\ndraws = 300\n'
    )
    assert main(["tune", "sub/c.toml", "--seed", "9", "--global-weight", "false", "--keep", "last", "--quiet"]) == 0
    assert "after 1 iteration: the maximum" in capsys.readouterr().out
    said = json.loads((folder / "sub/here/run.json").read_text())["settings"]
    assert (said["run"]["seed"], said["run"]["iterations"], said["run"]["keep"]) == (9, 1, "last")
    assert said["optimiser"]["global_weight"] is False
    assert said["optimiser"]["oracle_share"] == 0.3
    assert said["decoder"]["strength"] == 0.2
    assert main(["tune", "--config", "sub/c.toml", "--optimiser", "pro", "--run", "new", "--quiet"]) == 0
    assert "oracle_share" not in json.loads((folder / "new/run.json").read_text())["settings"]["optimiser"]


def test_a_configuration_of_the_package_by_name(folder: Path) -> None:
    assert tune("wro-global", "--metric", "BLEU+1") == 0
    said = json.loads((folder / "run/run.json").read_text())["settings"]
    assert (said["optimiser"]["name"], said["optimiser"]["reachable"], said["run"]["iterations"]) == ("wro", 0.4, 3)


def test_start_weights_from_a_file(folder: Path) -> None:
    (folder / "start.txt").write_text("WP 0.25\nLM 0.75\n")
    assert tune("--optimiser", "pro", "--start", "start.txt") == 0
    assert read_weights(folder / "run/iterations/001/before.json").by_group() == {"LM": [0.75], "WP": [0.25]}


def test_a_decoder_that_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("--optimiser", "pro", "--fail", "true") == 1
    err = capsys.readouterr().err
    assert "out of memory" in err
    assert "1 finished iterations are kept in run; the same command goes on from there" in err
    assert len((folder / "run/log.jsonl").read_text().splitlines()) == 1


def test_a_run_that_is_refused_is_not_said_to_go_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("--optimiser", "pro") == 0
    for words in (["--seed", "2"], ["--iterations", "1"], ["--strength", "2"], ["--source", "none"]):
        capsys.readouterr()
        assert tune("--optimiser", "pro", *words) == 1
        assert "goes on from there" not in capsys.readouterr().err


def test_ends_by_itself_unless_told_otherwise(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--decoder", "toy", "--model", "model", "--source", "dev", "--references", "dev", "--run", "run"]
    assert main(["tune", *given, "--optimiser", "wro", "--nbest", "8", "--step", "whole"]) == 0
    assert "the pool's gain is within its noise" in capsys.readouterr().out
    records = [json.loads(line) for line in (folder / "run/log.jsonl").read_text().splitlines()]
    assert len(records) == Toy.calls < 6
    assert records[-1]["gain"] <= 0.5 * records[-1]["gain_noise"]
    several = [
        "--perturbed",
        "1",
        "--perturbed-rounds",
        "1",
        "--first-nbest",
        "20",
        "--iterations",
        "1",
        "--run",
        "more",
    ]
    assert main(["tune", *given, "--optimiser", "wro", "--nbest", "8", *several]) == 0
    [record, *_] = [json.loads(line) for line in (folder / "more/log.jsonl").read_text().splitlines()]
    assert (record["decodings"], record["nbest"], record["others"][0]["nbest"]) == (2, 20, 20)


def test_a_record_that_somebody_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune("--optimiser", "pro") == 0
    (folder / "run/iterations/001/iteration.json").write_text("{}")
    capsys.readouterr()
    assert tune("--optimiser", "pro") == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "damaged" in line]
    assert told == [
        "lasw tune: warning: iteration 1: iterations/001/iteration.json is damaged (it has no 'iteration'): what it "
        "belongs to is done again"
    ]


def test_an_interrupted_run_goes_on(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tune("--optimiser", "wro", run="whole") == 0
    real = Toy.decode
    Toy.calls = 0

    def interrupted(self: Toy, *arguments: Any) -> NBest:
        if self.calls == 2:
            raise KeyboardInterrupt
        return real(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Toy, "decode", interrupted)
        assert tune("--optimiser", "wro") == 130
    assert "2 finished iterations are kept" in capsys.readouterr().err
    assert tune("--optimiser", "wro") == 0
    assert (folder / "run/weights.json").read_bytes() == (folder / "whole/weights.json").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--optimiser", "wor"], f"unknown optimiser 'wor'; expected {', '.join(OPTIMISERS)}; did you mean 'wro'?"),
        (["--optimiser", "pro", "--oracle-share", "0.2"], "optimiser pro has no 'oracle_share'"),
        (["--optimiser", "pro", "--draws", "many"], "--draws is 'many'; expected a whole number"),
        (["--optimiser", "pro", "--strength", "2"], "decoder toy: strength is 2.0, expected from 0 to 1"),
        (["--optimiser", "pro", "--references", "dev", "short"], "short"),
        (["--optimiser", "pro", "--source", "short"], "short: 2 lines; expected 20, as many as dev has"),
        (["--optimiser", "pro", "--source", "none"], "none: no such file"),
        (["--optimiser", "pro", "--start", "bad"], "bad"),
        (["--optimiser", "pro", "--dev-metric", "BLUE"], "unknown metric 'BLUE'"),
        (["wro-globl"], "no file and no configuration 'wro-globl'"),
        (["--optimiser", "prow"], "unknown optimiser 'prow'"),
    ],
)
def test_mistakes(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    (folder / "short").write_text("a b\nc d\n")
    (folder / "bad").write_text("LM nan\n")
    assert tune(*words) == 1
    out, err = capsys.readouterr()
    assert message in err
    assert out == ""
    assert err.count("\n") == 1
    assert not (folder / "run").exists()


def test_every_key_has_an_option(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["tune", "--help-all"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    for section in CONFIGURATION.sections:
        for key in CONFIGURATION.keys(section):
            name = {"name": section, "directory": "run"}.get(key, key.replace("_", "-"))
            assert f"--{name} " in text
    assert "how much noise there is (default: 0.1)" in " ".join(text.split())
    assert "wro-global" in text


def test_unknown_option(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        tune("--optimizer", "pro")
    assert end.value.code == 2
    assert "did you mean '--optimiser'" in capsys.readouterr().err


def test_given_lists(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["the red house runs slowly today", "a blue tree sees the house"]
    (tmp_path / "dev").write_text("".join(line + "\n" for line in lines))
    rows = []
    for owner, line in enumerate(lines):
        words = line.split()
        for cut in range(len(words)):
            rows.append(f"{owner} ||| {' '.join(words[cut:])} ||| LM= {-cut / 2} WP= {cut - 6} ||| 0")
    (tmp_path / "lists").write_text("".join(row + "\n" for row in rows))
    given = ["--source", "dev", "--references", "dev", "--run", "run", "--decoder", "fixed", "--lists", "lists"]
    assert main(["tune", "--optimiser", "pro", *given]) == 0
    out, err = capsys.readouterr()
    assert "finished after 2 iterations: no new candidates" in out
    assert "development score 100.00" in out
    assert "ignore" not in err
    assert read_weights("run/weights.json").by_group()["LM"][0] > 0
