"""`lasw describe`: sizes of texts, their different words, and how much like a test set they are."""

from __future__ import annotations

import argparse
from typing import Any

from lasw.metrics import Bag, Preprocessing, Vocabulary, read_corpus
from lasw.scripts.command_line import Parser, add_output_options, print_json

_EPILOG = """\
examples:
  lasw describe random.de la.de --test test.de
  lasw describe dev.en

sentences, tokens, different words and tokens a sentence of each text. With --test: similarity is the sum over words of
the smaller of the two texts' relative frequencies, common is the share of all different words that both texts have,
covered the share of the test set's tokens whose word the text has. Words are what stands between spaces and tabs.
"""
_SIZES = (("sentences", "d"), ("tokens", "d"), ("words", "d"), ("length", ".2f"))
_OVERLAPS = (("similarity", ".4f"), ("common", ".4f"), ("covered", ".4f"))


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("text", nargs="+", metavar="TEXT", help="tokenised sentences, one a line (-: standard input)")
    parser.add_argument("--test", metavar="FILE", help="of a test set, in the same language")
    parser.add_argument("--lowercase", action="store_true", help="lower-case everything first")
    parser.add_argument("--encoding", default="utf-8", help="of the files (default: utf-8)")
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Count and print; 0 if done."""
    vocabulary = Vocabulary()
    text = Preprocessing(lowercase=arguments.lowercase).function()

    def bag(path: str) -> Bag:
        return Bag.of(read_corpus(path, vocabulary, preprocess=text, encoding=arguments.encoding))

    test = bag(arguments.test) if arguments.test else None
    found = [_described(path, bag(path), test) for path in arguments.text]
    if arguments.json:
        print_json({"test": arguments.test, "texts": found})
        return 0
    _print(found, _SIZES + (_OVERLAPS if test else ()))
    return 0


def _described(path: str, bag: Bag, test: Bag | None) -> dict[str, Any]:
    found: dict[str, Any] = {"text": path, "sentences": bag.sentences, "tokens": bag.tokens, "words": bag.words}
    found["length"] = bag.tokens / bag.sentences if bag.sentences else 0.0
    if test is not None:
        overlap = bag.overlap(test)
        found |= {"similarity": overlap.similarity, "common": overlap.common_words, "covered": overlap.covered}
    return found


def _print(found: list[dict[str, Any]], columns: tuple[tuple[str, str], ...]) -> None:
    width = max(len("text"), *(len(one["text"]) for one in found))
    print("  ".join([f"{'text':{width}}", *(f"{name:>10}" for name, _ in columns)]))
    for one in found:
        print("  ".join([f"{one['text']:{width}}", *(f"{one[name]:10{form}}" for name, form in columns)]))
