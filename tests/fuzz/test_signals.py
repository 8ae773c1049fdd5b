"""That the harness of signals counts what a command's children compute, and sees one that does not heed (`signals`)."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

import signals  # noqa: E402
from commands import Job  # noqa: E402

_BUSY = "import time\nwhile time.process_time() < 30: pass"


@dataclass(frozen=True)
class Made(Job):
    """A program instead of a command."""

    def command(self) -> list[str]:
        """How it is started."""
        return [sys.executable, "-SEc", self.words[0]]


def _made(program: str) -> Job:
    return Made("made", [program], lambda data: None)


def test_what_children_compute_counts(tmp_path: Path) -> None:
    job = _made(f"import subprocess, sys\nsubprocess.run([sys.executable, '-SEc', {_BUSY!r}])")
    began = time.monotonic()
    assert 0.3 <= signals.lasting(job, tmp_path, 0.3) < 5
    assert time.monotonic() - began < 20


def test_a_command_that_does_not_heed_is_late(tmp_path: Path) -> None:
    busy = _BUSY.replace("30", "3.0")
    deaf = f"import signal\nfor number in (2, 15): signal.signal(number, signal.SIG_IGN)\n{busy}"
    _, late = signals.tried(_made(deaf), tmp_path, 1, 0.6, 1)
    assert late == 1
    _, late = signals.tried(_made(busy), tmp_path, 2, 0.6, 1)
    assert late == 0
