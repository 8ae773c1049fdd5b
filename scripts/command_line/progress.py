"""How a person watches a tuning run: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from typing import Any

from lasw.metrics import display_of
from lasw.scripts.command_line.options import note, warn

_VERBS = {"decode": "decoding", "optimise": "optimising"}


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
        self.begun = False
        self._command = command
        self._quiet = quiet
        self._bar = self._open_bar(iterations) if sys.stderr.isatty() and not quiet else None

    def started(self, iteration: int, step: str) -> None:
        """A step begins."""
        self.begun = True
        if self._bar is not None:
            if self._bar.n < iteration - 1:
                # Iterations that an earlier process did must not make the rest look quick.
                self._bar.initial = self._bar.n = iteration - 1
            self._bar.set_description(f"iteration {iteration}: {_VERBS[step]}")

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
