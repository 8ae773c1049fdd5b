"""`lasw tag`: text with the part of speech behind each word, as metrics and factored systems read it."""

from __future__ import annotations

import argparse

from lasw.metrics import STANDARD_INPUT, TAGGERS, joined, read_lines, refuse_overwriting, tagged, tagger
from lasw.scripts.command_line import Parser, write_output

_EPILOG = """\
examples:
  lasw tag test.en --tags test.en.pos > test.tagged.en
  lasw tag test.en --tagger hanta-en --output test.tagged.en

Tokens come out as word|TAG. The text must be tokenised: words are what stands between spaces and tabs.
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("text", metavar="TEXT", help="tokenised sentences, one a line (-: standard input)")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--tags", metavar="FILE", help="a line of tags for each line of words")
    source.add_argument("--tagger", choices=TAGGERS, help="of the extra 'pos'")
    parser.add_argument("--output", default=STANDARD_INPUT, metavar="FILE", help="default: standard output")
    parser.add_argument("--encoding", default="utf-8", help="of the files (default: utf-8)")


def run(arguments: argparse.Namespace) -> int:
    """Tag; 0 if done."""
    refuse_overwriting([arguments.output], filter(None, (arguments.text, arguments.tags)))
    tag = tagger(arguments.tagger) if arguments.tagger else None
    lines = read_lines(arguments.text, encoding=arguments.encoding)
    if tag:
        out = tagged(lines, tag, path=arguments.text)
    else:
        tags = read_lines(arguments.tags, encoding=arguments.encoding)
        out = joined(lines, tags, path=arguments.text, tag_path=arguments.tags)
    write_output(arguments.output, "".join(line + "\n" for line in out))
    return 0
