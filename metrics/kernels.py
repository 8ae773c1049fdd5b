"""How kernels that allocate nothing are compiled.

By default Numba counts references to every array that a compiled function touches, with atomic instructions, which
in short functions called per token takes longer than their work. A kernel that only reads and writes arrays that its
caller holds can do without. The switch is an internal one of Numba; where it is absent kernels are only slower.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import options

_BORROWED: dict[str, Any] = {"_nrt": False} if hasattr(options.DefaultOptions, "_nrt") else {}

borrowing = numba.njit(cache=True, nogil=True, **_BORROWED)
"""Decorator of kernels that create no arrays (slices are none)."""
