"""The pool of `lasw select` as its options name it: files, columns of one, many files, standard input, pipes."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from lasw.metrics import STANDARD_INPUT, UserError
from lasw.selection import Bitext, ShardedBitext, read_shards


@contextlib.contextmanager
def told_as_given(copies: dict[str, str]) -> Iterator[None]:
    """Name standard input and pipes in errors as the user did, not the files that `copies` has in their place."""
    try:
        yield
    except UserError as error:
        texts = [error.found, error.path, error.expected, error.remedy]
        for copy, path in copies.items():
            texts = [text and text.replace(copy, path) for text in texts]
        raise UserError(
            texts[0] or "", path=texts[1], line=error.line, expected=texts[2], remedy=texts[3]
        ) from error.__cause__


def read_pool(arguments: argparse.Namespace, scratch: Path, copies: dict[str, str]) -> Bitext:
    """The pool as the options name it."""
    if not arguments.shards:
        return _bitext(arguments, scratch, copies)
    beside = (arguments.source, arguments.target, arguments.alignment, arguments.tsv, arguments.columns)
    if any(beside) or arguments.score:
        raise UserError("--shards beside another pool", expected="--shards alone")
    return read_shards(arguments.shards, encoding=arguments.encoding, skip_bad=arguments.skip_bad)


def bitexts(pool: Bitext) -> tuple[Bitext, ...]:
    """What a pool consists of."""
    return pool.shards if isinstance(pool, ShardedBitext) else (pool,)


def files_read(arguments: argparse.Namespace, pool: Bitext) -> list[str]:
    """The pool's own files, and what else the options name."""
    own = [path for one in bitexts(pool) for path in (*one.paths, *(file.path for file in one.scores))]
    single = ("shards", "function_words", "test_source", "trusted_source", "trusted_target", "trusted_alignment")
    named = [getattr(arguments, name) for name in single]
    return own + [path for path in (*named, *arguments.nbest, *arguments.test_nbest) if path]


def _bitext(arguments: argparse.Namespace, scratch: Path, copies: dict[str, str]) -> Bitext:
    """The pool as the options name it; pipes are kept in files, as the pool may be read again."""
    from lasw.selection import score_column

    sides = [arguments.source, arguments.target]
    if any(sides) if arguments.tsv else not all(sides):
        raise UserError("no pool", expected="--source and --target, or --tsv")
    if arguments.columns and not arguments.tsv:
        raise UserError("--columns without --tsv")
    columns = _columns(arguments.columns or "1,2") if arguments.tsv else ()
    if len(columns) > 2 and arguments.alignment:
        raise UserError("--alignment beside a column of alignments", expected="one of them")
    files = [*([arguments.tsv, None] if arguments.tsv else sides), arguments.alignment]
    names = [_kept(path, scratch, copies) if path else path for path in files]
    return Bitext(
        names[0],
        names[1],
        names[2],
        columns=columns,
        encoding=arguments.encoding,
        skip_bad=arguments.skip_bad,
        scores=tuple(score_column(spec) for spec in arguments.score),
    )


def _kept(path: str, scratch: Path, copies: dict[str, str]) -> str:
    """A file that can be read again: a copy, noted in `copies`, if it is standard input or a pipe."""
    piped = os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode)
    if path != STANDARD_INPUT and not piped:
        return path
    copy = scratch / f"pipe-{path.replace(os.sep, '_')}"
    if copy.exists():
        raise UserError("standard input is named twice", path=path, remedy="name it once")
    copies[str(copy)] = path
    with open(copy, "wb") as stream, contextlib.ExitStack() as stack:
        shutil.copyfileobj(stack.enter_context(open(path, "rb")) if piped else sys.stdin.buffer, stream)
    return str(copy)


def _columns(text: str) -> tuple[int, ...]:
    words = text.split(",")
    if len(words) not in (2, 3) or not all(word.isascii() and word.isdigit() and int(word) for word in words):
        raise UserError(f"--columns {text!r}", expected="two or three numbers from 1, as 1,2,3")
    return tuple(map(int, words))
