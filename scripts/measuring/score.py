"""`lasw score`: systems against references, under any metrics, with the significance of their differences."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from lasw.metrics import (
    NORMAL_FORMS,
    STANDARD_INPUT,
    Comparison,
    Evaluation,
    Metric,
    Preprocessing,
    References,
    UserError,
    metric,
    normal_form,
    read_corpora,
)
from lasw.metrics.significance import bootstrap as significance
from lasw.scripts.command_line import (
    Parser,
    add_given_scores,
    add_metric,
    add_output_options,
    add_seed,
    add_text_options,
    note,
    positive_int,
    print_json,
    warn,
)

_EPILOG = """\
example:
  lasw score -m BLEU -m PABC4:alpha=3 -r reference.en baseline.en tuned.en --paired-bs
metrics: BLEU  BLEU+1  TER  WER  PER  CDER  CHRF  METEOR  NIST  PABC4 and its kin  MIX ...

Metrics: BLEU (= PGBC4), BLEU+1, and [P|R][A|G][B]?[C]?[1-4] of the SIMPBLEU family, with options
  alpha=K  smoothing=add|lin-och  bp=smoothed|plain|reference  reflen=closest|shortest|average
  refs=joint|each  corpus=sum|mean  orders=all|effective
TER, WER, PER, CDER, shown as 1-TER and so on, higher is better: reflen=average|best
CHRF: chars=6  words=0 (2: chrF++)  beta=2      NIST: orders=5
METEOR: stem=english|...|none  power=3          MIX:SPEC=WEIGHT:SPEC=WEIGHT, as MIX:BLEU=0.5:TER=0.5
EXTERNAL:mode=stream|batch:timeout=SECONDS:cmd=COMMAND   a program that answers 'hypothesis TAB reference' by a number
SCORES:file=FILE, or --scores FILE   PAIRWISE, COMBINATION, ROSE:model=FILE   trained by lasw train-metric
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    systems = parser.add_argument(
        "systems", nargs="*", metavar="SYSTEM", help="hypotheses, a line a segment; - (default): stdin"
    )
    add_metric(parser, "a metric, may be repeated (default: BLEU)", action="append")
    add_given_scores(parser)
    parser.add_references(systems, help="a reference file, or several where SYSTEM stands elsewhere; may be repeated")
    parser.rename("--reference", "--references")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--sentence", action="store_true", help="scores of segments instead of the corpus")
    what.add_argument("--confidence", action="store_true", help="95%% intervals by bootstrap resampling")
    what.add_argument(
        "--paired-bs", action="store_true", help="intervals, and the first system against the others (Koehn 2004)"
    )
    parser.add_argument(
        "--paired-bs-n",
        type=positive_int,
        metavar="N",
        help=f"resampled corpora (default: {significance.DEFAULT_SAMPLES})",
    )
    add_seed(parser, f"of the resampling (default: {significance.BOOTSTRAP_SEED})", None)
    parser.add_argument("--normalise", choices=NORMAL_FORMS, help="bring all text into one Unicode normal form first")
    add_text_options(parser)
    add_output_options(parser)
    parser.add_argument("-w", "--width", type=int, default=2, help="digits behind the point (default: %(default)s)")
    parser.further("--scores", "--paired-bs-n", "--seed", "--normalise", "--encoding", "--width")


def run(arguments: argparse.Namespace) -> int:
    """Score and print; 0 if done."""
    specs: list[str] = arguments.metric or ["BLEU"]
    metrics = [metric(spec) for spec in specs]
    names: list[str] = arguments.systems or [STANDARD_INPUT]
    _check(arguments, names)
    text = Preprocessing(arguments.tokenize, arguments.lowercase, arguments.normalise)
    evaluation, warnings = _read(names, arguments, text)
    settings = {"nrefs": str(len(evaluation.references.corpora)), **text.settings()}
    if arguments.confidence or arguments.paired_bs:
        settings |= {"bs": str(arguments.paired_bs_n), "seed": str(arguments.seed)}
    signatures = [str(m.signature().with_settings(settings)) for m in metrics]
    for m in metrics:
        for name, statistics in zip(names, evaluation.statistics(m), strict=True):
            if not arguments.sentence:
                warnings += [f"{name}: {remark}" for remark in m.remarks(statistics.sum(axis=0))]
    warn("score", warnings)
    if arguments.sentence:
        _print_sentences(arguments, names, specs, metrics, signatures, evaluation)
        return 0
    columns = [_comparisons(arguments, m, evaluation) for m in metrics]
    if arguments.json:
        print_json(_as_json(names, specs, metrics, signatures, columns))
    elif len(names) == 1:
        for m, signature, column in zip(metrics, signatures, columns, strict=True):
            print(f"{signature} = {_cell(column[0], m.display_scale, arguments.width)}")
    else:
        _print_table(
            names, [m.label(spec) for m, spec in zip(metrics, specs, strict=True)], metrics, columns, arguments.width
        )
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
    arguments.seed = significance.BOOTSTRAP_SEED if arguments.seed is None else arguments.seed
    arguments.paired_bs_n = arguments.paired_bs_n or significance.DEFAULT_SAMPLES


def _read(names: Sequence[str], arguments: argparse.Namespace, text: Preprocessing) -> tuple[Evaluation, list[str]]:
    """The texts, and what is to be said about them."""
    preprocess, encoding = text.function(), arguments.encoding
    references = References.read(arguments.references, preprocess=preprocess, encoding=encoding)
    systems = read_corpora(names, references.vocabulary, preprocess=preprocess, encoding=encoding)
    evaluation = Evaluation(references, systems)
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
    statistics = evaluation.statistics(m)
    if arguments.paired_bs or arguments.confidence:
        groups = [statistics] if arguments.paired_bs else [[x] for x in statistics]
        return [
            result
            for group in groups
            for result in significance.paired_bootstrap(m, group, samples=arguments.paired_bs_n, seed=arguments.seed)
        ]
    return [Comparison(float(score), None) for score in evaluation.corpus_scores(m)]


def _cell(result: Comparison, scale: float, width: int) -> str:
    text = f"{scale * result.score:.{width}f}"
    if result.interval is not None:
        text += f" ({scale * result.interval.mean:.{width}f} ± {scale * result.interval.radius:.{width}f})"
    if result.identical:
        text += " (identical)"
    if result.p_value is not None:
        text += f" (p = {result.p_value:.4f})" + ("*" if result.p_value < 0.05 else "")
    return text


def _print_table(
    names: Sequence[str],
    specs: Sequence[str],
    metrics: Sequence[Metric],
    columns: Sequence[Sequence[Comparison]],
    width: int,
) -> None:
    rows = [["system", *specs]]
    for k, name in enumerate(names):
        cells = [_cell(column[k], m.display_scale, width) for m, column in zip(metrics, columns, strict=True)]
        rows.append([name, *cells])
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip())


def _print_sentences(
    arguments: argparse.Namespace,
    names: Sequence[str],
    specs: Sequence[str],
    metrics: Sequence[Metric],
    signatures: Sequence[str],
    evaluation: Evaluation,
) -> None:
    """A line a segment, columns with tabs between: all metrics of the first system, then those of the next."""
    scores = [m.display_scale * evaluation.sentence_scores(m) for m in metrics]
    if arguments.json:
        print_json(
            {
                "systems": [
                    {
                        "system": name,
                        "results": [
                            {"metric": spec, "signature": signature, "sentences": column[k].tolist()}
                            for spec, signature, column in zip(specs, signatures, scores, strict=True)
                        ],
                    }
                    for k, name in enumerate(names)
                ]
            }
        )
        return
    labels = [f"{name} {signature}" for name in names for signature in signatures]
    note(arguments.quiet, "columns: " + "\t".join(labels))
    columns = [column[k].tolist() for k in range(len(names)) for column in scores]
    lines = ("\t".join(f"{value:.{arguments.width}f}" for value in row) + "\n" for row in zip(*columns, strict=True))
    sys.stdout.writelines(lines)


def _as_json(
    names: Sequence[str],
    specs: Sequence[str],
    metrics: Sequence[Metric],
    signatures: Sequence[str],
    columns: Sequence[Sequence[Comparison]],
) -> dict[str, Any]:
    """Scores on the scale that the table has, in full precision."""
    systems = []
    for k, name in enumerate(names):
        results = []
        for spec, m, signature, column in zip(specs, metrics, signatures, columns, strict=True):
            result, scale = column[k], m.display_scale
            entry: dict[str, Any] = {"metric": spec, "signature": signature, "score": scale * result.score}
            if result.interval is not None:
                entry |= {
                    "mean": scale * result.interval.mean,
                    "low": scale * result.interval.low,
                    "high": scale * result.interval.high,
                }
            if result.p_value is not None or result.identical:
                entry |= {"p_value": result.p_value, "identical": result.identical}
            results.append(entry)
        systems.append({"system": name, "results": results})
    return {"systems": systems}
