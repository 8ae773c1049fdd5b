"""`lasw align`: word alignments of parallel text."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from lasw.metrics import ScratchFolder, UserError, refuse_overwriting, tokens
from lasw.scripts.command_line import (
    MOST_SEED,
    Parser,
    add_dask,
    add_jobs,
    add_seed,
    note,
    positive_int,
    tell_idle,
    warn,
)
from lasw.scripts.parallel_text.train import read_parallel, text_notes, unaligned_notes
from lasw.selection import (
    ALIGNERS,
    DIRECTIONS,
    SYMMETRISATIONS,
    Directions,
    align_directions,
    keep_models,
    symmetrise,
    transposed,
    write_giza,
    write_pharaoh,
)

_EPILOG = """\
example:
  lasw align --source train.de --target train.en --output train.align

The output has a line per sentence pair, `0-0 1-2`: source and target positions counted from 0. A pair with an empty
side gets an empty line. The same text gives the same bytes, whatever the number of processes.
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("--source", required=True, metavar="FILE", help="tokenised sentences, one a line")
    parser.add_argument("--target", required=True, metavar="FILE", help="their translations")
    parser.add_argument("--output", required=True, metavar="FILE", help="where the alignment goes (.gz: compressed)")
    parser.add_argument("--model", choices=ALIGNERS, default="fast_align", help="default: fast_align")
    parser.add_argument(
        "--symmetrise",
        choices=SYMMETRISATIONS,
        default="grow-diag-final-and",
        help="how the two directions become one (default: grow-diag-final-and)",
    )
    parser.add_argument("--iterations", type=positive_int, help="of the models (default: 5; eflomal plans its own)")
    parser.add_argument(
        "--save",
        metavar="PREFIX",
        help="keep the models: PREFIX_invswm.* (source to target), PREFIX_swm.*, each with a GIZA-style .bestal",
    )
    add_seed(parser, "of the sampler, for eflomal", 1, MOST_SEED)
    add_jobs(parser, 2, "processes, 2 at most")
    add_dask(parser, "whose workers train, one each direction")
    parser.add_argument("--encoding", default="utf-8", help="of the text (default: utf-8)")
    parser.add_argument("--quiet", action="store_true", help="no notes on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Align; 0."""
    refuse_overwriting([arguments.output], (arguments.source, arguments.target))
    tell_idle(arguments, ("--seed", arguments.model == "eflomal", f"{arguments.model} draws nothing"))
    tell_idle(arguments, ("--jobs", not arguments.dask, "the workers of --dask train"))
    source, target = read_parallel(arguments.source, arguments.target, arguments.encoding)
    for written in filter(None, (arguments.output, arguments.save)):  # before the training, which may take hours
        if not Path(written).absolute().parent.is_dir():
            raise UserError("no such folder", path=os.path.dirname(written), remedy="make it first")
    warn("align", text_notes((arguments.source, arguments.target), (source, target)), arguments.quiet)
    with ScratchFolder("lasw-align-") as scratch:
        note(arguments.quiet, f"{arguments.model}, both directions, {len(source)} sentence pairs")
        directions = align_directions(
            source,
            target,
            scratch,
            model=arguments.model,
            iterations=arguments.iterations,
            seed=arguments.seed,
            jobs=arguments.jobs,
            dask=arguments.dask,
        )
        write_pharaoh(arguments.output, [symmetrise(directions, arguments.symmetrise)])
        if arguments.save:
            _save(directions, source, target, arguments.save)
    warn("align", unaligned_notes(directions, len(source)), arguments.quiet)
    return 0


def _save(directions: Directions, source: list[str], target: list[str], prefix: str) -> None:
    sides = [tokens(line) for line in source], [tokens(line) for line in target]
    keep_models(prefix, directions.prefixes)
    forward, backward = (f"{prefix}{direction}.bestal" for direction in DIRECTIONS)
    write_giza(forward, *sides, directions.forward)
    write_giza(backward, sides[1], sides[0], transposed(directions.backward))
