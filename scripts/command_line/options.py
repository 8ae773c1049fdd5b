"""Options that several commands share, and how commands speak to a person."""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from lasw.metrics import JOINTS, Preprocessing, UserError
from lasw.scripts.command_line.colours import coloured
from lasw.scripts.command_line.parser import Parser

if TYPE_CHECKING:
    from lasw.tuning import LayoutOptions

_IN_MEMORY = 1 << 26  # bytes
MOST_SEED = (1 << 32) - 1


def add_text_options(parser: Parser, *, force: bool = False) -> None:
    """How text files are read: `--encoding`, `--tokenize`, `--lowercase`, marks; with `force` also `--force`."""
    group = parser.add_argument_group("text")
    group.add_argument("--encoding", default="utf-8", help="of all text files (default: utf-8)")
    group.add_argument(
        "--tokenize", metavar="NAME", help="one of sacreBLEU's tokenisers; by default tokens are split on space and tab"
    )
    group.add_argument("--lowercase", action="store_true", help="lower-case all text first")
    add_marks(group)
    group.add_argument("--join", choices=list(JOINTS), help="put the parts of words together that this has cut")
    group.add_argument("--unescape", action="store_true", help="turn &quot; &apos; ... of Moses' tokeniser back")
    if force:
        add_force(group)
    parser.further("--strip-marks", "--join", "--unescape", "--force")
    for word, option in (("-tok", "--tokenize"), ("-lc", "--lowercase")):  # sacreBLEU's
        parser.also(word, option)


def add_layout_options(parser: Parser) -> None:
    """How N-best lists are laid out: `--layout`, `--nbest-size`, `--column`, `--source-ids`,
    `--sum-scores`, `--no-score`, `--with-score`."""
    from lasw.tuning import NBEST_LAYOUTS

    group = parser.add_argument_group("layout of N-best lists")
    group.add_argument("--layout", metavar="NAME", help=f"{', '.join(NBEST_LAYOUTS)} (default: found by content)")
    group.add_argument(
        "--nbest-size",
        type=positive_int,
        metavar="N",
        help="lists are texts, N lines a sentence (without: --layout flat, a blank line behind every sentence)",
    )
    group.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="text=NAME",
        help="of a table; text, id, score; may be repeated",
    )
    group.add_argument("--source-ids", metavar="FILE", help="ids of the sentences in order, where they are no numbers")
    group.add_argument(
        "--sum-scores", action="store_true", help="totals are means over tokens and end: multiply by their number"
    )
    group.add_argument("--no-score", action="store_true", help="totals of lists without features are no feature either")
    group.add_argument(
        "--with-score", action="store_true", help="totals of lists with features are a feature score too"
    )
    parser.suggest("--layout", NBEST_LAYOUTS)
    parser.further("--layout", "--nbest-size", "--column", "--source-ids", "--sum-scores", "--no-score", "--with-score")


def layout_of_arguments(arguments: argparse.Namespace) -> LayoutOptions:
    """What the options of `add_layout_options` say.

    Raises:
        UserError: see `layout_options`.
    """
    from lasw.tuning import layout_options  # loads Numba, which not all that has options needs

    return layout_options(
        arguments.layout or "",
        arguments.nbest_size or 0,
        arguments.column,
        arguments.source_ids or "",
        arguments.sum_scores,
        arguments.no_score,
        arguments.with_score,
        encoding=arguments.encoding,
    )


def add_marks(parser: argparse.ArgumentParser | argparse._ActionsContainer) -> None:
    """`--strip-marks`."""
    parser.add_argument(
        "--strip-marks", action="store_true", help="take away phrase marks (|0-2|) and factors (word|NN)"
    )


def add_force(parser: argparse.ArgumentParser | argparse._ActionsContainer) -> None:
    """`--force`."""
    parser.add_argument("--force", action="store_true", help="go on with text that is surely not what it seems")


def preprocessing(arguments: argparse.Namespace) -> Preprocessing:
    """What happens to all text first, as the options of `add_text_options` and `--normalise` say."""
    return Preprocessing.of(vars(arguments))


def reading(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments `preprocess` and `encoding` of whatever reads text, as the options of `add_text_options` say."""
    return {"preprocess": preprocessing(arguments).function(), "encoding": arguments.encoding}


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


def add_metric(parser: argparse.ArgumentParser | argparse._ActionsContainer, text: str, **settings: Any) -> None:
    """`--metric SPEC`, `-m`; with ``action="append"`` it may be repeated."""
    parser.add_argument("--metric", "-m", metavar="SPEC", type=spelt_metric, help=text, **settings)


def take_several_metrics(parser: Parser) -> None:
    """Let ``-m bleu chrf ter`` be three metrics, as sacreBLEU has it."""
    from lasw.metrics import is_metric

    parser.take_several("--metric", "-m", is_metric)


def spelt_metric(spec: str) -> str:
    """An argparse type: a specification of a metric, its name as it is written here."""
    from lasw.metrics import spelt

    return spelt(spec)


def add_seed(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, text: str, default: int | None, most: int | None = None
) -> None:
    """`--seed N` of what `text` says, from 0 to `most`."""
    shown = text if default is None else f"{text} (default: {default})"
    parser.add_argument("--seed", type=partial(seed_number, most=most), default=default, metavar="N", help=shown)


def add_jobs(
    parser: argparse.ArgumentParser | argparse._ActionsContainer, default: int, text: str = "processes"
) -> None:
    """`--jobs N`: how much is done at the same time; the result is the same for any number."""
    shown = f"{text} (default: {default})"
    parser.add_argument("--jobs", type=positive_int, default=default, metavar="N", help=shown)


def add_dask(parser: argparse.ArgumentParser | argparse._ActionsContainer, text: str) -> None:
    """`--dask ADDRESS`: of the scheduler of workers that see the same files and do what `text` says."""
    parser.add_argument("--dask", metavar="ADDRESS", help=f"of a Dask scheduler, {text} (docs/how-to/cluster.md)")


def positive_int(text: str) -> int:
    """An argparse type: a whole number of at least 1."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return value


def seed_number(text: str, most: int | None = None) -> int:
    """An argparse type: a whole number of at least 0, `most` at most."""
    if text.isascii() and text.isdigit() and (most is None or (len(text) <= len(str(most)) and int(text) <= most)):
        return int(text)
    least = "of at least 0" if most is None else f"from 0 to {most}"
    raise argparse.ArgumentTypeError(f"{text!r} is no whole number {least}")


def write_output(path: str, text: str) -> None:
    """Write to a file, or to standard output."""
    from lasw.metrics import STANDARD_INPUT, write_text  # loads Numba, which not all that has options needs

    if path == STANDARD_INPUT:
        sys.stdout.write(text)
    else:
        write_text(path, text)


@contextlib.contextmanager
def whole_output() -> Iterator[IO[bytes]]:
    """What is written inside goes to standard output behind it, and nothing does if something fails inside.

    Until then it is kept in memory, or if it is large in a temporary file.
    """
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as kept:
        yield kept
        kept.seek(0)
        shutil.copyfileobj(kept, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def print_json(result: Any) -> None:
    """Print `result` as JSON on stdout, numbers with full precision, NaN refused."""
    print(json.dumps(result, ensure_ascii=False, indent=2, allow_nan=False))


def warn(command: str, lines: Iterable[str], quiet: bool = False) -> None:
    """Tell the user, on stderr, what was repaired or is worth a look: one line each, unless `quiet`."""
    for line in () if quiet else lines:
        print(f"lasw {command}: {coloured('warning:', 'yellow', sys.stderr)} {line}", file=sys.stderr)


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
