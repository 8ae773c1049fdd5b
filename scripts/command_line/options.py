"""Options that several commands share, and how commands speak to a person."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from lasw.metrics import UserError

MOST_SEED = (1 << 32) - 1


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """How text files are read: `--encoding`, `--tokenize`, `--lowercase`."""
    group = parser.add_argument_group("text")
    group.add_argument("--encoding", default="utf-8", help="of all text files (default: utf-8)")
    group.add_argument(
        "--tokenize", metavar="NAME", help="one of sacreBLEU's tokenisers; by default tokens are split on space and tab"
    )
    group.add_argument("--lowercase", action="store_true", help="lower-case all text first")


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """How results are printed: `--json`, `--quiet`."""
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print the result as JSON")
    group.add_argument("--quiet", action="store_true", help="no progress and no notes on stderr")


def add_given_scores(parser: argparse.ArgumentParser) -> None:
    """`--scores FILE`, which is the metric ``SCORES:file=FILE`` behind those that `--metric` has collected."""
    parser.add_argument(
        "--scores",
        dest="metric",
        action="append",
        type="SCORES:file={}".format,
        metavar="FILE",
        help="numbers computed elsewhere as a metric: a table with the columns hyp, score and if need be ref",
    )


def positive_int(text: str) -> int:
    """An argparse type: a whole number of at least 1."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return value


def seed_number(text: str) -> int:
    """An argparse type: a whole number from 0 to 2^32 - 1, which every generator takes."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST_SEED)) and int(text) <= MOST_SEED):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 to {MOST_SEED}")
    return int(text)


def print_json(result: Any) -> None:
    """Print `result` as JSON on stdout, numbers with full precision, NaN refused."""
    print(json.dumps(result, ensure_ascii=False, indent=2, allow_nan=False))


def warn(command: str, lines: Iterable[str]) -> None:
    """Tell the user, on stderr, what was repaired or is worth a look: one line each."""
    for line in lines:
        print(f"lasw {command}: warning: {line}", file=sys.stderr)


def note(quiet: bool, text: str) -> None:
    """A line of progress on stderr, unless `quiet`."""
    if not quiet:
        print(text, file=sys.stderr, flush=True)


def assignments(option: str, texts: Sequence[str]) -> dict[str, list[str]]:
    """The values by key, in order; `option` is what stands before them on the command line.

    Raises:
        UserError: a text without key, ``=`` or value.
    """
    values: dict[str, list[str]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key or not value:
            raise UserError(f"{option} {text}", expected=f"{option} KEY=VALUE")
        values.setdefault(key, []).append(value)
    return values


def single_assignments(option: str, texts: Sequence[str]) -> dict[str, str]:
    """As `assignments`, one value a key.

    Raises:
        UserError: as there, or a key that comes twice.
    """
    values = assignments(option, texts)
    for key, given in values.items():
        if len(given) > 1:
            raise UserError(f"{option} {key} is given twice", expected="one value")
    return {key: given[0] for key, given in values.items()}
