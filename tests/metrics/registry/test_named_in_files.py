"""What a file may name as a metric: nothing that runs a program, and what opens files only where that is said."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from lasw.metrics import METRICS, CombinationModel, UserError, metric, named_in, parameters, write_trained_metric
from lasw.metrics.learned.pairwise.inputs import PairwiseInputs
from lasw.metrics.learned.pairwise.model import PairwiseModel, Scaling
from lasw.metrics.learned.pairwise.network import Network, Shape
from lasw.metrics.registry import OF_FILES, OF_TEXTS
from lasw.scripts.main import main

RUNS = f'EXTERNAL:mode=batch:cmd={sys.executable} -c \'open("ran", "w")\''


def model(path: Path, *specs: str) -> Path:
    write_trained_metric(path, CombinationModel("linear", specs, (1.0,) * len(specs)))
    return path


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("hyp").write_text("a b\n")
    Path("vectors.txt").write_text("a 1 2\nb 2 1\n")
    return tmp_path


def test_every_metric_is_of_a_kind() -> None:
    """A new one has to say whether a file may name it."""
    assert sorted([*OF_TEXTS, *OF_FILES, "EXTERNAL"]) == sorted(METRICS)
    for name in set(OF_TEXTS) - {"MIX"}:
        assert not {"model", "vectors", "file", "cmd", "df", "stop"} & set(parameters(METRICS.find(name)))


@pytest.mark.parametrize(
    "spec",
    [
        RUNS,
        f"MIX:{RUNS}=0.5:BLEU=0.5",
        RUNS.replace("EXTERNAL", "External"),
        f"mix:{RUNS.lower()}=0.5:BLEU=0.5",
        "EXTERNAL:cmd=@/dev/zero",
        "MIX:EXTERNAL:cmd=@/dev/zero=1",
    ],
)
@pytest.mark.parametrize("files", ["", ":files=yes"])
def test_a_model_runs_nothing(capsys: pytest.CaptureFixture[str], spec: str, files: str) -> None:
    path = model(Path("model.json"), "BLEU", spec)
    assert main(["score", "-m", f"COMBINATION:model={path}{files}", "-r", "hyp", "--", "hyp"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("lasw score: model.json: it names EXTERNAL, which runs a program; name it yourself")
    assert said.count("\n") == 1
    assert not Path("ran").exists()


@pytest.mark.parametrize("spec", [RUNS, f"MIX:{RUNS}=0.5:BLEU=0.5", "EXTERNAL:cmd=@/dev/zero"])
@pytest.mark.parametrize("files", ["", ":files=yes"])
def test_a_model_of_pairs_runs_nothing(capsys: pytest.CaptureFixture[str], spec: str, files: str) -> None:
    inputs = PairwiseInputs(("WER",))
    shape = Shape(0, inputs.width, 0)
    scaling = Scaling(np.zeros(0), np.zeros(0), np.zeros(shape.k), np.ones(shape.k))
    network = Network(np.ones(shape.parameters), shape)
    write_trained_metric("model.json", PairwiseModel(inputs, network, scaling, np.zeros(shape.k)))
    assert main(["score", "-m", "PAIRWISE:model=model.json", "-r", "hyp", "--", "hyp"]) == 0
    capsys.readouterr()
    content = json.loads(Path("model.json").read_text())
    assert content["skip"] == ["WER"]
    Path("model.json").write_text(json.dumps({**content, "skip": [spec]}))
    assert main(["score", "-m", f"PAIRWISE:model=model.json{files}", "-r", "hyp", "--", "hyp"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("lasw score: model.json: it names EXTERNAL, which runs a program; name it yourself")
    assert said.count("\n") == 1
    assert not Path("ran").exists()


def test_a_model_opens_files_where_it_may() -> None:
    for spec in ("WMD:vectors=vectors.txt", "MIX:WMD:vectors=vectors.txt=1", "SCORES:file=/dev/zero"):
        path = model(Path("model.json"), spec)
        with pytest.raises(UserError, match=r"model.json: it names (WMD|SCORES), which opens files; .*files=yes"):
            metric(f"COMBINATION:model={path}")
    path = model(Path("model.json"), "WMD:vectors=vectors.txt")
    assert metric(f"COMBINATION:model={path}:files=yes").metrics[0].name == "WMD"  # type: ignore[attr-defined]
    inner = model(Path("outer.json"), f"COMBINATION:model={path}:files=yes", "CHRF")
    assert len(metric(f"COMBINATION:model={inner}:files=yes").metrics) == 2  # type: ignore[attr-defined]
    model(Path("inner.json"), f"COMBINATION:model={inner}:files=yes")
    model(Path("outer.json"), "COMBINATION:model=inner.json:files=yes")
    with pytest.raises(UserError, match=r"outer.json: a model that names itself"):
        metric("COMBINATION:model=outer.json:files=yes")


def test_what_is_typed_is_free_again() -> None:
    with pytest.raises(UserError, match="runs a program"), named_in("model.json", files=True):
        metric(RUNS)
    with pytest.raises(UserError, match="unknown metric 'BLUE'"), named_in("model.json"):
        metric("BLUE")
    with named_in("model.json"):
        assert metric("RGC2").name == "RGC2"
    assert metric(RUNS).name == "EXTERNAL"


class Runs:
    """Unpickling makes a file."""

    def __reduce__(self) -> tuple[object, ...]:
        return open, ("ran", "w")


def test_a_pickle_is_no_file_of_vectors(capsys: pytest.CaptureFixture[str]) -> None:
    import bz2
    import gzip

    for protocol in range(6):
        data = pickle.dumps(Runs(), protocol)
        for content in (data, gzip.compress(data), bz2.compress(data)):
            Path("vectors").write_bytes(content)
            assert main(["vectors", "neighbours", "--vectors", "vectors", "a"]) == 1
            said = capsys.readouterr().err
            assert said.startswith("lasw vectors: vectors:")
            assert said.count("\n") == 1
            if protocol >= 2:
                assert "save_word2vec_format" in said
            assert not Path("ran").exists()


def test_a_model_that_could_not_be_read_is_not_trained(capsys: pytest.CaptureFixture[str]) -> None:
    for action in (["combine", "-m", RUNS], ["pairwise", "--skip", RUNS]):
        assert main(["train-metric", *action, "--data", ".", "--output", "model.json"]) == 1
        assert "model.json: it names EXTERNAL, which runs a program" in capsys.readouterr().err
    assert not Path("ran").exists()
