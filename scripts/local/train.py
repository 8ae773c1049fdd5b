"""`lasw local train`: pairs and global weights to keep, and how local the weights of sentences should be."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lasw.metrics import (
    UserError,
    display_of,
    labels,
    metric,
    read_lines,
    refuse_overwriting,
    unknown,
)
from lasw.scripts.command_line import (
    PoolReader,
    given_hyperparameters,
    given_settings,
    idle_settings,
    note,
    print_json,
    warn,
)
from lasw.tuning import (
    GLOBAL,
    SIMILARITIES,
    Curve,
    Floats,
    LocalSamples,
    LocalWeigher,
    PairwiseOptimiser,
    Pool,
    Setting,
    check_output,
    fast_form_error,
    grid,
    leave_one_out,
    local_samples,
    make_optimiser,
    make_similarity,
    write_samples,
)

AUTO, BEST = "auto", "best"
_CHECKED_SENTENCES = 20  # whose fast weights are compared with the exact ones
_TOLERABLE = 0.01
# Without a word of their own: what comes with word vectors needs their file.
_BY_DEFAULT = ("bleu", "words", "characters")


def run(arguments: argparse.Namespace) -> int:
    """Train, choose, write, print; 0 if done."""
    check_output(arguments.output, kind="json")
    read = (*arguments.nbest, *arguments.references, arguments.source, arguments.start, arguments.sparse_weights)
    refuse_overwriting([arguments.output], filter(None, (*read, arguments.vectors)))
    fixed = fixed_setting(arguments.setting, (AUTO, BEST, GLOBAL))
    names = (*_BY_DEFAULT, "embedding") if arguments.vectors else _BY_DEFAULT
    tried = tuple(map(Setting.parse, arguments.tried)) or grid(names)
    if fixed is not None and fixed not in tried:
        tried = (*tried, fixed)
    measure = metric(arguments.measure)
    pool, samples, warnings = _samples(arguments)
    wanted = {setting.similarity for setting in tried}
    similarities = {
        name: make_similarity(name, samples.source, vectors=arguments.vectors)
        for name in SIMILARITIES
        if name in wanted
    }
    matrices = {name: similarity.matrix(samples.source) for name, similarity in similarities.items()}
    note(arguments.quiet, f"{len(tried)} settings, leaving one out")
    curve = leave_one_out(pool, samples, matrices, tried, measure, seed=arguments.seed)
    setting = {AUTO: curve.chosen, BEST: curve.best.setting, GLOBAL: None}.get(arguments.setting, fixed)
    if setting is not None:
        warnings += _fast_form_warnings(samples, setting, matrices[setting.similarity])
    described = _described(curve, setting, arguments.measure)
    marks = {name: similarity.fingerprint() for name, similarity in similarities.items()}
    chosen = {"setting": described["setting"], "leave_one_out": described, "fingerprints": marks}
    write_samples(arguments.output, dataclasses.replace(samples, header={**samples.header, **chosen}))
    warn("local", warnings, arguments.quiet)
    result = {
        "candidates": len(pool),
        "pairs": len(samples.x),
        "signature": samples.header["signature"],
        **described,
        "warnings": warnings,
    }
    if arguments.json:
        print_json(result)
    else:
        _print_curve(result, curve, setting)
    return 0


def fixed_setting(text: str, words: Sequence[str]) -> Setting | None:
    """The setting that a text says; None for those of `words` that stand in the place of one.

    Raises:
        UserError: neither.
    """
    if text in words:
        return None
    name = text.partition(":")[0]
    if name not in SIMILARITIES:
        raise unknown("setting", name, [*words, *SIMILARITIES])
    return Setting.parse(text)


def _samples(arguments: argparse.Namespace) -> tuple[Pool, LocalSamples, list[str]]:
    options = given_hyperparameters(arguments)
    sections = {"optimiser": {"name": arguments.optimiser, **given_settings(arguments, "optimiser")}}
    warn("local", idle_settings(arguments, sections), arguments.quiet)
    optimiser = make_optimiser(arguments.optimiser, options, metric=arguments.metric, seed=arguments.seed)
    assert isinstance(optimiser, PairwiseOptimiser)
    reader = PoolReader(arguments, arguments.start)
    references = reader.references(arguments.references)
    source = tuple(read_lines(arguments.source, encoding=arguments.encoding))
    if len(source) != len(references):
        expected = f"{len(references)}, as many as {arguments.references[0]} has"
        raise UserError(f"{len(source)} lines", path=arguments.source, expected=expected)
    given = reader.lists(arguments.nbest, references, [optimiser.measure, metric(arguments.measure)])
    samples = local_samples(optimiser, given.pool, given.start.weights, source, {"unused": dict(given.start.unused)})
    return given.pool, samples, [*given.warnings, *samples.header["warnings"]]


def _fast_form_warnings(samples: LocalSamples, setting: Setting, similarities: Floats) -> list[str]:
    chosen = np.unique(np.linspace(0, len(similarities) - 1, _CHECKED_SENTENCES).astype(int))
    rows = similarities[chosen].copy()
    rows[np.arange(len(chosen)), chosen] = 0.0
    error = fast_form_error(LocalWeigher(samples, setting), rows)
    if error <= _TOLERABLE:
        return []
    return [f"under {setting} the fast form is up to {100 * error:.1f} % away from the optimum: use --exact"]


def _described(curve: Curve, setting: Setting | None, measure: str) -> dict[str, Any]:
    """What is told: scores as people read them, leads by how much they are better."""
    display = display_of(measure)
    return {
        "setting": GLOBAL if setting is None else str(setting),
        "measure": measure,
        "better": display.better,
        "global_score": display.value(curve.global_score),
        "best": str(curve.best.setting),
        "p_value": curve.best.p_value,
        "curve": [
            {**vars(one), "setting": str(one.setting), "score": display.value(one.score)} for one in curve.points
        ],
    }


def _print_curve(result: Mapping[str, Any], curve: Curve, setting: Setting | None) -> None:
    width = max(len(str(point.setting)) for point in curve.points)
    display = display_of(result["measure"])
    (name,) = labels([result["measure"]], [display])
    print(f"{'setting':{width}}  {name:>6}  {'lead':>6}  {'between':14}  p")
    print(f"{GLOBAL:{width}}  {display.score(curve.global_score):6.2f}")
    for point in curve.points:
        interval = f"[{display.scale * point.low:+.2f}, {display.scale * point.high:+.2f}]"
        lead = f"{display.scale * point.lead:+6.2f}  {interval:14}  {point.p_value:.3f}"
        print(f"{point.setting!s:{width}}  {display.score(point.score):6.2f}  {lead}")
    print("between: 95 % sure of either end, and p: of a lead by chance, both for all settings at once")
    print(f"best        {curve.best.setting}, p = {curve.best.p_value:.3f} (of {len(curve.points)} settings)")
    print(f"chosen      {GLOBAL if setting is None else setting}")
    print(f"signature   {result['signature']}")
