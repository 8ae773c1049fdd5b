"""`lasw tune`: decode, score, optimise, repeat until the weights settle."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any

from lasw.metrics import UserError, display_of
from lasw.scripts.command_line import (
    Parser,
    TuningProgress,
    add_dask,
    add_output_options,
    add_section,
    development_score,
    given_settings,
    idle_settings,
    note,
    print_json,
    shown_setting,
    tell_idle,
    warn,
)
from lasw.tuning import (
    CONFIGURATION,
    DECODERS,
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

CONFIG is a TOML file or the name of a configuration that comes with lasw:
  NAMES
Every key of such a file can be given as an option, which then counts. The same command again goes on where a run was
interrupted.
"""
# What --help shows of a section; --help-all shows all.
_COMMON = {
    "run": ("directory", "iterations", "nbest", "seed"),
    "data": ("source", "references"),
    "decoder": ("name", "model", "ini", "jobs"),
    "optimiser": ("name", "metric"),
}

# Settings of how a decoder is asked.
_OF_LISTS = ("nbest", "first_nbest", "nbest_growth", "perturbed", "perturbation", "perturbed_rounds", "decode_best")


def add_arguments(parser: Parser) -> None:
    """Declare the options: one for every key of a configuration."""
    parser.epilog = _EPILOG.replace("NAMES", ", ".join(CONFIGURATION.names()))
    parser.add_argument("settings", nargs="?", metavar="CONFIG", help="a TOML file, or a name (see below)")
    parser.add_argument("--config", metavar="CONFIG", help="the same, as an option")
    for section in CONFIGURATION.sections:
        add_section(parser, section, f"[{section}]", common=_COMMON[section])
    add_dask(parser, "whose workers decode")
    add_output_options(parser)
    parser.further("--config", "--dask", "--json", "--quiet")


def run(arguments: argparse.Namespace) -> int:
    """Tune; 0 if the run is finished."""
    sections = _sections(arguments)
    configuration = Configuration.of(sections)
    warn("tune", [*idle_settings(arguments, sections), *_idle(arguments, sections)], arguments.quiet)
    tell_idle(arguments, ("--jobs", not arguments.dask, "the workers of --dask decode"))
    directory = configuration.run.directory
    progress = TuningProgress(
        "tune", configuration.run.iterations, quiet=arguments.quiet, dev_metric=configuration.run.dev_metric
    )
    try:
        command = shlex.join(["lasw", *sys.argv[1:]])
        outcome = tune(configuration, command=command, progress=progress, dask=arguments.dask)
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
                "development": _development(outcome.dev_score, configuration.run.dev_metric),
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
    score = outcome.dev_score
    told = "" if score is None else f", {development_score(score, configuration.run.dev_metric)}"
    print(f"weights  {directory / 'weights.json'} (of iteration {outcome.chosen}{told})")
    print(f"report   {directory / 'report.html'}")
    return 0


def _idle(arguments: argparse.Namespace, sections: Sections) -> list[str]:
    """A line for every setting of lists, where these are always the same."""
    name = sections["decoder"]["name"]
    given = [key for key in _OF_LISTS if key in sections.get("run", {})]
    if DECODERS.find(name).follows_weights or not given:
        return []
    why = f"has no effect: decoder {name} gives the same lists every time"
    return [f"{shown_setting(arguments, 'run', key)} {why}" for key in given]


def _development(score: float | None, dev_metric: str) -> dict[str, Any]:
    """The development score as people read it; `dev_score` is the loop's own, of which higher is better."""
    display = display_of(dev_metric)
    return {
        "metric": dev_metric,
        "score": None if score is None else display.score(score),
        "better": display.better,
    }


def _sections(arguments: argparse.Namespace) -> Sections:
    if arguments.settings and arguments.config:
        raise UserError("two configurations", expected=f"{arguments.settings} or {arguments.config}")
    name = arguments.settings or arguments.config
    sections = CONFIGURATION.read(name) if name else {}
    given = {section: given_settings(arguments, section) for section in CONFIGURATION.sections}
    return with_changes(sections, {section: settings for section, settings in given.items() if settings})
