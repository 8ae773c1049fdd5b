"""Compiled kernels are kept on disk, but never longer than the files they were made from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from lasw.metrics.kernels import fingerprint

CALLEE = "from lasw.metrics.kernels import borrowing\n\n\n@borrowing\ndef number(x):\n    return x + {}\n"
CALLER = """\
from callee import number
from lasw.metrics import borrowing


@borrowing
def twice(x):
    return 2 * number(x)


print(twice(1), sum(twice.stats.cache_hits.values()))
"""


def test_a_kernel_is_compiled_anew_when_one_that_it_calls_has_changed(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "caller.py").write_text(CALLER)

    def run() -> list[str]:
        command = [sys.executable, "-B", "caller.py"]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        ).stdout.split()

    (tmp_path / "callee.py").write_text(CALLEE.format(1))
    assert run() == ["4", "0"]
    assert run() == ["4", "1"]
    (tmp_path / "callee.py").write_text(CALLEE.format(20))
    assert run() == ["42", "0"]


def test_only_files_with_kernels_count(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("x = 1\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "kernels.py").write_text("@borrowing\n")
    assert [name for name, _, _ in fingerprint(tmp_path)] == [os.path.join("inner", "kernels.py")]
