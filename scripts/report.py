"""`lasw report`: one HTML file from one or several runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from lasw.metrics.errors import UserError
from lasw.tuning.report import read_run, write_report

_EPILOG = """\
examples:
  lasw report run                          # run/report.html, also while the run goes on
  lasw report run-wro run-pro --output both.html
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run directories of 'lasw tune'")
    parser.add_argument("--output", metavar="FILE", help="where the report goes (default: report.html of the one run)")
    parser.add_argument("--title", default="", help="of the page")


def run(arguments: argparse.Namespace) -> int:
    """Write the report; 0 if done."""
    if arguments.output is None and len(arguments.runs) > 1:
        raise UserError(f"{len(arguments.runs)} runs", remedy="give --output for the report of all of them")
    output = arguments.output or Path(arguments.runs[0]) / "report.html"
    write_report(output, [read_run(path) for path in arguments.runs], arguments.title)
    print(output)
    return 0
