"""Fixtures that all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real N-best lists, bitext and judgements, which is not part of this repository."""
    if not SHARED_DATA.is_dir():
        pytest.skip("real data is not beside the checkout (../shared/data)")
    return SHARED_DATA
