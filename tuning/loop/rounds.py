"""What one round of the loop decodes with: how many hypotheses are asked for, which weights beside the current ones.

Candidates that weights around the current ones prefer show the optimiser how far it may go: without them the first
round knows one point of the weight space and promises much where it has never looked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lasw.tuning.pool import Columns
from lasw.tuning.weights import Weights

BEST = "best so far"
PERTURBED = "perturbed"
MOST_PERTURBED = 1e6  # nothing is left of the centre, and scores stay finite
MOST_ASKED = 2**31 - 1  # what decoders can count to


@dataclass(frozen=True)
class Decoding:
    """One more decoding of a round.

    Attributes:
        kind: `BEST` or `PERTURBED`.
        weights: to decode with.
    """

    kind: str
    weights: Weights


@dataclass(frozen=True)
class Rounds:
    """Decodings of every round beside that of the current weights.

    Args:
        first_nbest: hypotheses asked for per sentence in the first round; 0: as many as `growth` says.
        growth: every round asks for so many times as many hypotheses as the one before.
        perturbed: so many weight vectors drawn around the current ones are decoded with as well.
        perturbation: standard deviation of what is added to a weight, as a share of the root mean square of all;
            each is measured by what its feature makes of it (weight times `Columns.scale`).
        perturbed_rounds: only in the first so many rounds; 0: in all.
        decode_best: the weights with the best development score so far are decoded with as well, unless the pool has
            their list already.

    Raises:
        ValueError: a setting out of its range.
    """

    first_nbest: int = 0
    growth: float = 1.0
    perturbed: int = 0
    perturbation: float = 0.3
    perturbed_rounds: int = 0
    decode_best: bool = False

    def __post_init__(self) -> None:
        if min(self.first_nbest, self.perturbed, self.perturbed_rounds) < 0:
            raise ValueError("first_nbest, perturbed and perturbed_rounds must be at least 0")
        if not 0 < self.growth < np.inf:
            raise ValueError(f"nbest_growth is {self.growth}, expected above 0")
        if not 0 < self.perturbation <= MOST_PERTURBED:
            raise ValueError(f"perturbation is {self.perturbation}, expected above 0 and at most {MOST_PERTURBED:g}")

    def asked(self, nbest: int, iteration: int) -> int:
        """Hypotheses per sentence that round `iteration` (1, 2, ...) asks for; `nbest` without growth."""
        if iteration == 1 and self.first_nbest:
            return self.first_nbest
        if math.log(nbest) + (iteration - 1) * math.log(self.growth) > math.log(MOST_ASKED):
            return MOST_ASKED
        return max(1, round(nbest * self.growth ** (iteration - 1)))

    def others(
        self,
        iteration: int,
        scores: Sequence[float],
        weights: Callable[[int], Weights],
        columns: Callable[[], Columns],
        seed: int,
        *,
        in_pool: Callable[[int], bool],
    ) -> list[Decoding]:
        """What else round `iteration` decodes with.

        Args:
            iteration: 1, 2, ...
            scores: development scores of the weights that iterations 0, 1, ... made, the current ones last.
            weights: what an iteration made.
            columns: of the pool, the list of the current weights included.
            seed: of this iteration.
            in_pool: whether the list of the weights of an iteration is in the pool, as long as one would be now.
        """
        found = []
        best = int(np.argmax(scores))
        if self.decode_best and best != iteration - 1 and not in_pool(best):
            found.append(Decoding(BEST, weights(best)))
        if self.perturbed and (not self.perturbed_rounds or iteration <= self.perturbed_rounds):
            current, known = weights(iteration - 1), columns()
            draws = np.random.default_rng(np.random.SeedSequence([seed, 1]))
            found += [
                Decoding(PERTURBED, perturbed(current, known, self.perturbation, draws)) for _ in range(self.perturbed)
            ]
        return found


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
