"""`lasw features`: the numbers that a metric makes its sentence scores of, segment by segment."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import (
    STANDARD_INPUT,
    Corpus,
    Metric,
    References,
    check_parallel,
    metric,
    read_corpus,
    refuse_overwriting,
)
from lasw.scripts.command_line import Parser, add_metric, add_text_options, reading, write_output

_EPILOG = """\
example:
  lasw features -m ROSE:model=rose.json -r reference.en system.en > features.tsv

One line a segment: its number, the features of each metric, its sentence score. ROSE has features with names; other
metrics show their sufficient statistics, numbered.
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    system = parser.add_argument(
        "system", nargs="?", default=STANDARD_INPUT, metavar="SYSTEM", help="hypotheses; - (default): standard input"
    )
    add_metric(parser, "a metric, may be repeated", action="append", required=True)
    parser.add_references(system, help="a reference file, or several where SYSTEM stands elsewhere; may be repeated")
    parser.rename("--reference", "--references")
    parser.add_argument("--output", default=STANDARD_INPUT, metavar="FILE", help="default: standard output")
    add_text_options(parser, force=True)


def run(arguments: argparse.Namespace) -> int:
    """Read, compute, write; 0 if done."""
    refuse_overwriting([arguments.output], (arguments.system, *arguments.references))
    specs: list[str] = arguments.metric
    metrics = [metric(spec) for spec in specs]
    how = reading(arguments)
    references = References.read(arguments.references, **how)
    system = read_corpus(arguments.system, references.vocabulary, **how)
    check_parallel(references.corpora[0], system)
    names = ["segment"]
    columns = [np.arange(1.0, len(system) + 1)[:, None]]
    for spec, m in zip(specs, metrics, strict=True):
        own, table = _table(m, references, system)
        names += own if len(specs) == 1 else [f"{spec} {name}" for name in own]
        columns.append(table)
    write_output(arguments.output, _tsv(names, columns))
    return 0


def _table(m: Metric, references: References, system: Corpus) -> tuple[list[str], NDArray[np.float64]]:
    """Names and (n, d + 1) values of a metric's features and its score."""
    from lasw.metrics import Rose

    owner = np.arange(len(system), dtype=np.int32)
    prepared = m.prepare(references)
    statistics = m.statistics(system, prepared, owner)
    scores = m.sentence_scores(statistics)
    if isinstance(m, Rose):
        names, features = list(m.model.features.names), m.features(system, prepared, owner)
    else:
        names, features = [f"statistic{k + 1}" for k in range(statistics.shape[1])], statistics
    return [*names, "score"], np.column_stack([features, scores])


def _tsv(names: Sequence[str], columns: Sequence[NDArray[np.float64]]) -> str:
    rows = np.hstack(columns).tolist()
    lines = ["\t".join(names), *("\t".join(f"{value:.10g}" for value in row) for row in rows)]
    return "\n".join(lines) + "\n"
