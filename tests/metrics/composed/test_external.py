"""Numbers of other programs, and numbers from tables, as metrics."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lasw.metrics import Corpus, References, UserError, metric
from lasw.metrics.composed import external_program
from lasw.metrics.composed.external import External

# A program that scores the difference of lengths, and writes down every line it was asked about and every start.
PROGRAM = """
import sys
log = open(sys.argv[1], "a")
print("started", file=log, flush=True)
for line in sys.stdin:
    hypothesis, reference = line.rstrip("\\n").split("\\t")
    print(line, end="", file=log, flush=True)
    print(-abs(len(hypothesis) - len(reference)) / 8)
"""


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    yield
    external_program.program.cache_clear()


def command(folder: Path, text: str, *, mode: str = "stream", timeout: float = 60) -> str:
    script = folder / "program.py"
    script.write_text(text)
    return f"EXTERNAL:mode={mode}:timeout={timeout:g}:cmd={sys.executable} {script} {folder / 'log:1'}"


def scores(spec: str, hypotheses: list[str], owner: list[int], *references: list[str]) -> list[float]:
    m = metric(spec)
    refs = References.from_lines(*references)
    corpus = Corpus.from_lines(hypotheses, refs.vocabulary)
    statistics = m.statistics(corpus, m.prepare(refs), np.array(owner, dtype=np.int32))
    assert m.corpus_score(statistics.sum(axis=0)) == pytest.approx(m.sentence_scores(statistics).mean())
    return m.sentence_scores(statistics).tolist()


def asked(folder: Path) -> list[str]:
    return (folder / "log:1").read_text().split("\n")[:-1]


@pytest.mark.parametrize("mode", ["stream", "batch"])
def test_every_pair_is_asked_once(tmp_path: Path, mode: str) -> None:
    spec = command(tmp_path, PROGRAM, mode=mode)
    assert scores(spec, ["ab", "", "ab", "abc"], [0, 0, 0, 1], ["abcd", "xyz"]) == [-0.25, -0.5, -0.25, 0.0]
    assert asked(tmp_path) == ["started", "ab\tabcd", "\tabcd", "abc\txyz"]
    assert scores(spec, ["abc", "é"], [1, 1], ["abcd", "xyz"]) == [0.0, -0.25]
    again = ["started"] if mode == "batch" else []
    assert asked(tmp_path)[4:] == [*again, "é\txyz"]
    assert scores(spec, ["ab", "abc"], [0, 1], ["abcd", "xyz"]) == [-0.25, 0.0]
    assert len(asked(tmp_path)) == 5 + len(again)


def test_the_best_reference_counts(tmp_path: Path) -> None:
    assert scores(command(tmp_path, PROGRAM), ["ab"], [0], ["abcd"], ["abc"]) == [-0.125]


def test_many_lines_do_not_block(tmp_path: Path) -> None:
    lines = [f"{k} " + "x" * 100 for k in range(5000)]
    found = scores(command(tmp_path, PROGRAM), lines, [0] * 5000, ["y" * 100])
    assert found == [-(len(line) - 100) / 8 for line in lines]


@pytest.mark.parametrize(
    ("text", "mode", "message"),
    [
        (
            "import sys; sys.exit('no model here')",
            "stream",
            r"ended \(exit code 1\) after 0 of 2 .*said: no model here",
        ),
        ("print(1)", "batch", r"ended \(exit code 0\) after 1 of 2"),
        ("print('x'); import time; time.sleep(9)", "stream", "'x' for the hypothesis 'a'; expected a finite number"),
        ("print('nan'); import time; time.sleep(9)", "stream", "'nan' for the hypothesis 'a'"),
        ("print(1); import time; time.sleep(9)", "stream", "no answer in 1 s, 1 of 2 numbers so far.*mode=batch"),
        ("print('1\\n2\\n3')", "stream", "more than the 2 numbers"),
        ("print('1_0')", "batch", "'1_0' for the hypothesis 'a'"),
        ("import sys\nfor l in sys.stdin: print(1)\nprint(3)", "batch", "more"),
        ("import sys\nfor l in sys.stdin: print(1)\nsys.exit(3)", "batch", r"ended \(exit code 3\)"),
        ("print(1e200); import time; time.sleep(9)", "stream", r"'1e\+200' for the hypothesis 'a'"),
        ("import os, time\nos.close(1)\ntime.sleep(9)", "batch", "it closed its output and goes on after 0 of 2"),
        ("import sys, time\nfor l in sys.stdin: print(1)\ntime.sleep(60)", "batch", "it does not end, 1 s after"),
    ],
)
def test_what_goes_wrong_is_told(tmp_path: Path, text: str, mode: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        scores(command(tmp_path, text, mode=mode, timeout=1 if " 1 s" in message else 60), ["a", "b"], [0, 0], ["c"])


def test_numbers_that_nobody_asked_for_are_no_later_answers(tmp_path: Path) -> None:
    text = "import sys, time\nfor line in sys.stdin:\n print(1)\n time.sleep(0.2)\n print(2)\n"
    spec = command(tmp_path, text)
    assert scores(spec, ["a"], [0], ["c"]) == [1.0]
    time.sleep(1)
    with pytest.raises(UserError, match="numbers that nobody asked for"):
        scores(spec, ["b"], [0], ["c"])


def test_a_carriage_return_within_a_token_ends_no_line(tmp_path: Path) -> None:
    assert scores(command(tmp_path, PROGRAM), ["a\rb", "c"], [0, 0], ["abc"]) == [0.0, -0.25]


def test_commands(tmp_path: Path) -> None:
    m = metric("EXTERNAL:timeout=5:cmd=prog --url http://x:1/ 'a b'")
    assert m == External(("prog", "--url", "http://x:1/", "a b"), timeout=5.0)
    assert str(m.signature()).startswith("EXTERNAL|mode:stream|cmd:prog --url http://x:1/ 'a b'|")
    file = tmp_path / "command"
    file.write_text("prog --x=1\n")
    mixed = metric(f"MIX:EXTERNAL:cmd=@{file}=0.5:BLEU=0.5")
    assert mixed.metrics[0] == External(("prog", "--x=1"))  # type: ignore[attr-defined]


def test_a_program_that_cannot_be_started() -> None:
    with pytest.raises(UserError, match="embedded null byte"):
        scores("EXTERNAL:cmd=a\0b", ["a"], [0], ["b"])
    with pytest.raises(UserError, match="'no-such-program' cannot be started"):
        scores("EXTERNAL:cmd=no-such-program -x", ["a"], [0], ["b"])


def table(folder: Path, text: str) -> str:
    path = folder / "scores:1.tsv"
    path.write_text(text, encoding="utf-8")
    return f"SCORES:file={path}"


def test_scores_from_a_table(tmp_path: Path) -> None:
    spec = table(tmp_path, "ref\thyp\tscore\tx\na b\tc\t1\t\na\tc  d\t-.5\t\na\tc\t2\t\na b\tc\t1\tagain\n")
    assert scores(spec, ["c", "c d", "c"], [0, 1, 1], ["a  b", "a"]) == [1.0, -0.5, 2.0]
    assert scores(spec, ["c"], [0], ["a b"], ["a"]) == [2.0]
    with pytest.raises(UserError, match="no score for the hypothesis 'c d' of segment 1"):
        scores(spec, ["c d"], [0], ["a b"])
    without = table(tmp_path, "hyp\tscore\nc\t1\n\t0\n")
    assert scores(without, ["c", ""], [0, 0], ["anything"]) == [1.0, 0.0]
    assert "file:scores:1.tsv#" in str(metric(without).signature())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column 'hyp'"),
        ("hyp\tscores\n", "no column 'score'"),
        ("hyp\thyp\tscore\n", "2 column 'hyp'"),
        ("hyp\tscore\n", "no scores"),
        ("hyp\tscore\na\n", ":2: 1 columns; expected 2"),
        ("hyp\tscore\na\tx\n", ":2: score 'x'"),
        ("hyp\tscore\na\tinf\n", "finite"),
        ("hyp\tscore\na\t1e200\n", "score '1e200'; expected a finite number"),
        ("hyp\tscore\na\t1_0\n", "score '1_0'"),
        ("hyp\tscore\na\t1\na\t2\n", ":3: another score for the hypothesis 'a'.*column 'ref'"),
    ],
)
def test_wrong_tables(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        metric(table(tmp_path, text))


@pytest.mark.parametrize("in_file", [False, True])
def test_a_command_longer_than_a_system_starts_is_refused_unsplit(tmp_path: Path, *, in_file: bool) -> None:
    command = "a" * ((1 << 17) + 1)
    if in_file:
        (tmp_path / "command").write_text(command)
    with pytest.raises(UserError, match=r"a command of 131073 characters; expected 131072 at most"):
        metric(f"EXTERNAL:cmd={'@' + str(tmp_path / 'command') if in_file else command}")
    assert len(metric(f"EXTERNAL:cmd={command[:-1]}").command[0]) == 1 << 17  # type: ignore[attr-defined]
