"""Several processes of Moses at work on the parts of one input, and what is said when one of them fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lasw.metrics import UserError
from lasw.tuning.decoders.parts import Part, as_they_end
from lasw.tuning.decoders.program import Program, last_lines

BPE = "bpe"


class Shard(Part):
    """Sentences that one process of Moses translates."""

    def translated(self) -> int:
        """For how many sentences it has printed a translation."""
        try:
            with open(self.path("stdout"), "rb") as stream:
                return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))
        except FileNotFoundError:
            return 0

    def transformed(self, command: str | None) -> Path:
        """Path of its list behind a command, or `BPE`: words that were cut are whole again.

        Raises:
            UserError: the command cannot be run, or failed.
        """
        path = self.path("nbest")
        if command is None:
            return path
        changed, log = self.path("transformed"), self.path("errors")
        if command == BPE:
            with open(path, "rb") as old, open(changed, "wb") as new:
                new.writelines(line.replace(b"@@ ", b"") for line in old)
            return changed
        with Program(command, self.program.folder).running({}, path, changed, log) as process:
            code = process.wait()
        if code:
            what = self.program.ended(code)
            raise UserError(f"the command for the lists {command!r} {what}; its last lines: {last_lines(log)}")
        return changed


@dataclass(frozen=True)
class Numbered:
    """Sentences, and which of `total` they are, counted from 0."""

    source: Sequence[str]
    numbers: Sequence[int]
    total: int

    def place(self, k: int) -> int:
        """Of the k-th one among all, counted from 1."""
        return self.numbers[k] + 1


def finish(
    shards: Sequence[Shard],
    numbered: Numbered,
    *,
    several_at_once: bool,
    told: Callable[[int, int], object] | None = None,
) -> None:
    """Wait until all processes have ended; the first failure ends the wait.

    Args:
        shards: started ones.
        numbered: their sentences.
        several_at_once: a process has several threads, so the sentence it failed on cannot be told for certain.
        told: see `as_they_end`.

    Raises:
        UserError: a process failed; the sentence is named if it can be told.
    """
    for shard, code in as_they_end(shards, told):
        if code:
            raise failure(shard, code, numbered, several_at_once)


def failure(shard: Shard, code: int, numbered: Numbered, several_at_once: bool) -> UserError:
    """What is said of a process that ended with a code, see `finish`."""
    done = max(shard.translated(), shard.listed())
    if done == 0:
        first, last = numbered.place(shard.first), numbered.place(shard.first + len(shard.source) - 1)
        where = "before it had translated a sentence"
        if len(shard.source) < numbered.total:
            where = f"before it had translated any of the sentences {first}-{last}"
            if last - first >= len(shard.source):
                where = f"before it had translated any of {len(shard.source)} among the sentences {first}-{last}"
    elif done < len(shard.source):
        text = " ".join(shard.source[done].split())[:40]
        where = f"at sentence {numbered.place(shard.first + done)} of {numbered.total} ({text!r})"
        if several_at_once:
            where += " or one that was translated beside it"
    else:
        where = "behind its last sentence"
    return shard.failure(f"{shard.program.ended(code)} {where}")
