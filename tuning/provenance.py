"""Where numbers come from: what files hold, as hashes, and the versions of what computed."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

from lasw.metrics import UserError, content_digest, worker_address

_PACKAGES = ("lasw", "numpy", "scipy", "scikit-learn", "numba", "sil-thot")


def fingerprint(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file's content, decompressed."""
    return content_digest(path).hex()


def fingerprints(paths: Sequence[str | os.PathLike[str]]) -> dict[str, str]:
    """Of several files, by their names without their folders, which may have moved."""
    by_name: dict[str, str] = {}
    for path in paths:
        name = Path(path).name
        by_name[name if name not in by_name else f"{name} ({len(by_name) + 1})"] = fingerprint(path)
    return by_name


def versions() -> dict[str, str]:
    """Of Python and of the packages that the numbers depend on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def refuse_other_versions(expected: Mapping[str, str]) -> None:
    """On a worker: other versions than the head's make other numbers.

    Args:
        expected: `versions` there.

    Raises:
        UserError: one is another here.
    """
    found = _here()
    for package, version in expected.items():
        if found.get(package) != version:
            raise UserError(
                f"the worker {worker_address()} has {package} {found.get(package, 'not at all')}",
                expected=f"{version}, as here",
                remedy="start scheduler and workers in the same environment",
            )


@cache
def _here() -> dict[str, str]:
    return versions()
