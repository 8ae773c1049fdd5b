"""What `lasw agree` reads: sets of judgements, and what metrics said of them elsewhere."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lasw.metrics import (
    WINS,
    DirectAssessment,
    Judged,
    Judgements,
    MarkedSystems,
    Scores,
    read_direct_assessment,
    read_judgements,
    read_marks,
    read_mtme,
    read_rankings,
    stored_scores,
)
from lasw.scripts.command_line import note, reading, warn


def sets_of(arguments: argparse.Namespace) -> list[str]:
    """The sets of judgements, as they were named."""
    return list(arguments.da or arguments.mtme or arguments.folders)


def people_compared(arguments: argparse.Namespace) -> bool:
    """Whether people said which is better, and gave no marks."""
    return bool(arguments.folders) and not arguments.marks


def read_sets(arguments: argparse.Namespace) -> Sequence[Judged]:
    """The sets of judgements; told on standard error."""
    how = reading(arguments)
    if arguments.mtme or arguments.marks:
        sets = _marked(arguments)
        for name, marked in zip(short_names(sets_of(arguments)), sets, strict=True):
            told = f"{len(marked.systems)} systems, {np.count_nonzero(~np.isnan(marked.marks))} marks"
            note(arguments.quiet, "; ".join([f"{name}: {told}", *marked.notes]))
        return sets
    if arguments.da:
        tables = [read_direct_assessment(path, **how) for path in arguments.da]
        for name, table in zip(short_names(arguments.da), tables, strict=True):
            note(arguments.quiet, f"{name}: {len(table.systems) or 'unnamed'} systems, {len(table.marks)} marks")
        return tables
    if arguments.rankings:
        folders = [read_rankings(file, path, **how) for file, path in _with_files(arguments, arguments.rankings)]
    else:
        folders = [read_judgements(path, **how) for path in arguments.folders]
    for name, folder in zip(short_names(arguments.folders), folders, strict=True):
        note(arguments.quiet, _described(name, folder))
        if folder.without_score and folder.given is not None:
            named = ", ".join(folder.without_score)
            found = f"{name}: no score in systems.tsv of {named}: not among the systems correlated"
            warn("agree", [found], arguments.quiet)
    return folders


def _marked(arguments: argparse.Namespace) -> list[MarkedSystems]:
    how = reading(arguments)
    if arguments.mtme:
        how |= {"human": arguments.human or "", "reference": arguments.mtme_reference or ""}
        return [read_mtme(place, official=arguments.official is not None, **how) for place in arguments.mtme]
    files = _with_files(arguments, arguments.marks)
    return [read_marks(file, path, standardise=arguments.standardise, **how) for file, path in files]


def _with_files(arguments: argparse.Namespace, files: list[str]) -> list[tuple[str, str]]:
    """The file of each folder."""
    each = files * len(arguments.folders) if len(files) == 1 else files
    return list(zip(each, arguments.folders, strict=True))


def _described(name: str, judgements: Judgements) -> str:
    text = f"{name}: {len(judgements.systems)} systems, {len(judgements.segment)} preferences"
    if judgements.ties:
        text += f", {judgements.ties} ties left out"
    if judgements.with_reference:
        text += f", {judgements.with_reference} pairs with the reference itself left out"
    if judgements.without_score and judgements.given is None:
        text += f", none about {', '.join(judgements.without_score)}"
    return text


def short_names(paths: Sequence[str]) -> list[str]:
    """What sets the paths apart: their last parts, without those at the end that all share, as many as are needed."""
    parts = [Path(path).resolve().parts for path in paths]
    while len(parts) > 1 and len({x[-1] for x in parts}) == 1 and min(map(len, parts)) > 1:
        parts = [x[:-1] for x in parts]
    size = 1
    while len({x[-size:] for x in parts}) < len(parts):
        size += 1
    names = ["/".join(x[-size:]) for x in parts]
    for ending in (".gz", ".bz2", ".xz", ".tsv"):
        if all(name.endswith(ending) for name in names):
            names = [name.removesuffix(ending) for name in names]
    return names


def stored_metrics(data: Sequence[Judged], arguments: argparse.Namespace) -> dict[str, list[str]]:
    """The metrics that all test sets have scores of, without their references' names; which names they have there."""
    sets = [{_base(one.name): one.name for one in x.stored} for x in data if isinstance(x, MarkedSystems)]
    if not sets:
        return {}
    in_all = [base for base in sets[0] if all(base in one for one in sets)]
    left_out = sorted({base for one in sets for base in one} - set(in_all))
    if left_out:
        warn("agree", [f"not in every set, left out: {', '.join(left_out)}"], arguments.quiet)
    return {base: list(dict.fromkeys(one[base] for one in sets)) for base in in_all}


def _base(name: str) -> str:
    """A metric's name without its reference's; one without a reference keeps that."""
    base, _, reference = name.rpartition("-")
    return name if reference == "src" else base


def scores_elsewhere(data: Judged, stored: dict[str, list[str]]) -> list[Scores]:
    """What these metrics said of one set."""
    if not isinstance(data, MarkedSystems):
        return []
    by_name = {_base(one.name): one for one in data.stored}
    return [stored_scores(by_name[base], data) for base in stored]


def scores_of_systems(data: Sequence[Judged], wins_by: str) -> str:
    """What corpus scores are correlated with."""
    marks = {"mean mark" for x in data if isinstance(x, DirectAssessment)}
    marks |= {"mean mark" if x.given is None else "people's score" for x in data if isinstance(x, MarkedSystems)}
    wins = {WINS[wins_by] if x.given is None else "given score" for x in data if isinstance(x, Judgements)}
    return " or ".join(sorted(marks | wins))


def reference_counts(data: Sequence[Judged]) -> str:
    """How many references the sets have: one number, or several where they differ."""
    return ",".join(map(str, sorted({len(x.evaluation.references.corpora) for x in data})))
