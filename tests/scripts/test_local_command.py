"""`lasw local`: from lists on disk to a weight vector for every sentence, at once and one by one."""

import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from lasw.scripts.main import main
from lasw.tuning import Weights, read_local_weights, read_weights
from lasw.tuning.formats.weights.own_json import from_json

WORDS = ["der", "alte", "rote", "Bus", "faehrt", "heute", "ueber", "die", "neue", "Bruecke"]
SPEC = "bleu:power=1:prior=0.05:alphas=1,10"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """References, sources of two kinds, a list in which LM0 knows which words are wrong, start weights."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    references = [rng.permutation(WORDS)[: rng.integers(6, 10)].tolist() for _ in range(24)]
    lines = []
    for s, tokens in enumerate(references):
        for _ in range(15):
            wrong = rng.random(len(tokens)) < 0.6 * rng.random()
            text = " ".join("falsch" if w else t for t, w in zip(tokens, wrong, strict=True))
            lm, tm = -wrong.sum() + 2 * rng.normal(), rng.normal(size=2) - [0, 0.3 * wrong.sum() * (s % 2)]
            lines.append(f"{s} ||| {text}  ||| LM0= {lm:.6g} TM0= {tm[0]:.6g} {tm[1]:.6g} ||| 0\n")
    (tmp_path / "nbest").write_text("".join(lines))
    (tmp_path / "ref").write_text("".join(" ".join(tokens) + "\n" for tokens in references))
    sources = [f"{'red' if s % 2 else 'blue'} thing number {s}\n" for s in range(24)]
    (tmp_path / "dev").write_text("".join(sources))
    (tmp_path / "start").write_text("LM0= 1\nTM0= 1 1\nUnknownWordPenalty0= 0.5\n")
    (tmp_path / "test").write_text("a red thing\nsomething blue\n\na red thing\n")
    return tmp_path


TRAIN = ("local", "train", "--references", "ref", "--source", "dev", "--start", "start", "--output", "samples")


def ran(capsys, *words, code=0):
    found = main(list(words))
    out, err = capsys.readouterr()
    assert found == code, err
    return out, err


def test_train_weights_serve(place, capsys, monkeypatch):
    out, err = ran(capsys, *TRAIN, "--setting", SPEC, "nbest")
    assert out.count("alphas=") == 33  # 30 tried, the one given, the best, the chosen one
    assert re.search(r"(?m)^chosen +bleu:power=1:prior=0.05:alphas=1,10$", out)
    assert "nbest: 360 hypotheses" in err
    lines, _ = ran(capsys, "local", "weights", "--samples", "samples", "--source", "test")
    weights = [from_json(json.loads(line)) for line in lines.splitlines()]
    assert len(weights) == 4
    assert all(one.by_group()["UnknownWordPenalty0"] == [0.5] for one in weights)
    assert np.abs(weights[0].dense[:3]).sum() == pytest.approx(1)
    assert weights[0].dense.tolist() == weights[3].dense.tolist()
    assert weights[0].by_group()["TM0"][1] > weights[1].by_group()["TM0"][1]  # which helps the red ones
    ran(capsys, "local", "weights", "--samples", "samples", "--source", "test", "--output", "w.npz")
    assert [one.dense.tobytes() for one in read_local_weights("w.npz")] == [one.dense.tobytes() for one in weights]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO((place / "test").read_bytes()))))
    answers, told = ran(capsys, "local", "serve", "--samples", "samples")
    assert answers == lines
    assert re.fullmatch(r"4 sentences, \d+\.\d\d ms at the median, \d+\.\d\d ms at 99 %\n", told)
    exact, _ = ran(capsys, "local", "weights", "--samples", "samples", "--exact", "--source", "test")
    assert exact != lines
    near = from_json(json.loads(exact.splitlines()[0])).dense
    assert near == pytest.approx(weights[0].dense, abs=0.05)


def test_sentences_that_are_written_in_another_way_than_those_of_the_training_are_told(place, capsys, monkeypatch):
    ran(capsys, *TRAIN, "--setting", SPEC, "nbest")
    texts = {"shouted": (place / "dev").read_text().upper(), "unlike": "ein rotes Ding\n" * 20}
    found = {
        "shouted": "72 of 96 tokens are in capitals (NUMBER THING BLUE), none of samples",
        "unlike": "none of its 60 words is in samples: another language, another text or other lines",
    }
    for name, text in texts.items():
        (place / name).write_text(text)
        _, told = ran(capsys, "local", "weights", "--samples", "samples", "--source", name)
        assert told.startswith(f"lasw local: warning: {name}: {found[name]}")
        assert told.endswith("; prepare both alike\n")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode()))))
        assert found[name] in ran(capsys, "local", "serve", "--samples", "samples")[1]
        _, told = ran(capsys, "local", "weights", "--samples", "samples", "--setting", "global", "--source", name)
        assert "warning" not in told  # nothing depends on the text
    assert "warning" not in ran(capsys, "local", "weights", "--samples", "samples", "--source", "dev")[1]


def test_serve_answers_at_once_and_a_bad_line_does_not_stop_it(place, capsys):
    ran(capsys, *TRAIN, "--setting", SPEC, "nbest")
    program = [sys.executable, "-m", "lasw.scripts.main", "local", "serve", "--samples", "samples"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(program, **pipes) as process:
        for line, key in ((b"a red thing\n", "dense"), (b"\xff\n", "error"), (b"\r\n", "dense"), (b"x", "dense")):
            process.stdin.write(line)
            process.stdin.flush()
            if line == b"x":
                process.stdin.close()
            assert key in json.loads(process.stdout.readline())
        assert process.wait() == 0
        assert process.stderr.read().startswith(b"4 sentences, ")


def test_settings(place, capsys):
    result = json.loads(ran(capsys, *TRAIN, "--json", "--quiet", "nbest")[0])
    chosen = result["setting"]
    significant = [point for point in result["curve"] if point["lead"] > 0 and point["p_value"] < 0.05]
    assert chosen == max(significant, key=lambda point: point["score"], default={"setting": "global"})["setting"]
    assert len(result["curve"]) == 30
    for setting in ("best", "global", "words:beta=3"):
        words = (*TRAIN, "--setting", setting, "--try", "words:beta=1", "bleu", "--json", "nbest")
        given = json.loads(ran(capsys, *words)[0])
        assert given["setting"] == {"best": given["best"], "global": "global"}.get(
            setting, "words:beta=3:prior=0:alphas=1,10"
        )
        assert len(given["curve"]) == (3 if setting.startswith("words") else 2)
    ran(capsys, *TRAIN, "--setting", "global", "nbest")
    out, told = ran(capsys, "local", "weights", "--samples", "samples", "--source", "test")
    assert len(set(out.splitlines())) == 1
    assert "locality did not pay" in told
    told = ran(capsys, "local", "weights", "--samples", "samples", "--setting", "global", "--vectors", "none", "test")[
        1
    ]
    assert "did not pay" not in told
    assert "--vectors has no effect: the setting is global" in told
    words = (
        "--optimiser",
        "wro",
        "--references",
        "ref",
        "--start",
        "start",
        "--step",
        "1",
        "--output",
        "g.json",
        "nbest",
    )
    ran(capsys, "optimise", *words)
    right, found = read_weights("g.json"), from_json(json.loads(out.splitlines()[0]))
    assert found.names == right.names
    assert found.dense == pytest.approx(right.dense, abs=1e-12)


def test_same_command_same_bytes(place, capsys):
    ran(capsys, *TRAIN, "nbest")
    first = (place / "samples").read_bytes()
    ran(capsys, *TRAIN, "nbest")
    assert (place / "samples").read_bytes() == first


def test_nothing_that_is_read_is_overwritten(place, capsys):
    ran(capsys, *TRAIN, "nbest", "--setting", "global", "--try", SPEC)
    for name in ("nbest", "ref", "dev", "start"):
        before = (place / name).read_bytes()
        _, err = ran(capsys, *TRAIN, "--output", name, "nbest", code=1)
        assert err == f"lasw local: {name}: the output would overwrite what is read; give another --output\n"
        assert (place / name).read_bytes() == before
    for name in ("samples", "test"):
        _, err = ran(capsys, "local", "weights", "--samples", "samples", "--source", "test", "--output", name, code=1)
        assert f"{name}: the output would overwrite what is read" in err


def test_word_vectors(place, capsys):
    pytest.importorskip("gensim")
    (place / "vectors").write_text("red 1 0\nblue 0 1\nthing 0.6 0.8\n")
    (place / "others").write_text("red 1 0\nblue 0.1 1\nthing 0.6 0.8\n")
    out, _ = ran(capsys, *TRAIN, "--vectors", "vectors", "--setting", "embedding:beta=2", "nbest")
    assert len(re.findall(r"(?m)^embedding:", out)) == 11
    words = ("local", "weights", "--samples", "samples", "--source", "test")
    assert "--vectors" in ran(capsys, *words, code=1)[1]
    assert "other word vectors" in ran(capsys, *words, "--vectors", "others", code=1)[1]
    lines = ran(capsys, *words, "--vectors", "vectors")[0].splitlines()
    weights = [from_json(json.loads(line)) for line in lines]
    assert isinstance(weights[0], Weights)
    assert weights[0].by_group()["TM0"][1] > weights[1].by_group()["TM0"][1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*TRAIN, "--setting", "blue", "nbest"), "did you mean 'bleu'"),
        ((*TRAIN, "--setting", "beste", "nbest"), "did you mean 'best'"),
        ((*TRAIN, "--try", "embedding", "--", "nbest"), "--vectors"),
        ((*TRAIN, "--option", "pairz=3", "nbest"), "did you mean 'pairs'"),
        (("local", "train", "-r", "ref", "--source", "test", "--output", "s", "nbest"), "4 lines; expected 24"),
        (("local", "weights", "--samples", "dev", "--source", "test"), "no stored samples"),
        (("local", "weights", "--samples", "none", "--source", "test"), "no such file"),
        (("local", "serve", "--samples", "dev", "--encoding", "utf-9"), "unknown encoding"),
        (("local", "weights", "--samples", "dev", "--source", "test", "--output", "no/where"), "no such folder"),
    ],
)
def test_mistakes_are_one_line(place, capsys, words, message):
    err = ran(capsys, *words, code=1)[1]
    assert message in err
    assert [line for line in err.splitlines() if line.startswith("lasw local: ")]
    assert "Traceback" not in err


def test_unknown_options_are_answered_with_the_nearest(place, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["local", "weights", "--sample", "samples", "test"])
    assert stop.value.code == 2
    with pytest.raises(SystemExit):
        main(["local", "weights", "--samples", "samples", "--exakt", "test"])
    assert "did you mean '--exact'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["local"])
    assert "ACTION" in capsys.readouterr().err
