"""`lasw agree`: how well metrics agree with what people preferred, or with their marks."""

from __future__ import annotations

import argparse
import dataclasses
import math
import re
from collections.abc import Sequence
from pathlib import Path

from lasw.metrics import (
    AVERAGES,
    BOOTSTRAP_SEED,
    DEFAULT_SAMPLES,
    OFFICIAL,
    SIGNIFICANCE_TESTS,
    STATISTICS,
    TAUS,
    WINS,
    Asked,
    Judged,
    Judgements,
    MarkedSystems,
    Metric,
    UserError,
    agreement_significance,
    agreements,
    asked_for,
    held_out_scores,
    judges_agreement,
    labels,
    metric,
    metric_scores,
    refuse_overwriting,
    trainer,
    write_text,
)
from lasw.scripts.command_line import (
    Parser,
    add_given_scores,
    add_metric,
    add_output_options,
    add_seed,
    add_text_options,
    positive_int,
    preprocessing,
    print_json,
)
from lasw.scripts.measuring.agree.decisions import as_table, decisions
from lasw.scripts.measuring.agree.inputs import (
    read_sets,
    reference_counts,
    scores_elsewhere,
    scores_of_systems,
    sets_of,
    short_names,
    stored_metrics,
)
from lasw.scripts.measuring.agree.output import Results, as_json, as_picture, as_tables, as_tsv
from lasw.scripts.measuring.judged import check_judged

_EPILOG = """\
examples:
  lasw agree -m PABC3:alpha=0 -m RAC1:alpha=0 -m RABC2:alpha=0 --tau 13 wmt13/cs-en wmt13/de-en wmt13/es-en
  lasw agree -m BLEU+1 --train ROSE --folds 5 --significance --picture wins.svg wmt13/cs-en wmt13/de-en
  lasw agree -m BLEU+1 -m CHRF -m TER --tokenize 13a --lowercase --da wmt17/cs-en/seg_da.tsv wmt17/de-en/seg_da.tsv

A folder holds ref.txt, hyp/SYSTEM.txt and pairs.tsv (columns seg1 sysA sysB rel judge; < where sysA is better),
each compressed or not. If it holds systems.tsv too (columns system human), these scores count at the system level
instead of the share of won comparisons. With --da a table of marks has the columns human hyp ref, and if known seg1 and
system.
"""
_DEFAULT_TAU = 13
_POINTS = 25.0


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="judgements of one language pair")
    parser.add_argument("--da", nargs="+", action="extend", metavar="TABLE", help="tables of direct assessment instead")
    parser.add_argument(
        "--mtme",
        nargs="+",
        action="extend",
        metavar="FOLDER:LP",
        help="test sets as mt-metrics-eval has them instead, with the scores of the metrics in them",
    )
    parser.add_argument(
        "--rankings",
        action="append",
        metavar="FILE.csv",
        help="WMT's rankings as CSV in place of pairs.tsv of the FOLDER; one file for all folders, or one for each",
    )
    parser.add_argument(
        "--marks",
        action="append",
        metavar="FILE.csv",
        help="direct assessment as CSV of the texts in the FOLDER; one file for all folders, or one for each",
    )
    parser.add_argument(
        "--standardise", action="store_true", help="bring the marks of each judge to mean 0 and deviation 1 (--marks)"
    )
    parser.add_argument(
        "--wins",
        choices=WINS,
        default="share",
        help="systems' scores from preferences: share of comparisons won, expected wins, TrueSkill (default: share)",
    )
    parser.add_argument("--human", metavar="NAME", help="whose scores of --mtme (default: as the metrics tasks did)")
    parser.add_argument(
        "--mtme-reference", metavar="NAME", help="that metrics of --mtme used (default: the task's, refA)"
    )
    add_metric(parser, "a metric, may be repeated (default: BLEU)", action="append")
    add_given_scores(parser)
    parser.add_argument(
        "--tau",
        type=int,
        choices=TAUS,
        help="Kendall's tau as WMT12 (the metric's ties count against it), WMT13 (are left out), WMT14 (count as pairs)"
        f" had it (default: {_DEFAULT_TAU})",
    )
    parser.add_argument(
        "--statistics",
        metavar="NAME,NAME",
        help=f"these instead of Kendall's tau, Pearson, Spearman: {', '.join(STATISTICS)} (docs/how-to/agreement.md)",
    )
    parser.add_argument(
        "--official",
        nargs="?",
        type=int,
        const=0,
        choices=(0, *OFFICIAL),
        metavar="YEAR",
        help="the statistics and the test of the metrics task of that year, without the systems it left out"
        " (default: of the year in the sets' names)",
    )
    parser.add_argument(
        "--average",
        choices=AVERAGES,
        help="segments' statistics over everything at once, or the mean over segments (item), or over systems"
        " (default: as is customary for each; of preferences none)",
    )
    parser.add_argument(
        "--points", type=float, metavar="P", help="darr counts pairs whose marks differ by as much (default: 25)"
    )
    parser.add_argument(
        "--decisions",
        action="store_true",
        help="what PAIRWISE networks say of the very pairs, as their paper has it: tau of decisions and of mean wins",
    )
    group = parser.add_argument_group("metrics that are trained on the judgements themselves")
    group.add_argument(
        "--train",
        action="append",
        default=[],
        metavar="SPEC",
        help="ROSE[:cost=C][:clip=no][:counts=ratio][:characters=N]; PAIRWISE:skip=SPEC,SPEC[:vectors=FILE]; "
        "COMBINATION:metrics=SPEC,SPEC (in a SPEC a ; stands for the :); a row more",
    )
    group.add_argument(
        "--folds",
        type=positive_int,
        metavar="K",
        help="each of K random parts of the segments is scored by a metric trained on the others, of all sets",
    )
    group = parser.add_argument_group("significance")
    group.add_argument(
        "--significance",
        action="store_true",
        help="95%% intervals, and whether a metric differs from the first (Williams' test of Pearson's correlations,"
        " else the paired bootstrap over segments); --json has all pairs",
    )
    group.add_argument(
        "--test",
        choices=SIGNIFICANCE_TESTS,
        help="--significance by this one: Williams' of Pearson's correlations and the bootstrap of others (default),"
        " the bootstrap, or exchanging two metrics' scores at random, of as many exchanges as --paired-bs-n says",
    )
    group.add_argument(
        "--report",
        metavar="FILE.html",
        help="write a page there: which loss to tune with, clusters, where metrics and people disagree most",
    )
    group.add_argument("--picture", metavar="FILE", help="write a matrix of significant wins there, SVG")
    group.add_argument(
        "--paired-bs-n", type=positive_int, metavar="N", help=f"resampled sets (default: {DEFAULT_SAMPLES})"
    )
    add_seed(group, f"of resampling and folds (default: {BOOTSTRAP_SEED})", None)
    add_text_options(parser, force=True)
    add_output_options(parser)
    parser.add_argument("--tsv", action="store_true", help="print a line a number, tabs between")
    parser.further(
        "--rankings", "--marks", "--standardise", "--wins", "--human", "--mtme-reference", "--tau", "--official"
    )
    parser.further("--average", "--decisions", "--test", "--tsv")
    parser.further("--points", "--scores", "--train", "--folds", "--picture", "--paired-bs-n", "--seed", "--encoding")


def run(arguments: argparse.Namespace) -> int:
    """Correlate and print; 0 if done."""
    _check(arguments)
    written = [path for path in (arguments.picture, arguments.report) if path]
    if written:
        refuse_overwriting(written, [] if arguments.mtme else sets_of(arguments))
    metrics = [metric(spec) for spec in arguments.metric or ()]
    data = read_sets(arguments)
    results = _results(arguments, data, metrics)
    if arguments.significance or written:
        results = _tested(results, arguments)
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


def _results(arguments: argparse.Namespace, data: Sequence[Judged], metrics: list[Metric]) -> Results:
    """Every metric on every set."""
    trainers = [trainer(spec) for spec in arguments.train]
    tau = arguments.tau or _DEFAULT_TAU
    names = short_names(sets_of(arguments))
    stored = stored_metrics(data, arguments)
    specs: list[str] = arguments.metric or ([] if arguments.train or stored else ["BLEU"])
    metrics = metrics or [metric(spec) for spec in specs]
    coverage = check_judged(arguments, data, metrics, names)
    settings = {"nrefs": reference_counts(data), **preprocessing(arguments).settings()}
    if arguments.significance:
        settings |= {"bs": str(arguments.paired_bs_n), "seed": str(arguments.seed)}
    asked = _asked(arguments)
    folds = {"folds": str(arguments.folds), "folds-seed": str(arguments.seed)}
    trainable = [x for x in data if not isinstance(x, MarkedSystems)]
    trained = [held_out_scores(t, trainable, arguments.folds, seed=arguments.seed) for t in trainers]
    trained_names = [f"{spec} (trained)" for spec in arguments.train]
    return Results(
        labels=_labels([*labels([*specs], [m.display for m in metrics]), *trained_names, *stored]),
        specs=[*specs, *trained_names, *stored],
        signatures=[
            *(str(m.displayed_signature().with_settings(settings)) for m in metrics),
            *(str(t.signature().with_settings(folds | settings)) for t in trainers),
            *(f"{name}|scores:{','.join(sources)}" for name, sources in stored.items()),
        ],
        better=[*(m.display.better for m in metrics), *("higher" for _ in [*trainers, *stored])],
        names=names,
        agreements=[
            agreements(
                [
                    *(metric_scores(m, x.evaluation) for m in metrics),
                    *(scores[f] for scores in trained),
                    *scores_elsewhere(x, stored),
                ],
                x,
                tau=tau,
                asked=asked,
                wins_by=arguments.wins,
            )
            for f, x in enumerate(data)
        ],
        tau=tau if _compared(arguments) else None,
        of_systems=scores_of_systems(data, arguments.wins),
        of_segments="preference" if _compared(arguments) else "mark",
        wins_by=arguments.wins,
        judges=[judges_agreement(x.votes) if isinstance(x, Judgements) else {} for x in data],
        without_score=[x.without_score if isinstance(x, Judgements) else () for x in data],
        coverage=coverage,
    )


def _compared(arguments: argparse.Namespace) -> bool:
    """Whether people said which is better, and gave no marks."""
    return bool(arguments.folders) and not arguments.marks


def _asked(arguments: argparse.Namespace) -> tuple[Asked, ...]:
    """The statistics; none for those that are printed without ``--statistics``."""
    names = arguments.statistics
    if names is None and arguments.report:
        names = (
            "acc-eq,pearson,pairwise-accuracy" if not _compared(arguments) else "acc-eq,tau13,pearson,pairwise-accuracy"
        )
    if names is None and arguments.test == "perm-both":
        names = (
            "pearson,spearman" if not _compared(arguments) else f"tau{arguments.tau or _DEFAULT_TAU},spearman,pearson"
        )
    if names is None:
        return ()
    return asked_for(names, arguments.average or "", _POINTS if arguments.points is None else arguments.points)


def _tested(results: Results, arguments: argparse.Namespace) -> Results:
    significance = [
        agreement_significance(
            column, samples=arguments.paired_bs_n, seed=arguments.seed, test=arguments.test or SIGNIFICANCE_TESTS[0]
        )
        for column in results.agreements
    ]
    return dataclasses.replace(results, significance=significance)


def _labels(names: list[str]) -> list[str]:
    """The names without the folders of the files in them, where that leaves them different."""
    short = [re.sub(r"[^:=]*/", "", name) for name in names]
    return short if len(set(short)) == len(set(names)) else names


def _check(arguments: argparse.Namespace) -> None:
    given = [name for name in ("folders", "--da", "--mtme") if getattr(arguments, name.removeprefix("--"))]
    if len(given) != 1:
        found = " and ".join(given) or "no judgements"
        raise UserError(found, expected="one of folders of preferences, --da TABLE, --mtme FOLDER:LP")
    if not arguments.mtme and (arguments.human or arguments.mtme_reference):
        raise UserError("--human or --mtme-reference without --mtme", expected="--mtme FOLDER:LP with it")
    _check_files(arguments)
    if arguments.wins != "share" and (not arguments.folders or arguments.marks):
        raise UserError("--wins without preferences", expected="folders of preferences with it")
    if arguments.mtme and arguments.train:
        raise UserError("--train with --mtme", expected="judgements that a metric can be trained on: folders or --da")
    if not arguments.folders and arguments.tau:
        raise UserError(f"--tau with {given[0]}", expected="one of them: Kendall's tau is of preferences")
    _check_statistics(arguments)
    if arguments.tsv and (arguments.json or arguments.decisions):
        raise UserError(f"--{'json' if arguments.json else 'decisions'} and --tsv", expected="one of them")
    _check_random(arguments)
    paths = [Path(path).resolve() for path in sets_of(arguments)]
    for k, path in enumerate(paths):
        if path in paths[:k]:
            raise UserError("given twice", path=sets_of(arguments)[k], expected="each one once")


def _check_files(arguments: argparse.Namespace) -> None:
    """Of what people said of the texts in folders."""
    if arguments.rankings and arguments.marks:
        raise UserError("--rankings and --marks", expected="one of them")
    if arguments.standardise and not arguments.marks:
        raise UserError("--standardise without --marks", expected="--marks FILE.csv with it")
    for name in ("rankings", "marks"):
        files = getattr(arguments, name)
        if files and len(files) not in (1, len(arguments.folders)):
            found = f"{len(files)} --{name} and {len(arguments.folders)} folders of texts"
            raise UserError(found, expected="one for all folders, or one for each")
    if arguments.marks and (arguments.tau or arguments.train):
        raise UserError(f"--{'tau' if arguments.tau else 'train'} with --marks", expected="preferences, or --da")


def _set_official(arguments: argparse.Namespace) -> None:
    """``--official`` stands for statistics and a test."""
    if arguments.official is None:
        return
    if arguments.statistics is not None or arguments.tau:
        raise UserError("--official with --statistics or --tau", expected="one of them")
    year = arguments.official
    if not year:
        years = {
            int(digits) for digits in re.findall(r"(?:wmt|newstest)(?:20)?(\d\d)(?!\d)", " ".join(sets_of(arguments)))
        }
        year = 2000 + min(years, default=0) if len(years) == 1 else 0
    if year not in OFFICIAL:
        found = "--official, and not one year in the names of the sets"
        raise UserError(found, expected=f"--official {min(OFFICIAL)} to {max(OFFICIAL)}")
    names, test = OFFICIAL[year]
    arguments.statistics = ",".join(names)
    arguments.test = arguments.test or (test if arguments.significance else None)


def _check_statistics(arguments: argparse.Namespace) -> None:
    _set_official(arguments)
    if arguments.statistics is None:
        for name in ("average", "points"):
            if getattr(arguments, name) is not None:
                raise UserError(f"--{name} without --statistics", expected="--statistics NAME,NAME with it")
    elif arguments.tau:
        raise UserError("--tau with --statistics", expected="one of them", remedy=f"--statistics tau{arguments.tau}")
    if arguments.points is not None and not (math.isfinite(arguments.points) and arguments.points > 0):
        raise UserError(f"--points {arguments.points:g}", expected="a number above 0")
    arguments.significance = arguments.significance or arguments.test is not None


def _check_random(arguments: argparse.Namespace) -> None:
    if bool(arguments.train) != bool(arguments.folds):
        found = "--folds" if arguments.folds else "--train"
        raise UserError(f"{found} alone", expected="--train SPEC and --folds K")
    if arguments.folds == 1:
        raise UserError("--folds 1", expected="at least 2")
    resampling = arguments.significance or arguments.picture or arguments.report
    if arguments.paired_bs_n is not None and not resampling:
        raise UserError("--paired-bs-n without resampling", expected="--significance or --picture with it")
    if arguments.seed is not None and not (resampling or arguments.folds):
        raise UserError("--seed but nothing random", expected="--significance, --picture or --folds with it")
    arguments.seed = BOOTSTRAP_SEED if arguments.seed is None else arguments.seed
    arguments.paired_bs_n = arguments.paired_bs_n or DEFAULT_SAMPLES
