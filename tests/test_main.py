"""The command line as a whole: help, unknown commands, errors in one line, cold start."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from lasw.metrics.errors import UserError
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
