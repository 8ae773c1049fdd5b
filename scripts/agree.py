"""`lasw agree`: how well metrics agree with what people preferred."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from lasw.metrics.agreement import TAUS, Agreement, Correlation, agreement
from lasw.metrics.judgements import Judgements, read_judgements
from lasw.metrics.preprocessing import Preprocessing
from lasw.metrics.registry import metric
from lasw.scripts.options import add_output_options, add_text_options, note, print_json

_EPILOG = """\
A folder holds ref.txt, hyp/SYSTEM.txt and pairs.tsv (columns seg1 sysA sysB rel judge; < where sysA is better),
each compressed or not.

example:
  lasw agree -m PABC3:alpha=0 -m RAC1:alpha=0 -m RABC2:alpha=0 --tau 13 wmt13/cs-en wmt13/de-en wmt13/es-en
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="judgements of one language pair")
    parser.add_argument(
        "-m", "--metric", action="append", metavar="SPEC", help="a metric, may be repeated (default: BLEU)"
    )
    parser.add_argument(
        "--tau",
        type=int,
        choices=TAUS,
        default=13,
        help="Kendall's tau as WMT12 (the metric's ties count against it), WMT13 (are left out), WMT14 (count as pairs)"
        " had it (default: %(default)s)",
    )
    add_text_options(parser)
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Correlate and print; 0 if done."""
    specs: list[str] = arguments.metric or ["BLEU"]
    metrics = [metric(spec) for spec in specs]
    text = Preprocessing(arguments.tokenize, arguments.lowercase)
    signatures = [str(m.signature().with_settings(text.settings())) for m in metrics]
    names: list[str] = []
    columns: list[list[Agreement]] = []
    for folder in arguments.folders:
        judgements = read_judgements(folder, preprocess=text.function(), encoding=arguments.encoding)
        note(arguments.quiet, _described(judgements))
        names.append(judgements.name if judgements.name not in names else folder)
        columns.append([agreement(m, judgements, tau=arguments.tau) for m in metrics])
    if arguments.json:
        print_json(_as_json(specs, signatures, names, columns, arguments.tau))
        return 0
    for title, field in (
        (f"segments: Kendall's tau, WMT{arguments.tau}", "kendall"),
        ("systems: Spearman, corpus score with expected wins", "spearman"),
        ("systems: Pearson, corpus score with expected wins", "pearson"),
    ):
        _print_table(title, specs, names, [[getattr(x, field) for x in column] for column in columns])
        print()
    print("\n".join(signatures))
    return 0


def _described(judgements: Judgements) -> str:
    text = f"{judgements.name}: {len(judgements.systems)} systems, {len(judgements.segment)} preferences"
    if judgements.ties:
        text += f", {judgements.ties} ties left out"
    if judgements.with_reference:
        text += f", {judgements.with_reference} pairs with the reference itself left out"
    return text


def _print_table(
    title: str, specs: Sequence[str], names: Sequence[str], columns: Sequence[Sequence[Correlation]]
) -> None:
    """A row a metric, a column a folder, their mean last."""
    rows = [["", *names, *(["mean"] if len(names) > 1 else [])]]
    for k, spec in enumerate(specs):
        values = [column[k] for column in columns]
        rows.append([spec, *map(str, values), *([_mean(values)] if len(values) > 1 else [])])
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    print(title)
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(size) for cell, size in zip(row[1:], widths[1:], strict=True))]
        print("  ".join(cells).rstrip())


def _mean(row: Sequence[Correlation]) -> str:
    values = [x.value for x in row if x.value is not None]
    return f"{sum(values) / len(values):.3f}" if len(values) == len(row) else "undefined"


def _as_json(
    specs: Sequence[str],
    signatures: Sequence[str],
    names: Sequence[str],
    columns: Sequence[Sequence[Agreement]],
    tau: int,
) -> dict[str, Any]:
    def number(x: Correlation) -> dict[str, Any]:
        return {"value": x.value, "n": x.n, **({"undefined": x.reason} if x.reason else {})}

    return {
        "tau": tau,
        "metrics": [
            {
                "metric": spec,
                "signature": signature,
                "folders": [
                    {
                        "folder": name,
                        "kendall": number(column[k].kendall),
                        "spearman": number(column[k].spearman),
                        "pearson": number(column[k].pearson),
                        "metric_ties": column[k].ties,
                    }
                    for name, column in zip(names, columns, strict=True)
                ],
            }
            for k, (spec, signature) in enumerate(zip(specs, signatures, strict=True))
        ],
    }
