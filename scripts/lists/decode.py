"""`lasw decode`: translate with a decoder and given weights."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from lasw.metrics import UserError, Vocabulary, read_lines, write_text
from lasw.scripts.command_line import (
    Parser,
    add_dask,
    add_section,
    given_settings,
    positive_int,
    tell_idle,
    warn,
    watched_sentences,
)
from lasw.tuning import (
    CONFIGURATION,
    DECODERS,
    Decoder,
    Weights,
    check_count,
    check_lists,
    first_hypotheses,
    match,
    on_cluster,
    open_decoder,
    read_local_weights,
    read_weights,
    write_nbest,
)

_EPILOG = """\
examples:
  lasw decode --decoder thot --model model --weights run/weights.json --source test.de > test.out
  lasw decode --decoder thot --model model --local-weights local.jsonl --source test.de > test.out
  lasw decode --decoder thot --model model --source test.de --nbest 100 --output test.nbest.gz
  lasw decode --decoder command --command './decode {weights} {source} {n}' --initial weights.txt --source test.de

Translations go to standard output, or to --output; with --nbest the output is a list as Moses writes it. Without
--weights the decoder's own are used.
"""
_COMMON = ("model", "ini", "command", "jobs")  # what --help shows of the decoders' settings


def add_arguments(parser: Parser) -> None:
    """Declare the options, among them every setting of every decoder."""
    parser.epilog = _EPILOG
    parser.add_argument("--decoder", required=True, choices=tuple(DECODERS), help="what translates")
    parser.add_argument("--source", required=True, metavar="FILE", help="tokenised sentences, one a line (-: stdin)")
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--weights", metavar="WEIGHTS", help="any weight file (docs/reference/files/weights.md)")
    given.add_argument("--local-weights", metavar="FILE", help="a weight vector a sentence (lasw local weights)")
    parser.add_argument("--nbest", type=positive_int, metavar="N", help="write lists of N hypotheses")
    parser.add_argument("--output", metavar="FILE", help="instead of standard output (.gz: compressed)")
    parser.add_argument("--encoding", default="utf-8", help="of the files (default: utf-8)")
    parser.add_argument("--quiet", action="store_true", help="no progress and no warnings on stderr")
    add_dask(parser, "whose workers decode")
    add_section(parser, "decoder", "the decoder's settings", without=("name", "encoding"), common=_COMMON)


def run(arguments: argparse.Namespace) -> int:
    """Translate and print; 0."""
    if arguments.nbest and not arguments.output:
        raise UserError("--nbest without --output", remedy="say where the list goes")
    settings = _settings(arguments)
    tell_idle(arguments, ("--jobs", not arguments.dask, "the workers of --dask decode"))
    decoder = open_decoder({"name": arguments.decoder, **settings}, jobs=not arguments.dask)
    weights = decoder.start_weights()
    if arguments.weights:
        weights = _matched(arguments, decoder, weights)
    source = read_lines(arguments.source, encoding=arguments.encoding)
    n = arguments.nbest or 1
    local = _local(arguments, weights, len(source)) if arguments.local_weights else None
    with on_cluster(decoder, arguments.dask) as translating, watched_sentences(quiet=arguments.quiet) as told:
        translating.told = told
        if local is not None:
            nbest = translating.decode_each(source, local, n, Vocabulary())
        else:
            nbest = translating.decode(source, weights, n, Vocabulary())
    if arguments.nbest:
        if len(nbest):
            check_lists(arguments.decoder, nbest, weights)
        write_nbest(arguments.output, nbest)
        return 0
    best = first_hypotheses(nbest, len(source))
    text = "".join(best.text(k) + "\n" for k in range(len(best)))
    if arguments.output:
        write_text(arguments.output, text)
    else:
        sys.stdout.write(text)
    silent = np.setdiff1d(np.arange(len(source)), nbest.owner)
    if len(silent):
        text = f"no hypothesis for {len(silent)} of {len(source)} sentences, the first is line {silent[0] + 1}"
        warn("decode", [text], arguments.quiet)
    return 0


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The constructor arguments that the command line gives."""
    own = CONFIGURATION.keys("decoder", arguments.decoder)
    settings = given_settings(arguments, "decoder")
    for key in settings:
        if key not in own:
            raise UserError(
                f"decoder {arguments.decoder} has no --{key.replace('_', '-')}",
                expected=", ".join(k for k in own if k != "name"),
            )
    for key, parameter in own.items():
        if parameter.required and key not in settings and key != "name":
            raise UserError(f"no --{key.replace('_', '-')}", expected=parameter.help)
    if "encoding" in own:
        settings["encoding"] = arguments.encoding
    return settings


def _local(arguments: argparse.Namespace, start: Weights, sentences: int) -> list[Weights]:
    """The weights of every sentence for this decoder's features."""
    path = arguments.local_weights
    local = read_local_weights(path)
    check_count(local, sentences, path, arguments.source)
    found = [match(one, start.names, sparse_names=None, path=path) for one in local]
    if found:
        warn("decode", found[0].warnings, arguments.quiet)
    return [one.weights for one in found]


def _matched(arguments: argparse.Namespace, decoder: Decoder, start: Weights) -> Weights:
    """The weights of the file for this decoder's features."""
    file = read_weights(arguments.weights, encoding=arguments.encoding)
    found = match(file, start.names, sparse_names=None, path=arguments.weights)
    warn("decode", found.warnings, arguments.quiet)
    return found.weights
