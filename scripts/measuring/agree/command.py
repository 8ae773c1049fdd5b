"""`lasw agree`: how well metrics agree with what people preferred, or with their marks."""

from __future__ import annotations

import argparse
import dataclasses

from lasw.metrics import metric, refuse_overwriting, write_text
from lasw.scripts.command_line import print_json
from lasw.scripts.measuring.agree.checks import check
from lasw.scripts.measuring.agree.correlating import correlated, tested
from lasw.scripts.measuring.agree.decisions import as_table, decisions
from lasw.scripts.measuring.agree.inputs import read_sets, sets_of, stored_metrics
from lasw.scripts.measuring.agree.options import add_arguments
from lasw.scripts.measuring.agree.output import as_json, as_picture, as_tables, as_tsv

__all__ = ["add_arguments", "run"]


def run(arguments: argparse.Namespace) -> int:
    """Correlate and print; 0 if done."""
    check(arguments)
    written = [path for path in (arguments.picture, arguments.report) if path]
    if written:
        refuse_overwriting(written, [] if arguments.mtme else sets_of(arguments))
    metrics = [metric(spec) for spec in arguments.metric or ()]
    data = read_sets(arguments)
    results = correlated(arguments, data, metrics)
    if arguments.significance or written:
        results = tested(results, arguments)
    if arguments.picture:
        write_text(arguments.picture, as_picture(results))
    if arguments.report:
        from lasw.scripts.measuring.agree.report import report_page

        tunable = len(results.specs) - len(stored_metrics(data, arguments))
        write_text(arguments.report, report_page(results, data, tunable))
    if not arguments.significance:
        results = dataclasses.replace(results, significance=())
    compared = decisions(results.specs[: len(metrics)], metrics, data, results.names) if arguments.decisions else []
    if arguments.json:
        print_json(as_json(results) | ({"decisions": compared} if compared else {}))
    elif arguments.tsv:
        print(as_tsv(results), end="")
    else:
        print(as_tables(results), end="")
        print(f"\n{as_table(compared)}" if compared else "", end="")
    return 0
