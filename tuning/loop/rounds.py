"""What one round of the loop decodes with: how many hypotheses are asked for, which weights beside the current ones.

Candidates that weights around the current ones prefer show the optimiser how far it may go: without them the first
round knows one point of the weight space and promises much where it has never looked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lasw.tuning.loop.settings import RunSettings
from lasw.tuning.pool import Columns
from lasw.tuning.weights import Weights

BEST = "best so far"
PERTURBED = "perturbed"
MOST_ASKED = 2**31 - 1  # what decoders can count to


@dataclass(frozen=True)
class OtherWeights:
    """What a round decodes with beside the current weights.

    Attributes:
        kind: `BEST` or `PERTURBED`.
        weights: to decode with.
    """

    kind: str
    weights: Weights


def asked(settings: RunSettings, iteration: int) -> int:
    """Hypotheses per sentence that round `iteration` (1, 2, ...) asks for."""
    if iteration == 1 and settings.first_nbest:
        return settings.first_nbest
    growth = settings.nbest_growth
    if math.log(settings.nbest) + (iteration - 1) * math.log(growth) > math.log(MOST_ASKED):
        return MOST_ASKED
    return max(1, round(settings.nbest * growth ** (iteration - 1)))


def other_weights(
    settings: RunSettings,
    iteration: int,
    scores: Sequence[float],
    weights: Callable[[int], Weights],
    columns: Callable[[], Columns],
    seed: int,
    *,
    in_pool: Callable[[int], bool],
) -> list[OtherWeights]:
    """What else round `iteration` decodes with.

    Args:
        settings: of the run.
        iteration: 1, 2, ...
        scores: development scores of the weights that iterations 0, 1, ... made, the current ones last.
        weights: what an iteration made.
        columns: of the pool, the list of the current weights included.
        seed: of this iteration.
        in_pool: whether the list of the weights of an iteration is in the pool, as long as one would be now.
    """
    others = []
    best = int(np.argmax(scores))
    if settings.decode_best and best != iteration - 1 and not in_pool(best):
        others.append(OtherWeights(BEST, weights(best)))
    if settings.perturbed and (not settings.perturbed_rounds or iteration <= settings.perturbed_rounds):
        current, of_pool = weights(iteration - 1), columns()
        draws = np.random.default_rng(np.random.SeedSequence([seed, 1]))
        for _ in range(settings.perturbed):
            others.append(OtherWeights(PERTURBED, perturbed(current, of_pool, settings.perturbation, draws)))
    return others


def perturbed(weights: Weights, columns: Columns, size: float, draws: np.random.Generator) -> Weights:
    """Weights near others: a normal number is added to each dense one whose column varies.

    Args:
        weights: the centre; sparse weights stay.
        columns: which vary, and their scale.
        size: standard deviation as a share of the root mean square of weights times scales, of columns that vary.
        draws: where the numbers come from.
    """
    d = len(weights.dense)
    varies, scale = columns.varies[:d], columns.scale[:d]
    effect = np.where(varies, weights.dense * scale, 0.0)
    typical = np.sqrt(np.sum(effect**2) / max(int(varies.sum()), 1))
    noise = draws.standard_normal(d) * size * typical / scale
    return Weights(weights.names, np.where(varies, weights.dense + noise, weights.dense), weights.sparse)
