"""How a person watches a tuning run: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from lasw.metrics import display_of
from lasw.scripts.command_line.options import note, warn

_VERBS = {"decode": "decoding", "optimise": "optimising"}


EVERY = 60.0  # seconds


class TimeLeft:
    """How far a decoding is, and how long it still takes if it goes on as it went."""

    def __init__(self) -> None:
        self._began = self._last = time.monotonic()
        self._done = 0

    def told(self, done: int, of: int) -> str:
        """The number of sentences and the time left; fewer than before begin another decoding."""
        if done < self._done:
            self._began = time.monotonic()
        self._done = done
        seconds = round((time.monotonic() - self._began) / done * (of - done)) if done else None
        left = "" if seconds is None else f", {seconds // 60}:{seconds % 60:02} left"
        return f"{done} of {of} sentences{left}"

    def is_due(self) -> bool:
        """Whether the last word was said `EVERY` seconds ago."""
        due = time.monotonic() - self._last > EVERY
        if due:
            self._last = time.monotonic()
        return due


class TuningProgress:
    """Tells on stderr what the loop does.

    Args:
        command: the subcommand, for warnings.
        iterations: the most there can be.
        quiet: only warnings are told.
        dev_metric: of the development score.

    Attributes:
        begun: a step has been started.
    """

    def __init__(self, command: str, iterations: int, *, quiet: bool = False, dev_metric: str = "BLEU") -> None:
        self._dev_metric = dev_metric
        self.begun, self._step, self._left = False, "", TimeLeft()
        self._command = command
        self._quiet = quiet
        self._bar = self._open_bar(iterations) if sys.stderr.isatty() and not quiet else None

    def started(self, iteration: int, step: str) -> None:
        """A step begins."""
        self.begun, self._left = True, TimeLeft()
        self._step = f"iteration {iteration}: {_VERBS[step]}"
        if self._bar is not None:
            if self._bar.n < iteration - 1:
                # Iterations that an earlier process did must not make the rest look quick.
                self._bar.initial = self._bar.n = iteration - 1
            self._bar.set_description(self._step)

    def decoded(self, done: int, of: int) -> None:
        """So many sentences of a decoding are translated: in the bar, elsewhere a line for every `EVERY` seconds."""
        text = self._left.told(done, of)
        if self._bar is not None:
            self._bar.set_description(f"{self._step}, {text}")
        elif self._left.is_due():
            note(self._quiet, f"{self._step}, {text}")

    def finished(self, record: dict[str, Any]) -> None:
        """An iteration has ended."""
        line = summary(record, self._dev_metric)
        warnings = [f"iteration {record['iteration']}: {text}" for text in record["warnings"]]
        if self._bar is None:
            note(self._quiet, line)
            warn(self._command, warnings)
            return
        with self._bar.external_write_mode(file=sys.stderr):
            note(self._quiet, line)
            warn(self._command, warnings)
        if "pool_bleu" in record:
            self._bar.update(1)

    def close(self) -> None:
        """The run is over."""
        if self._bar is not None:
            self._bar.close()

    def _open_bar(self, iterations: int) -> Any:
        from tqdm import tqdm

        return tqdm(total=iterations, unit="iteration", leave=False, file=sys.stderr)


@contextlib.contextmanager
def watched_sentences(*, quiet: bool) -> Iterator[Callable[[int, int], object] | None]:
    """What a decoding outside a run tells: a bar on a terminal, a line for every `EVERY` seconds elsewhere."""
    left = TimeLeft()
    if quiet:
        yield None
        return
    if sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(bar_format="{desc}", leave=False, file=sys.stderr) as bar:
            yield lambda done, of: bar.set_description_str(f"decoding, {left.told(done, of)}")
        return

    def line(done: int, of: int) -> None:
        text = left.told(done, of)
        note(not left.is_due(), f"decoding, {text}")

    yield line


def development_score(score: float, dev_metric: str) -> str:
    """A development score in words; an error rate is called by its name, as less of it is better."""
    display = display_of(dev_metric)
    if display.lower:
        return f"development {dev_metric} {display.score(score):.2f} {display.arrow}"
    return f"development score {display.score(score):.2f}"


def summary(record: dict[str, Any], dev_metric: str) -> str:
    """One line about an iteration."""
    seconds = sum(record["seconds"].values())
    score = development_score(record["dev_score"], dev_metric)
    if "pool_bleu" not in record:
        return f"last weights: {score} ({seconds:.1f} s)"
    step = f", step {record['step']['share']:.2g}" if "step" in record else ""
    new = f"{record['new_candidates']} new of {record['candidates']} candidates"
    after = f"pool BLEU {100 * record['pool_bleu']:.2f} after{step}"
    return f"iteration {record['iteration']}: {score} before, {new}, {after} ({seconds:.1f} s)"
