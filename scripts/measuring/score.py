"""`lasw score`: systems against references, under any metrics, with the significance of their differences."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lasw.metrics import (
    BOOTSTRAP_SEED,
    DEFAULT_SAMPLES,
    FEW_SEGMENTS,
    MINIMUM_SEGMENTS,
    NORMAL_FORMS,
    STANDARD_INPUT,
    Comparison,
    Evaluation,
    Metric,
    References,
    UserError,
    check_evaluation,
    labels,
    metric,
    normal_form,
    paired_bootstrap,
    read_corpora,
    refuse_or_warn,
)
from lasw.scripts.command_line import (
    Parser,
    add_given_scores,
    add_metric,
    add_output_options,
    add_seed,
    add_text_options,
    note,
    positive_int,
    preprocessing,
    print_json,
    reading,
    take_several_metrics,
    tell_idle,
    warn,
)

_EPILOG = """\
example:
  lasw score -m BLEU -m PABC4:alpha=3 -r reference.en baseline.en tuned.en --paired-bs
metrics: BLEU  BLEU+1  TER  WER  PER  CDER  CHRF  METEOR  NIST  PABC4 and its kin  MIX ...

Metrics: BLEU (= PGBC4), BLEU+1, and [P|R][A|G][B]?[C]?[1-4] of the SIMPBLEU family, with options
  alpha=K  smoothing=add|lin-och  bp=smoothed|plain|reference|reversed  reflen=closest|shortest|average
  refs=joint|each  corpus=sum|mean  orders=all|effective
TER, WER, PER, CDER, lower is better (the loss is one minus the rate): reflen=average|best
CHRF: chars=6  words=0 (2: chrF++)  beta=2      NIST: orders=5
METEOR: stem=english|...|none  power=3          MIX:SPEC=WEIGHT:SPEC=WEIGHT, as MIX:BLEU=0.5:TER=0.5
EXTERNAL[:OPTION=VALUE ...]:cmd=COMMAND   a program that gives a number for each hypothesis (docs/how-to/adapters.md)
SCORES:file=FILE, or --scores FILE   PAIRWISE, COMBINATION, ROSE:model=FILE   trained by lasw train-metric
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    systems = parser.add_argument(
        "systems", nargs="*", metavar="SYSTEM", help="hypotheses, a line a segment; - (default): stdin"
    )
    add_metric(parser, "a metric, may be repeated (default: BLEU)", action="append")
    take_several_metrics(parser)
    add_given_scores(parser)
    parser.add_references(systems, help="a reference file, or several where SYSTEM stands elsewhere; may be repeated")
    parser.rename("--reference", "--references")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--sentence", action="store_true", help="scores of segments instead of the corpus")
    what.add_argument("-b", "--score-only", action="store_true", help="the numbers alone, a line a system")
    what.add_argument("--confidence", action="store_true", help="95%% intervals by bootstrap resampling")
    what.add_argument(
        "--paired-bs", action="store_true", help="intervals, and the first system against the others (Koehn 2004)"
    )
    parser.add_argument(
        "--paired-bs-n",
        type=positive_int,
        metavar="N",
        help=f"resampled corpora (default: {DEFAULT_SAMPLES})",
    )
    add_seed(parser, f"of the resampling (default: {BOOTSTRAP_SEED})", None)
    parser.add_argument("--normalise", choices=NORMAL_FORMS, help="bring all text into one Unicode normal form first")
    add_text_options(parser, force=True)
    add_output_options(parser)
    for word, option in (("-sl", "--sentence"), ("--sentence-level", "--sentence"), ("-q", "--quiet")):  # sacreBLEU's
        parser.also(word, option)
    parser.also("--confidence-n", "--paired-bs-n")
    parser.add_argument("-w", "--width", type=int, default=2, help="digits behind the point (default: %(default)s)")
    parser.further("--scores", "--paired-bs-n", "--seed", "--normalise", "--encoding", "--width")


@dataclass(frozen=True)
class _Column:
    """What one metric says of the systems, nothing where segments are scored; what vectors it has of each."""

    spec: str
    metric: Metric
    signature: str
    results: Sequence[Comparison]
    coverage: Sequence[list[dict[str, Any]]]


def run(arguments: argparse.Namespace) -> int:
    """Score and print; 0 if done."""
    specs: list[str] = arguments.metric or ["BLEU"]
    metrics = [metric(spec) for spec in specs]
    names: list[str] = arguments.systems or [STANDARD_INPUT]
    _check(arguments, names)
    tell_idle(arguments, ("--width", not arguments.json, "--json has all digits"))
    tell_idle(arguments, ("--score-only", not arguments.json, "--json has everything"))
    evaluation, warnings = _read(names, arguments)
    checked = check_evaluation(evaluation, metrics)
    warnings += refuse_or_warn(checked.findings, force=arguments.force)
    settings = {"nrefs": str(len(evaluation.references.corpora)), **preprocessing(arguments).settings()}
    if arguments.confidence or arguments.paired_bs:
        settings |= {"bs": str(arguments.paired_bs_n), "seed": str(arguments.seed)}
    signatures = [str(m.displayed_signature().with_settings(settings)) for m in metrics]
    for m in metrics:
        for name, statistics in zip(names, evaluation.statistics(m), strict=True):
            if not arguments.sentence:
                warnings += [f"{name}: {remark}" for remark in m.remarks(statistics.sum(axis=0))]
    if arguments.paired_bs and len(evaluation.references) < MINIMUM_SEGMENTS:
        warnings.append(f"{FEW_SEGMENTS} but of equal scores")
    warn("score", warnings)
    for line in checked.notes():
        note(arguments.quiet, line)
    results = [() if arguments.sentence else _comparisons(arguments, m, evaluation) for m in metrics]
    coverage = [[[one.as_json() for one in of[k]] for of in checked.coverage] for k in range(len(metrics))]
    columns = [_Column(*column) for column in zip(specs, metrics, signatures, results, coverage, strict=True)]
    if arguments.sentence:
        _print_sentences(arguments, names, columns, evaluation)
    elif arguments.json:
        print_json(_as_json(names, columns, paired=arguments.paired_bs))
    elif arguments.score_only:
        for k in range(len(names)):
            print("\t".join(_cell(column, k, arguments.width) for column in columns))
    elif len(names) == 1:
        for column in columns:
            arrow = f" {column.metric.display.arrow}" if column.metric.error_rate else ""
            print(f"{column.signature} = {_cell(column, 0, arguments.width)}{arrow}")
    else:
        _print_table(names, columns, arguments.width)
        print()
        print("\n".join(signatures))
    return 0


def _check(arguments: argparse.Namespace, names: Sequence[str]) -> None:
    if [*names, *arguments.references].count(STANDARD_INPUT) > 1:
        raise UserError("standard input is named twice", expected="one '-' at most")
    if arguments.paired_bs and len(names) < 2:
        raise UserError(
            "--paired-bs with one system", expected="two or more", remedy="--confidence gives the interval of one"
        )
    if not 0 <= arguments.width <= 17:
        raise UserError(f"--width {arguments.width}", expected="a number from 0 to 17")
    resampling = arguments.confidence or arguments.paired_bs
    for option, value in (("--seed", arguments.seed), ("--paired-bs-n", arguments.paired_bs_n)):
        if value is not None and not resampling:
            raise UserError(f"{option} without resampling", expected="--paired-bs or --confidence with it")
    arguments.seed = BOOTSTRAP_SEED if arguments.seed is None else arguments.seed
    arguments.paired_bs_n = arguments.paired_bs_n or DEFAULT_SAMPLES


def _read(names: Sequence[str], arguments: argparse.Namespace) -> tuple[Evaluation, list[str]]:
    """The texts, and what is to be said about them."""
    how = reading(arguments)
    references = References.read(arguments.references, **how)
    evaluation = Evaluation(references, read_corpora(names, references.vocabulary, **how))
    corpora = [*references.corpora, *evaluation.systems]
    warnings = [
        f"{corpus.path}: {corpus.crlf_lines} lines end in CR LF; the CR is dropped"
        for corpus in corpora
        if corpus.crlf_lines
    ]
    forms = [normal_form(corpus) for corpus in corpora]
    # Text in ASCII has no form; the first reference that has one is what the others are held against.
    formed = next((k for k, form in enumerate(forms[: len(references.corpora)]) if form), None)
    for corpus, form in zip(corpora, forms, strict=True):
        if formed is not None and form and form != forms[formed]:
            warnings.append(
                f"{corpus.path} is in Unicode form {form}, {corpora[formed].path} in {forms[formed]}: equal words "
                "will not match; --normalise nfc (or nfd) makes them alike"
            )
    return evaluation, warnings


def _comparisons(arguments: argparse.Namespace, m: Metric, evaluation: Evaluation) -> list[Comparison]:
    if not (arguments.paired_bs or arguments.confidence):
        return [Comparison(float(score), None) for score in evaluation.corpus_scores(m)]
    statistics = evaluation.statistics(m)
    resampling = {"samples": arguments.paired_bs_n, "seed": arguments.seed}
    groups = [statistics] if arguments.paired_bs else [[x] for x in statistics]
    return [result for group in groups for result in paired_bootstrap(m, group, **resampling)]


def _cell(column: _Column, k: int, width: int) -> str:
    """One metric's score of system k."""
    result, display = column.results[k], column.metric.display
    text = f"{display.score(result.score):.{width}f}"
    if result.interval is not None:
        radius = display.scale * result.interval.radius
        text += f" ({display.score(result.interval.mean):.{width}f} ± {radius:.{width}f})"
    if result.identical:
        text += " (identical)"
    if result.p_value is not None:
        text += f" (p = {result.p_value:.4f})" + ("*" if result.p_value < 0.05 else "")
    return text


def _print_table(names: Sequence[str], columns: Sequence[_Column], width: int) -> None:
    rows = [["system", *labels([c.spec for c in columns], [c.metric.display for c in columns])]]
    rows += [[name, *(_cell(column, k, width) for column in columns)] for k, name in enumerate(names)]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip())


def _print_sentences(
    arguments: argparse.Namespace, names: Sequence[str], columns: Sequence[_Column], evaluation: Evaluation
) -> None:
    """A line a segment, columns with tabs between: all metrics of the first system, then those of the next."""
    scores = [column.metric.display.score(evaluation.sentence_scores(column.metric)) for column in columns]
    if arguments.json:
        systems = []
        for k, name in enumerate(names):
            results = [_entry(c, k, {"sentences": s[k].tolist()}) for c, s in zip(columns, scores, strict=True)]
            systems.append({"system": name, "results": results})
        print_json({"systems": systems})
        return
    titles = [f"{name} {column.signature}" for name in names for column in columns]
    note(arguments.quiet, "columns: " + "\t".join(titles))
    rows = zip(*(of_metric[k].tolist() for k in range(len(names)) for of_metric in scores), strict=True)
    sys.stdout.writelines("\t".join(f"{value:.{arguments.width}f}" for value in row) + "\n" for row in rows)


def _as_json(names: Sequence[str], columns: Sequence[_Column], *, paired: bool) -> dict[str, Any]:
    """Numbers as the table has them, in full precision, and which is better, the higher or the lower."""
    systems = []
    for k, name in enumerate(names):
        results = []
        for column in columns:
            result, display = column.results[k], column.metric.display
            entry = _entry(column, k, {"score": display.score(result.score)})
            if result.interval is not None:
                low, high = display.ends(result.interval.low, result.interval.high)
                entry |= {"mean": display.score(result.interval.mean), "low": low, "high": high}
            if paired and k:
                entry |= {"p_value": result.p_value, "identical": result.identical}
            results.append(entry)
        systems.append({"system": name, "results": results})
    return {"systems": systems}


def _entry(column: _Column, k: int, values: dict[str, Any]) -> dict[str, Any]:
    """Of system k, with how many words have vectors if the metric needs some."""
    values |= {"coverage": column.coverage[k]} if column.coverage[k] else {}
    better = column.metric.display.better
    return {"metric": column.spec, "signature": column.signature, "better": better, **values}
