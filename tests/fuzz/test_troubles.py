"""A cheap command on a disk that gets full, and twice at once (`troubles`)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

import troubles  # noqa: E402
from commands import jobs  # noqa: E402


def test_a_command_in_trouble_says_so_and_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(troubles, "_SIZES", (9000,))
    (job,) = (job for job in jobs() if job.name == "vectors convert")
    trouble = troubles.Trouble(job, tmp_path)
    assert list(trouble.full()) == []
    assert list(trouble.two(1)) == []
    trouble.wanted["out/packed"] = b"others"
    assert list(trouble.two(1)) == ["two at once, then without: other out/packed"]
