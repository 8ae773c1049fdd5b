"""Any program as a decoder: what it is given, what it gives, and what is said when it fails."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from build import rows_of, sparse_rows

from lasw.metrics import UserError, Vocabulary
from lasw.tuning import NBest, Weights, read_weights
from lasw.tuning.decoders.command import Command
from lasw.tuning.decoders.program import Program

SOURCE = ["ein haus", "zwei", "", "drei kleine haeuser"]

# Translates by upper-casing; the length feature is -words, the second one k. Sparse: one name a sentence.
PROGRAM = """\
import argparse, json, sys
p = argparse.ArgumentParser()
p.add_argument("-w"); p.add_argument("-n", type=int); p.add_argument("-o"); p.add_argument("source", nargs="?")
a = p.parse_args()
lines = (open(a.source) if a.source else sys.stdin).read().split("\\n")[:-1]
w = json.load(open(a.w))["dense"]
out = open(a.o, "w") if a.o else sys.stdout
for s, line in enumerate(lines):
    for k in range(a.n):
        words = line.upper().split() + ["x"] * k
        h = [-len(words), k]
        total = w["LM"][0] * h[0] + w["TM"][0] * h[1]
        name = "WT_" + ("_".join(line.split()) or "none")
        out.write(f"{s} ||| {' '.join(words)} ||| LM= {h[0]} TM= {h[1]} {name}= 1 ||| {total}\\n")
"""


def script(folder: Path, body: str, name: str = "decode", *, executable: bool = True) -> Path:
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{body}", encoding="utf-8")
    if executable:
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    script(tmp_path, PROGRAM)
    (tmp_path / "weights.json").write_text(json.dumps({"dense": {"LM": [0.5], "TM": [2.0]}}), encoding="utf-8")
    return tmp_path


def open_command(
    place: Path, command: str = "./decode -w {weights} -n {n} -o {nbest} {source}", jobs: int = 1
) -> Command:
    return Command(command, place / "weights.json", folder=place, jobs=jobs)


def contents(nbest: NBest) -> list[tuple[int, str, tuple[float, ...], float, dict[str, float]]]:
    return [(*row, sparse) for row, sparse in zip(rows_of(nbest), sparse_rows(nbest), strict=True)]


def decoded(decoder: Command, n: int = 3) -> NBest:
    return decoder.decode(SOURCE, decoder.start_weights(), n, Vocabulary())


def test_it_gets_weights_sentences_and_n(place: Path) -> None:
    nbest = decoded(open_command(place))
    expected = []
    for s, line in enumerate(SOURCE):
        for k in range(3):
            words = line.upper().split() + ["x"] * k
            total = 0.5 * -len(words) + 2.0 * k
            expected.append(
                (s, " ".join(words), (-len(words), k), total, {f"WT_{'_'.join(line.split()) or 'none'}": 1.0})
            )
    assert contents(nbest) == expected
    assert nbest.names == open_command(place).start_weights().names


def test_the_weights_of_the_call_count(place: Path) -> None:
    decoder = open_command(place)
    weights = Weights(decoder.start_weights().names, np.array([0.1, 0.2]))
    nbest = decoder.decode(SOURCE, weights, 2, Vocabulary())
    np.testing.assert_allclose(nbest.score, nbest.model_scores(weights.dense))


@pytest.mark.parametrize(
    "command",
    [
        "./decode -w {weights} -n {n} {source}",
        "./decode -w {weights} -n {n} -o {nbest}",
        "./decode -w {weights} -n {n}",
        "sh -c './decode -w {weights} -n {n} < {source} > {nbest}'",
    ],
)
def test_input_and_output_by_file_or_stream(place: Path, command: str) -> None:
    assert contents(decoded(open_command(place, command))) == contents(decoded(open_command(place)))


@pytest.mark.parametrize("jobs", [2, 3, 9])
def test_parts_give_the_same_list(place: Path, jobs: int) -> None:
    assert contents(decoded(open_command(place, jobs=jobs))) == contents(decoded(open_command(place)))


def test_moses_ini_keeps_its_other_lines(place: Path) -> None:
    ini = "[feature]\nLM name=LM\nTM name=TM\nUnknownWordPenalty\n\n[weight]\nUnknownWordPenalty0= 1\nLM= 0.5\nTM= 2\n"
    (place / "moses.ini").write_text(ini, encoding="utf-8")
    script(place, PROGRAM.replace("a.w))[", "'w.json'))["), "moses")
    (place / "w.json").write_text('{"dense": {"LM": [1], "TM": [1]}}', encoding="utf-8")
    decoder = Command("./moses -w {weights} -n {n} {source}", place / "moses.ini", folder=place)
    assert decoder.start_weights().by_group() == {"LM": [0.5], "TM": [2.0]}
    assert len(decoded(decoder)) == 12
    weights = Weights.from_groups({"LM": [0.25], "TM": [-1.0]})
    assert decoder.configuration_name == "moses.ini"
    assert decoder.write_configuration(place / "new.ini", weights, ["BLEU 0.4"])
    text = (place / "new.ini").read_text(encoding="utf-8")
    assert text == "# BLEU 0.4\n" + ini.replace("LM= 0.5", "LM= 0.25").replace("TM= 2\n", "TM= -1.0\n")
    assert read_weights(place / "new.ini").by_group()["TM"] == [-1.0]


FAILURES = [
    (
        "import sys; print('no model', file=sys.stderr); sys.exit(3)",
        r"^\./decode ended with code 3; its last lines: no model$",
    ),
    ("import os; os.kill(os.getpid(), 9)", r"^\./decode was killed by signal SIGKILL; its last lines: none$"),
    ("import sys; print('hm', file=sys.stderr)", r"^\./decode printed no N-best list; its last lines: hm$"),
    (
        "print('0 ||| a ||| LM= 1 TM= 1 ||| 1')",
        r"^\./decode gave hypotheses for 1 of 4 sentences, the first without is 'zwei'",
    ),
    (
        "print('Usage: decode OPTIONS')",
        r"^\./decode printed something else: line 1 of its N-best list: .*; its last lines: none$",
    ),
    ("print('7 ||| a ||| LM= 1 TM= 1 ||| 1')", r"^\./decode printed something else: line 1 "),
    ("print('0 ||| a ||| LM= 1 ||| 1')", r"^\./decode printed something else: line 1 .*TM"),
]


@pytest.mark.parametrize(("body", "message"), FAILURES)
def test_a_failure_is_one_line_with_name_and_last_words(place: Path, body: str, message: str) -> None:
    script(place, body)
    with pytest.raises(UserError, match=message) as caught:
        decoded(open_command(place, "./decode {weights} {n}"))
    assert "\n" not in str(caught.value)


def test_last_lines_are_the_last(place: Path) -> None:
    script(place, "import sys\nfor k in range(5000): print('line', k, file=sys.stderr)\nsys.exit(1)")
    with pytest.raises(UserError, match=r"last lines: line 4995 / line 4996 / line 4997 / line 4998 / line 4999$"):
        decoded(open_command(place, "./decode {weights}"))


def test_a_program_that_is_none(place: Path) -> None:
    script(place, "", "plain", executable=False)
    (place / "moses.ini").write_text("[weight]\nLM= 1\n", encoding="utf-8")
    (place / "folder").mkdir()
    (place / "text").write_text("hello\n", encoding="utf-8")
    (place / "text").chmod(0o755)
    for command, message in [
        ("./plain {weights}", "not executable; expected a program; chmod"),
        ("./moses.ini {weights}", "this is a configuration file"),
        ("./folder {weights}", "this is a folder"),
        ("./nothing {weights}", "no program './nothing'"),
        ("no-such-program-here {weights}", "no program 'no-such-program-here'; give its path"),
        ("decode {weights}", r"it is a file here: write \./decode"),
        ("./decode 'open {weights}", "No closing quotation"),
        ("  ", "no command"),
        ("./decode {weight}", r"unknown placeholder \{weight\} .* did you mean \{weights\}"),
        ("./decode {source}", r"no \{weights\}"),
    ]:
        with pytest.raises(UserError, match=message):
            open_command(place, command)
    with pytest.raises(UserError, match=r"cannot be run .*#!/bin/sh"):
        decoded(open_command(place, "./text {weights}"))


def test_what_a_failing_run_leaves_is_stopped(place: Path) -> None:
    """One part fails, the other is a script that waits for a program of its own: none of them goes on."""
    script(
        place,
        "import pathlib, subprocess, sys, time\n"
        "if 'ein haus' in open(sys.argv[2]).read():\n"
        "    for _ in range(3000):\n"
        "        if pathlib.Path('child').exists(): break\n"
        "        time.sleep(0.01)\n"
        "    sys.exit(3)\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "pathlib.Path('made').write_text(str(child.pid))\n"
        "pathlib.Path('made').rename('child')\n"
        "child.wait()\n",
    )
    with pytest.raises(UserError, match="ended with code 3"):
        decoded(open_command(place, "./decode {weights} {source}", jobs=2))
    child = int((place / "child").read_text())
    for _ in range(500):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]:
            break
        time.sleep(0.01)
    else:
        os.kill(child, signal.SIGKILL)
        pytest.fail("it goes on")


def test_braces_of_others_stay(place: Path) -> None:
    script(place, "import sys; sys.exit(' '.join(sys.argv[2:]))")
    with pytest.raises(UserError, match=r"last lines: \{print\} \{\} \{1\}$"):
        decoded(open_command(place, "./decode {weights} {print} {} {1}"))


def test_settings_out_of_range(place: Path) -> None:
    with pytest.raises(ValueError, match="0 jobs"):
        open_command(place, jobs=0)
    with pytest.raises(UserError, match=r"unknown kind of weight file 'jsn'.*json"):
        Command("./decode {weights}", place / "weights.json", folder=place, kind="jsn")
    with pytest.raises(UserError, match=r"this is no moses\.ini"):
        Command("./decode {weights}", place / "weights.json", folder=place, kind="moses")


def test_it_tells_how_many_sentences_have_lists(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It writes half of the lists, then waits until somebody has been told of them."""
    monkeypatch.setattr("lasw.tuning.decoders.parts._TOLD", 0.0)
    body = """
import os, sys, time
with open(sys.argv[1], "w") as out:
    for s in range(4):
        out.write(f"{s} ||| a ||| LM= 1 TM= 1 ||| 0\\n")
        if s == 1:
            out.flush()
            while not os.path.exists("told"):
                time.sleep(0.01)
"""
    script(place, body, "slowly")
    decoder = open_command(place, "./slowly {nbest} {weights}")
    told = []

    def listen(done: int, of: int) -> None:
        told.append((done, of))
        if done == 2:
            (place / "told").touch()

    decoder.told = listen
    assert len(decoded(decoder)) == 4
    assert (2, 4) in told
    assert told == sorted(told)


def test_a_signal_while_the_system_starts_it_leaves_nothing_running(tmp_path, monkeypatch):
    begun = []

    class Slow(subprocess.Popen):
        def __init__(self, *words, **named):
            super().__init__(*words, **named)
            begun.append(self.pid)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)  # the caller knows nothing of it yet

    monkeypatch.setattr(subprocess, "Popen", Slow)
    program = Program("sleep 60", tmp_path)
    with pytest.raises(KeyboardInterrupt), program.running({}, None, tmp_path / "out", tmp_path / "err"):
        pytest.fail("it was not interrupted")
    assert len(begun) == 1
    assert not Path(f"/proc/{begun[0]}").exists()


@pytest.mark.skipif(not Path("/proc/self/personality").exists(), reason="another system than Linux")
def test_memory_is_at_the_same_addresses_every_time(tmp_path):
    """Of the program's alone: not of this process, nor of what it starts otherwise."""
    mine = Path("/proc/self/personality").read_text()
    for number in range(2):
        program = Program("cat /proc/self/maps /proc/self/personality", tmp_path)
        with program.running({}, None, tmp_path / f"out{number}", tmp_path / "err") as process:
            assert process.wait() == 0
    first, second = (Path(tmp_path / f"out{number}").read_text() for number in range(2))
    if int(first.split()[-1], 16) & 0x40000 == 0:
        pytest.skip("the system does not allow it (a container's filter of system calls)")
    assert first == second
    assert Path("/proc/self/personality").read_text() == mine
    assert subprocess.run(["cat", "/proc/self/personality"], capture_output=True, text=True, check=True).stdout == mine
