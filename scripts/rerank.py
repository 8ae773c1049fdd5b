"""`lasw rerank`: the best hypothesis of each N-best list under given weights."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import chain

from lasw.metrics import STANDARD_INPUT, UserError, Vocabulary
from lasw.scripts.command_line import Parser, assignments, positive_int, warn
from lasw.tuning import (
    ExtraFeatures,
    LocalReranker,
    NBest,
    Options,
    Reranker,
    nbest_text,
    one_per_sentence,
    read_local_weights,
    read_nbest,
    read_weight_file,
    stream_nbest,
)

_EPILOG = """\
examples:
  lasw rerank --weights weights.json nbest.gz > best.txt
  lasw rerank --local-weights local.jsonl nbest.gz > best.txt
  lasw rerank --weights weights.json --feature lm=scores.txt --nbest nbest.gz | gzip > sorted.gz

A sentence without hypotheses (an id that is missing in the list) gives an empty line, and a warning.
With --nbest the lists are printed as Moses would print them, with the new totals; what else the lines held is left out.
"""
# An id that is this far from the one before is rather a damaged number than so many sentences without hypotheses.
_MOST_MISSING = 100_000


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("list", nargs="?", default=STANDARD_INPUT, metavar="NBEST", help="default: standard input")
    weights = parser.add_mutually_exclusive_group(required=True)
    weights.add_argument("--weights", metavar="W", help="any weight file (docs/weight-files.md)")
    weights.add_argument(
        "--local-weights", metavar="FILE", help="weights for every sentence, from 'lasw local weights'"
    )
    parser.add_argument("--sparse-weights", metavar="FILE", help="sparse weights, if in a file of their own")
    parser.add_argument(
        "--feature", action="append", default=[], metavar="NAME=FILE", help="one more feature, a number per N-best line"
    )
    parser.add_argument("--nbest", action="store_true", help="print all hypotheses, sorted, instead of the best ones")
    parser.add_argument("--sentences", type=positive_int, metavar="N", help="so many sentences there are")
    parser.add_argument("--unsorted", action="store_true", help="sentence ids may decrease; needs memory for the list")
    parser.add_argument("--encoding", default="utf-8", help="of all text files (default: utf-8)")
    parser.add_argument("--quiet", action="store_true", help="no warnings on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Rerank and print; 0 if done."""
    path = arguments.weights or arguments.local_weights
    if path == arguments.list:
        raise UserError("one file is given as weights and as N-best list", path=path)
    if arguments.local_weights:
        if arguments.sparse_weights:
            raise UserError("--sparse-weights beside --local-weights", expected="one of the two")
        local = read_local_weights(path)
        reranker: Reranker = LocalReranker(local, path=path)
        dense = tuple(name for name, _ in local[0].names.groups)
    else:
        file = read_weight_file(path, sparse_path=arguments.sparse_weights, encoding=arguments.encoding)
        reranker, dense = Reranker(file.weights, path=path), file.dense
    warnings: list[str] = []
    blocks = reranker.sort(_blocks(arguments, dense, warnings))
    every = chain.from_iterable(map(nbest_text, blocks))
    for text in every if arguments.nbest else _best_text(blocks, arguments.sentences):
        # UTF-8 as the list was, whatever the terminal's encoding.
        sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()
    warn("rerank", [*warnings, *reranker.warnings()], arguments.quiet)
    return 0


def _blocks(arguments: argparse.Namespace, dense: tuple[str, ...], warnings: list[str]) -> Iterator[NBest]:
    columns = ExtraFeatures(assignments("--feature", arguments.feature), encoding=arguments.encoding)
    options = Options(
        sparse_names=Vocabulary(),
        dense=dense,
        segments=arguments.sentences,
        unsorted=arguments.unsorted,
        encoding=arguments.encoding,
        warnings=warnings,
    )
    if arguments.unsorted:
        yield columns.extend(read_nbest(arguments.list, Vocabulary(), **options))
    else:
        yield from map(columns.extend, stream_nbest(arguments.list, Vocabulary(), **options))
    columns.finish()


def _best_text(blocks: Iterable[NBest], sentences: int | None) -> Iterator[str]:
    """One line a sentence, an empty one for a sentence that has no hypotheses."""
    following = 0
    for block in blocks:
        lines: list[str] = []
        for sentence, text in one_per_sentence(block):
            if sentences is None and sentence - following > _MOST_MISSING:
                raise UserError(
                    f"no hypotheses for sentences {following} to {sentence - 1}",
                    expected="no such gap",
                    remedy="mend the sentence ids of the list, or say with --sentences how many there are",
                )
            lines.append("\n" * (sentence - following) + text + "\n")
            following = sentence + 1
        yield "".join(lines)
    yield "\n" * max(0, (sentences or 0) - following)
