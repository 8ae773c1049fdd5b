"""`lasw completion`: a script that makes a shell complete commands, options and names of metrics, optimisers, ...

It is for both programs, `lasw` and `lasw-mert-moses`. What a value may be comes from the parser: its choices, those
that `Parser.suggest` was told, or a metavar such as ``true|false``; it is a file if its metavar has a word of `FILES`.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lasw.metrics import JOINTS, METRICS, Registry
from lasw.scripts.command_line import Parser, spelt_metric
from lasw.scripts.main import COMMANDS, parsers
from lasw.scripts.mert_moses import FLAG, NEGATABLE, OURS, PATH, REFUSED, THEIRS
from lasw.tuning import OPTIMISERS, STEPS

_EPILOG = """\
examples, in the file that the shell reads when it begins:
  eval "$(lasw completion bash)"          # ~/.bashrc
  eval "$(lasw completion zsh)"           # ~/.zshrc, behind compinit
  lasw completion fish | source           # ~/.config/fish/config.fish

The script is made once and holds all words, so that a Tab starts no program: make it again after an update.
"""
FILES = frozenset(
    ("CONFIG", "DATA", "DEV", "DIR", "FILE", "FOLDER", "INI", "NBEST", "PREFIX", "REF", "SAMPLES", "TABLE", "WEIGHTS")
)
MERT_MOSES = "lasw-mert-moses"
_NAMES: dict[str, Iterable[str]] = {
    "optimiser": OPTIMISERS,
    "metric": METRICS,
    "loss": METRICS,
    "step": STEPS,
    "join": JOINTS,
}  # what values of its options may be


@dataclass(frozen=True)
class _Option:
    """An option as a shell wants to know it.

    Attributes:
        words: it is called by.
        text: of the help, in a line.
        value: one stands behind it.
        values: it may be, if they are listed.
        files: it is a file or folder.
    """

    words: tuple[str, ...]
    text: str
    value: bool
    values: tuple[str, ...]
    files: bool


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument("shell", metavar="SHELL", choices=tuple(_SCRIPTS), help=f"one of {', '.join(_SCRIPTS)}")


def run(arguments: argparse.Namespace) -> int:
    """Print the script; 0."""
    print(_SCRIPTS[arguments.shell](), end="")
    return 0


def _of_commands() -> Iterator[tuple[str, list[_Option]]]:
    """The options of every command and action, by its words."""
    for words, parser in parsers():
        shown = [action for action in parser._actions if action.option_strings and action.help != argparse.SUPPRESS]
        yield words, [_option(action, parser) for action in shown]


def _option(action: argparse.Action, parser: Parser) -> _Option:
    named = getattr(action.type, "__self__", None)  # Registry.spelt of one
    metavar = str(action.metavar)
    values: Iterable[object] = action.choices or parser.suggested(action) or ()
    if isinstance(named, Registry):
        values = named
    elif action.type is spelt_metric:
        values = METRICS
    elif "|" in metavar:
        values = metavar.split("|")
    listed = tuple(map(str, values))
    value = action.nargs != 0
    file = value and not listed and not FILES.isdisjoint(re.split(r"\W", metavar))
    text = " ".join((action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%").split())
    return _Option(tuple(action.option_strings), text, value, listed, file)


def _of_mert_moses() -> list[_Option]:
    """The options of the other program, but for those that it refuses."""
    found = []
    for option in (*THEIRS, *OURS):
        if option.fate != REFUSED:
            words = (f"--{option.name}", *([f"--no-{option.name}"] if option.kind == NEGATABLE else []))
            names = tuple(_NAMES.get(option.name, ()))
            value = option.kind not in (FLAG, NEGATABLE)
            found.append(_Option(words, option.told, value, names, option.kind == PATH))
    return found


def _actions() -> dict[str, list[str]]:
    """The actions of those commands that have some."""
    found: dict[str, list[str]] = {}
    for words, _ in parsers():
        name, _, action = words.partition(" ")
        if action:
            found.setdefault(name, []).append(action)
    return found


def _cases(options: Sequence[_Option], line: Callable[[_Option], str]) -> str:
    """A branch of a shell's `case` for every option with a value."""
    return "".join(f"        {'|'.join(one.words)}) {line(one)};;\n" for one in options if one.value)


def _branches(list_options: Callable[[Sequence[_Option]], str], line: Callable[[_Option], str], values: str) -> str:
    """Of the `case` over command and action: what can stand there, and behind the word before it."""
    found = []
    for words, options in (*_of_commands(), (MERT_MOSES, _of_mert_moses())):
        inner = _cases(options, line)
        behind = f'      case "$prev" in\n{inner}      esac;;\n' if inner else "      ;;\n"
        more = "" if " " in words else f'|"{words} "*'
        found.append(f'    "{words}"{more})\n      {list_options(options)}\n{behind}')
    for name, actions in _actions().items():
        found.append(f'    "{name}"|"{name} "*) {values.format(" ".join(actions))};;\n')
    found.append(f"    *) {values.format(' '.join(COMMANDS))};;\n")
    return "".join(found)


def _bash() -> str:
    branches = _branches(
        lambda options: f"options={shlex.quote(' '.join(word for one in options for word in one.words))}",
        lambda one: (
            f"values={shlex.quote(' '.join(one.values))}" if one.values else "files=1" if one.files else "none=1"
        ),
        "values='{}'",
    )
    return f"""\
_lasw() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} where= word options= values= files= none=
  [[ ${{COMP_WORDS[0]}} != *{MERT_MOSES} ]] || where="{MERT_MOSES} "
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $word in -*) ;; *) [[ $where == *' '* ]] || where="${{where:+$where }}$word" ;; esac
  done
  case "$where" in
{branches}  esac
  if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$cur"))
  elif [ -n "$none" ]; then COMPREPLY=()
  elif [ -z "$files" ] && [ "${{cur#-}}" != "$cur" ]; then COMPREPLY=($(compgen -W "$options" -- "$cur"))
  else compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); fi
}}
complete -F _lasw lasw {MERT_MOSES}
"""


def _zsh() -> str:
    def told(options: Sequence[_Option]) -> str:
        texts = (f"{word}:{one.text}" for one in options for word in one.words)
        return f"options=({' '.join(map(shlex.quote, texts))})"

    branches = _branches(
        told,
        lambda one: (
            f"values=({' '.join(map(shlex.quote, one.values))})" if one.values else "files=1" if one.files else "none=1"
        ),
        "values=({})",
    )
    return f"""\
#compdef lasw {MERT_MOSES}
_lasw() {{
  local cur=$words[CURRENT] prev=$words[CURRENT-1] where= word files= none=
  local -a options values
  [[ $words[1] != *{MERT_MOSES} ]] || where="{MERT_MOSES} "
  for word in $words[2,CURRENT-1]; do
    case $word in -*) ;; *) [[ $where == *' '* ]] || where="${{where:+$where }}$word" ;; esac
  done
  case "$where" in
{branches}  esac
  if (( $#values )); then compadd -a values
  elif [[ -n $none ]]; then return 1
  elif [[ -z $files && $cur == -* ]]; then _describe option options
  else compset -P '*='; _files; fi
}}
if [[ "$funcstack[1]" == _lasw ]]; then _lasw "$@"; else compdef _lasw lasw {MERT_MOSES}; fi
"""


def _fish() -> str:
    lines = ["complete -c lasw -f"]
    seen, of_commands = "__fish_seen_subcommand_from", _actions()
    for name, (_, text) in COMMANDS.items():
        lines.append(f"complete -c lasw -n __fish_use_subcommand -a {name} -d {_fish_quoted(text)}")
    for name, actions in of_commands.items():
        lines.append(
            f"complete -c lasw -n '{seen} {name}; and not {seen} {' '.join(actions)}' -a '{' '.join(actions)}'"
        )
    lines += [f"complete -c {MERT_MOSES} {_fish_option(one)}" for one in _of_mert_moses()]
    for words, options in _of_commands():
        where = "; and ".join(f"{seen} {word}" for word in words.split())
        others = [name for name, actions in of_commands.items() if words in actions]  # vectors train is not train
        where += f"; and not {seen} {' '.join(others)}" if others else ""
        lines += [f"complete -c lasw -n '{where}' {_fish_option(one)}" for one in options]
        lines.append(f"complete -c lasw -n '{where}' -F")
    return "\n".join(lines) + "\n"


def _fish_option(one: _Option) -> str:
    kinds = ("-l" if word.startswith("--") else "-s" if len(word) == 2 else "-o" for word in one.words)
    words = " ".join(f"{kind} {word.lstrip('-')}" for kind, word in zip(kinds, one.words, strict=True))
    value = f" -x -a {_fish_quoted(' '.join(one.values))}" if one.values else " -r -F" if one.files else " -x"
    return f"{words}{value if one.value else ''} -d {_fish_quoted(one.text)}"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
