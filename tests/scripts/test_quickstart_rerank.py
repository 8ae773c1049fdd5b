"""`lasw quickstart --rerank`: its numbers are those of the commands that it prints."""

from __future__ import annotations

import json
import re
import resource
import shlex
import subprocess
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU

from lasw.scripts.main import main

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "quickstart"


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_commands_give_the_numbers_that_it_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    out = printed(capsys, "quickstart", "--rerank")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 20
    table = {m[1].strip(): (float(m[2]), float(m[3])) for m in re.finditer(r"^(.{26}) +([\d.]+) +([\d.]+)$", out, re.M)}
    first, risk, tuned, oracle = table.values()
    assert list(table) == ["first of each list", "minimum Bayes risk, CHRF", "tuned", "oracle"]
    for k in range(2):  # what it shows: consensus is better than the model's order, learning from references than both
        assert first[k] < risk[k] < tuned[k] - 3 < tuned[k] < oracle[k]

    references = Path("quickstart-lists/test.ref").read_text().splitlines()
    for choice, score in zip(("first", "mbr", "tuned", "oracle"), (first, risk, tuned, oracle), strict=True):
        texts = Path(f"quickstart-lists/test.{choice}").read_text().splitlines()
        assert f"{BLEU(tokenize='none').corpus_score(texts, [references]).score:.2f}" == f"{score[1]:.2f}"

    commands = [shlex.split(line) for line in out.partition("by commands:")[2].replace("\\\n", "").splitlines() if line]
    assert [words[:2] for words in commands] == [
        *(["lasw", name] for name in ("nbest", "optimise", "rerank", "rerank", "score"))
    ]
    oracles = json.loads(printed(capsys, *commands[0][1:], "--json"))
    assert [f"{100 * oracles[name]:.2f}" for name in ("first", "oracle")] == [f"{x[0]:.2f}" for x in (first, oracle)]
    weights = Path("quickstart-lists/weights.json").read_bytes()
    learnt = json.loads(printed(capsys, *commands[1][1:], "--json", "--quiet"))
    assert Path("quickstart-lists/weights.json").read_bytes() == weights
    assert f"{100 * (learnt['start_pool_bleu'] + learnt['held_out']['gain']):.2f}" == f"{tuned[0]:.2f}"
    assert f"a gain of {100 * learnt['held_out']['gain']:.2f} ± {100 * learnt['held_out']['noise']:.2f}." in out
    for words in commands[2:4]:
        assert printed(capsys, *words[1 : words.index(">")]) == Path(words[-1]).read_text()
    assert printed(capsys, "quickstart", "--rerank") == out


def test_what_it_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quickstart", "--rerank", "--source", "a", "--run", str(tmp_path / "run")]) == 1
    assert "--source beside --rerank; expected lists of its own need no text" in capsys.readouterr().err
    for name in ("mine", "dev.ref"):  # a name that it writes is still somebody's file
        folder = tmp_path / f"with {name}"
        folder.mkdir()
        (folder / name).write_text("a\n")
        assert main(["quickstart", "--rerank", "--run", str(folder)]) == 1
        assert (folder / name).read_text() == "a\n"
        assert len(list(folder.iterdir())) == 1
    words = [str(SCRIPT), "--rerank", "--source", "/dev/null", "--target", "/dev/null"]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 2
