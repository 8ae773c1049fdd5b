"""The options of `lasw agree`."""

from __future__ import annotations

from lasw.metrics import AVERAGES, BOOTSTRAP_SEED, DEFAULT_SAMPLES, OFFICIAL, SIGNIFICANCE_TESTS, STATISTICS, TAUS, WINS
from lasw.scripts.command_line import (
    Parser,
    add_given_scores,
    add_metric,
    add_output_options,
    add_seed,
    add_text_options,
    positive_int,
)

DEFAULT_TAU = 13

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


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    _add_judgements(parser)
    _add_statistics(parser)
    _add_training(parser)
    _add_significance(parser)
    add_text_options(parser, force=True)
    add_output_options(parser)
    parser.add_argument("--tsv", action="store_true", help="print a line a number, tabs between")
    parser.further(
        "--rankings", "--marks", "--standardise", "--wins", "--human", "--mtme-reference", "--tau", "--official"
    )
    parser.further("--average", "--decisions", "--test", "--tsv")
    parser.further("--points", "--scores", "--train", "--folds", "--picture", "--paired-bs-n", "--seed", "--encoding")


def _add_judgements(parser: Parser) -> None:
    """What people said, and how systems' scores are made of it."""
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


def _add_statistics(parser: Parser) -> None:
    """What is compared with it, and by which statistics."""
    add_metric(parser, "a metric, may be repeated (default: BLEU)", action="append")
    add_given_scores(parser)
    parser.add_argument(
        "--tau",
        type=int,
        choices=TAUS,
        help="Kendall's tau as WMT12 (the metric's ties count against it), WMT13 (are left out), WMT14 (count as pairs)"
        f" had it (default: {DEFAULT_TAU})",
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


def _add_training(parser: Parser) -> None:
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


def _add_significance(parser: Parser) -> None:
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
