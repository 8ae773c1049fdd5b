"""`lasw train`: a phrase-based Thot system from parallel text."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lasw.metrics import Corpus, ScratchFolder, UserError, check_pairs, read_lines, refuse_or_warn
from lasw.scripts.command_line import Parser, add_jobs, add_output_options, note, positive_int, print_json, warn
from lasw.selection import MAX_LENGTH, SYMMETRISATIONS, Directions, align_directions, symmetrise
from lasw.tuning import TrainingOptions, build_system, check_text

_DEFAULTS = TrainingOptions()
_EPILOG = """\
example:
  lasw train --source train.de --target train.en --output model
  lasw decode --decoder thot --model model --source test.de

The text is tokenised, one sentence a line, the two files line by line translations of each other.
"""
# Models whose probabilities Thot's decoder can smooth phrases with.
MODELS = ("fast_align", "hmm", "ibm1")
_LOOKED_AT = 2000  # pairs, whose text is looked at first


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("--source", required=True, metavar="FILE", help="sentences in the source language")
    parser.add_argument("--target", required=True, metavar="FILE", help="their translations")
    parser.add_argument("--output", required=True, metavar="DIR", help="folder of the system")
    parser.add_argument("--encoding", default="utf-8", help="of both files (default: utf-8)")
    parser.add_argument("--model", choices=MODELS, default="fast_align", help="of word alignment (default: fast_align)")
    parser.add_argument("--iterations", type=positive_int, help="of the word alignment models")
    parser.add_argument(
        "--symmetrise",
        choices=SYMMETRISATIONS,
        default="grow-diag-final-and",
        help="how the two directions become one alignment (default: grow-diag-final-and)",
    )
    parser.add_argument(
        "--phrase-length", type=positive_int, default=_DEFAULTS.phrase_length, help="tokens (default: %(default)s)"
    )
    parser.add_argument(
        "--translations",
        type=positive_int,
        default=_DEFAULTS.translations,
        help="kept of each source phrase (default: %(default)s)",
    )
    parser.add_argument(
        "--order", type=positive_int, default=_DEFAULTS.order, help="of the language model (default: %(default)s)"
    )
    parser.add_argument(
        "--held-out",
        type=int,
        metavar="N",
        help="the last N sentences tune the language model's interpolation (default: 2 in 100, at most 1000)",
    )
    add_jobs(parser, 2, "processes, 2 at most")
    add_output_options(parser)
    parser.further("--iterations", "--symmetrise", "--phrase-length", "--translations", "--held-out", "--encoding")


def run(arguments: argparse.Namespace) -> int:
    """Train; 0."""
    described = train_thot(
        arguments.source,
        arguments.target,
        arguments.output,
        model=arguments.model,
        iterations=arguments.iterations,
        symmetrisation=arguments.symmetrise,
        phrase_length=arguments.phrase_length,
        translations=arguments.translations,
        order=arguments.order,
        held_out=arguments.held_out,
        jobs=arguments.jobs,
        encoding=arguments.encoding,
        quiet=arguments.quiet,
    )
    if arguments.json:
        print_json(described)
    else:
        print(f"{arguments.output}: {described['phrase_pairs']} phrase pairs from {described['sentences']} sentences")
    return 0


def train_thot(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    model: str = "fast_align",
    iterations: int | None = None,
    symmetrisation: str = "grow-diag-final-and",
    phrase_length: int = _DEFAULTS.phrase_length,
    translations: int = _DEFAULTS.translations,
    order: int = _DEFAULTS.order,
    held_out: int | None = None,
    jobs: int = 2,
    encoding: str = "utf-8",
    quiet: bool = False,
) -> dict[str, Any]:
    """Train a system into `folder` (see `lasw.tuning.decoders.thot.training`); what its description says.

    Raises:
        UserError: the files cannot be read or do not belong together, sil-thot is missing, or a step failed.
    """
    lines = read_parallel(source, target, encoding)
    texts = Corpus.from_lines(lines[0]), Corpus.from_lines(lines[1])
    count = min(1000, len(lines[0]) // 50) if held_out is None else held_out
    options = TrainingOptions(phrase_length, translations, order, count)
    for text, path in zip(texts, (source, target), strict=True):
        check_text(text, path, options)
    warn("train", text_notes((source, target), lines), quiet)
    Path(folder).mkdir(parents=True, exist_ok=True)
    with ScratchFolder("lasw-train-") as scratch:
        note(quiet, f"word alignment of {len(lines[0])} sentence pairs, both directions ({model})")
        directions = align_directions(*lines, scratch, model=model, iterations=iterations, jobs=jobs)
        warn("train", unaligned_notes(directions, len(lines[0])), quiet)
        points = symmetrise(directions, symmetrisation)
        note(quiet, "phrase table and language model")
        models = dict(zip(("invswm", "swm"), directions.prefixes, strict=True))
        return build_system(folder, *texts, points.points, points.offsets, models, model, options)


def read_parallel(
    source: str | os.PathLike[str], target: str | os.PathLike[str], encoding: str = "utf-8"
) -> tuple[list[str], list[str]]:
    """The lines of two files that are translations of each other.

    Raises:
        UserError: one is empty, or they differ in length.
    """
    sides = read_lines(source, encoding=encoding), read_lines(target, encoding=encoding)
    if len(sides[0]) != len(sides[1]):
        raise UserError(
            f"{len(sides[1])} lines",
            path=os.fspath(target),
            expected=f"{len(sides[0])}, as many as {os.fspath(source)} has",
        )
    if not sides[0]:
        raise UserError("the file is empty", path=os.fspath(source), expected="a sentence a line")
    return sides


def text_notes(paths: Sequence[str | os.PathLike[str]], sides: Sequence[Sequence[str]]) -> list[str]:
    """What to tell the user of a text and its translation that are cut or written in unlike ways.

    Args:
        paths: of source and target.
        sides: their lines, of which some from all parts are looked at.
    """
    step = max(1, len(sides[0]) // _LOOKED_AT)
    texts = [
        dataclasses.replace(Corpus.from_lines(lines[::step]), path=os.fspath(path))
        for path, lines in zip(paths, sides, strict=True)
    ]
    return refuse_or_warn([check_pairs(*texts)])


def unaligned_notes(directions: Directions, pairs: int) -> list[str]:
    """What to tell the user of pairs that no model saw."""
    left = directions.unaligned
    if not len(left):
        return []
    return [
        f"{len(left)} of {pairs} sentence pairs are not aligned, as a side is empty or has more than "
        f"{MAX_LENGTH} tokens; the first is line {int(left[0]) + 1}"
    ]
