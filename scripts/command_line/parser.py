"""The parser of every command: help in two lengths, words of earlier releases, an answer to words that nobody knows."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn, Protocol

from lasw.scripts.command_line.colours import coloured
from lasw.scripts.command_line.endings import EXIT_USAGE


def say_new_word(program: str, old: str, new: str) -> None:
    """Tell on stderr how something is written since this release; the old word goes with the next one."""
    print(f"{program}: {old} is now {new}", file=sys.stderr)


class Parser(argparse.ArgumentParser):
    """Takes no abbreviations. ``--help`` shows what most people need, ``--help-all`` everything."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", _Formatter)
        super().__init__(**settings, add_help=False, allow_abbrev=False)
        self.add_argument("-h", "--help", action=_Help, const=False, help="show this and exit")
        self.add_argument("--help-all", action=_Help, const=True, help="show all there is, and exit")
        self._further: set[str] = set()
        self._old_words: dict[str, str] = {}
        self._other_words: dict[str, str] = {}
        self._several: dict[str, Callable[[str], bool]] = {}
        self._suggested: dict[str, tuple[str, ...]] = {}
        self._beside_references: argparse.Action | None = None
        self._files_needed = False

    def further(self, *options: str) -> None:
        """Let only ``--help-all`` show these options."""
        self._further.update(options)

    def rename(self, old: str, new: str) -> None:
        """Take the option `old` of earlier releases for `new`, and say so when it comes."""
        self._old_words[old] = new

    def also(self, word: str, option: str) -> None:
        """Take `word`, as another tool has it, for an option of ours without a remark."""
        self._other_words[word] = option

    def take_several(self, option: str, short: str, fits: Callable[[str], bool]) -> None:
        """Take ``OPTION A B C`` for ``OPTION A OPTION B OPTION C`` as long as words fit that are no files."""
        self._several[option] = self._several[short] = lambda word: fits(word) and not os.path.exists(word)

    def suggest(self, option: str, values: Iterable[str]) -> None:
        """Let shells complete these values of an option, which checks them itself."""
        self._suggested[option] = tuple(values)

    def suggested(self, action: argparse.Action) -> tuple[str, ...]:
        """What `suggest` was told of an option."""
        return next((self._suggested[option] for option in action.option_strings if option in self._suggested), ())

    def add_references(
        self, beside: argparse.Action, *, required: bool = True, needed: bool = False, **settings: Any
    ) -> None:
        """``--references REF ...``, which come before the lists or translations that they are for.

        All files up to the next option are references, unless no other file is given at all: then only the first of
        them is one, as in ``-r REF SYSTEM ...``.

        Args:
            beside: the positional argument for the other files.
            required: there must be references.
            needed: there must be other files.
            settings: of `add_argument`.
        """
        self.add_argument(
            "--references", "-r", nargs="+", action="append", default=[], required=required, metavar="REF", **settings
        )
        self._beside_references, self._files_needed = beside, needed

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's, old words taken for the new ones; `typed` has the options that were given (long names)."""
        words = self._in_new_words(list(sys.argv[1:] if args is None else args))
        found, unknown = super().parse_known_args(words, namespace)
        found.typed = self._typed(words) | getattr(found, "typed", frozenset())  # those of a subcommand are there
        if self._beside_references is not None:
            self._place_references(self._beside_references, found)
        return found, unknown

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's, but the words nobody knows are answered with what was perhaps meant."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            owner: Parser = self
            for name in ("command", "action"):
                owner = owner._choices(name).get(str(getattr(found, name, None)), owner)
            valid = [option for action in owner._actions for option in action.option_strings]
            owner.error(f"unknown argument {unknown[0]!r}{_nearest(unknown[0].partition('=')[0], valid)}")
        return found

    def error(self, message: str) -> NoReturn:
        """One line, then exit code 2."""
        wrong = re.match(r"argument (COMMAND|ACTION|METRIC): invalid choice: '(.*?)' ", message)
        if wrong:
            choices = self._choices("command" if wrong[1] == "COMMAND" else "action")
            message = f"unknown {wrong[1].lower()} {wrong[2]!r}{_nearest(wrong[2], list(choices))}"
        program = coloured(f"{self.prog}:", "red", sys.stderr)
        self.exit(EXIT_USAGE, f"{program} {message} (see {self.prog} --help)\n")

    def format_help(self) -> str:
        """What most people need."""
        hidden = [action for action in self._actions if self._further.intersection(action.option_strings)]
        if not hidden:
            return self.format_full_help()
        examples = (self.epilog or "").partition("\n\n")[0].rstrip()
        return self._help(hidden, f"{examples}\n\n{self.prog} --help-all shows {len(hidden)} more options.")

    def format_full_help(self) -> str:
        """Everything."""
        return self._help([], self.epilog)

    def _help(self, hidden: Sequence[argparse.Action], epilog: str | None) -> str:
        formatter = self._get_formatter()
        alternatives = [group for group in self._mutually_exclusive_groups if group.required]
        needed = {action for group in alternatives for action in group._group_actions}
        needed |= {action for action in self._actions if action.required and action.option_strings}
        formatter.add_usage(
            None,
            [
                *(action for action in self._actions if action in needed),
                argparse.Action([], "options", metavar="[options]"),
                *(action for action in self._actions if not action.option_strings),
            ],
            alternatives,
        )
        formatter.add_text(self.description)
        for group in self._action_groups:
            formatter.start_section(group.title)
            formatter.add_arguments([action for action in group._group_actions if action not in hidden])
            formatter.end_section()
        formatter.add_text(epilog)
        return formatter.format_help()

    def _in_new_words(self, words: Sequence[str]) -> list[str]:
        end = words.index("--") if "--" in words else len(words)
        renamed, said = [], set()
        for word in words[:end]:
            option, equals, value = word.partition("=")
            new = self._old_words.get(option)
            if new is not None and option not in said:
                said.add(option)
                say_new_word(self.prog, option, new)
            new = new or self._other_words.get(option)
            renamed.append(word if new is None else new + equals + value)
        return [*self._repeated(renamed), *words[end:]]

    def _repeated(self, words: Sequence[str]) -> Iterator[str]:
        """The words, those that an option takes several of behind an option each."""
        option, values = "", 0
        for word in words:
            if word.startswith("-") and word != "-":
                option, values = word, 0
            else:
                if values and option in self._several and self._several[option](word):
                    yield option
                elif values:
                    option = ""
                values += 1
            yield word

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """As argparse's; a choice may be written in other capitals."""
        value = super()._get_value(action, arg_string)
        if action.choices is None or isinstance(action.choices, dict) or value in action.choices:
            return value
        return next((one for one in action.choices if str(one).casefold() == str(value).casefold()), value)

    def _typed(self, words: Sequence[str]) -> frozenset[str]:
        end = words.index("--") if "--" in words else len(words)
        actions = self._option_string_actions
        given = [word.partition("=")[0] for word in words[:end] if word.startswith("-")]
        found = [actions.get(option) or actions.get(option[:2]) for option in given]
        return frozenset(max(action.option_strings, key=len) for action in found if action is not None)

    def _place_references(self, beside: argparse.Action, found: argparse.Namespace) -> None:
        groups: list[list[str]] = found.references
        others = getattr(found, beside.dest)
        if not others or others == beside.default:
            files = [path for group in groups for path in group[1:]]
            groups = [group[:1] for group in groups]
            if files and beside.nargs == argparse.OPTIONAL:
                if len(files) > 1:
                    self.error(f"unknown argument {files[1]!r}")
                setattr(found, beside.dest, files[0])
            elif files:
                setattr(found, beside.dest, files)
            elif self._files_needed:
                self.error(f"the following arguments are required: {beside.metavar}")
        found.references = [path for group in groups for path in group]

    def _choices(self, name: str) -> dict[str, Parser]:
        """The parsers behind this one, by the words of the argument `name`."""
        choices = next((action.choices for action in self._actions if action.dest == name), None)
        return choices if isinstance(choices, dict) else {}


def add_action(actions: Any, name: str, text: str, example: str = "") -> Parser:
    """The parser of an action of a command: ``lasw COMMAND ACTION``."""
    epilog = f"example:\n  {example}" if example else None
    action: Parser = actions.add_parser(name, help=text, description=text, epilog=epilog)
    action.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help="show the traceback of an error"
    )
    return action


class Command(Protocol):
    """A module of a subcommand."""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; the exit code."""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Writes ``-r, --references REF ...``, and leaves room for it."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        options = ", ".join(sorted(action.option_strings, key=len))
        return f"{options} {self._format_args(action, self._get_default_metavar_for_optional(action))}"

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        if action.nargs == argparse.ONE_OR_MORE and action.option_strings:
            return f"{self._metavar_formatter(action, default_metavar)(1)[0]} ..."
        return super()._format_args(action, default_metavar)


class _Help(argparse.Action):
    """Prints the short help, or with `const` all of it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "dest": argparse.SUPPRESS, "default": argparse.SUPPRESS, "nargs": 0})

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        assert isinstance(parser, Parser)
        print(parser.format_full_help() if self.const else parser.format_help(), end="")
        parser.exit()


def _nearest(word: str, valid: list[str]) -> str:
    near = difflib.get_close_matches(word, valid, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""
