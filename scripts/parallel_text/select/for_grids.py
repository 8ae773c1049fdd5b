"""Development sets that a comparison selects from a pool: planned while its grid is read, made before its runs."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NoReturn

from lasw.metrics import UserError, version
from lasw.scripts.command_line import Parser, note
from lasw.scripts.parallel_text.select import command
from lasw.selection import METHODS, text_names
from lasw.tuning import PoolFiles, fingerprint

# What the grid says itself, or what leaves no development set.
_OF_THE_GRID = (
    *("--source", "--target", "--alignment", "--tsv", "--columns", "--shards", "--encoding", "--output"),
    *("--trusted-source", "--trusted-target", "--trusted-alignment", "--dry-run", "--explain", "--local"),
    *("--dask", "--json", "--quiet"),
)
_HASH = 10


@dataclass(frozen=True)
class _Planned:
    """One development set: its name, the words of `lasw select`, its files, and whether chance has a part in it."""

    name: str
    words: tuple[str, ...]
    prefix: Path
    drawn: bool


@dataclass
class GridSelections:
    """What ``select`` of the development sets of a grid asks for; it is given to `read_comparison`.

    Args:
        folder: where the sets go, each in a folder named by what it depends on.
        quiet: nothing is said of what is selected.
    """

    folder: Path
    quiet: bool = False
    _planned: list[_Planned] = field(default_factory=list)

    def __call__(self, name: str, options: str, pool: PoolFiles, trusted: PoolFiles | None) -> tuple[Path, Path]:
        """Plan a development set.

        Args:
            name: of the set.
            options: of `lasw select`, as typed.
            pool: that it is selected from.
            trusted: what method svm trusts.

        Returns:
            The files of its source and target; ``{seed}`` stands in their names where chance has a part in them.

        Raises:
            UserError: options that there are not, or that the grid has a key for.
        """
        with _named(name):
            words = _split(options)
            given = _parser().parse_args(words)
            drawn = "seed" in METHODS.find(given.method).takes() and "--seed" not in given.typed
            if own := sorted(given.typed.intersection(_OF_THE_GRID)):
                raise UserError(f"has {own[0]}", expected="options of method and choice alone")
        words += _files(pool, "")
        words += [] if trusted is None else _files(trusted, "trusted-")
        known = [_content(word) for word in words] + [version()]
        digest = hashlib.sha256(json.dumps(known).encode()).hexdigest()[:_HASH]
        slug = re.sub(r"[^A-Za-z0-9.+_-]+", "-", name).strip("-.") or "set"
        prefix = self.folder.absolute() / f"{slug}-{digest}" / ("seed{seed}" if drawn else "dev")
        self._planned.append(_Planned(name, tuple(words), prefix, drawn))
        source, target = text_names(str(pool.source), str(pool.target))
        return Path(f"{prefix}.{source}"), Path(f"{prefix}.{target}")

    def make(self, seeds: Sequence[int]) -> None:
        """Select what is not there yet.

        Args:
            seeds: of the comparison.

        Raises:
            UserError: as `lasw select`, or nothing was selected.
        """
        for one in self._planned:
            for seed in seeds if one.drawn else seeds[:1]:
                prefix = str(one.prefix).replace("{seed}", str(seed))
                if os.path.exists(f"{prefix}.html"):  # which is written last
                    continue
                Path(prefix).parent.mkdir(parents=True, exist_ok=True)
                words = [*one.words, *(("--seed", str(seed)) if one.drawn else ()), "--output", prefix, "--quiet"]
                told = io.StringIO()
                with _named(one.name), contextlib.redirect_stdout(told):
                    command.run(_parser().parse_args(words))
                    if not os.path.getsize(f"{prefix}.lines"):
                        raise UserError(told.getvalue().strip(), expected="other options, or another pool")
                label = f"{one.name}, seed {seed}" if one.drawn else one.name
                note(self.quiet, f"{label}: {told.getvalue().strip()}")


class _Parser(Parser):
    """Whose errors are those of what holds the options."""

    def error(self, message: str) -> NoReturn:
        raise UserError(message, expected="options of lasw select")


def _parser() -> _Parser:
    parser = _Parser()
    command.add_arguments(parser)
    parser.set_defaults(command="compare")  # whose warnings they are
    return parser


@contextlib.contextmanager
def _named(name: str) -> Iterator[None]:
    """Errors say which development set they are about."""
    try:
        yield
    except UserError as error:
        raise UserError(f"[development.{name}] select: {error}") from None


def _split(options: str) -> list[str]:
    try:
        return shlex.split(options)
    except ValueError as error:
        raise UserError(str(error), expected="options of lasw select") from None


def _files(pool: PoolFiles, kind: str) -> list[str]:
    """The options of `lasw select` that give a pool, or with ``trusted-`` a trusted one."""
    words = [f"--{kind}source", str(pool.source), f"--{kind}target", str(pool.target)]
    words += [] if pool.alignment is None else [f"--{kind}alignment", str(pool.alignment)]
    return words if kind else [*words, "--encoding", pool.encoding]


def _content(word: str) -> str:
    """Of a file that a word names, else the word."""
    return _fingerprint(word) if os.path.isfile(word) else word


@cache
def _fingerprint(path: str) -> str:
    return fingerprint(path)
