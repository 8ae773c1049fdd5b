"""Compiled kernels are kept on disk, but never longer than the files they were made from."""

from __future__ import annotations

import itertools
import operator
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import types
from numba.core.errors import TypingError
from numba.core.registry import cpu_target

from lasw.metrics.kernels import borrowing, fingerprint, nested

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


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere: see the next test")
def test_where_nothing_can_be_kept_kernels_are_compiled_every_time(tmp_path: Path) -> None:
    _runs_where_nothing_can_be_kept(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
def test_where_nobody_can_keep_anything_kernels_are_compiled_every_time(tmp_path: Path) -> None:
    _runs_where_nothing_can_be_kept(
        tmp_path,
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "--inh-caps=+dac_read_search",
        "--ambient-caps=+dac_read_search",
    )


def _runs_where_nothing_can_be_kept(place: Path, *before: str) -> None:
    nowhere = str(place / "none")
    environment = {**os.environ, "HOME": nowhere, "XDG_CACHE_HOME": nowhere}
    environment["PYTHONPATH"] = os.pathsep.join([str(place), *filter(None, sys.path)])
    environment.pop("NUMBA_CACHE_DIR", None)
    (place / "callee.py").write_text(CALLEE.format(1))
    (place / "caller.py").write_text(CALLER)
    place.chmod(0o555)
    try:
        command = [*before, sys.executable, "-B", "caller.py"]
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    finally:
        place.chmod(0o755)
    assert done.stdout.split() == ["4", "0"], done.stderr


def test_only_files_with_kernels_count(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("x = 1\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "kernels.py").write_text("@borrowing\n")
    assert [name for name, _, _ in fingerprint(tmp_path)] == [os.path.join("inner", "kernels.py")]


@nested
def _half(x):  # type: ignore[no-untyped-def]
    return x // 2


@borrowing
def _quarters(values, out):  # type: ignore[no-untyped-def]
    for i in range(len(values)):
        out[i] = _half(_half(values[i]))


def test_what_only_kernels_call_can_be_called_from_python_too() -> None:
    out = np.zeros(3, dtype=np.int64)
    _quarters(np.array([4, 9, -8]), out)
    assert out.tolist() == [1, 2, -2]
    assert [_half(9), _half(9), _half(7.0)] == [4, 4, 3.0]  # twice the types that were compiled for the kernel


@pytest.mark.parametrize(
    "sign", ["add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "eq", "and_", "lshift", "iadd"]
)
def test_an_operator_gives_the_type_that_numba_finds_for_it(sign: str) -> None:
    """What is remembered of one pair of types says nothing of another, literal numbers included."""
    kinds = (types.int32, types.int64, types.uint64, types.float64, types.boolean, types.literal(2), types.literal(3))
    typing = cpu_target.typing_context
    typing.refresh()
    asked = typing.resolve_value_type(getattr(operator, sign))
    for pair in itertools.product(kinds, kinds):
        try:
            expected = types.BaseFunction.get_call_type.__wrapped__(asked, typing, pair, {})
        except TypingError:
            with pytest.raises(TypingError):
                asked.get_call_type(typing, pair, {})
            continue
        assert asked.get_call_type(typing, pair, {}) == asked.get_call_type(typing, pair, {}) == expected


KEPT_AND_NEW = """\
import sys

import numpy as np

from lasw.metrics import allocating


@allocating
def doubled(x):
    y = np.zeros(len(x))
    for k in range(len(x)):
        y[k] = 2 * x[k]
    return y


@allocating
def summed(x):
    y = doubled(x)
    return y[0] + y[1] + y[2]


x = np.ones(3)
print(doubled(x)[1], sum(doubled.stats.cache_hits.values()), "numba.np.linalg" in sys.modules)
if len(sys.argv) > 1:
    print(doubled(x.astype(np.float32))[1], summed(x), "numba.np.linalg" in sys.modules)
"""


def test_what_is_kept_is_loaded_without_what_compiling_needs(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "kernels.py").write_text(KEPT_AND_NEW)

    def run(*words: str) -> list[str]:
        command = [sys.executable, "-B", "kernels.py", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert run() == ["2.0", "0", "True"]
    assert run() == ["2.0", "1", "False"]
    # What is not kept is compiled after that all the same, with what is.
    assert run("more") == ["2.0", "1", "False", "2.0", "6.0", "True"]
    assert run("more") == ["2.0", "1", "False", "2.0", "6.0", "False"]
