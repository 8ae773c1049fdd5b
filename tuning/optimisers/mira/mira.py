"""Batch MIRA (Cherry & Foster 2012, algorithm 2), with the background corpus of Chiang et al. (2008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lasw.metrics import Metric, UserError, unknown
from lasw.tuning.optimisers.base import DEFAULT_SEED, Fit, Optimiser, above_zero, at_least, unchanged, vanishing
from lasw.tuning.optimisers.mira.background import Walk, background_of
from lasw.tuning.pool import Columns, Floats, model_scores
from lasw.tuning.weights import Weights

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool

C = 0.01  # Cherry & Foster 2012, section 5
DECAY = 0.999
PASSES = 60
SCALINGS = ("standard", "raw")
# The deviation of log-probabilities among candidates of a real list: with it c means the same as with raw features.
UNIT = 3.0


@dataclass(frozen=True)
class MIRA(Optimiser):
    """Moves the weights, sentence by sentence, from the candidate to fear towards the one to hope for.

    Of a sentence's candidates hope has the highest model score + metric, fear the highest model score - metric. Where
    the margin between them is smaller than what the metric says, the weights move by min(c, loss / |x|^2) x with the
    difference x of their features. What counts is the mean of the weights behind all sentences of all passes so far;
    of the passes the one whose mean has the best pool score wins, the first among equals.

    The metric of a candidate is the corpus score of a background corpus with this candidate added, times the
    reference length of both; the background decays and then takes in the hope of every sentence.

    Args:
        metric: the loss, a `Metric` or its specification.
        c: the largest step (``-C`` of kbmira).
        passes: over all sentences (``-J``).
        decay: of the background after every sentence (``-D``).
        model_bg: the background takes in the model's best candidates in the place of the hopes (``--model-bg``).
        safe_hope: the model has at most 5 times the say of the metric when hope is chosen (``--safe-hope``).
        shuffle: sentences in a new order in every pass; otherwise in theirs (``--no-shuffle``).
        scaling: ``standard``: steps are made as if all dense features had the scale `UNIT` and the values of all
            sparse ones the mean square 1, and begin with the start weights at a size at which their scores have the
            deviation `UNIT`: the units of features do not matter; ``raw``: as the features and weights are (kbmira).
        norm: ``l1``: the dense weights of features that vary have absolute sum 1, sparse ones are divided by the same
            number; ``none``: as they come.
        seed: of the order.

    `Fit.objective` is the pool score, `Fit.iterations` the pass that won.

    Raises:
        ValueError: a hyper-parameter out of its range.
        UserError: an unknown metric, scaling or norm.
    """

    metric: Metric | str = "BLEU"
    c: float = C
    passes: int = PASSES
    decay: float = DECAY
    model_bg: bool = False
    safe_hope: bool = False
    shuffle: bool = True
    scaling: str = "standard"
    norm: str = "l1"
    seed: int = DEFAULT_SEED

    name = "MIRA"

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero("c", self.c)
        at_least("passes", self.passes, 1)
        if not 0 <= self.decay <= 1:
            raise ValueError(f"decay is {self.decay}, expected 0 to 1")
        if self.scaling not in SCALINGS:
            raise unknown("scaling", self.scaling, list(SCALINGS))

    def _shown(self, name: str, value: object) -> list[tuple[str, str]]:
        return [("background", "model" if value else "hope")] if name == "model_bg" else super()._shown(name, value)

    def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit:
        """New weights; the previous ones and one warning if no sentence asks for a step."""
        columns = Columns.of(pool)
        background, walk = background_of(self.measure, pool, columns), self._walk(columns, start)
        generator = np.random.default_rng(self.seed)
        sentences, d, moves = len(columns.starts) - 1, columns.dense.shape[1], 0
        best, scores = (-np.inf, 0, walk.weights), np.empty(len(columns))
        for number in range(1, self.passes + 1):
            turn = generator.permutation(sentences) if self.shuffle else np.arange(sentences)
            moves += background.go_over(turn, walk)
            walk.time += sentences
            mean = walk.mean
            model_scores(columns.features, mean[:d], mean[d:], 0, scores)
            score = background.corpus_score(columns.best(scores))
            if number == 1 or score > best[0]:
                best = score, number, mean
        if not moves:
            return unchanged(start, self.nothing(), best[0])
        score, number, vector = best
        if not np.isfinite(vector).all():
            raise _overflow(vector, start, columns)
        weights = columns.weights(vector, start, self.norm)
        varies = np.flatnonzero(columns.varies)
        warnings = vanishing((vector * columns.scale)[varies], lambda k: _column_name(int(varies[k]), start, columns))
        return Fit(weights, score, number, warnings)

    def _walk(self, columns: Columns, start: Weights) -> Walk:
        # A feature that is the same for all candidates of a sentence has no say.
        weights, inverse = np.where(columns.varies, columns.vector(start), 0.0), columns.varies.astype(np.float64)
        if self.scaling == "standard":
            inverse /= columns.scale
            inverse[: columns.dense.shape[1]] *= UNIT
            deviation = columns.spread(columns.scores(weights))
            weights *= UNIT / deviation if deviation > 0 else 1.0
        settings = self.c, self.decay, self.model_bg, self.safe_hope
        return Walk(columns.starts, columns.features, inverse, settings, weights, np.zeros_like(weights))

    def nothing(self) -> str:
        """See `Optimiser`."""
        return (
            f"no sentence asks for other weights: {self.measure.name} or the features do not tell its candidates "
            "apart, or they are ranked well"
        )


def _overflow(vector: Floats, start: Weights, columns: Columns) -> UserError:
    k = int(np.argmin(np.isfinite(vector)))
    return UserError(
        f"feature {_column_name(k, start, columns)} differs so much between candidates that scores overflow",
        expected="differences below 1e150",
        remedy="divide its values by a power of ten",
    )


def _column_name(k: int, start: Weights, columns: Columns) -> str:
    dense = start.names.components
    return dense[k] if k < len(dense) else columns.sparse_names[k - len(dense)]
