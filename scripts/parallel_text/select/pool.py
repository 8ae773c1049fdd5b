"""The pool of `lasw select` as its options name it: pairs of files, columns, shards, standard input, pipes."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lasw.metrics import STANDARD_INPUT, UserError
from lasw.selection import Bitext, score_column


class Pipes:
    """Standard input and pipes, copied to files, as they may be read again.

    Args:
        folder: of the copies.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, str] = {}

    def file(self, path: str) -> str:
        """A file that can be read again.

        Raises:
            UserError: standard input is named for a second time.
        """
        piped = os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode)
        if path != STANDARD_INPUT and not piped:
            return path
        copy = self._folder / f"pipe-{path.replace(os.sep, '_')}"
        if copy.exists():
            raise UserError("standard input is named twice", path=path, remedy="name it once")
        self._names[str(copy)] = path
        with open(copy, "wb") as stream, contextlib.ExitStack() as stack:
            shutil.copyfileobj(stack.enter_context(open(path, "rb")) if piped else sys.stdin.buffer, stream)
        return str(copy)

    @contextlib.contextmanager
    def named_as_given(self) -> Iterator[None]:
        """Name them in errors as the user did, not the files in their place."""
        try:
            yield
        except UserError as error:
            texts = [error.found, error.path, error.expected, error.remedy]
            for copy, path in self._names.items():
                texts = [text and text.replace(copy, path) for text in texts]
            raise UserError(
                texts[0] or "", path=texts[1], line=error.line, expected=texts[2], remedy=texts[3]
            ) from error.__cause__


def bitext(
    sides: Sequence[str | None],
    alignment: str | None,
    tsv: str | None,
    columns: str | None,
    scores: Sequence[str],
    pipes: Pipes,
    *,
    encoding: str,
    skip_bad: bool,
) -> Bitext:
    """The pool that two files or columns of one hold.

    Args:
        sides: source and target file.
        alignment: its file.
        tsv: one file with tabs instead of the sides.
        columns: of that file, as the option has them.
        scores: of other tools, as the option has them.
        pipes: where those among the files are kept.
        encoding, skip_bad: see `Bitext`.

    Raises:
        UserError: these do not go together.
    """
    if any(sides) if tsv else not all(sides):
        raise UserError("no pool", expected="--source and --target, or --tsv")
    if columns and not tsv:
        raise UserError("--columns without --tsv")
    places = _columns(columns or "1,2") if tsv else ()
    if len(places) > 2 and alignment:
        raise UserError("--alignment beside a column of alignments", expected="one of them")
    source, target, points = (path and pipes.file(path) for path in (*((tsv, None) if tsv else sides), alignment))
    return Bitext(source or "", target, points, places, encoding, skip_bad, tuple(map(score_column, scores)))


def _columns(text: str) -> tuple[int, ...]:
    words = text.split(",")
    if len(words) not in (2, 3) or not all(word.isascii() and word.isdigit() and int(word) for word in words):
        raise UserError(f"--columns {text!r}", expected="two or three numbers from 1, as 1,2,3")
    return tuple(map(int, words))
