"""`lasw features`: the numbers that a metric makes its sentence scores of, or expected utilities as a feature."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import (
    STANDARD_INPUT,
    Corpus,
    Coverages,
    Evaluation,
    Metric,
    References,
    UserError,
    Vocabulary,
    check_evaluation,
    metric,
    read_corpus,
    refuse_or_warn,
    refuse_overwriting,
)
from lasw.scripts.command_line import (
    MBR_HELP,
    Parser,
    add_layout_options,
    add_mbr_options,
    add_metric,
    add_text_options,
    check_mbr_options,
    mbr_layout,
    minimum_risk,
    preprocessing,
    reading,
    warn,
    write_output,
)

if TYPE_CHECKING:
    from lasw.tuning import NBest

_EPILOG = """\
examples:
  lasw features -m ROSE:model=rose.json -r reference.en system.en > features.tsv
  lasw features --mbr CHRF nbest.gz > mbr.txt     # then: lasw optimise --feature mbr=mbr.txt ... nbest.gz
  lasw features --nbest -m EXTERNAL:reference=no:cmd='python lm.py' nbest.gz > lm.txt
  lasw features --nbest -m CHRF -r reference.en nbest.gz > loss.txt    # then: lasw optimise --loss-scores loss.txt

One line a segment: its number, the features of each metric, its sentence score. ROSE has features with names; other
metrics show their sufficient statistics, numbered.

With --mbr or --nbest a number a hypothesis of an N-best list, in its order, as --feature NAME=FILE of other commands
reads it: the expected utility, or the sentence scores of the metrics (docs/how-to/adapters.md).
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    system = parser.add_argument(
        "system",
        nargs="?",
        default=STANDARD_INPUT,
        metavar="SYSTEM",
        help="hypotheses, with --mbr or --nbest an N-best list; - (default): standard input",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    add_metric(which, "a metric, may be repeated", action="append")
    which.add_argument("--mbr", metavar="SPEC", help=f"the {MBR_HELP} (docs/how-to/minimum-bayes-risk.md)")
    parser.add_references(
        system, required=False, help="a reference file, or several where SYSTEM stands elsewhere; may be repeated"
    )
    parser.rename("--reference", "--references")
    parser.add_argument(
        "--nbest", action="store_true", help="SYSTEM is an N-best list: the metrics' scores of every hypothesis"
    )
    parser.add_argument("--output", default=STANDARD_INPUT, metavar="FILE", help="default: standard output")
    add_mbr_options(parser)
    add_layout_options(parser)
    parser.add_argument("--unsorted", action="store_true", help="sentence ids of lists may decrease")
    parser.further("--unsorted")
    add_text_options(parser, force=True)


def run(arguments: argparse.Namespace) -> int:
    """Read, compute, write; 0 if done."""
    check_mbr_options(arguments, *(() if arguments.nbest else ("unsorted",)))
    if arguments.mbr:
        return _expected_utilities(arguments)
    if arguments.nbest:
        return _of_lists(arguments)
    if not arguments.references:
        raise UserError("no references", expected="--references FILE for the metrics")
    refuse_overwriting([arguments.output], (arguments.system, *arguments.references))
    specs: list[str] = arguments.metric
    metrics = [metric(spec) for spec in specs]
    how = reading(arguments)
    references = References.read(arguments.references, **how)
    system = read_corpus(arguments.system, references.vocabulary, **how)
    checked = check_evaluation(Evaluation(references, (system,)), metrics)
    warn("features", refuse_or_warn(checked.findings, force=arguments.force))
    names = ["segment"]
    columns = [np.arange(1.0, len(system) + 1)[:, None]]
    for spec, m in zip(specs, metrics, strict=True):
        own, table = _table(m, references, system)
        names += own if len(specs) == 1 else [f"{spec} {name}" for name in own]
        columns.append(table)
    write_output(arguments.output, _tsv(names, columns))
    return 0


def _expected_utilities(arguments: argparse.Namespace) -> int:
    from lasw.tuning import Options, read_nbest, stream_nbest, whole_sentences

    if arguments.references:
        raise UserError("--references beside --mbr", expected="one of the two: candidates are each other's references")
    refuse_overwriting([arguments.output], (arguments.system, arguments.samples or STANDARD_INPUT))
    vocabulary, warnings = Vocabulary(), list[str]()
    reranker, dense = minimum_risk(arguments, vocabulary, warnings, preprocessing(arguments).function())
    options = Options(
        dense=dense,
        unsorted=arguments.unsorted,
        encoding=arguments.encoding,
        warnings=warnings,
        layout=mbr_layout(arguments),
    )
    if arguments.unsorted:
        blocks: Iterable[NBest] = [read_nbest(arguments.system, vocabulary, **options)]
    else:
        blocks = whole_sentences(stream_nbest(arguments.system, vocabulary, **options))
    scores = [reranker.scores(block) for block in blocks]
    write_output(arguments.output, "".join(f"{x!r}\n" for part in scores for x in part.tolist()))
    warn("features", [*warnings, *reranker.warnings()])
    return 0


def _of_lists(arguments: argparse.Namespace) -> int:
    """Sentence scores of all hypotheses of a list; without references those of programs that want none."""
    from lasw.tuning import Options, read_nbest

    metrics = [metric(spec) for spec in arguments.metric]
    if not arguments.references and any(m.compares for m in metrics):
        raise UserError("no references", expected="--references FILE, or EXTERNAL:reference=no:cmd=...")
    refuse_overwriting([arguments.output], (arguments.system, *arguments.references))
    warnings, how = list[str](), reading(arguments)
    references = References.read(arguments.references, **how) if arguments.references else None
    vocabulary = Vocabulary() if references is None else references.vocabulary
    options = Options(
        unsorted=arguments.unsorted,
        segments=None if references is None else len(references),
        warnings=warnings,
        layout=mbr_layout(arguments),
        encoding=arguments.encoding,
        preprocess=how["preprocess"],
    )
    nbest = read_nbest(arguments.system, vocabulary, **options)
    if references is not None:
        texts = replace(nbest.hypotheses, path=arguments.system)
        found = Coverages(metrics, references).of_list(texts, nbest.owner)
        warnings += refuse_or_warn(found, force=arguments.force)
    else:
        numbers, owner = np.unique(nbest.owner, return_inverse=True)
        references = References.from_lines([""] * len(numbers), vocabulary=vocabulary)
        nbest = replace(nbest, owner=owner.astype(np.int32))  # one damaged id would make millions of references
    scores = [m.sentence_scores(m.statistics(nbest.hypotheses, m.prepare(references), nbest.owner)) for m in metrics]
    rows = np.column_stack(scores).tolist()
    write_output(arguments.output, "".join(" ".join(map(repr, row)) + "\n" for row in rows))
    warn("features", warnings)
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
