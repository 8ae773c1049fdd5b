"""Scores that a program has given, kept in a file by what it was asked, so that nothing is asked twice.

A line a score: the number, a tab, a hash of the command and of the texts. Lines are only ever added, under a lock, so
that two processes may share a file; of equal hashes the first counts. A line that a killed process did not finish has
an incomplete hash, and is passed over. To begin anew, remove the file.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterable, Sequence

from lasw.metrics.base import number_in
from lasw.metrics.errors import UserError
from lasw.metrics.text import read_bytes

_SCRIPT = 1 << 20  # bytes of a file in the command that is known by its content: a script, and not a model
_KEY = re.compile("[0-9a-f]{32}")
_CUT_OFF = re.compile(rb"[-+.0-9e]*(\t[0-9a-f]{,31})?")


class KeptScores:
    """The file.

    Args:
        path: made if need be.
        command: the program, with its arguments.
        texts: what else tells questions apart.

    Raises:
        UserError: it cannot be read, holds something else, or is larger than what is read whole (SECURITY.md).
    """

    def __init__(self, path: str, command: Sequence[str], texts: Sequence[str] = ()) -> None:
        self._path = path
        self._asked = hashlib.sha256(json.dumps([*texts, *map(_known_by, command)]).encode())
        try:
            if not os.path.lexists(path):
                open(path, "ab").close()  # before a program works for what cannot be kept
        except OSError as error:
            raise UserError(f"scores cannot be kept ({error.strerror})", path=path) from None
        self._scores = self._read()

    def get(self, question: tuple[str | None, ...]) -> float | None:
        """The score of texts, None if it is not there."""
        return self._scores.get(self._key(question))

    def add(self, answers: Iterable[tuple[tuple[str | None, ...], float]]) -> None:
        """Keep scores.

        Raises:
            UserError: the file cannot be written.
        """
        new = {self._key(question): score for question, score in answers}
        lines = "".join(f"{score!r}\t{key}\n" for key, score in new.items())
        try:
            with open(self._path, "ab+") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX)
                if stream.seek(0, os.SEEK_END):
                    stream.seek(-1, os.SEEK_END)
                    lines = lines if stream.read(1) == b"\n" else f"\n{lines}"  # ends what a killed process left
                stream.write(lines.encode())
        except OSError as error:
            raise UserError(f"scores cannot be kept ({error.strerror})", path=self._path) from None
        self._scores.update((key, score) for key, score in new.items() if key not in self._scores)

    def _key(self, question: tuple[str | None, ...]) -> str:
        asked = self._asked.copy()
        asked.update(json.dumps(question).encode())
        return asked.hexdigest()[:32]  # of 128 bits no two are alike

    def _read(self) -> dict[str, float]:
        scores: dict[str, float] = {}
        lines = read_bytes(self._path).split(b"\n")
        for number, line in enumerate(lines, 1):
            text, _, key = line.decode(errors="replace").partition("\t")
            score = number_in(text)
            if _KEY.fullmatch(key) and score is not None:
                scores.setdefault(key, score)
            elif not _CUT_OFF.fullmatch(line):
                raise UserError(
                    f"{line[:60].decode(errors='replace')!r}",
                    path=self._path,
                    line=number,
                    expected="scores that EXTERNAL has kept",
                    remedy="give another cache=FILE, or remove this one",
                )
        return scores


def _known_by(word: str) -> str:
    """A word of a command; one that is a small file by its content, so that a changed script is another program."""
    try:
        if os.path.isfile(word) and os.path.getsize(word) <= _SCRIPT:
            with open(word, "rb") as stream:
                return hashlib.sha256(stream.read()).hexdigest()
    except (OSError, ValueError):  # ValueError: a NUL in it
        pass
    return word
