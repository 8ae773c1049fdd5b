"""How kernels that allocate nothing are compiled, and when what was compiled before is still right.

By default Numba counts references to every array that a compiled function touches, with atomic instructions, which
in short functions called per token takes longer than their work. A kernel that only reads and writes arrays that its
caller holds can do without. The switch is an internal one of Numba; where it is absent kernels are only slower.

Numba compiles a kernel anew when its own file has changed, but not when a kernel of another file has that it calls
and holds a copy of. After an update that would be two versions of one hash function at work together. So a compiled
kernel is kept only as long as no file with kernels has changed, in its own folder and in this one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba
from numba.core import options

_BORROWED: dict[str, Any] = {"_nrt": False} if hasattr(options.DefaultOptions, "_nrt") else {}
_MARK = b"lasw.metrics.kernels"  # what a file with kernels imports


def borrowing(function: Callable[..., Any]) -> Any:
    """Decorator of kernels that create no arrays (slices are none)."""
    kernel = numba.njit(cache=True, nogil=True, **_BORROWED)(function)
    cached: Any = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if not hasattr(cached, "_source_stamp"):  # another Numba: rather compile every time than run what is outdated
        return numba.njit(nogil=True, **_BORROWED)(function)
    folders = sorted({os.path.dirname(__file__), os.path.dirname(function.__code__.co_filename)})
    cached._source_stamp = (cached._source_stamp, *map(fingerprint, folders))
    return kernel


@lru_cache
def fingerprint(folder: str) -> tuple[tuple[str, int, int], ...]:
    """Name, time of change and size of the files with kernels in `folder`."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                with open(entry.path, "rb") as stream:
                    if _MARK in stream.read():
                        status = entry.stat()
                        found.append((entry.name, status.st_mtime_ns, status.st_size))
    return tuple(sorted(found))


inlined = numba.njit(cache=True, nogil=True, inline="always", **_BORROWED)
"""The same for small ones that are called per token: handing them a vocabulary's arrays takes longer than they do."""
