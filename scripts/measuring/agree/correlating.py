"""What `lasw agree` computes: every metric's agreement with people, tested."""

from __future__ import annotations

import argparse
import dataclasses
import re
from collections.abc import Sequence

from lasw.metrics import (
    SIGNIFICANCE_TESTS,
    Asked,
    Judged,
    Judgements,
    MarkedSystems,
    Metric,
    agreement_significance,
    agreements,
    asked_for,
    held_out_scores,
    judges_agreement,
    labels,
    metric,
    metric_scores,
    trainer,
)
from lasw.scripts.command_line import preprocessing
from lasw.scripts.measuring.agree.inputs import (
    people_compared,
    reference_counts,
    scores_elsewhere,
    scores_of_systems,
    sets_of,
    short_names,
    stored_metrics,
)
from lasw.scripts.measuring.agree.options import DEFAULT_TAU
from lasw.scripts.measuring.agree.results import Results
from lasw.scripts.measuring.judged import check_judged

_POINTS = 25.0


def correlated(arguments: argparse.Namespace, data: Sequence[Judged], metrics: list[Metric]) -> Results:
    """Every metric on every set."""
    trainers = [trainer(spec) for spec in arguments.train]
    tau = arguments.tau or DEFAULT_TAU
    names = short_names(sets_of(arguments))
    stored = stored_metrics(data, arguments)
    specs: list[str] = arguments.metric or ([] if arguments.train or stored else ["BLEU"])
    metrics = metrics or [metric(spec) for spec in specs]
    coverage = check_judged(arguments, data, metrics, names)
    settings = {"nrefs": reference_counts(data), **preprocessing(arguments).settings()}
    if arguments.significance:
        settings |= {"bs": str(arguments.paired_bs_n), "seed": str(arguments.seed)}
    asked = _asked(arguments)
    folds = {"folds": str(arguments.folds), "folds-seed": str(arguments.seed)}
    trainable = [x for x in data if not isinstance(x, MarkedSystems)]
    trained = [held_out_scores(t, trainable, arguments.folds, seed=arguments.seed) for t in trainers]
    trained_names = [f"{spec} (trained)" for spec in arguments.train]
    return Results(
        labels=_labels([*labels([*specs], [m.display for m in metrics]), *trained_names, *stored]),
        specs=[*specs, *trained_names, *stored],
        signatures=[
            *(str(m.displayed_signature().with_settings(settings)) for m in metrics),
            *(str(t.signature().with_settings(folds | settings)) for t in trainers),
            *(f"{name}|scores:{','.join(sources)}" for name, sources in stored.items()),
        ],
        better=[*(m.display.better for m in metrics), *("higher" for _ in [*trainers, *stored])],
        names=names,
        agreements=[
            agreements(
                [
                    *(metric_scores(m, x.evaluation) for m in metrics),
                    *(scores[f] for scores in trained),
                    *scores_elsewhere(x, stored),
                ],
                x,
                tau=tau,
                asked=asked,
                wins_by=arguments.wins,
            )
            for f, x in enumerate(data)
        ],
        tau=tau if people_compared(arguments) else None,
        of_systems=scores_of_systems(data, arguments.wins),
        of_segments="preference" if people_compared(arguments) else "mark",
        wins_by=arguments.wins,
        judges=[judges_agreement(x.votes) if isinstance(x, Judgements) else {} for x in data],
        without_score=[x.without_score if isinstance(x, Judgements) else () for x in data],
        coverage=coverage,
    )


def _asked(arguments: argparse.Namespace) -> tuple[Asked, ...]:
    """The statistics; none for those that are printed without ``--statistics``."""
    names, of_preferences = arguments.statistics, people_compared(arguments)
    if names is None and arguments.report:
        names = "acc-eq,tau13,pearson,pairwise-accuracy" if of_preferences else "acc-eq,pearson,pairwise-accuracy"
    if names is None and arguments.test == "perm-both":
        names = f"tau{arguments.tau or DEFAULT_TAU},spearman,pearson" if of_preferences else "pearson,spearman"
    if names is None:
        return ()
    return asked_for(names, arguments.average or "", _POINTS if arguments.points is None else arguments.points)


def tested(results: Results, arguments: argparse.Namespace) -> Results:
    """The same with intervals and p-values."""
    significance = [
        agreement_significance(
            column, samples=arguments.paired_bs_n, seed=arguments.seed, test=arguments.test or SIGNIFICANCE_TESTS[0]
        )
        for column in results.agreements
    ]
    return dataclasses.replace(results, significance=significance)


def _labels(names: list[str]) -> list[str]:
    """The names without the folders of the files in them, where that leaves them different."""
    short = [re.sub(r"[^:=]*/", "", name) for name in names]
    return short if len(set(short)) == len(set(names)) else names
