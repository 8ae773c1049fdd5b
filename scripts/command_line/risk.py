"""Minimum Bayes risk as commands take it: `--mbr` and what belongs to it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from lasw.metrics import UserError
from lasw.scripts.command_line.options import layout_of_arguments, positive_int
from lasw.scripts.command_line.parser import Parser

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lasw.metrics import Vocabulary
    from lasw.tuning import LayoutOptions, MinimumRisk, NBest, Samples

UNIFORM, MODEL = "uniform", "model"
_BELONGS = ("samples", "samples_size", "mbr_approx", "mbr_weights", "mbr_scale")
MBR_HELP = "expected score of each hypothesis in this metric, the others of its list taken for references"


def add_mbr_options(parser: Parser) -> None:
    """What belongs to `--mbr SPEC`, which the command itself declares."""
    group = parser.add_argument_group("minimum Bayes risk")
    group.add_argument("--samples", metavar="FILE", help="references instead: another list of the same sentences")
    group.add_argument(
        "--samples-size", type=positive_int, metavar="N", help="samples are texts, N lines a sentence (as --nbest-size)"
    )
    group.add_argument(
        "--mbr-approx", action="store_true", help="one reference that has the n-grams of all on average (BLEU, CHRF)"
    )
    group.add_argument(
        "--mbr-weights",
        metavar="WHICH",
        help=f"of references: {UNIFORM} (default), {MODEL} (softmax of the totals in their list), or a file of weights "
        "that gives these totals",
    )
    group.add_argument("--mbr-scale", type=_scale, metavar="S", help="of these totals (default: 1)")
    parser.further("--samples-size", "--mbr-weights", "--mbr-scale")


def check_mbr_options(arguments: argparse.Namespace, *others: str) -> None:
    """What belongs to `--mbr` needs it, and what does not does not come with it.

    Args:
        arguments: of the command.
        others: options (by the names of their values) that are nothing without `--mbr` either.

    Raises:
        UserError: an option without effect.
    """
    if arguments.mbr:
        if arguments.mbr_scale is not None and arguments.mbr_weights in (None, UNIFORM):
            raise UserError("--mbr-scale where references count alike", remedy="--mbr-weights model")
        if getattr(arguments, "sparse_weights", None) and arguments.mbr_weights in (None, UNIFORM, MODEL):
            raise UserError("--sparse-weights without the dense ones", remedy="give those with --mbr-weights")
        if arguments.samples_size and not arguments.samples:
            raise UserError("--samples-size without --samples", expected="--samples FILE")
        return
    for name in (*_BELONGS, *others):
        if getattr(arguments, name):
            raise UserError(f"--{name.replace('_', '-')} without --mbr", expected="--mbr SPEC")


def minimum_risk(
    arguments: argparse.Namespace,
    vocabulary: Vocabulary,
    warnings: list[str],
    preprocess: Callable[[str], str] | None = None,
) -> tuple[MinimumRisk, tuple[str, ...]]:
    """The reranker that the options ask for, and the features that are dense as far as weights tell.

    Args:
        arguments: of the command: those of `add_mbr_options` and `add_layout_options`, encoding, unsorted, perhaps
            sparse_weights.
        vocabulary: of the list.
        warnings: gets what should be told about the samples.
        preprocess: of texts before they are compared.

    Raises:
        UserError: no such metric, or a file that cannot be read.
    """
    from lasw.metrics import metric
    from lasw.tuning import MinimumRisk, Reranker, list_totals, read_weight_file

    which = arguments.mbr_weights or UNIFORM
    dense: tuple[str, ...] = ()
    probability: Callable[[NBest], NDArray[np.float64]] | None = None
    if which == MODEL:
        probability = list_totals
    elif which != UNIFORM:
        sparse = getattr(arguments, "sparse_weights", None)
        file = read_weight_file(which, sparse_path=sparse, encoding=arguments.encoding)
        probability, dense = Reranker(file.weights, path=which).scores, file.dense
    reranker = MinimumRisk(
        metric(arguments.mbr),
        vocabulary,
        samples=_samples(arguments, vocabulary, dense, warnings) if arguments.samples else None,
        probability=probability,
        scale=1.0 if arguments.mbr_scale is None else arguments.mbr_scale,
        aggregated=arguments.mbr_approx,
        preprocess=preprocess,
    )
    return reranker, dense


def mbr_layout(arguments: argparse.Namespace) -> LayoutOptions:
    """How the lists are laid out; no numbers are needed in them, only texts.

    Raises:
        UserError: as `layout_of_arguments`.
    """
    return replace(layout_of_arguments(arguments), featureless=True)


def _samples(
    arguments: argparse.Namespace, vocabulary: Vocabulary, dense: tuple[str, ...], warnings: list[str]
) -> Samples:
    from lasw.tuning import FLAT, Options, Samples, read_nbest, stream_nbest

    path, layout = arguments.samples, mbr_layout(arguments)
    if arguments.samples_size:
        layout = replace(layout, name=FLAT, size=arguments.samples_size)
    options = Options(
        dense=dense, unsorted=arguments.unsorted, encoding=arguments.encoding, warnings=warnings, layout=layout
    )
    if arguments.unsorted:
        return Samples([read_nbest(path, vocabulary, **options)], path)
    return Samples(stream_nbest(path, vocabulary, **options), path)


def _scale(text: str) -> float:
    from lasw.metrics import number_in  # loads Numba, which help does not need

    value = number_in(text)
    if value is None or value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return value
