"""Rows with local weights (WRO-local): from a finished tuning to weights of every test sentence.

The pairs are drawn again, from all candidates of the tuning, with the run's seed and optimiser. Where leaving one out
says that locality does not pay, ``auto`` gives every sentence the tuned weights, and the row translates as its global
one does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lasw.metrics import References, UserError, metric, read_lines
from lasw.tuning.comparison.settings import AUTO, BEST, DevelopmentSet, local_setting
from lasw.tuning.local import GLOBAL, LocalSamples, LocalWeigher, grid, leave_one_out, local_samples, make_similarity
from lasw.tuning.optimisers import PairwiseOptimiser, make_optimiser
from lasw.tuning.pool import Pool, read_pool
from lasw.tuning.run_directory import Json
from lasw.tuning.settings import name_and_arguments
from lasw.tuning.weights import Weights

_SIMILARITIES = ("bleu", "words", "characters")  # those that need no word vectors


def local_weights(
    local: str,
    optimiser: dict[str, Any],
    seed: int,
    pool: Pool,
    development: DevelopmentSet,
    tuned: Weights,
    test_source: Sequence[str],
    measure: str,
) -> tuple[list[Weights], Json]:
    """Weights for every test sentence.

    Args:
        local: what the system says: auto, best, or a setting.
        optimiser: the [optimiser] section, of WRO or PRO.
        seed: of the run.
        pool: all candidates of the development set that the tuning saw.
        development: its source side is compared with the test sentences.
        tuned: the global weights, over the pool's features.
        test_source: T sentences.
        measure: whose corpus score decides whether locality pays.

    Returns:
        T weights, and what is to be said about them: the setting, and the leave-one-out curve where it was chosen.

    Raises:
        UserError: another kind of optimiser, or nothing to learn from.
    """
    name, arguments = name_and_arguments(optimiser)
    made = make_optimiser(name, arguments, seed=seed)
    if not isinstance(made, PairwiseOptimiser):
        raise UserError(f"local weights with optimiser {name}", expected="wro or pro")
    if development.source is None:
        raise UserError("local weights without the development set's source")
    source = tuple(read_lines(development.source, encoding=development.encoding))
    if len(source) != len(pool.references):
        raise UserError(f"{len(source)} lines", path=development.source, expected=f"{len(pool.references)}")
    samples = local_samples(made, pool, tuned, source)
    said: Json = {"local": local}
    if local in (AUTO, BEST):
        setting, curve = _chosen(local, pool, samples, measure, seed)
        said |= curve
    else:
        setting = local_setting(local)
    said["setting"] = GLOBAL if setting is None else str(setting)
    if setting is None:
        return [tuned] * len(test_source), said
    weigher, similarity = LocalWeigher(samples, setting), make_similarity(setting.similarity, source)
    return [weigher.weights(similarity.to(line)) for line in test_source], said


def tuning_pool(folder: Path, development: DevelopmentSet, names: Weights) -> Pool:
    """All candidates of a run of `lasw tune`.

    Args:
        folder: of the run.
        development: what it was tuned on.
        names: weights of its features.

    Raises:
        UserError: its lists are no longer there.
    """
    text = development.text.function()
    references = References.read(development.references, preprocess=text, encoding=development.encoding)
    lists = sorted(folder.glob("iterations/*/nbest*.gz"))
    if not lists:
        raise UserError("no N-best lists", path=folder, remedy=f"remove {folder.parent}, and it is tuned again")
    dense = [name for name, _ in names.names.groups]
    pool, _ = read_pool(lists, references, dense=dense, preprocess=text, settle=None)
    return pool


def _chosen(local: str, pool: Pool, samples: LocalSamples, measure: str, seed: int) -> tuple[Any, Json]:
    matrices = {name: make_similarity(name, samples.source).matrix(samples.source) for name in _SIMILARITIES}
    curve = leave_one_out(pool, samples, matrices, grid(_SIMILARITIES), metric(measure), seed=seed)
    points = [{**vars(one), "setting": str(one.setting)} for one in curve.points]
    said: Json = {"measure": measure, "global_score": curve.global_score, "curve": points}
    return (curve.best.setting if local == BEST else curve.chosen), said
