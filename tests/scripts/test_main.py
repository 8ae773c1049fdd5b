"""The command line as a whole: help, unknown commands, errors in one line, cold start."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lasw.metrics import UserError
from lasw.scripts import main as program


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lasw.scripts.main", *words], capture_output=True, text=True, timeout=120, check=False
    )


def test_help_lists_every_command_and_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom lasw.scripts.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numpy', 'numba', 'scipy', 'sklearn'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    for name in program.COMMANDS:
        assert re.search(rf"^\s+{name}\s", done.stdout, re.MULTILINE), name
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("name", sorted(program.COMMANDS))
def test_every_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        program.main([name, "--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert f"lasw {name}" in out
    assert "example" in out.lower()


def test_wrong_usage_is_exit_2_and_names_the_nearest_command() -> None:
    done = run("optimize")
    assert done.returncode == 2
    assert "did you mean 'optimise'?" in done.stderr
    assert "Traceback" not in done.stderr
    assert run().returncode == 2


def test_wrong_actions_name_the_nearest() -> None:
    done = run("vectors", "convret", "x")
    assert done.returncode == 2
    assert "unknown action 'convret'; did you mean 'convert'?" in done.stderr
    done = run("train-metric", "rosé")
    assert "unknown metric 'rosé'; did you mean 'rose'?" in done.stderr


def test_unknown_option_is_exit_2_and_names_the_nearest() -> None:
    done = run("score", "--lowercas", "-r", "x", "y")
    assert done.returncode == 2
    assert "did you mean '--lowercase'?" in done.stderr


def test_a_missing_file_is_one_line_and_exit_1() -> None:
    done = run("score", "-r", "no-such-reference", "no-such-system")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "lasw score: no-such-reference: no such file\n"


def test_debug_shows_the_traceback() -> None:
    done = run("score", "--debug", "-r", "no-such-reference", "no-such-system")
    assert "Traceback" in done.stderr
    assert "UserError" in done.stderr


def test_a_full_disk_is_one_line() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "lasw.scripts.main", "score", "-r", __file__, __file__],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "lasw score: No space left on device (--debug shows where)\n"


def test_no_standard_output_is_one_line() -> None:
    command = f"{sys.executable} -m lasw.scripts.main score -r {__file__} {__file__} >&-"
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (1, "lasw score: standard output is closed\n")


def _heeding_signals() -> None:
    """In a process that begins: whoever runs the tests may ignore these (nohup, a shell's background), it shall not."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_command_that_is_stopped_cleans_up(tmp_path: Path, number: int, code: int) -> None:
    """The decoder that it waits for, called by a script, is stopped; its temporary folder goes."""
    for name, text in (("dev", "a b\n"), ("start.json", '{"dense": {"LM": [1.0]}}')):
        (tmp_path / name).write_text(text)
    decode = tmp_path / "decode"
    decode.write_text("#!/bin/sh\nsleep 60 &\necho $! >made && mv made child\nwait\n")
    decode.chmod(0o755)
    (tmp_path / "scratch").mkdir()
    words = (
        "--decoder command --command ./decode\\ {weights} --initial start.json --source dev --references dev --run run"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "lasw.scripts.main", "tune", "wro-global", *shlex.split(words)],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "scratch")},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heeding_signals,
    )
    child = tmp_path / "child"
    for _ in range(6000):
        if child.exists() or process.poll() is not None:
            break
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, "lasw tune: interrupted\n")
    state = Path(f"/proc/{int(child.read_text())}/stat")
    for _ in range(500):
        if not state.exists() or state.read_text().split()[2] == "Z":
            break
        time.sleep(0.01)
    else:
        pytest.fail("the decoder goes on")
    assert not list((tmp_path / "scratch").glob("lasw-*"))


def test_version() -> None:
    assert re.fullmatch(r"lasw \d+\.\d+\.\d+\n", run("--version").stdout)


def test_user_error_is_one_line_in_a_fixed_order() -> None:
    error = UserError("4 lines", path="a.txt", line=7, expected="5", remedy="add\none")
    assert str(error) == "a.txt:7: 4 lines; expected 5; add one"


def test_user_error_survives_a_process_border() -> None:
    import pickle

    error = UserError("found", path="p", line=3, expected="e", remedy="r")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.remedy) == (str(error), 3, "r")


_COMPUTING = """
import sys, threading, time
import numba
from lasw.scripts.command_line import told_of_signals

@numba.njit(nogil=True)
def work(n):
    total = 0
    for i in range(n):
        for j in range(n):
            total ^= i * j
    return total

with told_of_signals():
    work(10)
    print("begun", flush=True)
    print(work(10_000_000))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_kernel_does_not_hold_up_a_signal(number: int, code: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _COMPUTING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heeding_signals,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.2)
    process.send_signal(number)
    began = time.monotonic()
    _, said = process.communicate(timeout=60)
    assert time.monotonic() - began < 5  # it takes 1.5, more on a machine that has much to do
    assert (process.returncode, said) == (code, "lasw: stopped within a computation\n")
