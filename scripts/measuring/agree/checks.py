"""Which options of `lasw agree` go together."""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path

from lasw.metrics import BOOTSTRAP_SEED, DEFAULT_SAMPLES, OFFICIAL, UserError
from lasw.scripts.measuring.agree.inputs import sets_of


def check(arguments: argparse.Namespace) -> None:
    """Refuse what does not go together; a year's set-up and the defaults of what is random are filled in.

    Raises:
        UserError: options that contradict each other, or that do nothing.
    """
    given = [name for name in ("folders", "--da", "--mtme") if getattr(arguments, name.removeprefix("--"))]
    if len(given) != 1:
        found = " and ".join(given) or "no judgements"
        raise UserError(found, expected="one of folders of preferences, --da TABLE, --mtme FOLDER:LP")
    if not arguments.mtme and (arguments.human or arguments.mtme_reference):
        raise UserError("--human or --mtme-reference without --mtme", expected="--mtme FOLDER:LP with it")
    _check_files(arguments)
    if arguments.wins != "share" and (not arguments.folders or arguments.marks):
        raise UserError("--wins without preferences", expected="folders of preferences with it")
    if arguments.mtme and arguments.train:
        raise UserError("--train with --mtme", expected="judgements that a metric can be trained on: folders or --da")
    if not arguments.folders and arguments.tau:
        raise UserError(f"--tau with {given[0]}", expected="one of them: Kendall's tau is of preferences")
    _check_statistics(arguments)
    if arguments.tsv and (arguments.json or arguments.decisions):
        raise UserError(f"--{'json' if arguments.json else 'decisions'} and --tsv", expected="one of them")
    _check_random(arguments)
    paths = [Path(path).resolve() for path in sets_of(arguments)]
    for k, path in enumerate(paths):
        if path in paths[:k]:
            raise UserError("given twice", path=sets_of(arguments)[k], expected="each one once")


def _check_files(arguments: argparse.Namespace) -> None:
    """Of what people said of the texts in folders."""
    if arguments.rankings and arguments.marks:
        raise UserError("--rankings and --marks", expected="one of them")
    if arguments.standardise and not arguments.marks:
        raise UserError("--standardise without --marks", expected="--marks FILE.csv with it")
    for name in ("rankings", "marks"):
        files = getattr(arguments, name)
        if files and len(files) not in (1, len(arguments.folders)):
            found = f"{len(files)} --{name} and {len(arguments.folders)} folders of texts"
            raise UserError(found, expected="one for all folders, or one for each")
    if arguments.marks and (arguments.tau or arguments.train):
        raise UserError(f"--{'tau' if arguments.tau else 'train'} with --marks", expected="preferences, or --da")


def _set_official(arguments: argparse.Namespace) -> None:
    """``--official`` stands for statistics and a test."""
    if arguments.official is None:
        return
    if arguments.statistics is not None or arguments.tau:
        raise UserError("--official with --statistics or --tau", expected="one of them")
    year = arguments.official
    if not year:
        years = {
            int(digits) for digits in re.findall(r"(?:wmt|newstest)(?:20)?(\d\d)(?!\d)", " ".join(sets_of(arguments)))
        }
        year = 2000 + min(years, default=0) if len(years) == 1 else 0
    if year not in OFFICIAL:
        found = "--official, and not one year in the names of the sets"
        raise UserError(found, expected=f"--official {min(OFFICIAL)} to {max(OFFICIAL)}")
    names, test = OFFICIAL[year]
    arguments.statistics = ",".join(names)
    arguments.test = arguments.test or (test if arguments.significance else None)


def _check_statistics(arguments: argparse.Namespace) -> None:
    _set_official(arguments)
    if arguments.statistics is None:
        for name in ("average", "points"):
            if getattr(arguments, name) is not None:
                raise UserError(f"--{name} without --statistics", expected="--statistics NAME,NAME with it")
    elif arguments.tau:
        raise UserError("--tau with --statistics", expected="one of them", remedy=f"--statistics tau{arguments.tau}")
    if arguments.points is not None and not (math.isfinite(arguments.points) and arguments.points > 0):
        raise UserError(f"--points {arguments.points:g}", expected="a number above 0")
    arguments.significance = arguments.significance or arguments.test is not None


def _check_random(arguments: argparse.Namespace) -> None:
    if bool(arguments.train) != bool(arguments.folds):
        found = "--folds" if arguments.folds else "--train"
        raise UserError(f"{found} alone", expected="--train SPEC and --folds K")
    if arguments.folds == 1:
        raise UserError("--folds 1", expected="at least 2")
    resampling = arguments.significance or arguments.picture or arguments.report
    if arguments.paired_bs_n is not None and not resampling:
        raise UserError("--paired-bs-n without resampling", expected="--significance or --picture with it")
    if arguments.seed is not None and not (resampling or arguments.folds):
        raise UserError("--seed but nothing random", expected="--significance, --picture or --folds with it")
    arguments.seed = BOOTSTRAP_SEED if arguments.seed is None else arguments.seed
    arguments.paired_bs_n = arguments.paired_bs_n or DEFAULT_SAMPLES
