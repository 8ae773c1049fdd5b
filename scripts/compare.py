"""`lasw compare`: optimisers, losses and development sets side by side, several runs each."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from lasw.metrics import UserError
from lasw.scripts.command_line import Parser, add_jobs, add_output_options, note, print_json, tell_idle, warn
from lasw.scripts.parallel_text import GridSelections
from lasw.tuning import COMPARISON, Json, compare, read_comparison, table_text

_EPILOG = """\
examples:
  lasw compare grid.toml --run comparison --jobs 4
  lasw compare thesis/table-5.2 --run comparison --set decoder.name=thot --set decoder.model=system \\
      --set development.dev.source=dev.de --set development.dev.references=dev.en \\
      --set test.test.source=test.de --set test.test.references=test.en

CONFIG is a TOML file or the name of a comparison that comes with lasw:
  NAMES
The same command again goes on where a comparison was interrupted; runs that are there are reused. The first system of
the file is the baseline.
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG.replace("NAMES", ", ".join(COMPARISON.names()) or "none")
    parser.add_argument("config", metavar="CONFIG", help="a TOML file, or a name (see below)")
    parser.add_argument("--run", required=True, metavar="DIR", help="where everything goes")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="changes",
        metavar="KEY=VALUE",
        help="another value for SECTION.KEY or SECTION.NAME.KEY; may be repeated",
    )
    add_jobs(parser, 1)
    parser.add_argument("--dask", metavar="ADDRESS", help="of a Dask scheduler whose workers see the same files")
    add_output_options(parser)
    parser.add_argument("-w", "--width", type=int, default=2, help="digits behind the point (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Compare and print the table; 0 if all runs are done."""
    if not 0 <= arguments.width <= 17:
        raise UserError(f"--width {arguments.width}", expected="a number from 0 to 17")
    directory = Path(arguments.run)
    selections = GridSelections(directory / "selections", arguments.quiet)
    comparison = read_comparison(arguments.config, arguments.changes, selections)
    warn("compare", comparison.without_effect(), arguments.quiet)
    tell_idle(arguments, ("--width", not arguments.json, "--json has all digits"))
    warned: set[str] = set()

    def told(record: Json, done: int, of: int) -> None:
        note(arguments.quiet, f"run {done} of {of}: {record['label']}, seed {record['seed']}, {record['seconds']} s")
        new = [text for text in dict.fromkeys(record["warnings"]) if text not in warned]
        warned.update(new)
        warn("compare", (f"{record['label']}, seed {record['seed']}: {text}" for text in new), arguments.quiet)

    compared = compare(
        comparison,
        directory,
        jobs=arguments.jobs,
        dask=arguments.dask,
        command=shlex.join(["lasw", *sys.argv[1:]]),
        told=told,
        prepare=lambda: selections.make(comparison.settings.seeds),
    )
    warn("compare", compared.warnings, arguments.quiet)
    if arguments.json:
        print_json(compared.table)
        return 0
    print(table_text(compared.table, arguments.width))
    print("\n".join(compared.table["notes"]))
    if compared.reused:
        print(f"{compared.reused} of {compared.runs} runs were there already.")
    print(f"table    {directory / 'table.json'}, {directory / 'table.tsv'}")
    print(f"report   {directory / 'report.html'}")
    return 0
