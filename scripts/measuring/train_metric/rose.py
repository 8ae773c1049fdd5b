"""`lasw train-metric rose`: a ROSE model from preferences or marks."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from lasw.metrics import (
    DEFAULT_COST,
    FUNCTION_WORDS,
    MOST_CHARACTERS,
    MOST_COST,
    ROSE_KINDS,
    TAGGERS,
    Corpus,
    RoseFeatures,
    RoseModel,
    TaggedText,
    UserError,
    frequent_words,
    listed_function_words,
    read_direct_assessment,
    read_lines,
    train_rank,
    train_reg,
)
from lasw.scripts.command_line import (
    Parser,
    add_output_options,
    add_text_options,
    note,
    positive_int,
    reading,
    tell_idle,
)
from lasw.scripts.measuring.judged import check_judged
from lasw.scripts.measuring.train_metric.data import preferences

_EPILOG = """\
example:
  lasw train-metric rose --kind rank --data wmt11/cs-en wmt11/de-en --tokenize 13a --lowercase --output rose.json

rank learns from folders of judgements as 'lasw agree' reads them: ref.txt, hyp/SYSTEM.txt, pairs.tsv. reg learns from
tables with the columns human, hyp and ref. The metric is then ROSE:model=FILE, on text prepared in the same way.
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("--kind", choices=ROSE_KINDS, default="rank", help="default: %(default)s")
    parser.add_argument("--data", nargs="+", action="extend", required=True, metavar="DATA", help="folders, or tables")
    parser.add_argument("--output", required=True, metavar="FILE", help="where the model goes, JSON")
    parser.add_argument(
        "--cost", type=float, default=DEFAULT_COST, help="of errors, against large weights (default: %(default)s)"
    )
    group = parser.add_argument_group("features")
    group.add_argument("--pos", action="store_true", help="parts of speech too; the text is tagged, word|TAG")
    group.add_argument("--tagger", choices=TAGGERS, help="parts of speech too; this tagger makes them (extra 'pos')")
    group.add_argument(
        "--characters",
        type=int,
        default=0,
        metavar="N",
        help="precision and recall of n-grams of up to N characters too (default: %(default)s, none)",
    )
    group.add_argument("--no-clip", action="store_true", help="count every occurrence of a matching n-gram")
    group.add_argument("--ratio", action="store_true", help="word counts as ratios instead of differences")
    group.add_argument(
        "--function-words",
        metavar="FILE",
        help="one a line; or wordfreq, for --language's (default: the most frequent words of the references)",
    )
    group.add_argument(
        "--function-word-count",
        type=positive_int,
        metavar="N",
        default=FUNCTION_WORDS,
        help="how many, unless a file lists them (default: %(default)s)",
    )
    group.add_argument("--language", default="", metavar="CODE", help="noted in the model")
    add_text_options(parser, force=True)
    add_output_options(parser)
    parser.further("--cost", "--no-clip", "--ratio", "--function-word-count", "--encoding")


def train(arguments: argparse.Namespace) -> RoseModel:
    """Read and learn."""
    if not 0 < arguments.cost <= MOST_COST:  # NaN is not
        raise UserError(f"--cost {arguments.cost:g}", expected=f"a number above 0, {MOST_COST:g} at most")
    if not 0 <= arguments.characters <= MOST_CHARACTERS:
        raise UserError(f"--characters {arguments.characters}", expected=f"0 to {MOST_CHARACTERS}")
    if arguments.pos and arguments.tagger:
        raise UserError("--pos and --tagger", expected="one of them: either the text has tags or it has not")
    if arguments.pos and arguments.tokenize:
        raise UserError("--pos and --tokenize", expected="text that is tokenised, since each token has its tag")
    listed = arguments.function_words not in (None, "wordfreq")
    tell_idle(arguments, ("--function-word-count", not listed, "--function-words lists them"))
    folder = Path(arguments.output).absolute().parent
    if not folder.is_dir():
        raise UserError("no such folder", path=folder, expected="one that the model can be written to")
    return dataclasses.replace(_trained(arguments), language=arguments.language)


def _trained(arguments: argparse.Namespace) -> RoseModel:
    options = {"cost": arguments.cost, "tagger": arguments.tagger or ""}
    if arguments.kind == "rank":
        data = preferences(arguments, arguments.data)
        references = [corpus for x in data for corpus in x.evaluation.references.corpora]
        return train_rank(data, _features(arguments, references), **options)
    how = reading(arguments)
    marks = [read_direct_assessment(path, **how) for path in arguments.data]
    for y in marks:
        note(arguments.quiet, f"{y.name}: {len(y.marks)} marks")
    check_judged(arguments, marks, [])
    references = [corpus for y in marks for corpus in y.references.corpora]
    return train_reg(marks, _features(arguments, references), **options)


def _features(arguments: argparse.Namespace, references: list[Corpus]) -> RoseFeatures:
    return RoseFeatures(
        function_words=_function_words(arguments, references),
        pos=arguments.pos or bool(arguments.tagger),
        clip=not arguments.no_clip,
        ratio=arguments.ratio,
        characters=arguments.characters,
    )


def _function_words(arguments: argparse.Namespace, references: list[Corpus]) -> tuple[str, ...]:
    source, size = arguments.function_words, arguments.function_word_count
    if source == "wordfreq":
        if not arguments.language:
            raise UserError("--function-words wordfreq without a language", expected="--language CODE with it")
        return listed_function_words(arguments.language, size)
    if source:
        lines = read_lines(source, encoding=arguments.encoding)
        return tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if arguments.pos:
        references = [TaggedText(corpus.vocabulary).split(corpus)[0] for corpus in references]
    return frequent_words(references, size)


def as_json(model: RoseModel) -> dict[str, Any]:
    """Weights, and how they were learnt."""
    return {"kind": model.kind, "weights": _weights(model), "training": model.training}


def as_lines(model: RoseModel) -> list[str]:
    """A table of weights."""
    weights = _weights(model)
    width = max(map(len, weights))
    return [f"{'feature':{width}}  weight", *(f"{name:{width}}  {weight:+.4f}" for name, weight in weights.items())]


def _weights(model: RoseModel) -> dict[str, float]:
    return dict(zip(model.features.names, model.slopes()[0], strict=True))
