"""Batch MIRA (Cherry & Foster 2012, algorithm 2), with the background corpus of Chiang et al. (2008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Metric, UserError, unknown
from lasw.tuning.optimisers.base import DEFAULT_SEED, Fit, Optimiser, above_zero, at_least, unchanged, vanishing
from lasw.tuning.optimisers.mira.background import Background, background_of
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
        scaling: ``standard``: steps are made as if all dense features had the deviation `UNIT` and the values of all
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
        run = _Run(self, columns, background_of(self.measure, pool, columns), columns.vector(start))
        generator = np.random.default_rng(self.seed)
        sentences = len(columns.starts) - 1
        best: tuple[float, int, Floats] | None = None
        for number in range(1, self.passes + 1):
            turn = generator.permutation(sentences) if self.shuffle else np.arange(sentences)
            run.go_over(turn)
            score = run.score()
            if best is None or score > best[0]:
                best = score, number, run.mean
        assert best is not None
        if not run.moves:
            return unchanged(start, self.nothing(), best[0])
        score, number, vector = best
        if not np.isfinite(vector).all():
            raise _overflow(vector, start, columns)
        weights = columns.weights(vector, start, self.norm)
        varies = np.flatnonzero(columns.varies)
        warnings = vanishing((vector * columns.scale)[varies], lambda k: _column_name(int(varies[k]), start, columns))
        return Fit(weights, score, number, warnings)

    def nothing(self) -> str:
        """See `Optimiser`."""
        return (
            f"no sentence asks for other weights: {self.measure.name} or the features do not tell its candidates "
            "apart, or they are ranked well"
        )


class _Run:
    """The weights on their way."""

    def __init__(self, mira: MIRA, columns: Columns, background: Background, start: Floats) -> None:
        self._columns = columns
        self._background = background
        self._settings = (mira.c, mira.decay, mira.model_bg, mira.safe_hope)
        # A feature that is the same for all candidates of a sentence has no say.
        self._weights = np.where(columns.varies, start, 0.0)
        self._inverse = columns.varies.astype(np.float64)
        if mira.scaling == "standard":
            self._inverse /= columns.scale
            self._inverse[: columns.dense.shape[1]] *= UNIT
            deviation = columns.spread(columns.scores(self._weights))
            self._weights *= UNIT / deviation if deviation > 0 else 1.0
        self._lag = np.zeros_like(self._weights)
        self._time = 0
        self.moves = 0
        self._scores = np.empty(len(columns))

    @property
    def mean(self) -> Floats:
        """(d + p,) the mean of the weights behind all sentences so far."""
        return self._weights - self._lag / self._time

    def go_over(self, turn: NDArray[np.int64]) -> None:
        """One pass."""
        starts, features = self._columns.starts, self._columns.features
        self.moves += self._background.go_over(
            turn, starts, features, self._inverse, self._settings, self._weights, self._lag, self._time
        )
        self._time += len(turn)

    def score(self) -> float:
        """Pool score of the mean weights."""
        mean, d = self.mean, self._columns.dense.shape[1]
        model_scores(self._columns.features, mean[:d], mean[d:], 0, self._scores)
        return self._background.corpus_score(self._columns.best(self._scores))


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
