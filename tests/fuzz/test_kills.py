"""A few kills of two cheap commands, and that the harness of kills sees what it looks for (`kills`)."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

import kills  # noqa: E402
from commands import Job  # noqa: E402
from kills import Trials  # noqa: E402


def test_killed_commands_end_with_the_same_files() -> None:
    words = [
        sys.executable,
        str(HERE / "kills.py"),
        "--kills",
        "3",
        "--only",
        "tune fixed",
        "--only",
        "vectors convert",
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = [line.split()[-3:] for line in done.stdout.splitlines()[1:]]
    assert [kills for kills, _, _ in counts] == ["1", "2"]
    assert all(runs == good for _, runs, good in counts)


@dataclass(frozen=True)
class Made(Job):
    """A program of a line instead of a command."""

    def command(self) -> list[str]:
        """How it is started."""
        return [sys.executable, "-SEc", f"import os, time\ntime.sleep(0.1)\n{self.words[0]}\ntime.sleep(0.1)"]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("open('out/done', 'w').write('whole')", None),
        ("open(f'tmp/left-{os.getpid()}', 'w')", "tmp/left-"),  # nobody removes it
        ("open('out/done', 'a').write('twice')", "out/done"),  # what is done is done again
        ("assert not os.path.exists('out/done')\nopen('out/done', 'w')", "AssertionError"),  # does not go on
        ("time.sleep(9 * os.path.exists('out/done'))\nopen('out/done', 'w')", "no end within 3 s"),  # nor does it end
    ],
)
def test_what_is_no_good_end_is_seen(
    tmp_path: Path, program: str, told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kills, "_LONGEST", 3.0)
    trials = Trials(Made("made", [program], lambda data: None), tmp_path, random.Random(1))
    while trials.kills < (100 if told else 5) and not trials.faults:
        trials.once(5)
    assert bool(trials.faults) == (told is not None)
    assert all(told in fault for fault in trials.faults if told)
