"""Fixtures that all tests share."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# No test fails on time: the first example of many compiles a kernel, and machines are busy. Where a change is judged
# the examples are the same every time.
hypothesis.settings.register_profile("lasw", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("lasw")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(autouse=True)
def _no_word_of_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which kernels there are already is not what tests of commands are about."""
    if "lasw.scripts.command_line.compiling" in sys.modules:
        monkeypatch.setattr(sys.modules["lasw.scripts.command_line.compiling"], "TOLD_AFTER", math.inf)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real N-best lists, bitext and judgements, which is not part of this repository."""
    if not SHARED_DATA.is_dir():
        pytest.skip("real data is not beside the checkout (../shared/data)")
    return SHARED_DATA


@pytest.fixture(scope="session")
def distributed() -> Any:
    """Dask, whose workers are copies of a process that has all they need: each start of their own takes seconds."""
    found = pytest.importorskip("distributed", reason="Dask (extra 'dask') is not installed")
    dask = pytest.importorskip("dask")
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    needed = ["distributed", "lasw.tuning.decoders.cluster", "lasw.tuning.local", "lasw.selection"]
    found.utils.get_mp_context().set_forkserver_preload(needed)  # the first call names what Dask itself needs
    return found
