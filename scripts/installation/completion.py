"""`lasw completion`: a script that makes a shell complete commands, options and names of metrics, optimisers, ..."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lasw.metrics import METRICS, Registry
from lasw.scripts.command_line import Parser, spelt_metric
from lasw.scripts.main import COMMANDS, parsers

_EPILOG = """\
examples, in the file that the shell reads when it begins:
  eval "$(lasw completion bash)"          # ~/.bashrc
  eval "$(lasw completion zsh)"           # ~/.zshrc, behind compinit
  lasw completion fish | source           # ~/.config/fish/config.fish

The script is made once and holds all words, so that a Tab starts no program: make it again after an update.
"""
_NO_FILES = {"N", "X", "S", "TEXT", "true|false", "KEY=VALUE", "NAME", "NAME,NAME", "SPEC", "ADDRESS", "SECONDS"}


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


def _options() -> Iterator[tuple[str, list[_Option]]]:
    """The options of every command and action, by its words."""
    for words, parser in parsers():
        yield words, [_option(action) for action in parser._actions if action.option_strings and _is_shown(action)]


def _is_shown(action: argparse.Action) -> bool:
    return action.help != argparse.SUPPRESS


def _option(action: argparse.Action) -> _Option:
    named = getattr(action.type, "__self__", None)  # Registry.spelt of one
    values: Iterable[object] = action.choices or ()
    if isinstance(named, Registry):
        values = named
    elif action.type is spelt_metric:
        values = METRICS
    listed = tuple(map(str, values))
    value = action.nargs != 0
    files = value and not listed and action.metavar is not None and str(action.metavar) not in _NO_FILES
    text = " ".join((action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%").split())
    return _Option(tuple(action.option_strings), text, value, listed, files)


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
    for words, options in _options():
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
complete -F _lasw lasw
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
#compdef lasw
_lasw() {{
  local cur=$words[CURRENT] prev=$words[CURRENT-1] where= word files= none=
  local -a options values
  for word in $words[2,CURRENT-1]; do
    case $word in -*) ;; *) [[ $where == *' '* ]] || where="${{where:+$where }}$word" ;; esac
  done
  case "$where" in
{branches}  esac
  if (( $#values )); then compadd -a values
  elif [[ -n $none ]]; then return 1
  elif [[ -z $files && $cur == -* ]]; then _describe option options
  else _files; fi
}}
if [[ "$funcstack[1]" == _lasw ]]; then _lasw "$@"; else compdef _lasw lasw; fi
"""


def _fish() -> str:
    lines = ["complete -c lasw -f"]
    seen = "__fish_seen_subcommand_from"
    for name, (_, text) in COMMANDS.items():
        lines.append(f"complete -c lasw -n __fish_use_subcommand -a {name} -d {_fish_quoted(text)}")
    for name, actions in _actions().items():
        lines.append(
            f"complete -c lasw -n '{seen} {name}; and not {seen} {' '.join(actions)}' -a '{' '.join(actions)}'"
        )
    for words, options in _options():
        where = "; and ".join(f"{seen} {word}" for word in words.split())
        others = [name for name, actions in _actions().items() if words in actions]  # vectors train is not train
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
