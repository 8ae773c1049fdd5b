"""`lasw local retrain`: weights for every test sentence, tuned on the pairs of a pool that are most like it."""

from __future__ import annotations

import argparse
import sys
import time

from lasw.metrics import STANDARD_INPUT, UserError, parameters, refuse_overwriting
from lasw.scripts.command_line import (
    Parser,
    PoolReader,
    add_metric,
    add_pool_options,
    add_section,
    add_seed,
    add_text_options,
    given_settings,
    idle_options,
    idle_settings,
    note,
    warn,
)
from lasw.tuning import (
    DEFAULT_OPTIMISER,
    DEFAULT_SEED,
    OPTIMISERS,
    Pool,
    Proposal,
    Weights,
    check_output,
    json_line,
    make_optimiser,
    read_local_sets,
    retrained,
    share_of,
    write_local_weights,
)

_EVERY = 100  # sentences, for whoever waits


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    add_pool_options(parser, "N-best lists of the pool")
    parser.add_argument(
        "--sets", required=True, metavar="FILE", help="PREFIX.local.tsv, that 'lasw select --local' wrote"
    )
    parser.add_argument(
        "--standard",
        type=int,
        default=0,
        metavar="N",
        help="the first N sentences of the pool are in every set, the standard development set (default: 0)",
    )
    parser.add_argument(
        "--optimiser",
        default=DEFAULT_OPTIMISER,
        metavar="NAME",
        type=OPTIMISERS.spelt,
        help=f"default: {DEFAULT_OPTIMISER}; mira stays near the weights of --start",
    )
    add_metric(parser, "the loss (default: each optimiser's own)")
    add_seed(parser, "of all draws", DEFAULT_SEED)
    parser.add_argument(
        "--step",
        type=float,
        metavar="SHARE",
        help="go this share of the way from --start to the weights that are best on a set, 1: all the way (default: as "
        "lasw optimise, .3, .5, .7, 1 for the lists of 1, 2, 3, more rounds; without --start 1)",
    )
    parser.add_argument("--output", metavar="FILE", help="JSON lines, or .npz (default: JSON lines on stdout)")
    add_section(parser, "optimiser", "hyper-parameters of the optimisers", without=("name", "metric"))
    add_text_options(parser, force=True)
    parser.add_argument("--quiet", action="store_true", help="no notes on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Read, tune on each set, write; 0 if done."""
    began = time.perf_counter()
    if arguments.step is not None and not 0 < arguments.step <= 1:
        raise UserError(f"--step {arguments.step:g}", expected="a number above 0 and at most 1")
    if arguments.standard < 0:
        raise UserError(f"--standard {arguments.standard}", expected="0 or more")
    read = (*arguments.nbest, *arguments.references, arguments.sets, arguments.start, arguments.sparse_weights)
    if arguments.output:
        check_output(arguments.output, kind="json")
        refuse_overwriting([arguments.output], filter(None, read))
    if [path for path in read if path].count(STANDARD_INPUT) > 1:
        raise UserError("standard input is named twice", expected="one '-' at most")
    sets = read_local_sets(arguments.sets)
    name = arguments.optimiser
    settings = given_settings(arguments, "optimiser")
    optimiser = make_optimiser(name, settings, metric=arguments.metric, seed=arguments.seed)
    draws = "seed" in parameters(OPTIMISERS.find(name))
    idle = idle_options(arguments, [("--seed", draws, f"{name} draws nothing")])
    idle += idle_settings(arguments, {"optimiser": {"name": name, **settings}})
    reader = PoolReader(arguments, arguments.start)
    given = reader.lists(arguments.nbest, reader.references(arguments.references), [optimiser.measure])
    warn("local", [*idle, *given.warnings], arguments.quiet)
    given.pool.sentence_scores(optimiser.measure)  # of all candidates at once: no set asks again
    start, share = given.start.weights, _share(arguments)

    def learn(part: Pool) -> Weights:
        return Proposal(optimiser.fit(part, start), start, part).at(share)

    found = []
    for weights in retrained(learn, given.pool, sets, arguments.standard):
        found.append(given.start.complete(weights))
        if len(found) % _EVERY == 0:
            note(arguments.quiet, f"{len(found)} of {len(sets)} sentences")
    if arguments.output:
        write_local_weights(arguments.output, found)
    else:
        sys.stdout.writelines(json_line(weights) + "\n" for weights in found)
    note(arguments.quiet, f"weights of {len(found)} sentences, {time.perf_counter() - began:.1f} s")
    return 0


def _share(arguments: argparse.Namespace) -> float:
    if arguments.step is not None:
        return float(arguments.step)
    return share_of(len(arguments.nbest)) if arguments.start else 1.0
