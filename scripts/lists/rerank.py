"""`lasw rerank`: the best hypothesis of each N-best list under given weights, or by minimum Bayes risk."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from lasw.metrics import STANDARD_INPUT, Preprocessing, UserError, Vocabulary, marked_list, refuse_or_warn
from lasw.scripts.command_line import (
    MBR_HELP,
    Parser,
    add_force,
    add_layout_options,
    add_marks,
    add_mbr_options,
    assignments,
    check_mbr_options,
    layout_of_arguments,
    mbr_layout,
    minimum_risk,
    positive_int,
    warn,
    whole_output,
)
from lasw.tuning import (
    ExtraFeatures,
    ListReranker,
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
  lasw rerank --mbr CHRF nbest.gz > best.txt

A sentence without hypotheses (an id that is missing in the list) gives an empty line, and a warning.
With --nbest the lists are printed as Moses would print them, with the new totals; what else the lines held is left out.
--mbr takes no weights: it prefers what is most like the rest of its list (docs/how-to/minimum-bayes-risk.md).
"""
# An id that is this far from the one before is rather a damaged number than so many sentences without hypotheses.
_MOST_MISSING = 100_000


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("list", nargs="?", default=STANDARD_INPUT, metavar="NBEST", help="default: standard input")
    weights = parser.add_mutually_exclusive_group(required=True)
    weights.add_argument("--weights", metavar="WEIGHTS", help="any weight file (docs/reference/files/weights.md)")
    weights.add_argument(
        "--local-weights", metavar="FILE", help="weights for every sentence, from 'lasw local weights'"
    )
    weights.add_argument("--mbr", metavar="SPEC", help=f"by the {MBR_HELP} (docs/how-to/minimum-bayes-risk.md)")
    parser.add_argument("--sparse-weights", metavar="FILE", help="sparse weights, if in a file of their own")
    parser.add_argument(
        "--feature", action="append", default=[], metavar="NAME=FILE", help="one more feature, a number per N-best line"
    )
    parser.add_argument("--nbest", action="store_true", help="print all hypotheses, sorted, instead of the best ones")
    parser.add_argument("--sentences", type=positive_int, metavar="N", help="so many sentences there are")
    parser.add_argument("--unsorted", action="store_true", help="sentence ids may decrease; needs memory for the list")
    add_marks(parser)
    add_force(parser)
    parser.add_argument("--encoding", default="utf-8", help="of all text files (default: utf-8)")
    parser.add_argument("--quiet", action="store_true", help="no warnings on stderr")
    add_layout_options(parser)
    add_mbr_options(parser)
    parser.add_argument("--tokenize", metavar="NAME", help="what --mbr compares, by one of sacreBLEU's tokenisers")
    parser.add_argument("--lowercase", action="store_true", help="lower-case what --mbr compares")
    parser.further("--tokenize", "--lowercase")


def run(arguments: argparse.Namespace) -> int:
    """Rerank and print; 0 if done."""
    check_mbr_options(arguments, "tokenize", "lowercase")
    warnings: list[str] = []
    vocabulary = Vocabulary()
    reranker, dense = _reranker(arguments, vocabulary, warnings)
    blocks = reranker.sort(_blocks(arguments, vocabulary, dense, warnings))
    every = chain.from_iterable(map(nbest_text, blocks))
    with whole_output() as out:
        for text in every if arguments.nbest else _best_text(blocks, arguments.sentences):
            # UTF-8 as the list was, whatever the terminal's encoding.
            out.write(text.encode("utf-8"))
    warn("rerank", [*warnings, *reranker.warnings()], arguments.quiet)
    return 0


def _reranker(
    arguments: argparse.Namespace, vocabulary: Vocabulary, warnings: list[str]
) -> tuple[ListReranker, tuple[str, ...]]:
    """What sorts the lists, and the features that are dense as far as weights tell."""
    if arguments.mbr:
        text = Preprocessing(arguments.tokenize, arguments.lowercase, strip_marks=arguments.strip_marks)
        return minimum_risk(arguments, vocabulary, warnings, text.function())
    path = arguments.weights or arguments.local_weights
    if path == arguments.list:
        raise UserError("one file is given as weights and as N-best list", path=path)
    if arguments.local_weights:
        if arguments.sparse_weights:
            raise UserError("--sparse-weights beside --local-weights", expected="one of the two")
        local = read_local_weights(path)
        return LocalReranker(local, path=path), tuple(name for name, _ in local[0].names.groups)
    file = read_weight_file(path, sparse_path=arguments.sparse_weights, encoding=arguments.encoding)
    return Reranker(file.weights, path=path), file.dense


def _blocks(
    arguments: argparse.Namespace, vocabulary: Vocabulary, dense: tuple[str, ...], warnings: list[str]
) -> Iterator[NBest]:
    columns = ExtraFeatures(assignments("--feature", arguments.feature), encoding=arguments.encoding)
    given = mbr_layout(arguments) if arguments.mbr else layout_of_arguments(arguments)
    options = Options(
        sparse_names=Vocabulary(),
        dense=dense,
        segments=arguments.sentences,
        unsorted=arguments.unsorted,
        encoding=arguments.encoding,
        warnings=warnings,
        preprocess=Preprocessing(strip_marks=arguments.strip_marks).function(),
        layout=replace(given, featureless=given.featureless or bool(columns.names)),
    )
    if arguments.unsorted:
        parts: Iterable[NBest] = [read_nbest(arguments.list, vocabulary, **options)]
    else:
        parts = stream_nbest(arguments.list, vocabulary, **options)
    for number, part in enumerate(parts):
        if not number:  # before anything is printed
            text = replace(part.hypotheses, path=arguments.list)
            warn("rerank", refuse_or_warn([marked_list(text)], force=arguments.force), arguments.quiet)
        yield columns.extend(part)
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
