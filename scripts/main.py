"""The program `lasw`: finds the subcommand, turns what went wrong into one line.

Nothing heavy is imported before the subcommand is known, so that ``lasw --help`` is quick.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import cast

from lasw.scripts.command_line import EXIT_FAILED, EXIT_USAGE, Command, Parser, ask_for_room, guarded, told_of_compiling

# subcommand -> (module, one line of help). A new subcommand is one line here and one module with
# `add_arguments(parser)` and `run(arguments) -> exit code`.
COMMANDS: dict[str, tuple[str, str]] = {
    "tune": ("lasw.scripts.tune", "decode, score, optimise, repeat until the weights settle"),
    "optimise": ("lasw.scripts.optimise", "weights from N-best lists on disk, no decoder"),
    "local": ("lasw.scripts.local.command", "a weight vector for every sentence (WRO-local)"),
    "nbest": ("lasw.scripts.lists.nbest", "N-best lists: from one layout to another, to read, sizes, oracles"),
    "rerank": (
        "lasw.scripts.lists.rerank",
        "the best hypothesis of each N-best list, by weights or minimum Bayes risk",
    ),
    "decode": ("lasw.scripts.lists.decode", "translate with a decoder and given weights"),
    "score": ("lasw.scripts.measuring.score", "score systems with any metric, with significance"),
    "agree": ("lasw.scripts.measuring.agree.command", "how well metrics agree with human judgements"),
    "features": ("lasw.scripts.measuring.features", "what a metric sees of every segment; expected utilities"),
    "describe": ("lasw.scripts.measuring.describe", "sizes of texts, different words, likeness to a test set"),
    "tag": ("lasw.scripts.measuring.tag", "text with parts of speech, word|TAG"),
    "train-metric": ("lasw.scripts.measuring.train_metric.command", "train a metric on human judgements"),
    "align": ("lasw.scripts.parallel_text.align", "word alignments of parallel text"),
    "vectors": ("lasw.scripts.measuring.vectors", "train word vectors, find neighbours, convert files"),
    "select": ("lasw.scripts.parallel_text.select.command", "a development set from noisy parallel text"),
    "train": ("lasw.scripts.parallel_text.train", "train a phrase-based Thot system from parallel text"),
    "compare": ("lasw.scripts.compare", "optimisers, losses and development sets side by side, several runs each"),
    "report": ("lasw.scripts.report", "one HTML file from a run or a comparison"),
    "warm-up": ("lasw.scripts.installation.warm_up", "compile in advance what first runs would wait for"),
    "quickstart": (
        "lasw.scripts.quickstarts.command",
        "parallel text in, a trained, tuned and tested system out; or --rerank",
    ),
    "doctor": ("lasw.scripts.installation.doctor", "what this installation has, and what is wrong with it"),
    "completion": ("lasw.scripts.installation.completion", "make bash, zsh or fish complete commands and options"),
    "man": ("lasw.scripts.installation.man", "all of this as a manual page"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line.

    Returns:
        The exit code: 0 done, 1 failed, 2 wrong usage, 128 and the signal's number if it was stopped (130 by Ctrl-C).
    """
    words = list(sys.argv[1:] if argv is None else argv)
    chosen = next((word for word in words if word in COMMANDS), "")
    return guarded(f"lasw {chosen}".strip, lambda: _main(words), debug="--debug" in words)


def _main(words: list[str]) -> int:
    # Looking for cycles among the hundred thousand objects that imports make takes a sixth of a command's start.
    gc.set_threshold(200_000, 20, 20)
    name = next((word for word in words if not word.startswith("-")), None)
    if name in COMMANDS:
        ask_for_room()
    parser = _parser(chosen=name if name in COMMANDS else None)
    arguments = parser.parse_args(words)
    if getattr(arguments, "command", None) is None:
        parser.print_help(sys.stderr)
        return EXIT_USAGE
    if sys.stdout is None:  # closed by whoever started the program (`>&-`)
        print(f"lasw {arguments.command}: standard output is closed", file=sys.stderr)
        return EXIT_FAILED
    _without_blas()
    with told_of_compiling(f"lasw {arguments.command}", quiet=getattr(arguments, "quiet", False)):
        return cast(Command, arguments.module).run(arguments)


def _parser(chosen: str | None) -> Parser:
    parser = Parser(
        prog="lasw",
        description="Tunes the weights of log-linear translation systems.",
        epilog="'lasw COMMAND --help' shows a command's options and an example, --help-all all of them.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    # Only a screen of all commands, or a word that is none of them, asks for the others.
    for name, (module, text) in COMMANDS.items() if chosen is None else [(chosen, COMMANDS[chosen])]:
        command = commands.add_parser(name, help=text, description=text)
        if name == chosen:
            loaded = cast(Command, importlib.import_module(module))
            loaded.add_arguments(command)
            command.add_argument("--debug", action="store_true", help="show the traceback of an error")
            command.set_defaults(module=loaded)
    return parser


def parsers() -> Iterator[tuple[str, Parser]]:
    """Every command, or in its place its actions, by its words."""
    for name in COMMANDS:
        command = _parser(name)._choices("command")[name]
        actions = command._choices("action")
        yield from ((f"{name} {action}", parser) for action, parser in actions.items())
        if not actions:
            yield name, command


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib import metadata

        print(f"lasw {metadata.version('lasw')}")
        parser.exit(0)


def _without_blas() -> None:
    """Keep Numba from loading SciPy's linear algebra, a third of a second, for kernels that never call it.

    Numba asks for it once, and goes without where it cannot be imported. Only for this program's own process: a library
    must not take that from others.
    """
    if "numba" in sys.modules and "scipy.linalg" not in sys.modules:
        sys.modules["scipy.linalg"] = cast(ModuleType, None)
        try:
            importlib.import_module("numba.np.arraymath")
        finally:
            del sys.modules["scipy.linalg"]


if __name__ == "__main__":
    sys.exit(main())
