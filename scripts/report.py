"""`lasw report`: one HTML file from a comparison, or from one or several runs."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from lasw.metrics import UserError, refuse_overwriting
from lasw.scripts.command_line import Parser

_EPILOG = """\
examples:
  lasw report run                          # run/report.html, also while the run goes on
  lasw report comparison                   # of lasw compare, comparison/report.html
  lasw report run-wro run-pro --output both.html
  lasw report run --held-out test.nbest.gz --held-out-references test.en

The report of a run has the oracle of every iteration and single sentences as well, as long as its references are where
they were.
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("runs", nargs="+", metavar="DIR", help="directories of 'lasw tune', or one of 'lasw compare'")
    parser.add_argument("--output", metavar="FILE", help="where the report goes (default: report.html of the one run)")
    parser.add_argument("--title", default="", help="of the page")
    parser.add_argument(
        "--system", metavar="ROW", help="of a comparison: whose sentences are shown (default: the best row)"
    )
    parser.add_argument(
        "--held-out",
        nargs="+",
        default=[],
        metavar="NBEST",
        help="of a run: other lists, reranked with all its weights",
    )
    parser.add_argument(
        "--held-out-references", nargs="+", default=[], metavar="REF", help="their references, a line a sentence"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the report; 0 if done."""
    from lasw.tuning import is_comparison, read_comparison_data, write_comparison_report

    if arguments.output is None and len(arguments.runs) > 1:
        raise UserError(f"{len(arguments.runs)} runs", remedy="give --output for the report of all of them")
    output = arguments.output or Path(arguments.runs[0]) / "report.html"
    comparisons = [path for path in arguments.runs if is_comparison(path)]
    if comparisons and len(arguments.runs) > 1:
        raise UserError("a comparison beside other directories", path=comparisons[0], remedy="give it alone")
    if bool(arguments.held_out) != bool(arguments.held_out_references):
        raise UserError("held-out lists without references, or the other way round", remedy="give both")
    if arguments.held_out and (comparisons or len(arguments.runs) > 1):
        raise UserError("--held-out", expected="the directory of one run of 'lasw tune' with it")
    if comparisons:
        data = read_comparison_data(comparisons[0])
        write_comparison_report(output, data, arguments.title, arguments.system)
    else:
        refuse_overwriting([str(output)], (*arguments.held_out, *arguments.held_out_references))
        try:
            _write_runs(arguments, output)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise UserError(
                f"{', '.join(arguments.runs)}: files that this version of lasw tune does not write "
                f"({type(error).__name__}: {error})",
                remedy="give the command that made the run a new --run",
            ) from error
    print(output)
    return 0


def _write_runs(arguments: argparse.Namespace, output: str | Path) -> None:
    from lasw.tuning import Development, held_out_scores, read_development, read_run, write_report

    if arguments.system is not None:
        raise UserError("--system", expected="a comparison's directory with it")
    runs = []
    for path in arguments.runs:
        found = read_run(path)
        try:
            found = dataclasses.replace(found, development=read_development(Path(path), found))
        except UserError as error:
            remark = f"Oracle scores and single sentences are left out: {error}. Relative paths are meant from here."
            found = dataclasses.replace(found, remarks=(remark,))
        if arguments.held_out:
            scores = held_out_scores(found, arguments.held_out, arguments.held_out_references)
            known = found.development or Development([], None)
            found = dataclasses.replace(found, development=dataclasses.replace(known, held_out=scores))
        runs.append(found)
    write_report(output, runs, arguments.title)
