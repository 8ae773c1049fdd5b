"""Development sets that a comparison selects from a pool: planned while its grid is read, made before its runs."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

import numpy as np

from lasw.metrics import UserError, Vocabulary, command_words, read_lines, version
from lasw.scripts.command_line import Parser, note
from lasw.scripts.parallel_text.select import command
from lasw.selection import METHODS, text_names
from lasw.tuning import NBest, PoolFiles, fingerprint, read_nbest, write_nbest

# What the grid says itself, or what leaves no development set.
_OF_THE_GRID = (
    *("--source", "--target", "--alignment", "--tsv", "--columns", "--shards", "--encoding", "--output"),
    *("--trusted-source", "--trusted-target", "--trusted-alignment", "--dry-run", "--explain", "--local"),
    *("--dask", "--json", "--quiet"),
)
_HASH = 10
_LISTS = "nbest"
_Chosen = tuple[Path, Path, "Path | None"]


@dataclass(frozen=True)
class _Planned:
    """One development set: its name, the words of `lasw select`, its files, and whether chance has a part in it."""

    name: str
    words: tuple[str, ...]
    prefix: Path
    drawn: bool
    lists: tuple[Path, ...]
    encoding: str

    def is_there(self, prefix: str) -> bool:
        """Whether the files of a prefix are: the page is written last, the lists behind it."""
        return os.path.exists(f"{prefix}.html") and (not self.lists or os.path.exists(f"{prefix}.{_LISTS}"))


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
    _digests: dict[str, str] = field(default_factory=dict)  # of files, by name
    _read: dict[tuple[tuple[Path, ...], str], NBest] = field(default_factory=dict)  # lists of pools

    def __call__(self, name: str, options: str, pool: PoolFiles, trusted: PoolFiles | None) -> _Chosen:
        """Plan a development set.

        Args:
            name: of the set.
            options: of `lasw select`, as typed.
            pool: that it is selected from.
            trusted: what method svm trusts.

        Returns:
            The files of its source and target, and of its lists if the pool has lists; ``{seed}`` stands in their names
            where chance has a part in them.

        Raises:
            UserError: options that there are not, or that the grid has a key for.
        """
        with _named(name):
            words = command_words(options, "text of options")
            given = _parser().parse_args(words)
            drawn = "seed" in METHODS.find(given.method).takes() and "--seed" not in given.typed
            if own := sorted(given.typed.intersection(_OF_THE_GRID)):
                raise UserError(f"has {own[0]}", expected="options of method and choice alone")
        words += _files(pool, "")
        words += [] if trusted is None else _files(trusted, "trusted-")
        known = [self._content(word) for word in (*words, *map(str, pool.lists))] + [version()]
        digest = hashlib.sha256(json.dumps(known).encode()).hexdigest()[:_HASH]
        slug = re.sub(r"[^A-Za-z0-9.+_-]+", "-", name).strip("-.") or "set"
        prefix = self.folder.absolute() / f"{slug}-{digest}" / ("seed{seed}" if drawn else "dev")
        self._planned.append(_Planned(name, tuple(words), prefix, drawn, pool.lists, pool.encoding))
        source, target = text_names(str(pool.source), str(pool.target))
        lists = Path(f"{prefix}.{_LISTS}") if pool.lists else None
        return Path(f"{prefix}.{source}"), Path(f"{prefix}.{target}"), lists

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
                if one.is_there(prefix):
                    continue
                Path(prefix).parent.mkdir(parents=True, exist_ok=True)
                words = [*one.words, *(("--seed", str(seed)) if one.drawn else ()), "--output", prefix, "--quiet"]
                told = io.StringIO()
                with _named(one.name), contextlib.redirect_stdout(told):
                    command.run(_parser().parse_args(words))
                    if not os.path.getsize(f"{prefix}.lines"):
                        raise UserError(told.getvalue().strip(), expected="other options, or another pool")
                if one.lists:
                    lines = [int(line) for line in read_lines(f"{prefix}.lines")]
                    write_nbest(f"{prefix}.{_LISTS}", _of_lines(self._lists_of(one), lines))
                label = f"{one.name}, seed {seed}" if one.drawn else one.name
                note(self.quiet, f"{label}: {told.getvalue().strip()}")

    def _lists_of(self, one: _Planned) -> NBest:
        """Of a whole pool."""
        what = one.lists, one.encoding
        if what not in self._read:
            self._read[what] = _joined(*what)
        return self._read[what]

    def _content(self, word: str) -> str:
        """Of a file that a word names, else the word."""
        if not os.path.isfile(word):
            return word
        if word not in self._digests:
            self._digests[word] = fingerprint(word)
        return self._digests[word]


def _joined(paths: Sequence[Path], encoding: str) -> NBest:
    """Lists of the same sentences as one."""
    vocabulary, sparse_names = Vocabulary(), Vocabulary()
    lists: list[NBest] = []
    for path in paths:
        names = lists[0].names if lists else None
        read = read_nbest(path, vocabulary, sparse_names=sparse_names, names=names, unsorted=True, encoding=encoding)
        lists.append(read)
    return NBest.joined(lists)


def _of_lines(nbest: NBest, lines: Sequence[int]) -> NBest:
    """The hypotheses of some lines of the text, 1-based, numbered anew in their order."""
    rows = [np.arange(*np.searchsorted(nbest.owner, (line - 1, line))) for line in lines]
    owner = np.repeat(np.arange(len(lines), dtype=np.int32), [len(one) for one in rows])
    return replace(nbest.take(np.concatenate(rows)), owner=owner)


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


def _files(pool: PoolFiles, kind: str) -> list[str]:
    """The options of `lasw select` that give a pool, or with ``trusted-`` a trusted one."""
    words = [f"--{kind}source", str(pool.source), f"--{kind}target", str(pool.target)]
    words += [] if pool.alignment is None else [f"--{kind}alignment", str(pool.alignment)]
    return words if kind else [*words, "--encoding", pool.encoding]
