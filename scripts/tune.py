"""`lasw tune`: decode, score, optimise, repeat until the weights settle."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from lasw.metrics import Parameter, UserError
from lasw.scripts.command_line import TuningProgress, add_output_options, note, print_json
from lasw.tuning import (
    CONFIGURATION,
    Configuration,
    RunDirectory,
    Sections,
    as_json,
    tune,
    with_changes,
)

_EPILOG = """\
examples:
  lasw tune experiment.toml
  lasw tune --optimiser wro --decoder thot --model model --source dev.de --references dev.en --run run
  lasw tune --decoder command --command './decode {weights} {source} {n} {nbest}' --initial start.json \\
      --optimiser pro --source dev.de --references dev.en0 dev.en1 --run run --iterations 10

CONFIG is a TOML file or the name of a configuration that comes with lasw: NAMES. Every key of such a file can be given
as an option, which then counts. The same command again goes on where a run was interrupted.
"""
# Options with other names than their keys.
_OPTION_NAMES = {("run", "directory"): "run", ("decoder", "name"): "decoder", ("optimiser", "name"): "optimiser"}
_TAKEN = {"help", "debug", "config", "json", "quiet"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options: one for every key of a configuration."""
    parser.epilog = _EPILOG.replace("NAMES", ", ".join(CONFIGURATION.names()))
    parser.add_argument("settings", nargs="?", metavar="CONFIG", help="a TOML file, or a name (see below)")
    parser.add_argument("--config", metavar="CONFIG", help="the same, as an option")
    for section in CONFIGURATION.sections:
        group = parser.add_argument_group(f"[{section}]")
        for key, parameter in CONFIGURATION.keys(section).items():
            option = _option(section, key)
            group.add_argument(
                f"--{option}",
                dest=f"{section}.{key}",
                nargs="+" if parameter.several else None,
                metavar=_metavar(parameter),
                help=_help(section, parameter),
            )
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Tune; 0 if the run is finished."""
    configuration = Configuration.of(_sections(arguments))
    directory = configuration.run.directory
    progress = TuningProgress("tune", configuration.run.iterations, quiet=arguments.quiet)
    try:
        outcome = tune(configuration, command=shlex.join(["lasw", *sys.argv[1:]]), progress=progress)
    except (UserError, OSError, KeyboardInterrupt):
        # A run that was refused would be refused again.
        kept = len(RunDirectory(directory).records()) if progress.begun else 0
        if kept:
            note(False, f"{kept} finished iterations are kept in {directory}; the same command goes on from there")
        raise
    finally:
        progress.close()
    if arguments.json:
        print_json(
            {
                "weights": as_json(outcome.weights),
                "dev_score": outcome.dev_score,
                "reason": outcome.reason,
                "iterations": outcome.iterations,
                "chosen": outcome.chosen,
                "already_finished": outcome.already_finished,
                "run": str(directory),
            }
        )
        return 0
    again = "was finished already" if outcome.already_finished else "finished"
    plural = "" if outcome.iterations == 1 else "s"
    print(f"{again} after {outcome.iterations} iteration{plural}: {outcome.reason}")
    told = "" if outcome.dev_score is None else f", development score {100 * outcome.dev_score:.2f}"
    print(f"weights  {directory / 'weights.json'} (of iteration {outcome.chosen}{told})")
    print(f"report   {directory / 'report.html'}")
    return 0


def _sections(arguments: argparse.Namespace) -> Sections:
    if arguments.settings and arguments.config:
        raise UserError("two configurations", expected=f"{arguments.settings} or {arguments.config}")
    name = arguments.settings or arguments.config
    sections = CONFIGURATION.read(name) if name else {}
    changes: dict[str, dict[str, Any]] = {}
    for section in CONFIGURATION.sections:
        for key, parameter in CONFIGURATION.keys(section).items():
            given: str | Sequence[str] | None = getattr(arguments, f"{section}.{key}")
            if given is not None:
                words = [given] if isinstance(given, str) else given
                changes.setdefault(section, {})[key] = parameter.given(words, f"--{_option(section, key)}")
    return with_changes(sections, changes)


def _option(section: str, key: str) -> str:
    name = _OPTION_NAMES.get((section, key), key).replace("_", "-")
    sections = list(CONFIGURATION.sections)
    earlier = sections[: sections.index(section)]
    if key != "name" and (name in _TAKEN or any(key in CONFIGURATION.keys(other) for other in earlier)):
        return f"{section}-{name}"
    return name


def _metavar(parameter: Parameter) -> str:
    return {int: "N", float: "X", bool: "true|false", str: "TEXT"}.get(parameter.kind, "FILE")


def _help(section: str, parameter: Parameter) -> str:
    names = tuple(CONFIGURATION.sections[section].registry or ())
    owners = {
        name: own[parameter.name] for name in names if parameter.name in (own := CONFIGURATION.keys(section, name))
    }
    of_some = f"{', '.join(owners)}: " if len(owners) < len(names) else ""
    return (of_some + parameter.help.rstrip(".") + _default(parameter, owners)).replace("%", "%%")


def _default(parameter: Parameter, owners: Mapping[str, Parameter]) -> str:
    defaults = {name: one.default for name, one in owners.items() if one.default is not None}
    if len(set(defaults.values())) > 1:
        return f" (default: {', '.join(f'{_shown(value)} for {name}' for name, value in defaults.items())})"
    return "" if parameter.default in (None, ()) else f" (default: {_shown(parameter.default)})"


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
