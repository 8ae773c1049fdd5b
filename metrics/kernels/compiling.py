"""How kernels that allocate nothing are compiled, and when what was compiled before is still right.

By default Numba counts references to every array that a compiled function touches, with atomic instructions, which
in short functions called per token takes longer than their work. A kernel that only reads and writes arrays that its
caller holds can do without. The switch is an internal one of Numba; where it is absent kernels are only slower.

Numba compiles a kernel anew when its own file has changed, but not when a kernel of another file has that it calls
and holds a copy of. After an update that would be two versions of one hash function at work together. So a compiled
kernel is kept only as long as no file with kernels has changed, in its own room (all of tuning, say) and in this one.

For each `a + b` of a kernel Numba tries all overloads of `+` (those of text, lists, sets, ...) in turn and collects why
they do not fit, a fifth of all time that compiling takes. One function and the same types give the same answer always,
so it is asked once. That place is an internal one too.

Before Numba loads a kernel that is kept it gets ready to compile: it imports and sorts all that it knows of Python and
NumPy, a third of a second in every short command. What is kept needs none of it, and where something is not, Numba gets
ready all the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, partial, wraps
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core import options
from numba.core.runtime import rtsys

from lasw.metrics.kernels.linking import LinkedOnly


def _known(**switches: Any) -> dict[str, Any]:
    return {name: value for name, value in switches.items() if hasattr(options.DefaultOptions, name)}


_BORROWED = _known(_nrt=False)
_NO_CALLBACK = _known(no_cfunc_wrapper=True)
_NO_WAY_IN = _known(no_cpython_wrapper=True)
_PLAIN = (types.Number, types.Boolean, types.Array)  # also Numba's types of literal numbers

_HERE = Path(__file__).parents[1]
_MARKS = (b"@borrowing", b"@nested", b"@inlined", b"@reordering", b"@allocating")  # what a file with kernels holds
_ROOM = 2  # dots in the name of a module that stands in a room itself: lasw.ROOM.MODULE


def _remember_operators() -> None:
    """In this process from here on. What other types give, and calls of anything but operators, is found anew."""
    asked: Any = getattr(types, "BaseFunction", None)
    resolve: Any = getattr(asked, "get_call_type", None)
    if resolve is None:
        return
    known: dict[Any, Any] = {}

    @wraps(resolve)
    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        key = self.typing_key
        operator = getattr(key, "__module__", "") == "_operator" or key is bool
        if kws or not operator or not all(isinstance(kind, _PLAIN) for kind in args):
            return resolve(self, context, args, kws)
        found = known.get((self, context, args))
        if found is None:
            found = known[self, context, args] = resolve(self, context, args, kws)
        return found

    asked.get_call_type = get_call_type


_remember_operators()


def borrowing(function: Callable[..., Any]) -> Any:
    """Decorator of kernels that create no arrays (slices are none)."""
    return _kept(function, {**_BORROWED, **_NO_CALLBACK})


def nested(function: Callable[..., Any], **more: Any) -> Any:
    """The same for kernels that only kernels call: with no way in from Python, and kept in those that call them.

    Called from Python all the same (in a test), such a kernel is compiled once more.
    """
    switches = {**_BORROWED, **_NO_CALLBACK, **_NO_WAY_IN, **more}
    kernel = numba.njit(nogil=True, pipeline_class=LinkedOnly, **switches)(function)
    called = numba.njit(nogil=True, **_BORROWED)(function)
    kernel._insert = lambda *_, **__: None  # never found by a call, which then asks for compilation
    kernel._compile_for_args = lambda *values, **named: called._compile_for_args(*values, **named)
    return kernel


def inlined(function: Callable[..., Any]) -> Any:
    """The same for small ones called per token: handing them a vocabulary's arrays takes longer than they do."""
    return nested(function, **_known(forceinline=True))


def allocating(function: Callable[..., Any]) -> Any:
    """Decorator of kernels that create arrays."""
    return _kept(function, {})


def reordering(function: Callable[..., Any]) -> Any:
    """Decorator of sums in several lanes at once, whose additions come in another order: the same for every call."""
    return _kept(function, {"fastmath": {"reassoc", "contract"}})


def _kept(function: Callable[..., Any], switches: dict[str, Any]) -> Any:
    try:
        kernel = numba.njit(cache=True, nogil=True, **switches)(function)
    except RuntimeError:  # neither beside its file nor in the user's home may anything be written
        kernel = None
    cached: Any = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if not hasattr(cached, "_source_stamp"):  # another Numba: rather compile every time than run what is outdated
        return numba.njit(nogil=True, **switches)(function)
    cache: Any = kernel._cache
    if hasattr(cache, "_load_overload") and hasattr(cache, "_guard_against_spurious_io_errors"):
        cache.load_overload = partial(_loaded, cache)
    room = Path(function.__code__.co_filename).parents[max(function.__module__.count(".") - _ROOM, 0)]
    cached._source_stamp = (cached._source_stamp, *map(fingerprint, sorted({_HERE, room})))
    return kernel


def _loaded(cache: Any, signature: Any, context: Any) -> Any:
    """What is kept, if anything is. Where nothing is, Numba gets ready to compile as it begins to."""
    rtsys.initialize(context)
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, context)


@lru_cache
def fingerprint(room: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, time of change and size of the files with kernels in the folders of `room`."""
    found = []
    for folder, inner, files in os.walk(room):
        inner[:] = [name for name in inner if name != "__pycache__"]
        for path in (os.path.join(folder, name) for name in files if name.endswith(".py")):
            with open(path, "rb") as stream:
                if any(map(stream.read().__contains__, _MARKS)):
                    status = os.fstat(stream.fileno())
                    found.append((os.path.relpath(path, room), status.st_mtime_ns, status.st_size))
    return tuple(sorted(found))
